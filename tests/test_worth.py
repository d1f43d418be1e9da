"""What is worth keeping: passing states and small talk are no facts, whoever words them; what lasts is one."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from memagent.context.directives.sentences import sentences
from memagent.memory.extract import Said, sifted
from memagent.memory.never import NeverPatterns
from stores.records import MessageRole, Source

SCRAPS = [
    ("hello again", "The user greeted the assistant"),
    ("I'm bored", "The user is bored"),
    ("I just had lunch", "The user just had lunch"),
    ("I'm going to bed now", "The user is going to bed"),
    ("my coffee is cold", "The user's coffee is cold"),
    ("no worries", "The user is not worried"),
    ("the bus is late again", "The bus is late"),
    ("I need a coffee", "The user needs a coffee"),
    ("my phone battery is at 5%", "The user's phone battery is at 5%"),
    ("never mind", "The user changed their mind"),
    ("早上好", "用户说早上好"),
    ("我有点累", "用户有点累"),
]
FACTS = [
    ("I work as a nurse in Leeds", "The user works as a nurse in Leeds"),
    ("my father is dead", "The user's father is dead"),
    ("I need a wheelchair", "The user needs a wheelchair"),
    ("I'm allergic to shellfish", "The user is allergic to shellfish"),
    ("we moved to Utrecht in 2019", "The user moved to Utrecht in 2019"),
    ("I hate cilantro", "The user hates cilantro"),
    ("I run every morning before work", "The user runs every morning before work"),
    ("I'm going to marry in September", "The user is going to marry in September"),
    ("我对花生过敏", "用户对花生过敏"),
    ("我女儿叫小雨", "用户的女儿叫小雨"),
]


def kept(message: str, text: str, *, with_fields: bool) -> list[str]:
    at = datetime(2026, 5, 4, 10, tzinfo=UTC)
    own = tuple(sentence.text for sentence in sentences(message))
    said = Said(Source(session_id="s", entry_id="e"), MessageRole.USER, at, "UTC", message, own)
    fields = {"subject": "user", "attribute": "state", "origin": "user", "lines": [1], "quote": message}
    fact = {"text": text, **fields} if with_fields else text
    found = sifted(json.dumps({"facts": [fact]}), [said], never=NeverPatterns(), instructions=[])
    return [draft.text for draft in found.drafts]


@pytest.mark.parametrize("with_fields", [False, True])
@pytest.mark.parametrize(("message", "text"), SCRAPS)
def test_what_is_over_tomorrow_is_no_fact(message: str, text: str, with_fields: bool) -> None:
    assert kept(message, text, with_fields=with_fields) == []


@pytest.mark.parametrize("with_fields", [False, True])
@pytest.mark.parametrize(("message", "text"), FACTS)
def test_what_lasts_is_one(message: str, text: str, with_fields: bool) -> None:
    assert kept(message, text, with_fields=with_fields) == [text]
