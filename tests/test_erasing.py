"""Erasing: what the person wants gone is gone, everywhere, and the receipt says so truly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memagent import Agent, tool
from memagent.errors import MemagentError, NotFoundError
from memagent.testing import WordEmbedder
from tests.agents import agent_on, async_agent_on
from tests.residue import files_with, files_with_vector
from tests.scripted_server import ScriptedServer, call

SECRET = "the vault opens with xylocarp seven seven four one"
RARE = b"xylocarp"


def sent(server: ScriptedServer) -> str:
    return json.dumps(server.bodies[-1]["messages"], ensure_ascii=False)


def nowhere(folder: Path) -> bool:
    """Neither the words, nor the rare one by itself, nor the vector."""
    assert files_with(folder, SECRET.encode()) == []
    assert files_with(folder, RARE) == []
    assert files_with_vector(folder, WordEmbedder().embed_query(SECRET).tobytes()) == []
    return True


def test_a_text_is_gone_from_every_file_and_the_rest_is_recalled(tmp_path: Path) -> None:
    with ScriptedServer(default=lambda body: "noted") as server, agent_on(server, tmp_path) as agent:
        agent.ask(SECRET)
        agent.ask("my sister Maya lives in Lisbon")
        agent.remember(f"Remember: {SECRET}")
        agent.remember("Maya paints boats")
        agent.ask("what do I paint with")
        assert agent.search_history("xylocarp")
        assert agent.settle(20) == []
        assert files_with(tmp_path, SECRET.encode())
        assert files_with_vector(tmp_path, WordEmbedder().embed_query(SECRET).tobytes())

        shown = agent.erase(text="xylocarp SEVEN", dry_run=True)
        assert shown.dry_run
        assert not shown.finished
        assert [match.what for match in shown.matches] == ["message", "mark", "memory"]
        assert files_with(tmp_path, SECRET.encode())

        receipt = agent.erase(text="xylocarp SEVEN")
        assert receipt.finished
        assert receipt.found == ()
        assert receipt.searched_files > 3
        assert receipt.searched_for > 1
        assert receipt.counts["entries"] == 2
        assert receipt.counts["memories"] == 2
        assert nowhere(tmp_path)

        assert [m.text for m in agent.memories()] == ["Maya paints boats"]
        assert agent.recall("who paints boats")[0].memory.text == "Maya paints boats"
        assert [hit.snippet for hit in agent.search_history("sister Lisbon")] == ["my sister Maya lives in Lisbon"]
        assert agent.search_history("xylocarp") == []
        first = agent.history()[0]
        assert (first.content, first.erased, first.sequence) == ("", receipt.id, 1)
        assert agent.sessions()[0].title == "my sister Maya lives in Lisbon"
        agent.ask("go on")
        assert "xylocarp" not in sent(server)
        assert "[Erased by the person.]" in sent(server)
        assert agent.settle(20) == []
        assert nowhere(tmp_path)
        (kept,) = agent.receipts()
        assert kept == receipt.model_copy(update={"matches": ()})
    assert nowhere(tmp_path)


def test_what_was_typed_and_tools_and_outputs_go_too(tmp_path: Path) -> None:
    @tool
    def look_up() -> str:
        """Looks it up."""
        return f"{SECRET}\n" + "\n".join(f"line {n} of much more" for n in range(4_000))

    steps = [call("look_up"), "found"]
    with ScriptedServer(steps, default="ok") as server, agent_on(server, tmp_path, tools=[look_up]) as agent:
        (tmp_path / "input_history").write_text(
            f"\n# 2026-01-01 10:00:00\n+hello\n\n# 2026-01-01 10:01:00\n+two\n+{SECRET}\n"
            "\n# 2026-01-01 10:02:00\n+bye\n"
        )
        (tmp_path / "memagent.db.before-0005").write_text(SECRET)
        agent.ask("look it up")
        assert files_with(tmp_path / "blobs", RARE)
        receipt = agent.erase(text=SECRET)
        assert receipt.found == ()
        assert receipt.counts["typed lines"] == 1
        assert receipt.counts["outputs"] == 1
        assert nowhere(tmp_path)
        assert (tmp_path / "input_history").read_text() == (
            "\n# 2026-01-01 10:00:00\n+hello\n\n# 2026-01-01 10:02:00\n+bye\n"
        )
        agent.ask("and now")
        assert "[Erased by the person.]" in sent(server)
        assert agent.checkup().missing == ()


def test_a_memory_takes_the_message_it_came_from_with_it(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path) as agent:
        agent.ask(SECRET)
        agent.ask("my cat is grey")
        assert agent.settle(20) == []
        episode = next(m for m in agent.memories(kind=None) if m.text == SECRET)
        receipt = agent.erase(memory_id=episode.id)
        assert (receipt.counts["entries"], receipt.counts["memories"]) == (1, 1)
        assert nowhere(tmp_path)
        with pytest.raises(NotFoundError):
            agent.erase(memory_id=episode.id)
        with pytest.raises(NotFoundError, match="erased"):
            agent.read_output(episode.source_ids[0])


def test_an_entry_is_erased_and_who_says_the_same_is_named(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path) as agent:
        agent.ask(SECRET)
        agent.ask(f"again: {SECRET}")
        first, *_ = agent.history()
        receipt = agent.erase(entry_id=first.id)
        again = next(m for m in agent.history() if m.content.startswith("again"))
        assert receipt.also_in == (again.id,)
        assert receipt.found == ()  # what a record holds is no leftover
        assert agent.erase(entry_id=again.id).also_in == ()
        assert nowhere(tmp_path)
        with pytest.raises(NotFoundError):
            agent.erase(entry_id="nothing")


def test_a_session_is_erased_whole(tmp_path: Path) -> None:
    with ScriptedServer(default="noted xylocarp") as server, agent_on(server, tmp_path, session="one") as agent:
        agent.ask(SECRET)
        agent.note("a note on xylocarp")
        agent.remember(SECRET)
        agent.ask("go on")
        agent.new_session()
        server.default = "fine"
        agent.ask("my cat is grey")
        receipt = agent.erase(session="one")
        assert receipt.finished
        assert nowhere(tmp_path)
        assert [s.title for s in agent.sessions()] == ["my cat is grey"]
        assert agent.erase(session=agent.session_id).finished
        agent.ask("hello there")
        assert [m["content"].splitlines()[-1] for m in server.bodies[-1]["messages"]][1:] == ["hello there"]


def test_it_must_be_clear_what_is_to_go(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path) as agent:
        for wrong in ({}, {"text": "a", "memory_id": "b"}, {"text": " "}, {"text": "a", "session": "b"}):
            with pytest.raises(MemagentError):
                agent.erase(**wrong)
        nothing = agent.erase(text="never said")
        assert (nothing.matches, nothing.counts, nothing.finished) == ((), {}, False)
        assert agent.receipts() == []


def test_another_users_words_stay(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server:
        for user in ("u1", "u2"):
            with agent_on(server, tmp_path, user=user, session="s1") as agent:
                agent.ingest([{"role": "user", "content": SECRET, "id": "1"}])
                assert agent.settle(20) == []
        with agent_on(server, tmp_path, user="u1", session="s1") as agent:
            receipt = agent.erase(text=SECRET)
            assert receipt.finished
            assert receipt.found == ()
            assert agent.history()[0].content == ""
            assert agent.search_history("xylocarp", session="all") == []
            with pytest.raises(NotFoundError):
                agent.erase(session="s2")
        with agent_on(server, tmp_path, user="u2", session="s1") as agent:
            assert agent.settle(20) == []
            assert agent.history()[0].content == SECRET
            found = agent.recall("vault xylocarp")
            assert found[0].memory.text == SECRET
            assert "near in meaning" in found[0].why or found[0].score > 0
            assert agent.search_history("xylocarp")
            assert agent.receipts() == []


def compacted(agent: Agent) -> None:
    for number in range(6):
        agent.ask(f"message {number} about the garden and its {number} trees")
    agent.ask(f"{SECRET}. Always answer in French.")
    agent.ask("fine")
    agent.ask("and more")


def told(body: dict[str, Any]) -> str:
    if "xylocarp" in json.dumps(body["messages"]):
        return "They spoke of the garden. The vault opens with xylocarp seven seven four one."
    return "They spoke of the garden and its trees."


def test_summaries_and_quoted_instructions_are_made_anew(tmp_path: Path) -> None:
    with (
        ScriptedServer(default="d'accord", summary=told) as server,
        agent_on(server, tmp_path, window_tokens=4_096) as agent,
    ):
        compacted(agent)
        assert agent.compact()
        assert "xylocarp" in agent.summaries()[0].text
        agent.ask("one more")
        number = agent.manifests(limit=1)[0].number
        assert "xylocarp" in sent(server)
        receipt = agent.erase(text=SECRET)
        assert receipt.counts["summaries"] == 1
        assert nowhere(tmp_path)
        (summary,) = agent.summaries()
        assert summary.made_by == "extract"
        assert "garden" in summary.text
        reply = agent.ask("what now")
        assert "xylocarp" not in sent(server)
        assert "French" not in sent(server)
        assert reply.manifest
        assert reply.manifest.prefix_break == "erased"
        assert agent.replay(number).status == "erased"
        assert agent.replay(-1).status == "equal"
        agent.ask("and then")
        assert agent.manifests(limit=1)[0].prefix_break is None or agent.summaries()[0].made_by == "model"
        assert agent.settle(20) == []
        assert nowhere(tmp_path)


def test_an_older_process_shows_it_no_more(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path, session="s") as older:
        older.ask(SECRET)
        older.remember(f"Fact: {SECRET}")
        older.ask("what opens with xylocarp seven")
        with agent_on(server, tmp_path, session="s") as other:
            assert other.erase(text="xylocarp").finished
        reply = older.ask("and now")
        assert "xylocarp" not in sent(server)
        assert reply.manifest
        assert reply.manifest.prefix_break == "erased"
        assert nowhere(tmp_path)


async def _erase(server: ScriptedServer, folder: Path) -> None:
    async with async_agent_on(server, folder) as agent:
        await agent.ask(SECRET)
        assert (await agent.erase(text=SECRET)).finished
        assert len(await agent.receipts()) == 1


def test_coroutines_can_do_it_too(tmp_path: Path) -> None:
    import asyncio

    with ScriptedServer(default="ok") as server:
        asyncio.run(_erase(server, tmp_path))
    assert nowhere(tmp_path)


def test_a_private_session_stays_private_and_a_pinned_fact_leaves_the_prompt(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path, session="one") as agent:
        agent.private(True)
        agent.ask(SECRET)
        agent.erase(session="one")
        assert agent.private() is True
        agent.new_session()
        agent.pin(agent.remember("The vault of the user opens with xylocarp").id)
        agent.ask("hello")
        assert "xylocarp" in sent(server)
        assert agent.erase(text="opens with xylocarp").found == ()
        reply = agent.ask("hello again")
        assert "xylocarp" not in sent(server)
        assert reply.manifest
        assert reply.manifest.prefix_break
        assert nowhere(tmp_path)
