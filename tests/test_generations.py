"""C22: the embedding model changes under an existing store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memagent.memory.embed import Vectors
from memagent.testing import WordEmbedder
from tests.agents import agent_on
from tests.scripted_server import ScriptedServer

TEXTS = [
    "Maya plays the violin in Lisbon",
    "the bicycle is locked behind the bakery",
    "grandmother grows tomatoes on her balcony",
    "the dentist moved to Harbour Street",
    "我妹妹住在里斯本",
]


class Shuffled(WordEmbedder):
    """Another model behind the same name: the vectors of `WordEmbedder` with their places exchanged."""

    def embed_query(self, text: str) -> Vectors:
        vector = super().embed_query(text)
        return vector[np.random.default_rng(7).permutation(len(vector))]


class Nearly(WordEmbedder):
    """The same model on another machine: its last digits differ."""

    def embed_query(self, text: str) -> Vectors:
        vector = super().embed_query(text) * np.float32(1.00001)
        return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("after", [WordEmbedder(96), WordEmbedder(name="other"), Shuffled()])
def test_everything_is_found_with_another_embedder(
    scripted: ScriptedServer, tmp_path: Path, after: WordEmbedder
) -> None:
    scripted.default = "ok"
    with agent_on(scripted, tmp_path, embedder=WordEmbedder()) as agent:
        for text in TEXTS:
            agent.remember(text)
        assert agent.settle(20) == []
    with agent_on(scripted, tmp_path, embedder=after) as agent:
        assert agent.settle(20) == []
        notices = [event.text for event in agent.ask("hello").events if event.type == "notice"]
        assert any("5 memories are being embedded anew" in text for text in notices)
        assert any("all memories have been embedded anew" in text for text in notices)
        agent.remember("the piano was tuned in May")
        assert agent.settle(20) == []
        for text in [*TEXTS, "the piano was tuned in May"]:
            best = agent.recall(text)[0]
            assert best.memory.text == text
            assert "meaning (1.00)" in best.why


def test_the_same_embedder_is_known_again(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = "ok"
    for embedder in (WordEmbedder(), Nearly()):
        with agent_on(scripted, tmp_path, embedder=embedder) as agent:
            agent.remember(TEXTS[0])
            assert agent.settle(20) == []
            notices = [event.text for event in agent.ask("hello").events if event.type == "notice"]
            assert not any("anew" in text for text in notices)


def test_a_text_that_changed_under_the_other_embedder_is_not_found_by_its_old_words(
    scripted: ScriptedServer, tmp_path: Path
) -> None:
    """Going back to the first embedder does not bring back what was forgotten meanwhile."""
    first, second = WordEmbedder(), WordEmbedder(name="other")
    with agent_on(scripted, tmp_path, embedder=first) as agent:
        kept = agent.remember(TEXTS[0])
        agent.remember(TEXTS[1])
        agent.settle(20)
    with agent_on(scripted, tmp_path, embedder=second) as agent:
        agent.settle(20)
        agent.forget(kept.id)
        agent.settle(20)
    with agent_on(scripted, tmp_path, embedder=first) as agent:
        assert agent.settle(20) == []
        assert kept.id not in [found.memory.id for found in agent.recall(TEXTS[0])]
        assert agent.recall(TEXTS[1])[0].memory.text == TEXTS[1]


def test_embedding_anew_goes_on_after_an_interruption(scripted: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(scripted, tmp_path, embedder=WordEmbedder()) as agent:
        agent.ingest([{"role": "user", "content": f"note {n}: {TEXTS[n % 5]}"} for n in range(1_000)])
        assert agent.settle(60) == []
    with agent_on(scripted, tmp_path, embedder=Shuffled()) as agent:
        agent.settle(0.2)  # closed in the middle
    with agent_on(scripted, tmp_path, embedder=Shuffled()) as agent:
        assert agent.settle(60) == []
        assert "meaning (1.00)" in agent.recall(f"note 999: {TEXTS[4]}")[0].why
