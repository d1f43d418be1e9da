"""How exchanges, calls and agents end: nothing twice, nothing lost, nothing untold, whoever stops what when."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from memagent import Agent, tool
from memagent.agent.loop_thread import shared_loop
from memagent.errors import AgentClosedError
from memagent.events import Compacted, TextDelta
from memagent.memory.embed import EmbeddingService
from memagent.testing import WordEmbedder
from stores.records import LedgerEntry, Scope, ToolCall
from stores.sql import open_sql
from tests.agents import agent_on, async_agent_on
from tests.scripted_server import Reply, ScriptedServer, call


def ledger(data_dir: Path) -> list[LedgerEntry]:
    """All model calls, newest first."""

    async def read() -> list[LedgerEntry]:
        stores = open_sql(data_dir / "memagent.db")
        try:
            return await stores.ledger.list(Scope("default"))
        finally:
            await stores.close()

    return asyncio.run(read())


def test_a_cancelled_stream_is_cleaned_up_before_the_caller_goes_on(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(Reply(pieces=["drip "] * 200, pause_seconds=0.05))

    async def scenario() -> list[str]:
        async with async_agent_on(scripted, tmp_path) as agent:
            came = asyncio.Event()

            async def consume() -> None:
                async for event in agent.stream("drip"):
                    if isinstance(event, TextDelta):
                        came.set()

            task = asyncio.create_task(consume())
            await came.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return [m.content for m in await agent.history()]

    said = asyncio.run(scenario())
    assert said[0] == "drip"
    assert said[1].startswith("drip")


def test_calls_that_were_cancelled_or_failed_are_in_the_ledger_too(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(Reply(pieces=["drip "] * 200, pause_seconds=0.05))
    with agent_on(scripted, tmp_path) as agent:
        for event in agent.stream("drip"):
            if isinstance(event, TextDelta):
                break
    (entry,) = ledger(tmp_path)
    assert (entry.outcome, entry.estimated) == ("cancelled", True)
    assert entry.prompt_tokens > 0
    assert entry.latency_seconds > 0


@pytest.mark.parametrize("delay_seconds", [0.0, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08])
def test_whenever_it_is_stopped_everything_is_there_once(
    scripted: ScriptedServer, tmp_path: Path, delay_seconds: float
) -> None:
    scripted.add(Reply(pieces=["alpha ", "beta"]))
    with agent_on(scripted, tmp_path) as agent:
        agent.model_name()
        timer = threading.Timer(delay_seconds, agent.cancel)
        timer.start()
        reply = agent.ask("count")
        timer.join()
        assert reply.finish_reason in ("stop", "cancelled")
        said = [m.content for m in agent.history()]
        assert said == ["count", *([reply.text] if reply.text else [])]
        if scripted.bodies:  # else it was stopped before it was sent, and the reply is still to come
            scripted.add("next")
        agent.ask("go on")
        sent = [m["content"] for m in scripted.bodies[-1]["messages"][1:]]
        assert len(sent) == 3, "the stopped exchange is in the window, once"
        assert sent[0].endswith("count")


def test_looking_while_answering_doubles_nothing(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(*[f"answer {number}" for number in range(12)])
    with agent_on(scripted, tmp_path) as agent:
        over = threading.Event()

        def look() -> None:
            while not over.is_set():
                agent.preview("what would you say?", recall=False)

        watchers = [threading.Thread(target=look) for _ in range(3)]
        for watcher in watchers:
            watcher.start()
        for number in range(12):
            agent.ask(f"question {number}")
        over.set()
        for watcher in watchers:
            watcher.join()
        sent = [m["content"] for m in agent.preview("last", recall=False).messages[1:-1]]
    assert sent[1::2] == [f"answer {number}" for number in range(12)]


def test_a_cut_after_the_answer_is_told(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(*["word " * 150] * 12)
    with agent_on(scripted, tmp_path, window_tokens=2_048) as agent:
        events = [event for number in range(12) for event in agent.stream(f"number {number}")]
    cuts = [event for event in events if isinstance(event, Compacted)]
    assert cuts
    assert all(cut.after_tokens < cut.before_tokens for cut in cuts)


def test_running_out_of_time_is_told_and_stops_nothing(scripted: ScriptedServer, tmp_path: Path) -> None:
    talk = [{"role": "user", "content": f"message {number} of the import"} for number in range(3_000)]
    with agent_on(scripted, tmp_path) as agent:
        agent.ingest(talk, session="import")
        assert agent.settle(timeout_seconds=0.01)
        deadline = time.monotonic() + 60
        while len(agent.memories(kind=None)) < 3_000 and time.monotonic() < deadline:
            time.sleep(0.2)
        assert len(agent.memories(kind=None)) == 3_000


def test_a_closed_agent_says_so(scripted: ScriptedServer, tmp_path: Path) -> None:
    agent = agent_on(scripted, tmp_path)
    agent.close()
    for call_ in (agent.new_session, agent.last_manifest, lambda: agent.resume("last"), agent.settle):
        with pytest.raises(AgentClosedError):
            call_()


def test_a_session_of_that_name_is_not_another_with_a_longer_one(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add("ok")
    with agent_on(scripted, tmp_path, session="chat-10") as agent:
        agent.ask("ten")
    with agent_on(scripted, tmp_path, session="chat-1") as agent:
        assert agent.session_id == "chat-1"
        assert agent.history() == []
        assert agent.resume("chat-") == "chat-10"


def test_people_are_asked_one_thing_at_a_time_and_off_the_loop(scripted: ScriptedServer, tmp_path: Path) -> None:
    asked: list[str] = []
    busy = threading.Lock()

    @tool(side_effect=True)
    def delete(path: str) -> str:
        """Deletes a file."""
        return f"{path} is gone"

    def approve(one: ToolCall) -> bool:
        assert busy.acquire(blocking=False), "two questions at once"
        asked.append(one.arguments)
        assert agent.sessions()  # would wait for itself on the agent's own loop
        busy.release()
        return True

    both: list[Any] = [*call("delete", path="a").calls, *call("delete", path="b").calls]
    scripted.add(Reply(calls=both), "done")
    with agent_on(scripted, tmp_path, tools=[delete], approve=approve) as agent:
        assert agent.ask("delete both").text == "done"
    assert len(asked) == 2


def test_an_embedder_that_cannot_load_for_any_reason_is_not_waited_for() -> None:
    def load() -> WordEmbedder:
        raise KeyError("odd")

    service = EmbeddingService(load)
    assert asyncio.run(asyncio.wait_for(service.wait(), 10)) is False
    assert isinstance(service.failure, KeyError)


def _ask_in_child(data_dir: str, answers: Any) -> None:
    with Agent(data_dir=data_dir, warm_up=False) as agent:
        answers.put(len(agent.sessions()))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_a_forked_child_can_have_agents_of_its_own(tmp_path: Path) -> None:
    assert shared_loop() is shared_loop()
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_ask_in_child, args=(str(tmp_path), answers))
    child.start()
    assert answers.get(timeout=30) == 0
    child.join(30)
