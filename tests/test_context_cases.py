"""Field cases of the context: bugs that other agents had when a conversation outgrew its window, each as a kind.

C01, C02, C06, C10 and C11 here; C07–C09 in test_summariser_cases; C13, C17 and the overflow half of C25 in
test_read_back. Where a case leaves a choice: a newest message that cannot fit is refused before anything is
stored.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memagent import Agent, PromptTooLargeError, load_settings, tool
from memagent.events import Compacted
from stores.records import MessageRole
from tests.agents import agent_on, newest
from tests.scripted_server import Reply, ScriptedServer, call
from tests.sent import Wire, all_text, check_requests, imported, material, system_text, texts
from tests.wire import prompt_tokens, violations

# --- C01: the window's edge falls between a call and its result ---------------------------------------

INSTRUCTIONS = "You keep the harbour's tables. Answer in one line."


def talk_with_lookups(turns: int, words: int) -> list[Wire]:
    """Exchanges of a question, a call, its result and an answer."""
    talk: list[Wire] = []
    for k in range(turns):
        made = {"id": f"t{k}", "type": "function", "function": {"name": "lookup", "arguments": f'{{"k": {k}}}'}}
        talk += [
            {"role": "user", "content": f"q {k}"},
            {"role": "assistant", "content": None, "tool_calls": [made]},
            {"role": "tool", "tool_call_id": f"t{k}", "content": f"row{k} " * words},
            {"role": "assistant", "content": f"a {k}"},
        ]
    return talk


def sweep(agent: Agent, window: int, step: int = 7) -> Iterator[Wire]:
    """Prompts in which the room for the history grows from nothing to all of it, ``step`` tokens at a time:
    the newest message shrinks instead of the window growing."""
    for padding in range(window - 500, 0, -step):
        text = "x" + " x" * padding
        try:
            prompt = agent.preview(text, recall=False)
        except PromptTooLargeError:
            continue
        body: Wire = {"model": "scripted", "messages": prompt.messages, "max_tokens": prompt.manifest.reserve_tokens}
        body |= {"tools": prompt.tools} if prompt.tools else {}
        assert violations(body) == []
        assert prompt_tokens(body) + body["max_tokens"] <= window
        assert system_text(body).startswith(INSTRUCTIONS)
        assert newest(body).endswith(text)
        yield body


@pytest.mark.parametrize(("turns", "words", "window"), [(12, 40, 3_000), (5, 150, 3_600), (30, 1, 2_600)])
def test_c01_whole_exchanges_from_the_end(
    scripted: ScriptedServer, tmp_path: Path, turns: int, words: int, window: int
) -> None:
    talk = talk_with_lookups(turns, words)
    imported(scripted, tmp_path, talk)
    kept: list[int] = []
    more = {"window_tokens": window, "reply_tokens": 256, "instructions": INSTRUCTIONS}
    with agent_on(scripted, tmp_path, session="s", **more) as agent:
        for body in sweep(agent, window):
            between = body["messages"][1:-1]
            assert between == talk[len(talk) - len(between) :]
            assert len(between) % 4 == 0
            kept.append(len(between) // 4)
    # no more than that: where the message is largest, memagent's own text and tools leave before history does
    assert (kept[0], kept[-1]) == (0, turns)
    assert set(kept) == set(range(turns + 1))


@pytest.mark.parametrize("window", [1_024, 1_400, 2_300, 32_768])
def test_c01_what_is_sent(scripted: ScriptedServer, tmp_path: Path, window: int) -> None:
    """The same in requests, where what leaves is summarised, at other windows."""
    talk = talk_with_lookups(12, 40)
    scripted.default = "ok"
    imported(scripted, tmp_path, talk)
    with agent_on(scripted, tmp_path, session="s", window_tokens=window, instructions=INSTRUCTIONS) as agent:
        for number in range(3):
            agent.ask(f"and now {number}?")
        assert texts(agent)[: len(talk)] == [message["content"] or "" for message in talk]
    check_requests(scripted, window)
    for body in scripted.bodies:
        assert system_text(body).startswith(INSTRUCTIONS)
        assert body["messages"][1]["role"] == "user"
    if window == 32_768:
        assert scripted.bodies[0]["messages"][1:-1] == talk


# --- C02: a group of parallel calls is kept with only some of its results -----------------------------


def group(results: str, words: int = 300) -> list[Wire]:
    """One message with the calls a, b and c, results stored in this order, an answer and five small turns."""
    calls = [{"id": i, "type": "function", "function": {"name": "look", "arguments": "{}"}} for i in "abc"]
    return [
        {"role": "user", "content": "look three times"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": i, "content": f"from {i}: " + "word " * words} for i in results),
        {"role": "assistant", "content": "looked"},
        *({"role": role, "content": f"small {k}"} for k in range(5) for role in ("user", "assistant")),
    ]


def answers_of_group(body: Wire) -> dict[str, str]:
    return {m["tool_call_id"]: m["content"] for m in body["messages"] if m["role"] == "tool"}


@pytest.mark.parametrize("results", ["cab", "abc", "bca", "ca", "b", ""])
def test_c02_the_group_is_there_whole_or_not_at_all(scripted: ScriptedServer, tmp_path: Path, results: str) -> None:
    talk = group(results)
    imported(scripted, tmp_path, talk)
    window = 5_000
    more = {"window_tokens": window, "reply_tokens": 256, "instructions": INSTRUCTIONS}
    seen: set[bool] = set()
    with agent_on(scripted, tmp_path, session="s", **more) as agent:
        for body in sweep(agent, window, 49):
            found = answers_of_group(body)
            seen.add(bool(found))
            if not found:
                assert "look three times" not in all_text(body)
                continue
            assert list(found) == ["a", "b", "c"]
            for i, text in found.items():
                if i in results:
                    assert text == f"from {i}: " + "word " * 300
                else:
                    assert "outcome is not known" in text
    assert seen == {True, False}


@pytest.mark.parametrize("window", [1_024, 2_048, 8_192])
def test_c02_ten_restarts_add_no_stand_in(scripted: ScriptedServer, tmp_path: Path, window: int) -> None:
    scripted.default = "ok"
    imported(scripted, tmp_path, group("ca", 40))
    for number in range(10):
        with agent_on(scripted, tmp_path, session="s", window_tokens=window) as agent:
            agent.ask(f"go on {number}")
            assert [m.call_id for m in agent.history() if m.role is MessageRole.TOOL] == ["c", "a"]
    check_requests(scripted, window)
    for body in scripted.bodies:
        found = answers_of_group(body)
        if found:
            assert (found["a"], found["c"]) == tuple(f"from {i}: " + "word " * 40 for i in "ac")
            assert "outcome is not known" in found["b"]
            assert all_text(body).count("outcome is not known") == 1


C02_CRASH = """
import os, sys, time
from pathlib import Path
from memagent import tool
from tests.agents import options
from memagent import Agent

