"""What is not to be remembered is not, however it came in: said here, ingested, or imported from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memagent import Agent, MemagentError
from memagent.agent.discreet import batches
from memagent.agent.rooms import Rooms
from stores.base import Journal
from stores.records import JournalEntry, Mark, MarkKind, Message, Scope
from tests.agents import agent_on
from tests.scripted_server import ScriptedServer
from tests.test_learning import facts

CODE = {"role": "user", "content": "My locker code is 71000."}
FINE = {"role": "assistant", "content": "Noted."}
DOG = {"role": "user", "content": "My dog is called Biscuit."}
FORGET = {"role": "user", "content": "Please don't remember what I just said."}


def active(agent: Agent) -> str:
    assert agent.settle(20) == []
    return "\n".join(memory.text for memory in agent.memories("active", kind=None))


def test_an_ingested_wish_reaches_back_into_the_journal(tmp_path: Path) -> None:
    with ScriptedServer(default="Fine.") as server, agent_on(server, tmp_path) as agent:
        agent.ask("My dog is called Biscuit.")
        agent.ask("My locker code is 71000.")
        assert "71000" in active(agent)
        agent.ingest([FORGET, FINE])
        assert "71000" not in active(agent)
        assert "Biscuit" in active(agent)


@pytest.mark.parametrize("between", [[], [{"role": "system", "content": "a note"}], [FINE]])
def test_an_ingested_wish_about_the_message_before(tmp_path: Path, between: list[Any]) -> None:
    with ScriptedServer(default="Fine.") as server, agent_on(server, tmp_path) as agent:
        for message in [DOG, FINE, CODE, *between, FORGET, FINE]:
            agent.ingest([message], session="s")
        agent.ingest([DOG, FINE, CODE, *between, FORGET, FINE], session="t")
        assert "71000" not in active(agent)
        assert "Biscuit" in active(agent)


def test_an_answer_ingested_for_a_message_that_is_not_to_be_remembered(tmp_path: Path) -> None:
    with ScriptedServer(default="Fine.") as server, agent_on(server, tmp_path) as agent:
        agent.ingest([{"role": "user", "content": "Do not remember this: my locker code is 71000."}], session="s")
        agent.ingest([{"role": "assistant", "content": "71000 it is."}], session="s")
        assert "71000" not in active(agent)


def test_what_was_ingested_already_is_taken_back_by_a_longer_transcript(tmp_path: Path) -> None:
    talk = [{**message, "id": f"n{number}"} for number, message in enumerate([DOG, FINE, CODE, FINE, FORGET])]
    with ScriptedServer(default="Fine.") as server, agent_on(server, tmp_path) as agent:
        agent.ingest(talk[:4], session="s")
        assert "71000" in active(agent)
        agent.ingest(talk, session="s")
        agent.ingest(talk, session="s")
        assert "71000" not in active(agent)
        assert len(agent.history("s")) == 5


def test_an_id_that_stands_for_other_words_is_refused(tmp_path: Path) -> None:
    with ScriptedServer(default="Fine.") as server, agent_on(server, tmp_path) as agent:
        agent.ingest([{**DOG, "id": "1"}], session="s")
        for messages in ([{**CODE, "id": "1"}], [{**DOG, "id": "2"}, {**CODE, "id": "2"}]):
            with pytest.raises(MemagentError, match=r"has the id '[12]'.*give it an id of its own"):
                agent.ingest(messages, session="s")
        assert len(agent.history("s")) == 1


def test_a_file_that_grew_takes_back_what_it_brought_before(tmp_path: Path) -> None:
    def saved(*messages: dict[str, str]) -> Path:
        chat = [
            {"uuid": str(number), "sender": "human" if m["role"] == "user" else "assistant", "text": m["content"]}
            for number, m in enumerate(messages)
        ]
        file = tmp_path / "conversations.json"
        file.write_text(json.dumps([{"uuid": "u", "chat_messages": chat}]))
        return file

    with ScriptedServer(default="Fine.") as server, agent_on(server, tmp_path / "a") as agent:
        agent.import_file(saved(DOG, FINE, CODE, FINE))
        assert "71000" in active(agent)
        assert agent.import_file(saved(DOG, FINE, CODE, FINE, FORGET, FINE)).added == {"entries": 2}
        assert "71000" not in active(agent)
        assert "Biscuit" in active(agent)
        assert agent.import_file(saved(DOG, FINE, CODE, FINE, FORGET, FINE)).added == {"entries": 0}


def test_what_was_taken_back_before_it_was_indexed_is_not_learned(tmp_path: Path) -> None:
    learned = facts("The user's locker code is 71000")
    with ScriptedServer(default="Fine.", facts=learned) as server, agent_on(server, tmp_path) as agent:
        agent.ingest([CODE], session="s")
        agent.ingest([FORGET], session="s")
        agent.extract(session="s")
        assert "71000" not in active(agent)
        assert not any("71000" in json.dumps(body) for body in server.facts_bodies)


class _KilledError(Exception):
    """The process ends."""


class _Dying:
    """A journal whose process is killed after the first append of a message that says ``after``."""

    def __init__(self, journal: Journal, after: str) -> None:
        self._journal = journal
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    async def append(self, scope: Scope, entries: Sequence[JournalEntry]) -> list[Message | Mark]:
        written = await self._journal.append(scope, entries)
        if any(isinstance(entry, Message) and entry.content == self._after for entry in entries):
            raise _KilledError
        return written


@pytest.mark.parametrize("way", ["said", "ingested", "imported"])
def test_a_kill_after_the_first_write_leaves_no_message_without_its_mark(tmp_path: Path, way: str) -> None:
    talk = [{**message, "id": f"n{number}"} for number, message in enumerate([DOG, FINE, CODE, FINE, FORGET])]
    for name, count in (("a", 4), ("b", 5)):
        said = [{"uuid": m["id"], "sender": m["role"], "text": m["content"]} for m in talk[:count]]
        (tmp_path / f"{name}.json").write_text(json.dumps({"uuid": "u", "chat_messages": said}))
    with ScriptedServer(default="Noted.") as server:
        with agent_on(server, tmp_path / "a", session="claude-u") as agent:
            agent.import_file(tmp_path / "a.json")
            rooms: Rooms = agent._assistant._rooms  # pyright: ignore[reportPrivateUsage]
            object.__setattr__(rooms.stores, "journal", _Dying(rooms.stores.journal, FORGET["content"]))
            ways: dict[str, Callable[[], object]] = {
                "said": lambda: agent.ask(FORGET["content"]),
                "ingested": lambda: agent.ingest(talk[4:], session="claude-u"),
                "imported": lambda: agent.import_file(tmp_path / "b.json"),
            }
            with pytest.raises(_KilledError):
                ways[way]()
        with agent_on(server, tmp_path / "a") as agent:
            assert "71000" not in active(agent)
            assert "Biscuit" in active(agent)


def test_batches_keep_a_message_and_its_marks_together() -> None:
    envelope: dict[str, Any] = {"session_id": "s", "exchange_id": "x", "at": datetime(2026, 1, 1, tzinfo=UTC)}
    said = [Message(id=str(n), role="user", **envelope) for n in range(4)]  # pyright: ignore[reportArgumentType]
    mark = Mark(id="m", what=MarkKind.NOT_REMEMBERED, **envelope)
    assert [len(b) for b in batches([said[0], said[1], mark, said[2], said[3]], 2)] == [3, 2]
