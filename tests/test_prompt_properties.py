"""I1 and I2 for random histories and windows, on what was really sent, counted by the tests."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memagent import PromptTooLargeError, tool
from tests.agents import agent_on, newest
from tests.scripted_server import Reply, ScriptedServer
from tests.wire import count_text, prompt_tokens, violations

WORDS = [
    "river",
    "Lisbon",
    "42",
    "allergy",
    "peanuts,",
    "meeting\n",
    "x=1;",
    "妹妹",
    "住在里斯本",
    "ありがとう",
    "한국어",
    "🎉",
    "👩‍👩‍👧",
    "é",
    "<context>",
]
MIN_REPLY = 256


@st.composite
def texts(draw: st.DrawFn, most: int = 400) -> str:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
    return " ".join(words * draw(st.integers(1, max(1, most // len(words)))))


huge = st.builds(
    lambda word, times: word * times, st.sampled_from(["a", "里", "🎉 ", "row 17\n"]), st.integers(2_000, 30_000)
)


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Transcripts as they are found: answers without questions, calls without results, huge outputs."""
    messages: list[dict[str, Any]] = []
    for number in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(["talk", "talk", "tools", "user only", "assistant only", "empty"]))
        if kind != "assistant only":
            messages.append({"role": "user", "content": draw(st.one_of(texts(), huge))})
        if kind == "tools":
            ids = [f"c{number}-{i}" for i in range(draw(st.integers(1, 4)))]
            arguments = json.dumps({"q": draw(texts(200))}, ensure_ascii=False)
            calls = [
                {"id": i, "type": "function", "function": {"name": "look_up", "arguments": arguments}} for i in ids
            ]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            answered = draw(st.permutations(ids))[: draw(st.integers(0, len(ids)))]
            messages += [
                {"role": "tool", "tool_call_id": i, "content": draw(st.one_of(texts(), huge, st.just("")))}
                for i in answered
            ]
        if kind in ("talk", "tools", "assistant only"):
            messages.append({"role": "assistant", "content": draw(texts())})
        if kind == "empty":
            messages.append({"role": "assistant", "content": ""})
    return messages


@tool
def look_up(q: str) -> str:
    """Looks something up. A long description makes the schema cost something, as real ones do."""
    return q * 50


windows = st.one_of(
    st.sampled_from([1_024, 2_048, 4_096, 8_192]), st.integers(1_024, 20_000), st.integers(20_000, 200_000)
)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(
    history=histories(),
    window=windows,
    question=st.one_of(texts(), texts(3_000), huge),
    instructions=st.one_of(st.just(""), texts(100), texts(1_500)),
    with_tool=st.booleans(),
    exact=st.booleans(),
)
def test_whatever_the_history_what_is_sent_fits_and_is_valid(
    history: list[dict[str, Any]], window: int, question: str, instructions: str, with_tool: bool, exact: bool
) -> None:
    first = Reply(calls=[("look_up", {"q": question[:2_000]}), ("look_up", {"q": "river"})]) if with_tool else "fine"
    with ScriptedServer([first], default="done") as server, tempfile.TemporaryDirectory() as folder:
        agent = agent_on(
            server,
            Path(folder),
            window_tokens=window,
            instructions=instructions,
            tools=[look_up] if with_tool else [],
            model="gpt-4o" if exact else "scripted",
        )
        with agent:
            agent.ingest(history)
            said = len(agent.history())
            try:
                agent.ask(question)
            except PromptTooLargeError:
                tools = [look_up.schema()] if with_tool else []
                schemas = sum(count_text(json.dumps(schema, ensure_ascii=False)) for schema in tools)
                assert count_text(instructions) + schemas + count_text(question) + MIN_REPLY > window
                assert not server.bodies
                assert len(agent.history()) == said
                return
            agent.ask("and now?")
    assert len(server.bodies) >= 2
    for body in server.bodies:
        assert violations(body) == []
        reply_room = body.get("max_tokens") or body["max_completion_tokens"]
        assert prompt_tokens(body) + reply_room <= window
    assert newest(server.bodies[0]).endswith(question)


@pytest.mark.parametrize("words", [20, 300])
def test_the_smallest_window_answers_a_message_of_300_words(
    scripted: ScriptedServer, tmp_path: Path, words: int
) -> None:
    scripted.add("answered")
    with agent_on(scripted, tmp_path, window_tokens=1_024) as agent:
        message = " ".join(f"word{i % 7}" for i in range(words))
        assert agent.ask(message).text == "answered"
    assert message in newest(scripted.bodies[0])