@tool
def quick(name: str) -> str:
    "Answers."
    return "from " + name

@tool
def fatal() -> str:
    "Ends everything, once the others are kept."
    time.sleep(1.5)
    os._exit(9)

class Server:
    base_url = sys.argv[1]

with Agent(**options(Server, Path(sys.argv[2]), session="s", tools=[quick, fatal])) as agent:
    agent.ask("look three times")
"""


def test_c02_left_by_a_real_crash(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(Reply(calls=[("quick", {"name": "a"}, "a"), ("fatal", {}, "b"), ("quick", {"name": "c"}, "c")]))
    ended = subprocess.run(
        [sys.executable, "-c", C02_CRASH, scripted.base_url, str(tmp_path)],
        env={"PYTHONPATH": ":".join(sys.path), "PATH": ""},
        timeout=90,
        check=False,
    )
    assert ended.returncode == 9
    scripted.default = "ok"
    for _ in range(3):
        with agent_on(scripted, tmp_path, session="s") as agent:
            agent.ask("go on")
    for body in scripted.bodies[1:]:
        found = answers_of_group(body)
        assert list(found) == ["a", "b", "c"]
        assert (found["a"], found["c"]) == ("from a", "from c")
        assert "outcome is not known" in found["b"]
        assert all_text(body).count("outcome is not known") == 1


# --- C06: one message larger than the whole window ----------------------------------------------------

WINDOW = 2_000
GIANT = "START-17 " + "word " * 10_000 + "END-42 what is this?"


def test_c06_a_giant_newest_message_is_refused_whole(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "ok"
    with agent_on(scripted, tmp_path, window_tokens=WINDOW) as agent:
        agent.ask("hello")
        begin = time.monotonic()
        with pytest.raises(PromptTooLargeError, match=r"newest message 10,0\d\d"):
            agent.ask(GIANT)
        assert time.monotonic() - begin < 10
        assert texts(agent) == ["hello", "ok"]
        assert agent.ask("and now?").text == "ok"
        assert texts(agent) == ["hello", "ok", "and now?", "ok"]
    check_requests(scripted, WINDOW)
    assert len(scripted.bodies) == 2


@pytest.mark.parametrize("lines", [1, 100])
def test_c06_a_giant_result_shows_its_head_and_tail(scripted: ScriptedServer, tmp_path: Path, lines: int) -> None:
    giant = GIANT if lines == 1 else GIANT.replace("word " * 100, "word " * 100 + "\n")

    @tool
    def report() -> str:
        """A giant."""
        return giant

    scripted.add(call("report"), "seen", "ok")
    with agent_on(scripted, tmp_path, window_tokens=WINDOW, tools=[report]) as agent:
        agent.ask("report")
        agent.ask("and now?")
        [result] = [m for m in agent.history() if m.role is MessageRole.TOOL]
        assert agent.read_output(result.id) == giant
        assert texts(agent)[-1] == "ok"
    check_requests(scripted, WINDOW)
    shown = scripted.bodies[1]["messages"][-1]["content"]
    assert shown.startswith("START-17")
    assert "END-42" in shown
    assert "left out" in shown
    assert f'read_output(ref="{result.id}"' in shown


@pytest.mark.parametrize("after", [0, 3])
def test_c06_a_giant_older_message_leaves_a_summary(scripted: ScriptedServer, tmp_path: Path, after: int) -> None:
    """It was said while a larger window was in use."""
    talk = [{"role": "user", "content": GIANT}, {"role": "assistant", "content": "a giant"}]
    talk += [{"role": role, "content": f"small {k}"} for k in range(after) for role in ("user", "assistant")]
    imported(scripted, tmp_path, talk)
    scripted.default = "ok"
    begin = time.monotonic()
    with agent_on(scripted, tmp_path, session="s", window_tokens=WINDOW) as agent:
        agent.ask("and now?")
        agent.settle(20)
        agent.ask("still there?")
        assert agent.read_output(agent.history()[0].id) == GIANT
    assert time.monotonic() - begin < 60
    check_requests(scripted, WINDOW)
    for body in scripted.bodies:
        assert "START-17" in system_text(body)  # exact details outlive what the summariser leaves out
        assert "END-42" in system_text(body)
        assert "search_history finds the exact words" in system_text(body)
    [read] = scripted.summary_bodies
    assert "START-17" in material(read)
    assert "END-42" in material(read)
    assert "left out" in material(read)


@pytest.mark.parametrize("large", [16_384, 262_144])
def test_c06_a_giant_older_result_can_still_be_read(scripted: ScriptedServer, tmp_path: Path, large: int) -> None:
    """It came in a larger window, whole or as a preview; in the small one it is shown shorter, with its reference."""

    @tool
    def report() -> str:
        """A giant."""
        return GIANT

    scripted.add(call("report"), "seen")
    with agent_on(scripted, tmp_path, session="s", window_tokens=large, tools=[report]) as agent:
        agent.ask("report")
        [result] = [m for m in agent.history() if m.role is MessageRole.TOOL]
        assert (result.overflow is None) is (large > 200_000)
    scripted.add("ok", call("read_output", ref=result.id, chars="-30"), "ok")
    with agent_on(scripted, tmp_path, session="s", window_tokens=2_500, tools=[report]) as agent:
        agent.ask("and now?")
        agent.ask("and its end?")
        assert agent.read_output(result.id) == GIANT
    check_requests(scripted, large)
    shown = scripted.bodies[2]["messages"][3]["content"]
    assert f'read_output(ref="{result.id}"' in shown
    assert shown.startswith("START-17")
    assert "END-42" in shown
    assert prompt_tokens(scripted.bodies[2]) < 2_500
    assert "END-42 what is this?" in scripted.bodies[-1]["messages"][-1]["content"]


def test_c06_instructions_larger_than_the_window_are_named(scripted: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(scripted, tmp_path, window_tokens=WINDOW, instructions="rule " * 3_000) as agent:
        with pytest.raises(PromptTooLargeError, match=r"window of 2,000 tokens: instructions 3,0.*Shorten the instr"):
            agent.ask("hello")
        assert agent.history() == []
    assert scripted.bodies == []


# --- C10: the system prompt does not survive ----------------------------------------------------------


@pytest.mark.parametrize("window", [2_048, 4_096])
def test_c10_the_system_text_survives(scripted: ScriptedServer, tmp_path: Path, window: int) -> None:
    nine, ten = "Answer in French. Tag ZX-9.", "Answer in French. Tag ZX-10."
    scripted.default = "oui, " + "la mer " * 60
    turn = 0

    def turns(until: int, instructions: str) -> None:
        nonlocal turn
        with agent_on(scripted, tmp_path, session="s", window_tokens=window, instructions=instructions) as agent:
            while turn < until:
                if turn == 10:
                    agent.note("user was idle")
                agent.ask(f"Question {turn}." + " please" * 60)
                agent.settle(20)
                turn += 1

    turns(30, nine)
    changed, summaries = len(scripted.bodies), len(scripted.summary_bodies)
    assert summaries >= 2
    turns(35, ten)
    turns(40, ten)
    assert len(scripted.bodies) == 40
    assert len(scripted.summary_bodies) > summaries
    for number, body in enumerate(scripted.bodies):
        current = nine if number < changed else ten
        assert system_text(body).startswith(current)
        assert all_text(body).count("Answer in French") == 1
        assert ("ZX-9" in all_text(body)) is (number < changed)
    for body in scripted.summary_bodies:
        assert "French" not in all_text(body)
        assert "Question" in material(body)
    assert "user was idle" in newest(scripted.bodies[10])
    check_requests(scripted, window)


# --- C11: first instruction and current question get lost in compaction -------------------------------

FIRST = "Rename module `orbit` to `perigee` everywhere; never touch the file LICENSE."


@pytest.mark.parametrize(("window", "steps", "own_turn"), [(4_096, 30, True), (4_096, 30, False), (8_192, 36, True)])
def test_c11_order_and_question_outlive_thirty_steps(
    scripted: ScriptedServer, tmp_path: Path, window: int, steps: int, own_turn: bool
) -> None:
    """``own_turn``: the work is done for a later message; else for the order itself."""

    @tool
    def edit(step: int) -> str:
        """Edits a file."""
        return f"step {step}: " + f"line{step} " * 120

    scripted.summary = "Work went on."
    work = [call("edit", step=step) for step in range(steps)]
    question = "Go on, step by step, and tell me which files are left." if own_turn else FIRST
    if own_turn:
        scripted.add("I will.")
    scripted.add(*work, "Done.")
    settings = load_settings(turn_limit=steps + 5)
    with agent_on(scripted, tmp_path, window_tokens=window, settings=settings, tools=[edit]) as agent:
        if own_turn:
            agent.ask(FIRST)
        reply = agent.ask(question)
        assert reply.text == "Done."
        assert any(isinstance(event, Compacted) for event in reply.events)
        calls = [made.arguments for message in agent.history() for made in message.calls]
        assert [json.loads(text)["step"] for text in calls] == list(range(steps))
    assert scripted.summary_bodies
    for body in scripted.bodies[own_turn:]:
        assert newest(body).endswith(question)
        for word in ("LICENSE", "`orbit`", "`perigee`"):
            assert word in all_text(body)
        assert body["messages"][-1]["role"] == "tool" or newest(body) is body["messages"][-1]["content"]
        if "Work went on" in all_text(body):
            assert "Work went on" not in "".join(str(m["content"]) for m in body["messages"][1:])
            assert "This is history, not instructions" in system_text(body)
    assert any("Work went on" in system_text(body) for body in scripted.bodies)
    assert any(FIRST in material(body) for body in scripted.summary_bodies)
    check_requests(scripted, window)
