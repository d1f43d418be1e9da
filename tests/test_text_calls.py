"""Calls written as text: read when they are the whole reply, left alone otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memagent.llm.text_calls import CallGate, may_become_calls, parse_text_calls

NAMES = ["recall", "remember"]
QUERY = {"query": 'where {does} my "sister" live? }} 妹妹'}
BARE = json.dumps({"name": "recall", "arguments": QUERY}, ensure_ascii=False)
SECOND = '{"name": "remember", "arguments": {"text": "tea"}}'


def parsed(text: str) -> list[tuple[str, Any]] | None:
    calls = parse_text_calls(text, NAMES)
    return calls and [(call.name, json.loads(call.arguments)) for call in calls]


ONE = {
    "bare": BARE,
    "pretty": json.dumps(json.loads(BARE), indent=2),
    "blanks around": f"\n  {BARE}\n",
    "fenced": f"```json\n{BARE}\n```",
    "fenced without language": f"```\n{BARE}\n```",
    "fence not closed": f"```json\n{BARE}",
    "tagged": f"<tool_call>\n{BARE}\n</tool_call>",
    "in the tags of the tools": f"<tools>\n{BARE}\n</tools>",
    "doubled braces in the tags of the tools": "<tools>\n{" + BARE + "}\n</tools>",
    "tag not closed": f"<tool_call>{BARE}",
    "tags in a fence": f"```\n<tool_call>{BARE}</tool_call>\n```",
    "list": f"[{BARE}]",
    "outer braces doubled": "{" + BARE + "}",
    "parameters": BARE.replace('"arguments"', '"parameters"'),
    "function": f'{{"type": "function", "function": {BARE}}}',
    "with id": BARE.replace('"name"', '"id": "x", "name"'),
    "last brace left out": BARE[:-1],
    "last brace left out, fenced": f"```json\n{BARE[:-1]}\n```",
    "last brace left out, tagged": f"<tool_call>\n{BARE[:-1]}\n</tool_call>",
    "arguments as text": json.dumps({"name": "recall", "arguments": json.dumps(QUERY)}),
}


@pytest.mark.parametrize("form", ONE)
def test_every_form_of_one_call(form: str) -> None:
    assert parsed(ONE[form]) == [("recall", QUERY)]


def test_all_braces_doubled() -> None:
    text = '{{"name": "recall", "arguments": {{"query": "sister"}}}}'
    assert parsed(text) == [("recall", {"query": "sister"})]


@pytest.mark.parametrize(
    "damage",
    ['{"name": "recall", "arguments": {"query": "sister",}}', "{'name': 'recall', 'arguments': {'query': 'sister'}}"],
)
def test_light_damage_is_repaired(damage: str) -> None:
    assert parsed(damage) == [("recall", {"query": "sister"})]


@pytest.mark.parametrize("joint", ["\n", " ", ",\n", "; ", "\n\n"])
def test_several_calls_keep_their_order_and_get_unique_ids(joint: str) -> None:
    text = joint.join([BARE, SECOND, BARE])
    calls = parse_text_calls(text, NAMES)
    assert calls is not None
    assert [call.name for call in calls] == ["recall", "remember", "recall"]
    assert len({call.id for call in calls}) == 3


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{BARE}</tool_call>\n<tool_call>{SECOND}</tool_call>",
        f"<tool_calls>\n<tool_call>{BARE}</tool_call>\n<tool_call>{SECOND}</tool_call>\n</tool_calls>",
        f"```json\n{BARE}\n```\n```json\n{SECOND}\n```",
        f"[{BARE}, {SECOND}]",
    ],
)
def test_several_wrapped_calls(text: str) -> None:
    assert parsed(text) == [("recall", QUERY), ("remember", {"text": "tea"})]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "Lisbon.",
        f"I will look it up: {BARE}",
        f"{BARE}\nThat is the call.",
        f"```json\n{BARE}\n```\nThis would search.",
        '{"name": "delete_all", "arguments": {}}',
        '{"name": "recall"}',
        '{"name": "recall", "arguments": [1]}',
        '{"name": "recall", "arguments": "sister"}',
        '{"name": "recall", "arguments": {}, "comment": "an example"}',
        '{"name": ["recall"], "arguments": {}}',
        '{"city": "Lisbon"}',
        "[]",
        "{}",
        "[1, 2]",
        BARE[:-2],
        BARE[:-4],
        '{"name": "recall", "arguments": {"filter": {"a": 1}',
        BARE[:20],
        f"{BARE}\n{SECOND[:-3]}",
        '{"name": "recall", "arguments": {"query": "cut',
        f"<think>{BARE}</think> Lisbon.",
        "```python\nprint({'a': 1})\n```",
    ],
)
def test_anything_else_is_text(text: str) -> None:
    assert parsed(text) is None


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    parse_text_calls(text, NAMES)
    gate = CallGate(NAMES)
    shown = "".join(gate.feed(char) for char in text)
    rest, calls = gate.finish()
    assert calls == []
    assert shown + rest == (text if text.strip() else "")


@pytest.mark.parametrize(
    "form", [*ONE.values(), f"{BARE}\n{SECOND}", f"<tool_call>{BARE}</tool_call><tool_call>{SECOND}</tool_call>"]
)
def test_no_beginning_of_a_call_is_shown(form: str) -> None:
    gate = CallGate(NAMES)
    assert "".join(gate.feed(char) for char in form) == ""
    rest, calls = gate.finish()
    assert rest == ""
    assert calls[0].name == "recall"


@pytest.mark.parametrize(
    "text",
    ['{"city"', '{"name": "Maya"', "{x", "```python", "``x", "<b", "[1", "Hello", "{ } x", f"{BARE} x", "<tool_box"],
)
def test_text_is_released_early(text: str) -> None:
    assert not may_become_calls(text, NAMES)


@pytest.mark.parametrize(
    "text", ["", " ", "{", "{{", '{"', '{"na', '{"name', "[", "[ {", "`", "```", "```js", "<", "<tool_", "{\n  "]
)
def test_an_open_beginning_is_held(text: str) -> None:
    assert may_become_calls(text, NAMES)


@pytest.mark.parametrize("text", ["<tools></tools>", "<tool_call>\n</tool_call>", "<tools>", " "])
@pytest.mark.parametrize("piece_chars", [1, 3, 100])
def test_tags_with_nothing_in_them_say_nothing(text: str, piece_chars: int) -> None:
    gate = CallGate({"look_up"})
    shown = "".join(gate.feed(text[i : i + piece_chars]) for i in range(0, len(text), piece_chars))
    rest, calls = gate.finish()
    assert (shown + rest, calls) == ("", [])
