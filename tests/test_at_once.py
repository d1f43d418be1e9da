"""Two who write memories at once: nothing that was taken back, erased, forgotten or forbidden meanwhile comes to
stay, and no change is lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memagent import Agent, load_settings
from memagent.errors import MemagentError
from stores.records import Memory, MemoryState, Pin
from tests.agents import agent_on
from tests.scripted_server import Reply, ScriptedServer, call, say

TALK = "My sister Maya lives in Lisbon"
FACT = "The user's sister Maya lives in Lisbon"


def facts(text: str = FACT, quote: str = TALK) -> str:
    """An extractor's answer."""
    fact = {"text": text, "quote": quote, "subject": "Maya", "attribute": "home city"}
    return json.dumps({"facts": [fact]})


def learning(scripted: ScriptedServer, folder: Path, **more: Any) -> Agent:
    return agent_on(scripted, folder, settings=load_settings(extract="on"), **more)


def while_it_reads(scripted: ScriptedServer, happens: Callable[[], object], answer: str) -> None:
    """The extractor answers only after something has happened elsewhere."""

    def step(_body: dict[str, Any]) -> Reply:
        happens()
        return say(answer)

    scripted.facts = step


@pytest.mark.parametrize("what", ["taken back", "never", "erased"])
def test_what_is_withdrawn_while_a_model_reads_is_not_learned(
    scripted: ScriptedServer, tmp_path: Path, what: str
) -> None:
    scripted.default = "I see."
    with learning(scripted, tmp_path, session="s") as agent, agent_on(scripted, tmp_path, session="s") as other:
        entry = ""

        def happens() -> None:
            scripted.facts = say('{"facts": []}')
            if what == "taken back":
                other.ask("Please do not remember what I just said.")
            elif what == "never":
                other.never("Maya")
            else:
                other.erase(entry_id=entry)

        while_it_reads(scripted, happens, facts())
        agent.ask(TALK)
        entry = agent.history()[0].id
        agent.settle(20)
        agent.settle(20)
        assert [m.text for m in agent.memories(MemoryState.ACTIVE)] == []
        assert not any("Maya" in m.text for m in agent.memories(MemoryState.ACTIVE, kind=None) if what != "never")


def test_a_fact_that_is_edited_while_another_is_learned_is_not_overwritten(
    scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.default = "I see."
    with learning(scripted, tmp_path) as agent, agent_on(scripted, tmp_path) as other:
        known = agent.remember(FACT)
        while_it_reads(scripted, lambda: other.pin(known.id), facts())
        agent.ask(TALK)
        assert agent.settle(20) == []
        (kept,) = agent.memories()
        assert kept.pin is Pin.PINNED
        assert len(kept.sources) == 2, "and it was said once more"


def test_changes_at_once_are_all_kept(scripted: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(scripted, tmp_path) as one, agent_on(scripted, tmp_path) as two:
        kept = one.remember(FACT)
        threads = [
            threading.Thread(target=lambda: one.pin(kept.id)),
            threading.Thread(target=lambda: two.edit(kept.id, "Maya lives in Porto")),
            threading.Thread(target=lambda: two.remember(FACT)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        edited = next(m for m in one.memories() if m.id == kept.id)
        assert edited.pin is Pin.PINNED
        assert edited.text == "Maya lives in Porto" or len(one.memories()) == 1


# --- what said a fact --------------------------------------------------------------------------


def learned(scripted: ScriptedServer, agent: Agent, *, said: str = TALK) -> Memory:
    """A fact that was learned from a message."""
    scripted.facts = say(facts(quote=TALK))
    agent.ask(said)
    assert agent.settle(20) == []
    (fact,) = agent.memories(MemoryState.ACTIVE)
    return fact


def recalled(agent: Agent, words: str = "Where does Maya live?") -> list[str]:
    """The texts that recall finds and that hold the city."""
    return [item.memory.text for item in agent.recall(words) if "Lisbon" in item.memory.text]


def test_a_forgotten_fact_takes_along_what_said_only_it(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "I see."
    with learning(scripted, tmp_path) as agent:
        fact = learned(scripted, agent)
        assert set(recalled(agent)) == {FACT, TALK}
        agent.forget(fact.id)
        assert recalled(agent) == []
        agent.restore(fact.id)
        assert set(recalled(agent)) == {FACT, TALK}


def test_a_message_that_says_more_stays(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "I see."
    more = f"{TALK}, and on Friday the plumber repairs the dishwasher in the kitchen"
    with learning(scripted, tmp_path) as agent:
        fact = learned(scripted, agent, said=more)
        agent.forget(fact.id)
        assert recalled(agent) == [more]


def test_a_reworded_fact_ends_what_said_the_old_words(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "I see."
    with learning(scripted, tmp_path) as agent:
        fact = learned(scripted, agent)
        agent.edit(fact.id, "The user's sister Maya lives in Porto")
        (said,) = [m for m in agent.memories(kind="episode") if m.text == TALK]
        assert said.superseded_by == fact.id
        assert said.valid_to is not None
        assert agent.recall("Where does Maya live?")[0].memory.id == fact.id


def test_what_holds_no_more_is_not_pinned_and_twins_are_not_made(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "I see."
    with learning(scripted, tmp_path) as agent:
        fact = learned(scripted, agent)
        newer = agent.remember("The user's sister Maya lives in Porto")
        with pytest.raises(MemagentError, match=f"{newer.id} says this already"):
            agent.edit(fact.id, "the user's sister Maya  lives in Porto!")
        assert agent.edit(fact.id, f"{FACT}.").text == f"{FACT}."


def test_what_the_model_keeps_comes_from_the_message_that_says_it(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(call("remember", text=FACT), "I will.", "fine")
    with agent_on(scripted, tmp_path) as agent:
        agent.ask(f"{TALK}, please keep that in mind")
        (kept,) = agent.memories()
        (source,) = agent.show(kept.id).memory.source_ids
        assert source == agent.history()[0].id
        agent.ask("Please do not remember what I just said.")
        agent.settle(20)
        assert agent.memories(MemoryState.ACTIVE) == []


def test_what_the_model_keeps_is_erased_with_its_message(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(call("remember", text=FACT), "I will.")
    with agent_on(scripted, tmp_path) as agent:
        agent.ask(f"{TALK}, please keep that in mind")
        agent.erase(entry_id=agent.history()[0].id)
        assert agent.memories() == []
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"lives in Lisbon" in content for content in files)
