"""Whose words a question asks for."""

from __future__ import annotations

import pytest

from memagent.memory.speakers import asked_of, says
from stores.records import MemoryKind
from tests.contract.samples import memory

SPEAKERS = ["Caroline", "Melanie", "Ana Maria", "小明", "user", "assistant"]


@pytest.mark.parametrize(
    ("question", "text", "speakers"),
    [
        ("When did Caroline go hiking?", "When did go hiking?", {"Caroline"}),
        ("What is caroline's favourite dish?", "What is favourite dish?", {"Caroline"}),
        ("What did Caroline cook for Melanie?", "What did cook for ?", set()),
        ("What does Ana collect?", "What does collect?", {"Ana Maria"}),
        ("小明住在里斯本吗", "住在里斯本吗", {"小明"}),
        ("Who is Caroline?", "Who is Caroline?", {"Caroline"}),
        ("What did I say about the dog?", "What did I say about the dog?", {"user"}),
        ("Can you remind me where I parked?", "Can you remind me where I parked?", {"user"}),
        ("Which restaurant did you recommend?", "Which restaurant did you recommend?", {"assistant"}),
        ("What did you tell me about Rome?", "What did you tell me about Rome?", set()),
        ("我妹妹住在哪里", "我妹妹住在哪里", {"user"}),
        ("你推荐了哪家餐馆", "你推荐了哪家餐馆", {"assistant"}),
        ("Is the carolinensis a squirrel?", "Is the carolinensis a squirrel?", set()),
    ],
)
def test_names_are_taken_out_and_matched(question: str, text: str, speakers: set[str]) -> None:
    asked = asked_of(question, SPEAKERS)
    assert asked.text == text
    assert asked.speakers == speakers


def test_a_first_name_that_two_share_names_nobody() -> None:
    assert asked_of("What does Ana like?", ["Ana Maria", "Ana Rosa"]).speakers == frozenset()


def test_without_memories_a_question_stays_as_it_is() -> None:
    assert asked_of("Where is Bo?", []).text == "Where is Bo?"


def test_a_fact_is_about_its_subject_whoever_said_it() -> None:
    asked = asked_of("What does Caroline like?", SPEAKERS)
    assert says(memory("a", "likes tea", subject="caroline", speaker="Melanie"), asked)
    assert not says(memory("b", "likes tea", subject="Melanie", speaker="Caroline"), asked)
    assert says(memory("c", "I like tea", kind=MemoryKind.EPISODE, speaker="Caroline"), asked)
