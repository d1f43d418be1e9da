"""The agent as a host uses it, against a scripted server over real HTTP."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memagent import MemagentError, ModelError, StoreError, tool
from memagent.errors import AgentClosedError, ContextTooLongError, ModelUnreachableError, NotFoundError
from memagent.events import Finished, TextDelta, ToolFinished, ToolStarted
from memagent.testing import FakeClock, WordEmbedder
from tests.agents import agent_on, async_agent_on, newest, options
from tests.scripted_server import Reply, ScriptedServer, call, fail, say

MAYA = "My sister Maya lives in Lisbon and I am allergic to peanuts"


def test_a_new_session_is_answered_from_what_was_said_before(scripted: ScriptedServer, tmp_path: Path) -> None:
    clock = FakeClock()
    scripted.add("Noted.", "In Lisbon.")
    with agent_on(scripted, tmp_path, clock=clock) as agent:
        agent.ask(MAYA)
    clock.advance(days=21)
    with agent_on(scripted, tmp_path, clock=clock) as agent:
        reply = agent.ask("Where does my sister live?")
    assert reply.text == "In Lisbon."
    asked = newest(scripted.bodies[1])
    assert MAYA in asked
    assert "2026-01-05" in asked
    assert "3 weeks" in asked
    assert asked.endswith("Where does my sister live?")
    system = [body["messages"][0]["content"] for body in scripted.bodies]
    assert system[0] == system[1]  # date and memories stand in the message, never in the system text
    assert any(candidate.included for candidate in reply.manifest.candidates)


def test_another_user_gets_nothing_of_it(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add("ok", "ok", "I do not know.")
    with agent_on(scripted, tmp_path, user="u1", session="s1") as one:
        one.ask("The gate code is 7741")
        kept = one.remember("gate code 7741")
    with agent_on(scripted, tmp_path, user="u2", session="s1") as two:
        two.ask("hello")
        two.ask("What is the gate code?")
        assert not any("7741" in found.memory.text for found in two.recall("gate code 7741"))
        assert [m.content for m in two.history()] == ["hello", "ok", "What is the gate code?", "I do not know."]
        assert [s.message_count for s in two.sessions()] == [4]
        for act in (two.forget, two.restore):
            with pytest.raises(NotFoundError):
                act(kept.id)
    assert not any("7741" in str(body["messages"]) for body in scripted.bodies[1:])
    with agent_on(scripted, tmp_path, user="u1") as one:
        assert [m.text for m in one.memories()] == ["gate code 7741"]


@pytest.mark.parametrize(("name", "same"), [("", True), ("  ", True), ("default", True), ("U1", False), ("u1 ", False)])
def test_blank_users_are_one_fixed_user(scripted: ScriptedServer, tmp_path: Path, name: str, same: bool) -> None:
    with agent_on(scripted, tmp_path) as nobody:
        nobody.remember("gate code 7741")
    with agent_on(scripted, tmp_path, user=name) as agent:
        assert bool(agent.memories()) is same


def test_user_names_are_trimmed_everywhere_but_keep_their_case(scripted: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(scripted, tmp_path, user="u1") as agent:
        agent.remember("gate code 7741")
    found = {}
    for name in ("u1", " u1 ", "U1", "u１"):
        with agent_on(scripted, tmp_path, user=name) as agent:
            agent.settle(10)
            found[name] = (len(agent.memories()), len(agent.recall("gate code")))
    assert found == {"u1": (1, 1), " u1 ": (1, 1), "U1": (0, 0), "u１": (0, 0)}


def test_forgetting_takes_a_memory_out_of_lists_search_and_prompts(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add("ok", "ok", "ok")
    with agent_on(scripted, tmp_path, user="u1") as agent:
        kept = [agent.remember(f"gate {n} has code 774{n}") for n in range(3)]
        agent.ask("which gate codes do you know?")
        assert "7741" in newest(scripted.bodies[0])
        agent.forget(kept[1].id)
        assert agent.settle(10) == []
        assert "7741" not in str([m.text for m in agent.memories(state="active")])
        assert {r.memory.id for r in agent.recall("gate code", limit=2)} == {kept[0].id, kept[2].id}
        with pytest.raises(NotFoundError):
            agent.forget(kept[1].id)
        with pytest.raises(NotFoundError):
            agent.forget("no such id")
        reply = agent.ask("which gate codes do you know now?")
        assert reply.manifest.prefix_break == "forgotten"
        session = agent.session_id
    with agent_on(scripted, tmp_path, user="u1", session=session) as agent:
        agent.ask("and after reopening?")
        assert len(agent.memories(state="active")) == 2
        agent.restore(kept[1].id)
        assert kept[1].id in [found.memory.id for found in agent.recall("gate code 7741")]
    for body in scripted.bodies[1:]:
        assert "7741" not in str(body["messages"])
        assert "7740" in str(body["messages"])


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("我妹妹住在里斯本", "我妹妹住在哪里"),
        ("妹はリスボンに住んでいます", "妹はどこに住んでいますか"),
        ("My Schwester Maya 住在 Lisbon 🎉", "Maya 住在哪里?"),
        ("Ich wohne in Köln", "Wo in Köln wohne ich?"),
    ],
)
def test_other_languages_are_remembered_and_found(
    scripted: ScriptedServer, tmp_path: Path, said: str, asked: str
) -> None:
    scripted.add("好", "里斯本")
    with agent_on(scripted, tmp_path) as agent:
        agent.ask(said)
        agent.remember(said + " (told twice)")
        agent.new_session()
        agent.ask(asked)
        assert said in newest(scripted.bodies[1])
        assert any(said in found.memory.text for found in agent.recall(asked, limit=3))


def test_what_another_process_wrote_is_seen_at_once(scripted: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(scripted, tmp_path) as one, agent_on(scripted, tmp_path) as two:
        one.remember("the cellar key hangs behind the clock")
        assert two.recall("cellar key")[0].memory.text == "the cellar key hangs behind the clock"
        two.remember("the attic key is lost")
        assert one.recall("attic key")[0].memory.text == "the attic key is lost"
        assert one.settle(10) == []
        assert two.settle(10) == []


def test_preview_is_what_is_sent_and_changes_nothing(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add("ok", "ok")
    clock = FakeClock()
    with agent_on(scripted, tmp_path, clock=clock, instructions="Answer in French.") as agent:
        agent.remember("Maya lives in Lisbon")
        agent.ask("hello there")
        agent.settle(10)
        before = agent.history()
        first, second = agent.preview("Where does Maya live?"), agent.preview("Where does Maya live?")
        assert first.messages == second.messages
        assert agent.history() == before
        agent.ask("Where does Maya live?")
    body = scripted.bodies[1]
    assert body["messages"] == first.messages
    assert body["tools"] == first.tools
    first.messages[0]["content"] = "changed by the caller"
    assert first.messages[0]["content"].startswith("Answer in French.")
    assert first.manifest.total_tokens <= first.manifest.budget_tokens
    assert sum(first.manifest.sections.values()) == first.manifest.total_tokens
    assert body["max_tokens"] == first.manifest.reserve_tokens


def test_between_breaks_a_prompt_only_grows_at_its_end(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "yes"
    session = ""
    for _ in range(3):  # a restart renders the same bytes
        with agent_on(scripted, tmp_path, session=session or None) as agent:
            session = agent.session_id
            for n in range(4):
                agent.ask(f"question {n} about the river")
                agent.remember(f"note {n} about the river")
    for before, after in zip(scripted.bodies, scripted.bodies[1:], strict=False):
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert after["tools"] == before["tools"]


def test_a_full_window_is_cut_once_and_what_left_is_recalled(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = lambda body: say("noted: " + "blah " * 60)
    events: list[Any] = []
    with agent_on(scripted, tmp_path, window_tokens=2_048) as agent:
        agent.ask("The safe is behind the Vermeer in the library")
        fills = []
        for n in range(30):
            reply = agent.ask(f"tea{n} rain{n} bus{n} song{n} cake{n} moon{n} sand{n} wool{n}")
            events += reply.events
            fills.append(reply.manifest.total_tokens / reply.manifest.budget_tokens)
        agent.ask("Where is the safe behind the Vermeer?")
        assert len(agent.history()) == 64  # nothing leaves the journal
    assert max(fills) <= 1
    drops = [n for n in range(1, 30) if fills[n] < fills[n - 1] - 0.2]  # a smaller step: the margin was learned
    assert 2 <= len(drops) <= 10  # cut seldom and deep, not at every message
    assert all(fills[n] < 0.65 for n in drops)
    assert "Vermeer in the library" not in str(scripted.bodies[-1]["messages"][1:-1])
    assert "Vermeer in the library" in newest(scripted.bodies[-1])


def test_tools_run_side_by_side_and_answer_in_call_order(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    def slow(city: str) -> str:
        """Weather, slowly."""
        time.sleep(0.2)
        return f"sun in {city}"

    @tool
    async def boom() -> str:
        """Fails without a word."""
        raise ValueError

    calls = [
        ("slow", {"city": "Beijing"}, "x1"),
        ("boom", {}, "x2"),
        ("slow", {"city": "上海"}, "x3"),
        ("nope", {}, "x4"),
    ]
    scripted.add(Reply(calls=calls), "both sunny", "yes")
    with agent_on(scripted, tmp_path, tools=[slow, boom]) as agent:
        events = list(agent.stream("compare"))
        agent.ask("sure?")
        session = agent.session_id
    assert isinstance(events[-1], Finished)
    assert {type(e) for e in events} >= {TextDelta, ToolStarted, ToolFinished, Finished}
    results = [m for m in scripted.bodies[1]["messages"] if m["role"] == "tool"]
    assert [m["tool_call_id"] for m in results] == ["x1", "x2", "x3", "x4"]
    assert "Beijing" in results[0]["content"]
    assert "ValueError" in results[1]["content"]
    assert "上海" in results[2]["content"]
    assert "slow" in results[3]["content"]  # the real names are listed
    with agent_on(scripted, tmp_path, session=session) as agent:
        roles = [m.role.value for m in agent.history()]
    assert roles == ["user", "assistant", "tool", "tool", "tool", "tool", "assistant", "user", "assistant"]


def test_arguments_that_do_not_fit_are_told_to_the_model(scripted: ScriptedServer, tmp_path: Path) -> None:
    ran: list[int] = []

    @tool
    def count(n: int) -> int:
        """Counts."""
        ran.append(n)
        return n

    scripted.add(Reply(calls=[("count", {"n": "many"}), ("count", {"n": 3, "x": 1}), ("count", {"n": 4})]), "done")
    with agent_on(scripted, tmp_path, tools=[count]) as agent:
        agent.ask("count")
    assert ran == [4]
    first, second, third = [m["content"] for m in scripted.bodies[1]["messages"] if m["role"] == "tool"]
    assert "n" in first
    assert "bad_arguments" in first
    assert "x" in second
    assert third == "4"


def test_a_side_effect_needs_somebody_who_agrees(scripted: ScriptedServer, tmp_path: Path) -> None:
    ran: list[str] = []

    @tool(side_effect=True)
    def delete(path: str) -> str:
        """Deletes a file."""
        ran.append(path)
        return "gone"

    scripted.add(
        call("delete", path="a"), "not done", call("delete", path="b"), "not done", call("delete", path="c"), "ok"
    )
    for approve in (None, lambda call: False, lambda call: "c" in call.arguments):
        with agent_on(scripted, tmp_path, tools=[delete], approve=approve) as agent:
            agent.ask("delete it")
    assert ran == ["c"]


def test_memory_tools_reach_later_sessions(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(
        call("remember", text="Maya's birthday is 4 June"), "I will.", call("recall", query="birthday"), "4 June."
    )
    with agent_on(scripted, tmp_path) as agent:
        agent.ask("Please keep my sister's birthday in mind: 4 June")
        agent.new_session()
        agent.ask("What did I ask you to keep?", remember=False)
    results = [m["content"] for m in scripted.bodies[3]["messages"] if m["role"] == "tool"]
    assert "Maya's birthday is 4 June" in results[0]


def test_what_must_not_be_remembered_is_not(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(call("remember", text="the affair"), "fine", "no idea")
    with agent_on(scripted, tmp_path) as agent:
        agent.ask("Between us: the affair of the necklace", remember=False)
        agent.settle(10)
        assert agent.memories(kind=None) == []
        assert len(agent.history()) == 4
        agent.new_session()
        agent.ask("What about the necklace affair?")
    assert "between us" not in str(scripted.bodies[-1]["messages"]).lower()


def test_a_model_that_repeats_itself_is_stopped(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    def poll() -> str:
        """Always the same."""
        return "nothing new"

    scripted.default = lambda body: say("I give up.") if body.get("tool_choice") == "none" else call("poll")
    with agent_on(scripted, tmp_path, tools=[poll]) as agent:
        reply = agent.ask("poll")
    assert reply.finish_reason == "no_progress"
    assert reply.text == "I give up."
    assert len(scripted.bodies) == 3


def test_a_call_written_as_text_is_no_answer(scripted: ScriptedServer, tmp_path: Path) -> None:
    """A small model that goes on calling when it is to answer: the person sees what the tool said instead."""

    @tool
    def order_status(number: int) -> str:
        """Where an order is."""
        return f"Order {number} is in Kyoto."

    written = '{"name": "order_status", "arguments": {"number": 7}}'
    scripted.default = written
    with agent_on(scripted, tmp_path, tools=[order_status]) as agent:
        reply = agent.ask("where is order 7?")
        assert reply.finish_reason == "no_progress"
        assert "Order 7 is in Kyoto." in reply.text
        assert "arguments" not in reply.text
        assert "arguments" not in agent.history()[-1].content
        asked = agent.ask("write me that call as JSON", tool_choice="none")
    assert asked.text == written


def test_a_model_that_says_nothing_about_a_result_leaves_the_result(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    def order_status(number: int) -> str:
        """Where an order is."""
        return f"Order {number} is in Kyoto. " + "far " * 1_000

    scripted.add(call("order_status", number=7), say(""), say(""), say(""))
    with agent_on(scripted, tmp_path, tools=[order_status]) as agent:
        reply = agent.ask("where is order 7?")
        assert reply.finish_reason == "no_progress"
        assert "Order 7 is in Kyoto." in reply.text
        assert len(reply.text) < 1_000
        scripted.default = "fine"
        assert agent.ask("and now?").text == "fine"


def test_the_turn_limit_ends_honestly(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    def step(n: int) -> int:
        """Something new each time."""
        return n

    numbers = iter(range(100))
    scripted.default = lambda body: call("step", n=next(numbers))
    with agent_on(scripted, tmp_path, tools=[step]) as agent:
        reply = agent.ask("go")
        assert reply.finish_reason == "turn_limit"
        assert "10" in reply.text
        scripted.default = "fine"
        assert agent.ask("and now?").text == "fine"


def test_too_long_for_the_server_is_tried_once_with_less(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "ok " + "word " * 150
    too_long = fail(400, "This model's maximum context length is 4096 tokens", "context_length_exceeded")
    with agent_on(scripted, tmp_path, window_tokens=4_096) as agent:
        for n in range(10):
            agent.ask(f"fill {n} " + "word " * 100)
        scripted.add(too_long)
        reply = agent.ask("now")
        assert reply.text.startswith("ok")
        assert len(str(scripted.bodies[-1])) < len(str(scripted.bodies[-2]))
        scripted.add(too_long, too_long)
        with pytest.raises(ContextTooLongError):
            agent.ask("again")
        assert agent.ask("and now?").text.startswith("ok")


def test_a_dead_endpoint_loses_nothing(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(fail(401, "bad key"), "here again")
    with agent_on(scripted, tmp_path) as agent:
        with pytest.raises(ModelError, match="key"):
            agent.ask("first try")
        agent.ask("second try")
        assert [m.content for m in agent.history()] == ["first try", "second try", "here again"]
    with pytest.raises(ModelUnreachableError), agent_on(scripted, tmp_path, base_url="http://127.0.0.1:9/v1") as agent:
        agent.ask("anybody?")


def test_a_cancelled_answer_is_kept_as_far_as_it_came(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(Reply(pieces=["one ", "two ", "three"] * 50, pause_seconds=0.05), "going on")
    with agent_on(scripted, tmp_path) as agent:
        seen: list[str] = []
        for event in agent.stream("count"):
            if isinstance(event, TextDelta):
                seen.append(event.text)
                if len(seen) == 3:
                    agent.cancel()
        assert isinstance(event, Finished)
        assert event.finish_reason == "cancelled"
        partial = agent.history()[-1]
        assert partial.partial
        assert partial.content.startswith("one two three")
        agent.ask("go on")
    assert "cut off" in scripted.bodies[1]["messages"][-2]["content"]


def test_leaving_a_stream_early_cancels_it(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(Reply(pieces=["drip "] * 200, pause_seconds=0.05), "next")
    with agent_on(scripted, tmp_path) as agent:
        started = time.monotonic()
        for event in agent.stream("drip"):
            if isinstance(event, TextDelta):
                break
        assert agent.ask("next").text == "next"
        assert time.monotonic() - started < 8


def test_calls_left_by_a_crash_are_answered_honestly(scripted: ScriptedServer, tmp_path: Path) -> None:
    history = [
        {"role": "user", "content": "do three things"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": i, "function": {"name": "act", "arguments": "{}"}} for i in "abc"],
        },
        {"role": "tool", "tool_call_id": "c", "content": "c done"},
        {"role": "tool", "tool_call_id": "a", "content": "a done"},
    ]
    scripted.default = "ok"
    with agent_on(scripted, tmp_path, session="crashed") as agent:
        agent.ingest(history)
    for _ in range(3):
        with agent_on(scripted, tmp_path, session="crashed") as agent:
            agent.ask("go on")
    results = [m for m in scripted.bodies[-1]["messages"] if m["role"] == "tool"]
    assert [m["tool_call_id"] for m in results] == ["a", "b", "c"]
    assert results[0]["content"] == "a done"
    assert "outcome is not known" in results[1]["content"]
    assert results[2]["content"] == "c done"


def test_ingesting_twice_adds_nothing(scripted: ScriptedServer, tmp_path: Path) -> None:
    talk = [{"role": "user", "content": f"line {n}", "id": f"l{n}", "at": f"2024-03-0{n + 1}T10:00"} for n in range(5)]
    with agent_on(scripted, tmp_path) as agent:
        for _ in range(2):
            assert agent.ingest(talk, session="import") == 5
            assert agent.settle(10) == []
        assert [m.content for m in agent.history("import")] == [f"line {n}" for n in range(5)]
        assert len(agent.memories(kind=None)) == 5
        assert agent.recall("line 3")[0].memory.said_at.date().isoformat() == "2024-03-04"
        with pytest.raises(MemagentError, match="message 2"):
            agent.ingest([{"role": "user", "content": "fine"}, {"role": "narrator", "content": "?"}], session="bad")
        with pytest.raises(NotFoundError):
            agent.history("bad")


def test_lines_written_one_after_the_other_are_found_and_shown_at_once(
    scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.default = "ok"
    with agent_on(scripted, tmp_path, session="here") as agent, agent_on(scripted, tmp_path, session="here") as other:
        for number in range(6):
            (agent, other)[number % 2].ingest([{"role": "user", "content": f"line {number} about tulips"}])
        fact = agent.remember("the user grows tulips")
        assert agent.recall("who grows tulips?")[0].memory.id == fact.id
        assert other.recall("line 5 tulips")[0].memory.text == "line 5 about tulips"
        agent.ask("and?")
        shown = " ".join(str(m["content"]) for m in scripted.bodies[-1]["messages"])
        assert [number for number in range(6) if f"line {number} about" in shown] == list(range(6))
        assert agent.settle(10) == []


def test_one_fact_told_to_two_agents_at_once_is_one_record(scripted: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(scripted, tmp_path) as one, agent_on(scripted, tmp_path) as two:
        with ThreadPoolExecutor(2) as threads:
            told = [threads.submit(a.remember, f"the boat {n} is called Heron") for n in range(10) for a in (one, two)]
        assert len({each.result().id for each in told}) == 10
        facts = one.memories()
        assert len(facts) == 10
        assert all(len(fact.sources) == 2 for fact in facts)


def test_from_a_running_loop_threads_and_fresh_loops(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    async def wait() -> str:
        """An async tool."""
        await asyncio.sleep(0.01)
        return "waited"

    scripted.default = lambda body: say("ok") if body["messages"][-1]["role"] == "tool" else call("wait")
    agent = agent_on(scripted, tmp_path, tools=[wait])

    async def inside() -> str:
        return agent.ask("inside a running loop").text

    for _ in range(3):
        assert asyncio.run(inside()) == "ok"
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(agent.ask("from a thread").text)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["ok", "ok"]
    agent.close()
    with pytest.raises(AgentClosedError):
        agent.ask("too late")
    agent.close()


def test_the_async_agent_serves_two_loops(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "ok"
    agent = async_agent_on(scripted, tmp_path)

    async def use(text: str) -> str:
        events = [event async for event in agent.stream(text)]
        assert isinstance(events[-1], Finished)
        return (await agent.ask(text)).text

    assert asyncio.run(use("first loop")) == "ok"
    assert asyncio.run(use("second loop")) == "ok"
    asyncio.run(agent.close())


def test_cancelling_the_callers_task_keeps_what_was_said(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(Reply(pieces=["drip "] * 200, pause_seconds=0.05))

    async def scenario() -> list[str]:
        async with async_agent_on(scripted, tmp_path) as agent:
            task = asyncio.create_task(agent.ask("drip"))
            await asyncio.sleep(1.5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            for _ in range(50):
                if len(said := await agent.history()) == 2:
                    break
                await asyncio.sleep(0.1)
            return [m.content for m in said]

    said = asyncio.run(scenario())
    assert said[0] == "drip"
    assert said[1].startswith("drip")


def test_a_clock_in_steps_gives_every_entry_its_time(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "ok"
    with agent_on(scripted, tmp_path, clock=FakeClock(step=timedelta(seconds=1))) as agent:
        agent.ask("one")
        agent.ask("two")
        times = [m.at for m in agent.history()]
    assert times == sorted(times)
    assert len(set(times)) == 4


def test_wrong_settings_are_named(scripted: ScriptedServer, tmp_path: Path) -> None:
    with pytest.raises(MemagentError, match="window_tokens"):
        agent_on(scripted, tmp_path, window_tokens=100)
    with pytest.raises(StoreError, match="--data-dir"):
        agent_on(scripted, Path("/dev/null/here"))
    assert options(scripted, tmp_path)["model"] == "scripted"


def test_a_damaged_vector_index_is_rebuilt_and_the_person_told(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "ok"
    for user in ("u1", "u2"):
        with agent_on(scripted, tmp_path, user=user) as agent:
            agent.remember(f"{user} keeps the boat in the northern harbour")
            assert agent.settle(20) == []
    for file in (tmp_path / "vectors").rglob("*"):
        if file.is_file() and file.suffix in (".sqlite3", ".bin"):
            file.write_bytes(b"rubbish" * 1_000)
    with agent_on(scripted, tmp_path, user="u1") as agent:
        assert agent.recall("boat northern harbour")  # by its words, at once
        agent.remember("the oars are in the shed")
        assert agent.settle(30) == []
        reply = agent.ask("where is the boat?")
        assert any("rebuilt" in getattr(event, "text", "") for event in reply.events)
        assert "meaning" in agent.recall("boat northern harbour")[0].why
    with agent_on(scripted, tmp_path, user="u2") as agent:
        agent.settle(20)
        assert "meaning" in agent.recall("boat northern harbour")[0].why


def test_what_was_recalled_once_is_not_attached_again(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "ok"
    with agent_on(scripted, tmp_path) as agent:
        agent.remember("the boat lies in the northern harbour")
        for question in ("where is the boat?", "is the boat in the northern harbour?", "which harbour?"):
            agent.ask(question)
    assert "northern harbour" in scripted.bodies[0]["messages"][1]["content"]
    assert str(scripted.bodies[2]["messages"]).count("the boat lies in the northern harbour") == 1


def test_the_same_words_are_kept_once(scripted: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(scripted, tmp_path) as agent:
        first = agent.remember("Prefers tea over coffee")
        for text in ("prefers TEA over  coffee.", "Prefers tea over coffee"):
            assert agent.remember(text).id == first.id
        agent.remember("Prefers coffee over tea")
        assert len(agent.memories()) == 2


@pytest.mark.parametrize("after_seconds", [0.0, 0.05, 0.5])
def test_stopped_before_a_word_came(scripted: ScriptedServer, tmp_path: Path, after_seconds: float) -> None:
    scripted.default = lambda body: say("late", before_seconds=3)
    with agent_on(scripted, tmp_path) as agent:
        agent.ask("warm up")
        stopper = threading.Timer(after_seconds, agent.cancel)
        stopper.start()
        reply = agent.ask("hello")
        stopper.join()
        if reply.finish_reason == "cancelled":
            assert [m.content for m in agent.history()][2:] in (["hello"], [])
        scripted.default = "fine"
        assert agent.ask("and now?").text == "fine"
        assert all(m.content for m in agent.history())


def test_a_question_asked_before_does_not_hide_its_answer(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "hm"
    with agent_on(scripted, tmp_path) as agent:
        agent.ask(MAYA)
        for _ in range(3):
            agent.new_session()
            agent.ask("Where does my sister live?")
        agent.new_session()
        agent.ask("What is the weather where my sister lives?")
        agent.new_session()
        agent.ask("Where does my sister live?")
    assert all(MAYA in newest(body) for body in scripted.bodies[1:])


def test_another_embedder_embeds_anew_and_says_so(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "ok"
    with agent_on(scripted, tmp_path) as agent:
        agent.remember("the boat lies in the northern harbour")
        assert agent.settle(20) == []
    for visit in range(2):
        with agent_on(scripted, tmp_path, embedder=WordEmbedder(32, name="other")) as agent:
            assert agent.settle(20) == []
            assert "meaning (1.00)" in agent.recall("the boat lies in the northern harbour")[0].why
            told = [getattr(event, "text", "") for event in agent.ask("hello").events]
            assert any("embedded anew" in text for text in told) is (visit == 0)


class BrokenEmbedder(WordEmbedder):
    """One that loads and then fails."""

    def embed_query(self, text: str) -> Any:
        raise RuntimeError("out of memory")


def test_an_embedder_that_fails_leaves_the_words(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "ok"
    with agent_on(scripted, tmp_path, embedder=BrokenEmbedder()) as agent:
        agent.remember("the boat lies in the northern harbour")
        agent.ask("where is the boat?")
        assert "northern harbour" in newest(scripted.bodies[0])
        assert any("out of memory" in line for line in agent.settle(None))


def test_a_demanded_tool_is_demanded_once(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    def look() -> str:
        """Looks."""
        return "seen"

    scripted.add(call("look"), "I saw it.")
    with agent_on(scripted, tmp_path, tools=[look]) as agent:
        assert agent.ask("look!", tool_choice="required").text == "I saw it."
    assert scripted.bodies[0]["tool_choice"] == "required"
    assert scripted.bodies[1].get("tool_choice", "auto") == "auto"


def test_a_model_that_returns_nothing_is_asked_once_more_without_tools(
    scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.add(Reply(""), "here I am")
    with agent_on(scripted, tmp_path) as agent:
        assert agent.ask("hello").text == "here I am"
        assert [bool(body.get("tools")) for body in scripted.bodies] == [True, False]
        scripted.add(Reply(""), Reply(""), Reply(""))
        with pytest.raises(ModelError, match="returned nothing"):
            agent.ask("and now?")
        assert len(scripted.bodies) == 5
