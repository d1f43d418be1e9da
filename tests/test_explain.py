"""What changed between two prompts, where in a prompt something is, and when and why it left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memagent import Agent, tool
from memagent.errors import NotFoundError
from tests.agents import agent_on
from tests.scripted_server import Reply, ScriptedServer, is_for_summary, say
from tests.shell import Shell

SUMMARY = "The person took notes about the river and the boat. Search for: river, boat."


def answer(body: dict[str, Any]) -> Reply:
    return say(SUMMARY if is_for_summary(body) else "noted")


@tool
def look_up(q: str) -> str:
    """Looks something up."""
    return f"{q}: a line of a long table\n" * 60


def talk(agent: Agent, times: int, words: int = 60) -> None:
    for number in range(times):
        agent.ask(f"note {number}: " + "the river is calm today " * (words // 5))


def said(agent: Agent, number: int) -> str:
    """The id of the person's message of that number, from 0."""
    return [m.id for m in agent.history() if m.role == "user"][number]


# --- differences -------------------------------------------------------------------------------


def test_a_prompt_that_grew_at_its_end(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = answer
    with agent_on(scripted, tmp_path) as agent:
        talk(agent, 3)
        diff = agent.diff()
        assert (diff.first, diff.second, diff.cause) == (2, 3, None)
        assert (diff.exchanges_before, diff.exchanges_after) == (1, 2)
        grown = {change.name: change.after - change.before for change in diff.sections}
        assert grown["window"] > 0 == grown["system"] == grown["tools"]
        assert sum(grown.values()) == diff.total.after - diff.total.before
        assert agent.diff(1, 3) == agent.diff(-3, -1) == agent.diff(1)
        backwards = agent.diff(3, 1)
        assert backwards.total.before == diff.total.after


def test_a_compaction_and_its_undo(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = answer
    with agent_on(scripted, tmp_path) as agent:
        agent.ask("From now on always answer in one sentence.")
        talk(agent, 4)
        agent.compact()
        talk(agent, 1)
        diff = agent.diff()
        summary = agent.summaries()[0]
        assert diff.cause == "compaction"
        assert diff.summaries_added == (summary.id,)
        assert diff.instructions_added == ("From now on always answer in one sentence.",)
        assert diff.window_begins_at > diff.window_began_at == 1
        agent.undo()
        talk(agent, 1)
        undone = agent.diff()
        assert (undone.cause, undone.summaries_gone) == ("compaction", (summary.id,))
        assert undone.window_begins_at == 1


def test_recalled_forgotten_and_restored(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = answer
    with agent_on(scripted, tmp_path) as agent:
        memory = agent.remember("The boat is called Aurora.")
        agent.ask("hello there")
        agent.ask("what is the boat called?")
        assert memory.id in agent.diff().recalled
        agent.forget(memory.id)
        agent.ask("and now?")
        assert (agent.diff().cause, agent.diff().forgotten) == ("forgotten", (memory.id,))
        agent.restore(memory.id)
        agent.ask("and then?")
        assert agent.diff().restored == (memory.id,)


def test_there_must_be_two(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = answer
    with agent_on(scripted, tmp_path) as agent:
        with pytest.raises(NotFoundError, match="no prompt was sent"):
            agent.diff()
        talk(agent, 1)
        with pytest.raises(NotFoundError, match="no prompt number"):
            agent.diff()
        assert [m.number for m in agent.manifests()] == [1]


# --- where is an entry -------------------------------------------------------------------------


def test_an_entry_from_the_current_exchange_to_the_window_to_a_summary_and_back(
    scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.default = answer
    with agent_on(scripted, tmp_path, session="s") as agent:
        talk(agent, 1)
        first = said(agent, 0)
        assert (agent.why(first).place, agent.why(first).shown) == ("current", True)
        answered = next(m.id for m in agent.history() if m.role == "assistant")
        assert agent.why(answered).place == "not yet"
        talk(agent, 4)
        assert agent.why(first).place == agent.why(answered).place == "window"
        assert agent.why(first).prompt == 5
        agent.compact()
        assert agent.why(first).place == "window"  # in the last prompt it still was
        talk(agent, 1)
        left = agent.why(first)
        summary = agent.summaries()[0]
        assert (left.place, left.shown, left.by_id) == ("summarised", False, summary.id)
        assert left.left_at is not None
        assert "a compaction was asked for" in left.why
        assert agent.why(summary.id).place == "summaries"
        assert agent.why(summary.id[:10]) == agent.why(summary.id)
        new = agent.edit(summary.id, "They took notes about a river.")
        talk(agent, 1)
        assert agent.why(new.id).place == "summaries"
        old = agent.why(summary.id)
        assert (old.place, old.by_id) == ("summarised", new.id)
        agent.undo()
        agent.undo()
        agent.undo()
        talk(agent, 1)
    with agent_on(scripted, tmp_path, session="s") as again:
        places = {again.why(summary.id).place, again.why(first).place}
        assert places <= {"summaries", "summarised", "window", "left out"}


def test_a_window_that_was_full(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = answer
    with agent_on(scripted, tmp_path, window_tokens=2_048) as agent:
        agent.ask("Please always answer in French from now on.")
        talk(agent, 8, words=120)
        agent.settle(timeout_seconds=10)
        talk(agent, 1)
        rule, note = agent.why(said(agent, 0)), agent.why(said(agent, 1))
        assert (rule.place, rule.shown) == ("system", True)
        assert note.place == "summarised"
        assert "the window was full" in note.why
        assert note.left_at is not None


def test_a_tool_result_that_is_a_reference(scripted: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(scripted, tmp_path, window_tokens=8_192, tools=[look_up]) as agent:
        for number in range(12):
            scripted.add(Reply(calls=[("look_up", {"q": f"q{number}"})]), "noted")
            agent.ask(f"look up {number}")
            agent.settle(timeout_seconds=10)
        scripted.add("noted")
        agent.ask("and now?")
        results = [m.id for m in agent.history() if m.role == "tool"]
        places = [agent.why(result).place for result in results]
        assert "reference" in places
        freed = agent.why(results[places.index("reference")])
        assert (freed.shown, freed.left_at is not None) == (False, True)
        assert places[-1] == "window"


def test_notes_marks_other_sessions_and_unknown_ids(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = answer
    with agent_on(scripted, tmp_path) as agent:
        note = agent.note("the user was idle")
        assert agent.why(note).place == "not yet"
        talk(agent, 1)
        here, session = said(agent, 0), agent.session_id
        agent.new_session()
        assert (agent.why(here).session_id, agent.why(here).place) == (session, "current")
        for wanted in ("", "nosuch"):
            with pytest.raises(NotFoundError):
                agent.why(wanted)
        assert agent.why(note, session=session).place == "never shown"


# --- where is a memory -------------------------------------------------------------------------


def test_a_memory_in_and_out_of_the_prompt(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = answer
    with agent_on(scripted, tmp_path) as agent:
        memory = agent.remember("The boat is called Aurora.")
        assert agent.why(memory.id).place == "not yet"
        agent.ask("what is the boat called?")
        found = agent.why(memory.id)
        assert (found.place, found.shown, found.kind) == ("recalled", True, "memory")
        assert found.score is not None
        talk(agent, 2)
        beside = agent.why(memory.id)
        assert (beside.place, beside.by_id) == ("recalled", said(agent, 0))
        agent.compact()
        agent.ask("something else entirely, about mountains")
        gone = agent.why(memory.id)
        assert gone.place in ("not recalled", "recalled")
        agent.forget(memory.id)
        assert agent.why(memory.id).place == "forgotten"


def test_a_memory_that_was_never_near(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = answer
    with agent_on(scripted, tmp_path) as agent:
        memory = agent.remember("The dentist is in Rua Augusta.")
        agent.ask("hello there")
        found = agent.why(memory.id)
        assert (found.place, found.shown) == ("not recalled", False)
        assert found.why


# --- from the shell ----------------------------------------------------------------------------


def test_from_the_shell_without_a_model(tmp_path: Path) -> None:
    with ScriptedServer(default=answer) as server:
        shell = Shell(tmp_path, server.base_url)
        shell.run("ask", "The river is calm.")
        session = shell.json("sessions")[0]["id"]
        shell.run("chat", "--continue", given="And the boat is blue.\n/diff\n")
    diff = shell.json("context", "diff")
    assert (diff["first"], diff["second"], diff["cause"]) == (1, 2, None)
    assert shell.json("context", "diff", "-1", "1", "--session", session)["second"] == 1
    shown = shell.run("context", "diff").stdout
    assert "begins with the first" in shown
    entry = shell.json("history", "search", "river")[0]["entry_id"]
    assert shell.json("context", "why", entry)["place"] == "window"
    assert "its exchange is in the window" in shell.run("context", "why", entry).stdout
    assert "nosuch" in shell.run("context", "why", "nosuch", code=1).stderr
    assert shell.json("context", "replay", "1")["status"] == "equal"
    assert "The river is calm." in shell.run("context", "replay", "-2").stdout
    assert shell.run("context", "replay", "7", code=1).stderr
