"""The queue behind learning: durable, in nobody's way, tried again, told when it fails."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memagent.llm.catalog import CATALOG
from memagent.llm.profiles import ModelProfile
from memagent.testing import FakeClock
from tests.agents import agent_on
from tests.scripted_server import Failure, Reply, ScriptedServer, fail, is_for_facts
from tests.sent import material, warnings_in
from tests.shell import Shell
from tests.test_learning import facts, settled

FACT = "The user has a cat called Miso"
SAID = "I have a cat called Miso."


def until(done: Callable[[], object], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_exchanges_are_read_together_once_four_wait(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path) as agent:
        for number in range(3):
            agent.ask(f"My friend {number} lives in Lisbon.")
        time.sleep(0.3)
        assert server.facts_bodies == []  # the window shows it all: no hurry
        agent.ask("My friend 3 lives in Porto.")
        until(lambda: server.facts_bodies)
        assert material(server.facts_bodies[0]).count("USER: My friend") == 4


def test_a_minute_later_or_when_the_session_is_left_it_is_read(tmp_path: Path) -> None:
    clock = FakeClock()
    with ScriptedServer(default="ok", facts=facts(FACT)) as server, agent_on(server, tmp_path, clock=clock) as agent:
        agent.ask(SAID)
        clock.advance(seconds=61)
        until(lambda: agent.memories())
        agent.ask("My boat is called Selkie.")
        agent.new_session()
        until(lambda: len(server.facts_bodies) == 2)


def test_closing_reads_what_is_left(tmp_path: Path) -> None:
    with ScriptedServer(default="ok", facts=facts(FACT)) as server:
        with agent_on(server, tmp_path) as agent:
            agent.ask(SAID)
        with agent_on(server, tmp_path, warm_up=False) as agent:
            assert [memory.text for memory in agent.memories()] == [FACT]


def test_closing_waits_only_so_long_and_the_next_start_goes_on(tmp_path: Path) -> None:
    with ScriptedServer(default="ok", facts=Failure(0, how="hang")) as server:
        start = time.monotonic()
        with agent_on(server, tmp_path) as agent:
            agent.ask(SAID)
        assert time.monotonic() - start < 15
        server.facts = facts(FACT)
        with agent_on(server, tmp_path) as agent:
            agent.model_name()
            settled(agent)
            assert [memory.text for memory in agent.memories()] == [FACT]


@pytest.mark.timeout(120)
def test_killed_while_it_learns_it_goes_on_at_the_next_start(tmp_path: Path) -> None:
    with ScriptedServer(default="ok", facts=Failure(0, how="hang")) as server:
        script = tmp_path / "talk.py"
        script.write_text(
            "import sys, time\nfrom pathlib import Path\nfrom tests.agents import agent_on\n"
            "class Server: base_url = sys.argv[1]\n"
            "agent = agent_on(Server, Path(sys.argv[2]))\n"
            f"agent.ask({SAID!r})\nprint('said', flush=True)\nagent.new_session()\ntime.sleep(60)\n"
        )
        shell = Shell(tmp_path, server.base_url)
        process = subprocess.Popen(
            [*Shell.argv()[:1], str(script), server.base_url, str(shell.data_dir)],
            stdout=subprocess.PIPE,
            env=shell.env,
            cwd=shell.cwd,
        )
        assert process.stdout
        process.stdout.readline()
        until(lambda: server.facts_bodies, 30)
        process.kill()
        process.stdout.close()
        process.wait()
        server.facts = facts(FACT)
        clock = FakeClock()  # the dead process holds its work for two minutes
        clock.now = clock.now.now(clock.now.tzinfo) + timedelta(minutes=3)
        with agent_on(server, shell.data_dir, clock=clock) as agent:
            agent.model_name()
            settled(agent)
            assert [memory.text for memory in agent.memories()] == [FACT]
            assert len(agent.memories()[0].sources) == 1


def test_what_fails_is_tried_three_times_then_given_up_and_told(tmp_path: Path) -> None:
    clock = FakeClock()
    with (
        ScriptedServer(default="ok", facts=fail(400, "no such thing")) as server,
        agent_on(server, tmp_path, clock=clock) as agent,
    ):
        agent.ask(SAID)
        assert "still to be learned from" in agent.settle(20)[0]

        def given_up() -> bool:
            clock.advance(hours=1)
            return agent.settle(20) == []

        until(given_up)
        told = warnings_in(agent.ask("and?").events)
        assert any("not tried again" in line for line in told)
        assert len([body for body in server.facts_bodies if SAID in material(body)]) == 3
        assert agent.memories() == []


def test_a_failure_does_not_touch_the_chat(tmp_path: Path) -> None:
    with (
        ScriptedServer(default="fine", facts=Reply(text="", ending="reset")) as server,
        agent_on(server, tmp_path) as agent,
    ):
        for number in range(6):
            assert agent.ask(f"My friend {number} lives in Lisbon.").text == "fine"


def test_a_model_that_does_one_thing_at_a_time_makes_way_for_the_person(tmp_path: Path) -> None:
    """As the embedded model: what is being learned is broken off, and read again after the answer."""
    started = threading.Event()

    def slow(_body: dict[str, Any]) -> Reply:
        started.set()
        return Reply(text=facts(FACT), before_seconds=30)

    with ScriptedServer(default="ok", facts=slow) as server, agent_on(server, tmp_path) as agent:
        model = agent._call(agent._assistant.model())  # pyright: ignore[reportPrivateUsage]
        model._profile = ModelProfile("scripted", 8_192, "setting", one_at_a_time=True)  # pyright: ignore
        agent.ask(SAID)
        agent.new_session()
        assert started.wait(20)
        server.facts = facts(FACT)
        begin = time.monotonic()
        assert agent.ask("And how are you doing?").text == "ok"
        assert time.monotonic() - begin < 15
        deadline = time.monotonic() + 10  # the server looks now and then whether its client is still there
        while not (aborted := [record for record in server.records if record.aborted]):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert [is_for_facts(record.body) for record in aborted] == [True]
        settled(agent)
        assert [memory.text for memory in agent.memories()] == [FACT]


def test_the_smallest_embedded_models_are_not_asked_unless_demanded() -> None:
    assert {entry.name for entry in CATALOG if entry.extracts} == {"qwen2.5-coder-1.5b"}
