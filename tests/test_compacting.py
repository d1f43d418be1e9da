"""Compaction as a person meets it: in the background, when a prompt would not fit, by hand, and back again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memagent import Agent, ContextError, tool
from memagent.cli.stream import compacted_line
from memagent.errors import NotFoundError
from memagent.testing import FakeClock
from tests.agents import agent_on, async_agent_on, newest
from tests.scripted_server import Reply, ScriptedServer, fail
from tests.wire import prompt_tokens

LONG = "and so on and so forth " * 40


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(default="I see. " + LONG, summary="The person counted. The assistant agreed.") as made:
        yield made
        made.check()


def fill(agent: Agent, count: int = 12, start: int = 0) -> list[Any]:
    """So many exchanges; what they and the background did."""
    events: list[Any] = []
    for number in range(start, start + count):
        events += agent.ask(f"number {number}, locker {5_000 + number}").events
        agent.settle(timeout_seconds=10)
    return events


def compactions(events: list[Any]) -> list[Any]:
    return [event for event in events if event.type == "compacted"]


def test_it_happens_in_the_background_and_is_told_with_the_next_answer(server: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(server, tmp_path, window_tokens=4_096) as agent:
        events = fill(agent)
        done = compactions(events)
        assert done
        assert not [event for event in events if event.type == "compacting"]  # nobody waited
        assert all(event.after_tokens < event.before_tokens for event in done)
        (summary, *_) = agent.summaries()
        assert summary.text.startswith("The person counted.")
        assert "5000" in summary.text  # exact, by code
        assert summary.tokens * 4 <= summary.source_tokens
        assert len(agent.history()) == 24
        system = server.bodies[-1]["messages"][0]["content"]
        assert system.count("End of the summaries.") == 1
        assert "number 11" in newest(server.bodies[-1])
        assert agent.last_manifest().sections["summaries"] > 0


def test_a_prompt_that_would_not_fit_waits_for_it(server: ScriptedServer, tmp_path: Path) -> None:
    talk = [{"role": r, "content": f"{n} " + LONG} for n in range(4) for r in ("user", "assistant")]
    with agent_on(server, tmp_path, window_tokens=4_096) as agent:
        agent.ingest(talk)
        reply = agent.ask("what did I say? " + LONG * 6)
        kinds = [event.type for event in reply.events]
        assert kinds.index("compacting") < kinds.index("compacted") < kinds.index("text")
        assert reply.manifest.compaction == "done"
        assert reply.manifest.prefix_break in (None, "compaction")
    assert all(prompt_tokens(body) + body["max_tokens"] <= 4_096 for body in server.bodies)


def test_undo_shows_the_session_as_before_and_can_be_undone(server: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(server, tmp_path) as agent:
        fill(agent, 6)
        before = agent.preview("and now?", recall=False).messages
        done = agent.compact("the lockers")
        assert done.exchanges == 5
        assert "the lockers" in server.summary_bodies[-1]["messages"][0]["content"]
        compacted = agent.preview("and now?", recall=False).messages
        assert len(compacted) < len(before)
        agent.undo()
        assert agent.preview("and now?", recall=False).messages == before
        agent.undo()
        assert agent.preview("and now?", recall=False).messages == compacted
    with agent_on(server, tmp_path, session="last") as agent:
        assert agent.preview("and now?", recall=False).messages == compacted


def test_after_an_undo_nothing_is_compacted_until_a_prompt_would_not_fit(
    server: ScriptedServer, tmp_path: Path
) -> None:
    with agent_on(server, tmp_path, window_tokens=4_096) as agent:
        events: list[Any] = []
        count = 0
        while not compactions(events):
            events = fill(agent, 1, count)
            count += 1
        agent.undo()
        later = fill(agent, 2, count)
        assert not compactions(later)
        forced = fill(agent, 8, count + 2)
        assert "compacting" in [event.type for event in forced]


def test_an_undo_while_the_background_compacts_stands(server: ScriptedServer, tmp_path: Path) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slow(_body: dict[str, Any]) -> str:
        asked.set()
        go_on.wait(20)
        return "The person counted on."

    with agent_on(server, tmp_path, window_tokens=4_096) as agent:
        fill(agent, 2)
        agent.compact()
        compacted = agent.summaries()
        server.summary = slow
        count = 2
        while not asked.is_set() and count < 30:
            agent.ask(f"number {count}, locker {5_000 + count}")
            count += 1
            asked.wait(0.3)
        agent.undo()
        shown = agent.preview("and now?", recall=False).messages
        go_on.set()
        agent.settle(timeout_seconds=10)
        assert agent.summaries() == []
        assert agent.preview("and now?", recall=False).messages == shown
        agent.undo()
        assert agent.summaries() == compacted


def test_what_to_keep_may_be_any_length(server: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(server, tmp_path, window_tokens=4_096) as agent:
        fill(agent, 4)
        assert agent.compact("the lockers and " + "every single word of it " * 2_000)
    assert all(prompt_tokens(body) + body["max_tokens"] <= 4_096 for body in server.summary_bodies)


def test_a_request_for_a_summary_fits_whatever_was_said(server: ScriptedServer, tmp_path: Path) -> None:
    talk = [{"role": r, "content": "</context>" * 180} for _ in range(8) for r in ("user", "assistant")]
    with agent_on(server, tmp_path, window_tokens=65_536, session="s") as agent:
        agent.ingest(talk)
    with agent_on(server, tmp_path, window_tokens=4_096, session="s") as agent:
        assert agent.ask("and now?").text
    assert server.summary_bodies
    assert all(prompt_tokens(body) + body["max_tokens"] <= 4_096 for body in server.summary_bodies)


def test_an_undo_that_would_not_fit_is_refused_with_figures(server: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(server, tmp_path, window_tokens=32_768) as agent:
        fill(agent, 12)
        agent.compact()
    with agent_on(server, tmp_path, window_tokens=2_048, session="last") as agent:
        with pytest.raises(ContextError, match=r"would take [\d,]+ tokens, and [\d,]+ fit"):
            agent.undo()
        assert agent.summaries()


def test_nothing_to_undo_or_compact_is_said(server: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(server, tmp_path) as agent:
        with pytest.raises(ContextError, match="nothing to undo"):
            agent.undo()
        assert agent.compact() is None
        agent.ask("hello")
        assert agent.compact() is None


def test_a_summary_is_expanded_and_reworded(server: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(server, tmp_path) as agent:
        fill(agent, 4)
        agent.compact()
        (summary,) = agent.summaries()
        behind = agent.expand(summary.id[:8])
        assert [m.content for m in behind if m.role == "user"] == [f"number {n}, locker {5_000 + n}" for n in range(3)]
        assert "locker 5001" in agent.read_output(summary.id)
        new = agent.edit(summary.id, "We counted lockers.")
        assert "We counted lockers." in agent.preview("?").messages[0]["content"]
        assert [m.id for m in agent.expand(new.id)] == [m.id for m in behind]
        agent.undo()
        assert agent.summaries() == [summary]
        for refused in (lambda: agent.edit(summary.id, " "), lambda: agent.edit(summary.id, "long " * 5_000)):
            with pytest.raises(ContextError):
                refused()
        with pytest.raises(NotFoundError, match="no summary"):
            agent.expand("nonsense")


def test_many_compactions_leave_two_levels_within_their_share(server: ScriptedServer, tmp_path: Path) -> None:
    numbers = iter(range(1_000))
    server.summary = lambda _body: " ".join(f"Locker {next(numbers)} was rented and paid." for _ in range(20))
    with agent_on(server, tmp_path, window_tokens=4_096) as agent:
        fill(agent, 70)
        levels = [summary.level for summary in agent.summaries()]
        assert "condensed" in levels
        assert levels == sorted(levels)  # condensed ones stand for the oldest
        assert agent.last_manifest().sections["summaries"] <= 4_096 // 5 + 100
        oldest = agent.summaries()[0]
        assert oldest.first_sequence == 1
        assert agent.expand(oldest.source_ids[0])


def test_the_daily_cap_stops_asking_the_model(server: ScriptedServer, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MEMAGENT_SUMMARY_TOKENS_PER_DAY", "0")
    with agent_on(server, tmp_path, window_tokens=4_096) as agent:
        fill(agent)
        assert agent.summaries()
        assert all(summary.made_by == "extract" for summary in agent.summaries())
        done = agent.compact()
        assert done is not None
        assert "cut down to single sentences" in compacted_line(done)
    assert not server.summary_bodies


def test_an_extract_is_replaced_when_the_summariser_works_again(server: ScriptedServer, tmp_path: Path) -> None:
    good = server.summary
    server.summary = fail(400, "no")
    with agent_on(server, tmp_path, window_tokens=4_096) as agent:
        events = fill(agent, 14)
        assert "could not be summarised" in " ".join(e.text for e in events if e.type == "notice")
        assert any(summary.made_by == "extract" for summary in agent.summaries())
        server.summary = good
        fill(agent, 20, 14)
        assert all(summary.made_by == "model" for summary in agent.summaries())
        assert any("5000" in str(body) for body in server.summary_bodies)


def test_a_note_of_the_host_stands_beside_the_next_message_only(server: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(server, tmp_path) as agent:
        agent.note("the user was idle")
        agent.ask("hello")
        agent.ask("hello again")
    assert "the user was idle" in server.bodies[0]["messages"][-1]["content"]
    assert "the user was idle" not in newest(server.bodies[1])


def test_results_past_their_time_are_named(server: ScriptedServer, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MEMAGENT_ZONE", "UTC")

    @tool(stale_after_seconds=600)
    def weather() -> str:
        """The weather."""
        return "sunny"

    clock = FakeClock()
    server.add(Reply(calls=[("weather", {})]), "Sunny.", "Still?", "Who knows.")
    with agent_on(server, tmp_path, tools=[weather], clock=clock) as agent:
        agent.ask("weather?")
        clock.advance(minutes=5)
        agent.ask("and?")
        assert "possibly stale" not in newest(server.bodies[-1])
        clock.advance(minutes=6)
        agent.ask("and now?")
        assert "weather returned at 2026-01-05 09:00" in newest(server.bodies[-1])
        assert server.bodies[-1]["messages"][: len(server.bodies[-2]["messages"])] == server.bodies[-2]["messages"]


async def _async_round(agent: Any) -> list[Any]:
    async with agent:
        for number in range(4):
            await agent.ask(f"number {number}")
        await agent.compact()
        (summary,) = await agent.summaries()
        await agent.edit(summary.id, "We counted.")
        await agent.undo()
        return await agent.expand(summary.id)


def test_the_async_agent_does_the_same(server: ScriptedServer, tmp_path: Path) -> None:
    import asyncio

    assert len(asyncio.run(_async_round(async_agent_on(server, tmp_path)))) == 6
