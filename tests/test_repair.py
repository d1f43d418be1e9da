"""The doctor: each index broken on purpose is noticed, told, and made anew; nothing else is touched."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from memagent.agent.data.upkeep import Checkup
from stores.chroma import ChromaVectorIndex
from stores.records import scope_of
from tests.agents import agent_on
from tests.scripted_server import ScriptedServer
from tests.shell import Shell

GENERATION = "words/64"


def stated(found: Checkup) -> dict[str, tuple[int, int, str]]:
    return {one.what: (one.missing, one.extra, one.why.partition(":")[0]) for one in found.indexes if not one.is_whole}


def sql(*statements: str) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        with sqlite3.connect(folder / "memagent.db") as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    return run


def vector_exchanged(folder: Path) -> None:
    """One is lost and one too many: their number alone does not tell."""
    asyncio.run(_vectors(folder, lost=1, ghosts=1))


def vectors_too_many(folder: Path) -> None:
    asyncio.run(_vectors(folder, lost=0, ghosts=2))


async def _vectors(folder: Path, *, lost: int, ghosts: int) -> None:
    index = ChromaVectorIndex(folder / "vectors")
    known = sorted(await index.ids(scope_of(None), GENERATION))
    row = b"\0\0\x80\x3f" * 64
    changes = {id_: [] for id_ in known[:lost]} | {f"ghost{number}": [row] for number in range(ghosts)}
    await index.put(scope_of(None), GENERATION, changes)
    await index.close()


def no_vectors(folder: Path) -> None:
    shutil.rmtree(folder / "vectors")


EPISODE = "(SELECT number FROM memories WHERE kind = 'episode' LIMIT 1)"
BROKEN = [
    (
        sql(
            f"DELETE FROM memory_terms WHERE rowid IN {EPISODE}",
            f"DELETE FROM memory_sources WHERE memory_number IN {EPISODE}",
            f"DELETE FROM memories WHERE number IN {EPISODE}",
        ),
        {"memories of what was said": (1, 0, "")},
    ),
    (sql("DELETE FROM memory_terms WHERE rowid = 2"), {"words of memories": (1, 0, "")}),
    (sql("INSERT INTO memory_terms (rowid, terms) VALUES (99, '1_ghost')"), {"words of memories": (0, 1, "")}),
    (
        sql("UPDATE memory_terms_content SET c0 = '1_else' WHERE id = 2"),
        {"words of memories": (0, 0, "damaged")},
    ),
    (sql("DELETE FROM passages WHERE number = 1"), {"words of the history": (1, 1, "")}),
    (
        sql("INSERT INTO passages SELECT 77, scope_number, 'x', 'y', 0, 5 FROM passages LIMIT 1"),
        {"words of the history": (1, 0, "")},
    ),
    (vector_exchanged, {"vectors": (1, 1, "")}),
    (vectors_too_many, {"vectors": (0, 2, "")}),
]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_what_is_broken_is_told_and_made_anew(tmp_path: Path, number: int) -> None:
    breaks, expected = BROKEN[number]
    with ScriptedServer(default="fine") as server:
        with agent_on(server, tmp_path) as agent:
            agent.ask("my sister Maya lives in Lisbon")
            agent.ask("the garden is green")
            agent.remember("Maya paints boats")
            agent.forget(agent.remember("likes rain").id)
            assert agent.search_history("sister")
            assert agent.settle(20) == []
            before = [m for m in agent.memories(kind=None) if m.text != "fine"]
        breaks(tmp_path)
        with agent_on(server, tmp_path) as agent:
            found = stated(agent.checkup())
            if number == 0:
                found.pop("vectors", None)  # the lost memory's vector is one too many
            assert found == expected
            assert not agent.checkup().repaired
            assert agent.checkup(repair=True).repaired
            assert stated(agent.checkup()) == {}
            assert agent.recall("who paints boats")[0].memory.text == "Maya paints boats"
            assert agent.search_history("sister Lisbon", session="all")[0].snippet == "my sister Maya lives in Lisbon"
            after = [m for m in agent.memories(kind=None) if m.text != "fine"]
            assert {m.id for m in after} == {m.id for m in before}


def test_a_lost_vector_folder(tmp_path: Path) -> None:
    with ScriptedServer(default="fine") as server:
        with agent_on(server, tmp_path) as agent:
            for number in range(5):
                agent.remember(f"fact {number} of the garden")
            assert agent.settle(20) == []
        no_vectors(tmp_path)
        with agent_on(server, tmp_path) as agent:
            agent.checkup(repair=True)
            assert stated(agent.checkup()) == {}


def test_from_the_shell(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server:
        shell = Shell(tmp_path, server.base_url, MEMAGENT_EMBEDDER=str(tmp_path / "none"))
        shell.run("ask", "my sister lives in Lisbon")
        assert "not looked at: the embedder cannot be loaded" in shell.run("doctor").stdout
        sql("DELETE FROM memory_terms WHERE rowid = 1")(shell.data_dir)
        assert "memagent doctor --repair" in shell.run("doctor").stdout
        assert "repaired" in shell.run("doctor", "--repair").stdout
        assert "--repair" not in shell.run("doctor").stdout
