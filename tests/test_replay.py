"""Every prompt that was sent can be made again, byte for byte, until what it was made from expires."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from memagent import Agent, Settings, tool
from memagent.context.digest import RENDERING, RunningDigest, message_digest
from memagent.context.render import ContextBlock, ContextLine, build_exchange
from memagent.context.window import close_exchange
from memagent.errors import NotFoundError
from memagent.llm.tokens import TokenCounter
from stores.records import ToolCall
from tests.agents import agent_on
from tests.contract.samples import message
from tests.scripted_server import Reply, ScriptedServer, is_own
from tests.test_context_machine import STEPS, TEXTS, Conversation


def prompts_sent(server: ScriptedServer) -> list[dict[str, Any]]:
    return [record.body for record in server.records if record.body and not is_own(record.body)]


def check(agent: Agent, number: int, body: dict[str, Any], session: str | None = None) -> None:
    replay = agent.replay(number, session=session)
    assert (replay.status, replay.why) == ("equal", "the same, byte for byte")
    assert json.dumps(list(replay.messages)) == json.dumps(body["messages"])
    assert json.dumps(list(replay.tools)) == json.dumps(body.get("tools", []))


class Replayed(Conversation):
    """Any conversation, with memories forgotten and restored, and every prompt replayed."""

    def __init__(self) -> None:
        super().__init__()
        self.replayed = 0

    @rule(text=TEXTS)
    def remember(self, text: str) -> None:
        self.agent.remember(text)

    @rule(every=st.integers(1, 3))
    def forget_what_was_recalled(self, every: int) -> None:
        manifest = self.agent.last_manifest()
        for candidate in (manifest.candidates if manifest else ())[::every]:
            with contextlib.suppress(NotFoundError):
                self.agent.forget(candidate.memory_id)

    @rule()
    def restore_everything(self) -> None:
        for memory in self.agent.memories("forgotten", kind=None):
            self.agent.restore(memory.id)

    @invariant()
    def new_prompts_are_replayed(self) -> None:
        sent = prompts_sent(self.server)
        for number in range(self.replayed + 1, len(sent) + 1):
            check(self.agent, number, sent[number - 1])
        self.replayed = len(sent)

    @rule(which=st.floats(0, 1))
    def an_old_one_is_replayed(self, which: float) -> None:
        sent = prompts_sent(self.server)
        if sent:
            number = 1 + int(which * (len(sent) - 1))
            check(self.agent, number, sent[number - 1])


@pytest.mark.timeout(3_600)
def test_any_prompt_of_any_conversation(pytestconfig: pytest.Config) -> None:
    examples = 250 if pytestconfig.getoption("--thorough") else 8
    run_state_machine_as_test(
        Replayed,
        settings=settings(max_examples=examples, stateful_step_count=STEPS, deadline=None, phases=[Phase.generate]),
    )


# --- what it answers ---------------------------------------------------------------------------


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def talk(agent: Agent, times: int) -> None:
    for number in range(times):
        agent.ask(f"note {number}: the river is calm and the boat is blue today")


def test_the_same_in_another_process_with_another_model_and_without_one(
    scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.default = "noted"
    with agent_on(scripted, tmp_path, session="s", instructions="Be brief.") as agent:
        agent.remember("The boat is called Aurora.")
        talk(agent, 3)
        agent.ask("what is the boat called?")
    sent = prompts_sent(scripted)
    with agent_on(scripted, tmp_path, model="gpt-4o", window_tokens=2_048, instructions="Sing.") as other:
        for number, body in enumerate(sent, start=1):
            check(other, number, body, "s")
    offline = Settings(data_dir=tmp_path, base_url="http://127.0.0.1:9/v1", model="gone")
    with Agent(settings=offline, session="s", warm_up=False) as without:
        assert without.replay(-1).status == "equal"
        assert without.replay(-1).number == len(sent)


def test_a_prompt_that_the_server_found_too_long_is_replayed_as_well(scripted: ScriptedServer, tmp_path: Path) -> None:
    from tests.scripted_server import fail

    with agent_on(scripted, tmp_path, window_tokens=4_096) as agent:
        scripted.add(*["noted"] * 8)
        for _ in range(8):
            agent.ask("words and more words " * 40)
        scripted.add(fail(400, "maximum context length is 2048 tokens", "context_length_exceeded"), "shorter")
        agent.ask("and now?")
        sent = prompts_sent(scripted)
        assert len(sent[-1]["messages"]) < len(sent[-2]["messages"])
        for number, body in enumerate(sent, start=1):
            check(agent, number, body)


def test_what_prompts_were_made_from_expires_and_figures_stay(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "noted"
    clock = Clock()
    with agent_on(scripted, tmp_path, session="s", clock=clock, settings=Settings(manifest_days=30)) as agent:
        agent.remember("The boat is called Aurora.")
        agent.ask("what is the boat called?")
        figures = agent.manifests()[0]
        assert figures.candidates
        clock.now += timedelta(days=29)
        assert agent.replay(1).status == "equal"
        clock.now += timedelta(days=2)
        assert agent.replay(1).status == "expired"
        assert "30 days" in agent.replay(1).why
        assert agent.replay(1).messages == ()
        agent.ask("and now?")
        new, old = agent.manifests()
        assert (new.number, old.number) == (2, 1)
        assert (old.candidates, old.recipe) == ((), None)
        assert (old.sections, old.total_tokens, old.prompt_hash) == (
            figures.sections,
            figures.total_tokens,
            figures.prompt_hash,
        )
        assert agent.replay(2).status == "equal"  # the recalled line of the first exchange still stands in it
    with agent_on(scripted, tmp_path, session="s", clock=clock) as again:
        assert again.replay(1).status == "expired"
        assert again.replay(2).status == "equal"


def _change(folder: Path, statement: str) -> None:
    with sqlite3.connect(folder / "memagent.db") as connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "status"),
    [
        ("DELETE FROM manifest_texts WHERE last_at IS NULL", "erased"),  # what was recalled
        ("DELETE FROM manifest_texts WHERE last_at IS NOT NULL", "erased"),  # instructions and tools
        ("UPDATE entries SET payload = replace(payload, 'river', 'lake')", "different"),
        ("UPDATE manifests SET details = replace(details, '\"rendering\":', '\"rendering\":9')", "equal"),
    ],
)
def test_what_is_gone_or_changed_is_said(scripted: ScriptedServer, tmp_path: Path, statement: str, status: str) -> None:
    scripted.default = "noted"
    with agent_on(scripted, tmp_path, session="s") as agent:
        agent.remember("The boat is called Aurora.")
        agent.ask("what is the boat on the river called?")
        assert agent.replay(1).status == "equal"
    _change(tmp_path, statement)
    with agent_on(scripted, tmp_path, session="s") as agent:
        assert agent.replay(1).status == status


def test_words_that_memagent_would_choose_otherwise_by_now_are_no_difference(
    scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.default = "noted"
    with agent_on(scripted, tmp_path, session="s") as agent:
        agent.ask("hello")
    _change(tmp_path, "UPDATE manifests SET details = replace(details, '\"rendering\":', '\"rendering\":9')")
    _change(tmp_path, 'UPDATE manifests SET payload = replace(payload, \'"prompt_hash":"\', \'"prompt_hash":"0\')')
    with agent_on(scripted, tmp_path, session="s") as agent:
        assert agent.replay(1).status == "expired"


def test_an_unknown_number_is_not_found(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "noted"
    with agent_on(scripted, tmp_path) as agent:
        with pytest.raises(NotFoundError, match="no prompt was sent"):
            agent.replay(-1)
        agent.ask("hello")
        for number in (2, 0, -2):
            with pytest.raises(NotFoundError):
                agent.replay(number)


def test_two_processes_in_one_session_at_once(scripted: ScriptedServer, tmp_path: Path) -> None:
    """Exchanges that overlap stand in the order of their beginnings, in both processes and after a restart."""

    with agent_on(scripted, tmp_path, session="s") as one, agent_on(scripted, tmp_path, session="s") as two:

        def meanwhile(_body: dict[str, Any]) -> Reply:
            two.ask("the second's question")
            return Reply(text="the first's answer")

        scripted.add(meanwhile, "the second's answer", "fine", "fine too")
        one.ask("the first's question")
        one.ask("and now?")
        two.ask("and here?")
        sent = prompts_sent(scripted)
        for number, body in enumerate(sent, start=1):
            check(one, number, body)
            check(two, number, body)
    with agent_on(scripted, tmp_path, session="s") as again:
        before = sent[-1]["messages"]
        assert again.preview("then?").messages[: len(before)] == before


def test_forgotten_while_it_is_being_answered(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    def look_up(q: str) -> str:
        """Looks something up."""
        agent.forget(memory.id)
        return f"{q}: 42"

    with agent_on(scripted, tmp_path, tools=[look_up]) as agent:
        memory = agent.remember("The boat is called Aurora.")
        scripted.add(Reply(calls=[("look_up", {"q": "boat"})]), "Aurora it was")
        agent.ask("what is the boat called?")
        first, second = prompts_sent(scripted)
        assert "Aurora" in json.dumps(first)
        assert "Aurora" not in json.dumps(second)
        check(agent, 1, first)
        check(agent, 2, second)


# --- fingerprints ------------------------------------------------------------------------------


def test_a_running_digest_is_the_digest_of_its_parts() -> None:
    running = RunningDigest()
    parts = [bytes([number]) * 16 for number in range(9)]
    for count, part in enumerate(parts, start=1):
        running.append(part)
        for start in (0, 0, 3, 3, 0):
            fresh = RunningDigest()
            for other in parts[start:count]:
                fresh.append(other)
            assert running.since(min(start, count)) == fresh.since(0)


def test_whoever_changes_the_rendering_raises_its_number() -> None:
    """The digest below is of one exchange as RENDERING has it; another one needs another number."""
    asked = {"call_id": "c1", "name": "look_up"}
    said = [
        message(1, "Where is 里斯本?"),
        message(2, role="assistant", calls=(ToolCall(id="c1", name="look_up", arguments="{}"),)),
        message(3, "row 17 of a long table\n" * 2_000, role="tool", **asked),
        message(4, "In Portugal.", role="assistant", partial=True),
    ]
    entries = [entry.model_copy(update={"exchange_id": "e1", "sequence": n}) for n, entry in enumerate(said, start=1)]
    block = ContextBlock(("Today is Sunday.",), (ContextLine("m1", 1, 'Kept on 2026-03-01: "Maya lives in Lisbon."'),))
    exchange = build_exchange(entries, block)
    assert exchange is not None
    closed = close_exchange(exchange, 8_192, TokenCounter(), frozenset())
    assert (RENDERING, message_digest(closed.messages).hex()) == (2, "8707ce77fb34f2692f950e4dfb6dec29")
