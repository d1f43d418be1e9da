"""Streamed replies put together from any server's chunks (C15, C16)."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memagent.llm.assembling import UNPARSED, Assembly, arguments_text, tool_name


def fragment(index: Any = None, call_id: Any = None, name: Any = None, arguments: Any = "") -> dict[str, Any]:
    made: dict[str, Any] = {"function": {"name": name, "arguments": arguments}, "id": call_id}
    return made if index is None else {**made, "index": index}


def assembled(*fragments: dict[str, Any]) -> list[tuple[str, str, str]]:
    assembly = Assembly(["f", "g"])
    for piece in fragments:
        assembly.add({"choices": [{"delta": {"tool_calls": [piece]}}]})
    return [(call.id, call.name, call.arguments) for call in assembly.calls()]


ONE, TWO = '{"a": 1}', '{"a": 2}'
C15 = {
    "no index anywhere": [
        fragment(None, "c1", "f", '{"a":'),
        fragment(None, None, None, "1}"),
        fragment(None, "c2", "f", '{"a":2}'),
    ],
    "both with index 0": [
        fragment(0, "c1", "f", '{"a":'),
        fragment(0, None, None, "1}"),
        fragment(0, "c2", "f", '{"a"'),
        fragment(0, None, None, ":2}"),
    ],
    "alternating pieces": [
        fragment(0, "c1", "f", ""),
        fragment(1, "c2", "f", ""),
        fragment(0, None, None, '{"a":'),
        fragment(1, None, None, '{"a":'),
        fragment(0, None, None, "1}"),
        fragment(1, None, None, "2}"),
    ],
    "alternating pieces with ids, no index": [
        fragment(None, "c1", "f", '{"a":'),
        fragment(None, "c2", "f", '{"a":'),
        fragment(None, "c1", None, "1}"),
        fragment(None, "c2", None, "2}"),
    ],
    "name repeated, id blank later": [
        fragment(0, "c1", "f", '{"a"'),
        fragment(0, "", "f", ":1}"),
        fragment(1, "c2", "f", '{"a"'),
        fragment(1, None, "f", ":2}"),
    ],
    "arguments before the name": [
        fragment(0, None, None, '{"a":1}'),
        fragment(0, "c1", "f", None),
        fragment(1, None, None, '{"a":2}'),
        fragment(1, "c2", "f", ""),
    ],
    "null arguments first": [
        fragment(0, "c1", "f", None),
        fragment(0, None, None, '{"a":1}'),
        fragment(1, "c2", "f", None),
        fragment(1, None, None, '{"a":2}'),
    ],
    "arguments as objects": [fragment(0, "c1", "f", {"a": 1}), fragment(1, "c2", "f", {"a": 2})],
    "blanks after the object": [
        fragment(0, "c1", "f", ONE),
        fragment(0, None, None, "\n"),
        fragment(1, "c2", "f", TWO),
    ],
}


@pytest.mark.parametrize("kind", C15)
def test_two_calls_come_out_of_any_fragments(kind: str) -> None:
    assert assembled(*C15[kind]) == [("c1", "f", ONE), ("c2", "f", TWO)]


WITHOUT_IDS = {
    "with index": [fragment(0, None, "f", '{"a"'), fragment(0, None, None, ":1}"), fragment(1, None, "f", '{"a":2}')],
    "without index": [fragment(None, None, "f", '{"a":1}'), fragment(None, None, "f", '{"a":2}')],
    "index 0 twice": [
        fragment(0, None, "f", '{"a":1}'),
        fragment(0, None, "f", ""),
        fragment(0, None, None, '{"a":2}'),
    ],
    "one id for both": [fragment(0, "x", "f", '{"a":1}'), fragment(1, "y", "f", '{"a":2}')],
}


@pytest.mark.parametrize("kind", WITHOUT_IDS)
def test_missing_ids_become_fresh_and_unique(kind: str) -> None:
    calls = assembled(*WITHOUT_IDS[kind])
    assert [(name, arguments) for _, name, arguments in calls] == [("f", ONE), ("f", TWO)]
    ids = {call_id for call_id, _, _ in calls}
    assert len(ids) == 2
    assert all(ids)


@given(
    st.lists(st.tuples(st.sampled_from(["f", "g"]), st.dictionaries(st.text(), st.integers())), max_size=5), st.data()
)
def test_pieces_of_any_size_in_any_interleaving(calls: list[tuple[str, dict[str, int]]], data: st.DataObject) -> None:
    queues: list[list[dict[str, Any]]] = []
    for index, (name, arguments) in enumerate(calls):
        text = json.dumps(arguments)
        cut = data.draw(st.integers(0, len(text)))
        queues.append([fragment(index, f"c{index}", name, text[:cut]), fragment(index, None, None, text[cut:])])
    order = data.draw(st.permutations([index for index in range(len(calls)) for _ in range(2)]))
    pieces = [queues[index].pop(0) for index in order]
    found = {call_id: (name, json.loads(arguments)) for call_id, name, arguments in assembled(*pieces)}
    assert found == {f"c{index}": call for index, call in enumerate(calls)}


FIELDS = [
    "choices",
    "delta",
    "message",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "id",
    "index",
    "content",
    "usage",
]
LEAVES = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(FIELDS), inner))


@given(VALUES)
def test_no_chunk_can_break_it(chunk: Any) -> None:
    assembly = Assembly(["f"])
    assembly.add({"choices": [{"delta": chunk}], "usage": chunk} if not isinstance(chunk, dict) else chunk)
    for call in assembly.calls():
        assert isinstance(json.loads(call.arguments), dict)


def test_long_arguments_are_assembled_quickly() -> None:
    text = json.dumps({"text": "word } " * 30_000})
    pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
    start = time.perf_counter()
    calls = assembled(fragment(0, "c1", "f", ""), *(fragment(0, None, None, piece) for piece in pieces))
    assert time.perf_counter() - start < 10
    assert calls == [("c1", "f", text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("  ", {}),
        ('{"path": "a.txt"}', {"path": "a.txt"}),
        ('{"path": "a.txt",}', {"path": "a.txt"}),
        ("{'path': 'a.txt', 'deep': True}", {"path": "a.txt", "deep": True}),
        ('{"path": "a.txt", "text": "no end', {UNPARSED: '{"path": "a.txt", "text": "no end'}),
        ("null", {UNPARSED: "null"}),
        ("[1, 2]", {UNPARSED: "[1, 2]"}),
        ('"x"', {UNPARSED: '"x"'}),
        ("garbage " * 25_000, {UNPARSED: ("garbage " * 25_000)[:500]}),
    ],
    ids=lambda value: str(value)[:30],
)
def test_arguments_are_always_an_object(text: str, expected: dict[str, Any]) -> None:
    assert json.loads(arguments_text(text)) == expected


def test_nan_in_arguments_does_not_travel() -> None:
    assert "NaN" not in arguments_text('{"v": NaN}').replace('NaN}"', "")
    json.loads(arguments_text('{"v": NaN}'), parse_constant=lambda name: pytest.fail(name))


@pytest.mark.parametrize(
    ("given_name", "expected"),
    [
        ("lookup", "lookup"),
        (" lookup ", "lookup"),
        ("functions.lookup", "lookup"),
        ("lookop", "lookop"),
        ("a b/c", "a_b_c"),
        ("", "unnamed"),
        ("x" * 100, "x" * 64),
        ("functions.other", "functions_other"),
    ],
)
def test_tool_names(given_name: str, expected: str) -> None:
    assert tool_name(given_name, ["lookup"]) == expected
