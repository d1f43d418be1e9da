"""Facts learned from talk: who said it, what is worth keeping, what a model's answer must look like."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from memagent import Agent, Settings
from memagent.events import ProfileProposed
from memagent.testing import FakeClock
from stores.records import DEFAULT_SCOPE, MemoryState, Pin, Trust
from stores.sql import open_sql
from tests.agents import agent_on
from tests.scripted_server import Reply, ScriptedServer, Step, fail
from tests.sent import all_text, material, warnings_in


def facts(*items: Any) -> str:
    return json.dumps({"facts": list(items)}, ensure_ascii=False)


def fact(text: str, subject: str = "user", attribute: str = "thing", **more: Any) -> dict[str, Any]:
    return {"text": text, "subject": subject, "attribute": attribute, "origin": "user", **more}


def verdict(kind: str, **more: Any) -> Any:
    """A judge who gives that verdict on each new fact and every known one below it."""

    def judge(body: dict[str, Any]) -> str:
        decisions: list[dict[str, Any]] = []
        for line in material(body).splitlines():
            if new := re.match(r"new fact (\d+) ", line):
                decisions.append({"new": int(new[1]), "reason": "as asked", "verdict": kind, "ids": [], **more})
            elif known := re.match(r"\s+known (\S+) ", line):
                decisions[-1]["ids"].append(known[1])
        return json.dumps({"decisions": decisions})

    return judge


def texts(agent: Agent, state: MemoryState | None = MemoryState.ACTIVE) -> list[str]:
    return [memory.text for memory in agent.memories(state)]


def settled(agent: Agent) -> None:
    assert agent.settle(20) == []


TWO = ("Prefers tea over coffee", "The user's sister Maya lives in Lisbon")
SAID = "I prefer tea over coffee, and my sister Maya lives in Lisbon."
CLEAN = [
    facts(*TWO),
    f"```json\n{facts(*TWO)}\n```",
    f"Sure! Here it is:\n{facts(*TWO)}\nAnything else?",
    f'<think>{{"facts":["wrong"]}}</think>{facts(*TWO)}',
    json.dumps(list(TWO)),
    facts(*({"text": text} for text in TWO)),
    facts(TWO[0], None, TWO[1]),
]


@pytest.mark.parametrize("answer", CLEAN)
def test_c27_an_answer_that_holds_the_facts_is_understood(answer: str, tmp_path: Path) -> None:
    with ScriptedServer(default="ok", facts=answer) as server, agent_on(server, tmp_path) as agent:
        agent.ask(SAID)
        settled(agent)
        assert sorted(texts(agent)) == sorted(TWO)
        assert len(server.facts_bodies) == 1


@pytest.mark.parametrize(
    "answer",
    [facts(*TWO)[:-12], "", "I cannot do that.", json.dumps({"memories": list(TWO)}), fail(500, "down")],
)
def test_c27_an_answer_that_does_not_leaves_no_memory_and_is_told(answer: Step, tmp_path: Path) -> None:
    with ScriptedServer(default="ok", facts=answer) as server, agent_on(server, tmp_path) as agent:
        assert agent.ask(SAID).text == "ok"
        left = agent.settle(20)
        assert agent.memories(None) == []
        reply = agent.ask("and now?")
        assert reply.text == "ok"
        told = [line for line in warnings_in(reply.events) if "nothing was learned" in line]
        assert len(told) == 1
        if answer and isinstance(answer, str):
            assert answer[:20] in told[0]
            assert left == []
            assert len(server.facts_bodies) == 2  # once more, then no more
        else:  # no answer at all: the model may be well again later
            assert "tried again later" in told[0]
            assert "still to be learned from" in left[0]


def test_c26_who_said_it(tmp_path: Path) -> None:
    answer = facts(
        {"text": "The user wants a name for a dog", "origin": "user"},
        {"text": "The user grew up in Lisbon", "origin": "assistant"},
        {"text": "The user is allergic to nuts", "origin": "tool"},
        {"text": "The user grew up in Lisbon and likes the name Biscuit"},
    )
    talk = [
        {"role": "user", "content": "Suggest a dog name."},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "crm", "arguments": "{}"}]},
        {"role": "tool", "tool_call_id": "c", "name": "crm", "content": "customer record: allergic to nuts"},
        {"role": "assistant", "content": "Biscuit! I grew up in Lisbon, so I like it."},
        {"role": "user", "content": "ok"},
    ]
    with ScriptedServer(facts=answer) as server, agent_on(server, tmp_path, instructions="Be kind.") as agent:
        agent.ingest(talk)
        agent.extract()
        settled(agent)
        (kept,) = agent.memories()
        assert (kept.trust, kept.state) == (Trust.TOOL, MemoryState.QUARANTINED)
        (body,) = server.facts_bodies
        lines = material(body).splitlines()[1:-1]
        assert all(re.search(r"\d\d:\d\d (USER|ASSISTANT|TOOL): ", line) for line in lines)
        assert len(lines) == 4
        assert "Be kind" not in all_text(body)
        assert kept.id not in [hit.memory.id for hit in agent.recall("allergic to nuts")]
        assert agent.approve(kept.id).state is MemoryState.ACTIVE


def test_c26_instructions_are_not_stored_and_small_talk_is_not_even_read(tmp_path: Path) -> None:
    quoted = "The user states what will still matter in later conversations"
    with (
        ScriptedServer(default="ok", facts=facts(quoted, "You keep a person's long-term memory")) as server,
        agent_on(server, tmp_path) as agent,
    ):
        agent.ask("I have a cat called Miso, what will still matter to her?")
        settled(agent)
        assert agent.memories(None) == []
        agent.new_session()
        agent.ask("ok")
        agent.ask("thanks")
        settled(agent)
        assert len(server.facts_bodies) == 1
        assert agent.memories(None) == []


def test_c23_the_same_fact_again_is_one_record(tmp_path: Path) -> None:
    clock = FakeClock()
    with ScriptedServer() as server, agent_on(server, tmp_path, clock=clock) as agent:
        forms = ["Prefers tea over coffee", "prefers  tea over Coffee.", "PREFERS TEA OVER COFFEE"]
        first = agent.remember(forms[0])
        for form in [*forms[1:], *forms[:2]]:
            clock.advance(days=1)
            agent.new_session()
            last = agent.remember(form)
        (kept,) = agent.memories()
        assert kept.id == first.id == last.id
        assert kept.version == 1
        assert len(kept.sources) == 5
        assert kept.confirmed_at is not None
        assert (kept.confirmed_at - kept.said_at).days == 4
        agent.remember("Prefers coffee over tea")
        assert len(agent.memories()) == 2


def test_a_fact_told_fifty_times_is_one_record_with_fifty_sources(tmp_path: Path) -> None:
    with (
        ScriptedServer(default="ok", facts=facts("The user's favourite colour is teal")) as server,
        agent_on(server, tmp_path, window_tokens=32_768) as agent,
    ):
        for _ in range(50):
            agent.ask("My favourite colour is teal.")
        settled(agent)
        (kept,) = agent.memories()
        assert len(kept.sources) == 50
        assert kept.version == 1
        assert len(server.facts_bodies) <= 20  # read together


def test_recalled_facts_are_not_learned_again(tmp_path: Path) -> None:
    echo = facts("The user's locker code is 5183")
    with (
        ScriptedServer(default="Your locker code is 5183, as you said.", facts=echo) as server,
        agent_on(server, tmp_path) as agent,
    ):
        kept = agent.remember("The user's locker code is 5183")
        agent.new_session()
        agent.ask("What is the code of my locker?")
        assert "5183" in all_text(server.bodies[-1])
        settled(agent)
        (only,) = agent.memories(None)
        assert only == kept


def test_a_move_supersedes_the_old_home_and_deletes_nothing(tmp_path: Path) -> None:
    clock = FakeClock()
    answers = [facts(fact("The user lives in Berlin", attribute="home city"))]
    with (
        ScriptedServer(default="ok", facts=lambda _: answers[0], verdicts=verdict("supersede")) as server,
        agent_on(server, tmp_path, clock=clock) as agent,
    ):
        agent.ask("I live in Berlin.")
        settled(agent)
        (berlin,) = agent.memories()
        clock.advance(days=60)
        answers[0] = facts(fact("The user moved to Porto last week", attribute="home", quote="I moved to Porto"))
        agent.ask("I moved to Porto last week.")
        settled(agent)
        porto, old = agent.memories()
        assert (old.id, old.text, old.state) == (berlin.id, berlin.text, MemoryState.ACTIVE)
        assert old.superseded_by == porto.id
        assert "Porto" in old.reason
        assert old.valid_to == porto.valid_from
        assert str(porto.valid_from)[:10] == "2026-02-23"
        assert porto.text == "The user moved to Porto last week (2026-02-23 to 2026-03-01)"
        assert old.version == 2
        # the next year, in another session
        clock.advance(days=400)
        agent.new_session()
        now = [found.memory.text for found in agent.recall("Where do I live?")]
        assert "Porto" in now[0]
        assert "The user lives in Berlin" not in now[:2]
        before = agent.recall("Where did I live before I moved?")
        assert before[0].memory.text == "I live in Berlin."
        assert "The user lives in Berlin" in [found.memory.text for found in before[:3]]
        line = 'no longer true from 2026-02-23 on: \\"The user lives in Berlin'
        agent.ask("Where did I live before?")
        assert line in all_text(server.bodies[-1])
        story = agent.show(old.id)
        assert story.superseded_by == porto
        assert [origin.text for origin in story.origins] == ["I live in Berlin."]
        assert agent.show(porto.id).supersedes == (old,)


def test_opposites_stay_two_without_a_verdict_and_when_a_judge_calls_them_the_same(tmp_path: Path) -> None:
    with ScriptedServer(facts=facts(fact("Prefers coffee over tea")), default="ok") as server:
        for judged in ('{"decisions": []}', "no idea", fail(500), verdict("merge")):
            server.verdicts = judged
            with agent_on(server, tmp_path / str(id(judged))) as agent:
                agent.remember("Prefers tea over coffee")
                agent.ask("I prefer coffee over tea!")
                agent.settle(20)
                assert sorted(texts(agent)) == ["Prefers coffee over tea", "Prefers tea over coffee"]


def test_a_judge_may_touch_only_what_it_was_shown_and_what_is_not_trusted_more(tmp_path: Path) -> None:
    with (
        ScriptedServer(facts=facts(fact("The user likes green tea", attribute="drink")), default="ok") as server,
        agent_on(server, tmp_path) as agent,
    ):
        other = agent.forget(agent.remember("The user's boat is called Selkie").id)  # so it is not shown
        server.verdicts = json.dumps(
            {"decisions": [{"new": 1, "reason": "r", "verdict": "supersede", "ids": [other.id, "nobody"]}]}
        )
        agent.remember("The user likes black tea")
        agent.ask("I like green tea.")
        settled(agent)
        assert all(memory.superseded_by is None for memory in agent.memories())
        assert len(agent.memories()) == 3


def test_a_paraphrase_is_merged_with_both_sources_and_wordings(tmp_path: Path) -> None:
    answer = facts(fact("The user likes tea more than coffee", attribute="preference"))
    with (
        ScriptedServer(default="ok", facts=answer, verdicts=verdict("merge", keep="old")) as server,
        agent_on(server, tmp_path) as agent,
    ):
        first = agent.remember("The user prefers tea to coffee")
        agent.ask("I like tea more than coffee.")
        settled(agent)
        (kept,) = agent.memories()
        assert (kept.id, kept.text, len(kept.sources)) == (first.id, first.text, 2)
        assert "likes tea more than coffee" in kept.reason


def test_what_was_forgotten_comes_back_only_by_the_persons_word(tmp_path: Path) -> None:
    with (
        ScriptedServer(default="ok", facts=facts("The user has a cat called Miso")) as server,
        agent_on(server, tmp_path) as agent,
    ):
        agent.forget(agent.remember("The user has a cat called Miso").id)
        agent.ask("I have a cat called Miso.")
        settled(agent)
        assert texts(agent) == []
        assert agent.remember("The user has a cat called Miso").state is MemoryState.ACTIVE
        assert len(agent.memories(None)) == 1


SMALL_TALK = [
    ("Hi there!", "The user said hi"),
    ("Nice weather today", "The weather is nice today"),
    ("I'm fine, thanks", "The user is fine"),
    ("haha good one", "The user laughed at a joke"),
    ("I am so tired today", "The user is tired today"),
    ("good night", "The user wished a good night"),
    ("Can you tell me a joke?", "The user wants a joke"),
    ("What is the capital of Peru?", "The user asked about the capital of Peru"),
    ("It is raining again", "It is raining"),
    ("I had some soup just now", "The user had soup just now"),
    ("ok cool", "ok"),
    ("Is it Monday?", "Is it Monday?"),
]


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_thousand_turns_of_small_talk_leave_next_to_nothing(tmp_path: Path) -> None:
    def scraps(body: dict[str, Any]) -> str:
        said = re.findall(r"USER: (.*?) \((\d+)\)$", material(body), re.MULTILINE)
        return facts(*(f"{dict(SMALL_TALK).get(text, text)} ({number})" for text, number in said))

    with ScriptedServer(default="Indeed.", facts=scraps) as server, agent_on(server, tmp_path) as agent:
        for number in range(1_000):
            agent.ask(f"{SMALL_TALK[number % len(SMALL_TALK)][0]} ({number})")
        settled(agent)
        assert len(agent.memories()) <= 10


def test_facts_about_the_person_are_proposed_for_the_profile(tmp_path: Path) -> None:
    answer = facts(fact("The user is allergic to nuts", attribute="allergies"), fact("The user owns a red bike"))
    with ScriptedServer(default="ok", facts=answer) as server, agent_on(server, tmp_path) as agent:
        agent.ask("I own a red bike, and I am allergic to nuts.")
        settled(agent)
        events = agent.ask("and?").events
        (proposal,) = [event for event in events if isinstance(event, ProfileProposed)]
        (proposed,) = [memory for memory in agent.memories() if memory.pin is Pin.PROPOSED]
        assert (proposal.memory_id, proposal.text) == (proposed.id, "The user is allergic to nuts")
        assert "allergic" not in json.dumps(server.bodies[-1]["messages"][0])
        assert agent.approve(proposed.id).pin is Pin.PINNED
        agent.ask("now?")
        assert "allergic to nuts" in server.bodies[-1]["messages"][0]["content"]


def test_extraction_can_be_switched_off(tmp_path: Path) -> None:
    with ScriptedServer(default="ok", facts=facts(*TWO)) as server:
        with agent_on(server, tmp_path, settings=Settings(extract="off")) as agent:
            agent.ask(SAID)
            settled(agent)
        assert server.facts_bodies == []


def test_each_call_is_in_the_ledger_under_its_role(tmp_path: Path) -> None:
    with ScriptedServer([Reply(text="ok")], facts=facts(*TWO)) as server, agent_on(server, tmp_path) as agent:
        agent.ask(SAID)
        settled(agent)

    async def roles() -> list[str]:
        stores = open_sql(tmp_path / "memagent.db")
        try:
            return [entry.role for entry in await stores.ledger.list(DEFAULT_SCOPE)]
        finally:
            await stores.close()

    assert sorted(asyncio.run(roles())) == ["chat", "extract"]
