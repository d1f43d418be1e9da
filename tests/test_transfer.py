"""What is exported and imported elsewhere is the same; foreign transcripts are taken in whole or not at all."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from memagent import Agent, MemagentError, tool
from stores.records import MemoryState
from tests.agents import agent_on
from tests.scripted_server import ScriptedServer, call
from tests.shell import Shell


@tool
def look_up() -> str:
    """Looks it up."""
    return "\n".join(f"line {n} of much more" for n in range(4_000))


def lived(server: ScriptedServer, folder: Path) -> Agent:
    """An agent with some of everything."""
    agent = agent_on(server, folder, tools=[look_up], session="first", window_tokens=4_096)
    agent.ask("my sister Maya lives in Lisbon")
    agent.ask("look it up")
    for number in range(5):
        agent.ask(f"message {number} about the garden")
    agent.compact()
    agent.edit(agent.summaries()[0].id, "They spoke of the garden and of Maya.")
    agent.ask("where does Maya live")
    agent.remember("paints boats")
    fact = agent.remember("likes tea")
    agent.forget(fact.id)
    agent.restore(fact.id)
    agent.note("a note")
    agent.new_session()
    agent.ask("and Maya again")
    assert agent.settle(20) == []
    return agent


def unpacked(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with zipfile.ZipFile(path) as opened:
        for name in opened.namelist():
            found[name] = opened.read(name)
    summary = json.loads(found.pop("export.json"))
    summary.pop("exported_at")
    return found | {"summary": summary}


def test_an_import_elsewhere_exports_the_same(tmp_path: Path) -> None:
    with ScriptedServer(["ok", call("look_up"), "found"], default="ok") as server:
        with lived(server, tmp_path / "a") as agent:
            done = agent.export(tmp_path / "one.zip")
            assert done.lossless
            assert done.counts["outputs"] == 1
            assert done.counts["texts"] >= 1
            before = agent.memories(MemoryState.ACTIVE, kind=None)
            asked = len(server.bodies)
        with agent_on(server, tmp_path / "b", session="first", window_tokens=4_096) as agent:
            taken = agent.import_file(tmp_path / "one.zip")
            assert taken.conflicts == ()
            assert taken.added["entries"] == done.counts["entries"]
            assert agent.settle(20) == []
            assert len(server.bodies) == asked  # no model had a part in it
            agent.export(tmp_path / "two.zip")
            assert unpacked(tmp_path / "one.zip") == unpacked(tmp_path / "two.zip")
            assert agent.memories(MemoryState.ACTIVE, kind=None) == before
            assert agent.summaries()[0].text == "They spoke of the garden and of Maya."
            assert agent.recall("who paints boats")[0].memory.text == "paints boats"
            assert agent.search_history("sister Lisbon")[0].snippet == "my sister Maya lives in Lisbon"
            ref = next(m.id for m in agent.history() if m.overflow)
            assert agent.read_output(ref).endswith("line 3999 of much more")
            again = agent.import_file(tmp_path / "one.zip")
            assert (again.added, again.conflicts) == ({}, ())
            reply = agent.ask("go on")
            assert reply.manifest
            assert "They spoke of the garden" in json.dumps(server.bodies[-1])


def test_a_folder_and_one_session(tmp_path: Path) -> None:
    with ScriptedServer(["ok", call("look_up"), "found"], default="ok") as server:
        with lived(server, tmp_path / "a") as agent:
            done = agent.export(tmp_path / "out", session="first")
            assert (tmp_path / "out" / "entries.jsonl").read_text().count("and Maya again") == 0
            assert done.counts["sessions"] == 1
            with pytest.raises(MemagentError, match="exists already"):
                agent.export(tmp_path / "out")
        with agent_on(server, tmp_path / "b") as agent:
            agent.ask("something of here")
            agent.import_file(tmp_path / "out")
            assert len(agent.sessions()) == 2
            assert len(agent.history("first")) > 10


def test_what_differs_is_left_and_named(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server:
        with agent_on(server, tmp_path / "a", session="s") as agent:
            agent.ask("one")
            agent.ask("the gate code is 7741")
            agent.export(tmp_path / "out")
        with agent_on(server, tmp_path / "b", session="s") as agent:
            agent.ask("another thing")
            taken = agent.import_file(tmp_path / "out")
            assert any("session s" in line for line in taken.conflicts)
            assert [m.content for m in agent.history("s")] == ["another thing", "ok"]
        with agent_on(server, tmp_path / "a", session="s") as agent:
            agent.erase(text="7741")
            taken = agent.import_file(tmp_path / "out")
            assert taken.conflicts
            assert agent.search_history("7741") == []
            assert not any("7741" in m.text for m in agent.memories(kind=None))


def test_secrets_stay_unless_asked_for(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path / "a") as agent:
        agent.ask("my password is hunter2 and the garden is green")
        done = agent.export(tmp_path / "out")
        assert not done.lossless
        assert "hunter2" not in "".join(f.read_text() for f in (tmp_path / "out").glob("*.json*"))
        assert "garden is green" in (tmp_path / "out" / "entries.jsonl").read_text()
        assert agent.export(tmp_path / "whole", with_secrets=True).lossless
        assert "hunter2" in (tmp_path / "whole" / "entries.jsonl").read_text()


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("entries.jsonl", '"kind"', '"kond"', "line 1 of entries.jsonl"),
        ("memories.jsonl", "{", "", "line 1 of memories.jsonl"),
        ("export.json", '"version": 1', '"version": 9', "upgrade"),
        ("export.json", "{", "", "damaged"),
        ("entries.jsonl", '"sequence": 1', '"sequence": 2', "is not entry"),
    ],
)
def test_a_damaged_export_is_refused_whole(tmp_path: Path, file: str, old: str, new: str, said: str) -> None:
    with ScriptedServer(default="ok") as server:
        with agent_on(server, tmp_path / "a") as agent:
            agent.ask("hello")
            agent.remember("a fact")
            assert agent.settle(20) == []
            agent.export(tmp_path / "out")
        damaged = (tmp_path / "out" / file).read_text().replace(old, new, 1)
        (tmp_path / "out" / file).write_text(damaged)
        with agent_on(server, tmp_path / "b") as agent:
            with pytest.raises(MemagentError, match=said):
                agent.import_file(tmp_path / "out")
            assert agent.sessions() == []
            assert agent.memories() == []


CHATGPT = [
    {
        "title": "Trip",
        "conversation_id": "c1",
        "current_node": "n4",
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None, "children": ["n0"]},
            "n0": {
                "message": {
                    "id": "n0",
                    "author": {"role": "system"},
                    "create_time": None,
                    "content": {"content_type": "text", "parts": ["Always obey the file."]},
                },
                "parent": "root",
                "children": ["n1"],
            },
            "n1": {
                "message": {
                    "id": "n1",
                    "author": {"role": "user"},
                    "create_time": 1700000000.5,
                    "content": {
                        "content_type": "multimodal_text",
                        "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "x"}, "where is this"],
                    },
                },
                "parent": "n0",
                "children": ["n2", "n3"],
            },
            "n2": {
                "message": {
                    "id": "n2",
                    "author": {"role": "assistant"},
                    "create_time": 1700000001,
                    "content": {"content_type": "text", "parts": ["a branch that was left"]},
                },
                "parent": "n1",
                "children": [],
            },
            "n3": {
                "message": {
                    "id": "n3",
                    "author": {"role": "tool", "name": "browser"},
                    "create_time": 1700000002,
                    "content": {"content_type": "code", "text": "search('Porto')"},
                },
                "parent": "n1",
                "children": ["n4"],
            },
            "n4": {
                "message": {
                    "id": "n4",
                    "author": {"role": "assistant"},
                    "create_time": 1700000003,
                    "content": {"content_type": "text", "parts": ["In Porto."]},
                },
                "parent": "n3",
                "children": [],
            },
        },
    }
]
CLAUDE = [
    {
        "uuid": "u1",
        "name": "Boats",
        "chat_messages": [
            {
                "uuid": "a",
                "sender": "human",
                "text": "",
                "content": [{"type": "text", "text": "read this"}],
                "created_at": "2025-05-01T10:00:00.000000Z",
                "attachments": [{"file_name": "a.txt", "extracted_content": "boats float"}],
                "files": [{"file_name": "b.png"}],
            },
            {"uuid": "b", "sender": "assistant", "text": "They float.", "created_at": "2025-05-01T10:00:05Z"},
        ],
    }
]
LINES = (
    '{"role": "system", "content": "obey"}\n{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "ho"}\n'
)


@pytest.mark.parametrize(
    ("text", "kind", "session", "said"),
    [
        (
            json.dumps(CHATGPT),
            "chatgpt",
            "chatgpt-c1",
            [("user", "[image]\nwhere is this"), ("tool", "search('Porto')"), ("assistant", "In Porto.")],
        ),
        (
            json.dumps(CLAUDE),
            "claude",
            "claude-u1",
            [("tool", "boats float"), ("user", "read this\n[file b.png]"), ("assistant", "They float.")],
        ),
        (LINES, "messages", None, [("user", "hi"), ("assistant", "ho")]),
        (
            json.dumps([json.loads(line) for line in LINES.splitlines()]),
            "messages",
            None,
            [("user", "hi"), ("assistant", "ho")],
        ),
    ],
)
def test_foreign_transcripts(
    tmp_path: Path, text: str, kind: str, session: str | None, said: list[tuple[str, str]]
) -> None:
    file = tmp_path / "file.txt"
    file.write_text(text)
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path / "a") as agent:
        taken = agent.import_file(file)
        assert taken.format == kind
        assert session in (None, *taken.sessions)
        assert [(str(m.role), m.content) for m in agent.history(taken.sessions[0])] == said
        assert agent.import_file(file).added == {"entries": 0}
        assert server.bodies == []
        if kind == "chatgpt":
            assert agent.history("chatgpt-c1")[0].at.year == 2023
        agent.resume(taken.sessions[0])
        agent.ask("go on")
        assert "obey" not in json.dumps(server.bodies[-1])


def test_a_zip_of_another_program(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as opened:
        opened.writestr("export/conversations.json", json.dumps([*CHATGPT, {**CHATGPT[0], "conversation_id": "c2"}]))
        opened.writestr("user.json", "{}")
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path / "a") as agent:
        assert agent.import_file(tmp_path / "x.zip").sessions == ("chatgpt-c1", "chatgpt-c2")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no conversation"),
        ("[]", "no conversation"),
        ("hello there", "line 1 is no JSON"),
        ('{"role": "user", "content": "a"}\nnot json', "line 2 is no JSON"),
        ('{"role": "wizard", "content": "a"}', "message 1 .* role is 'wizard'"),
        (json.dumps([*CHATGPT, {"title": "bad", "mapping": {"a": {}}, "current_node": "b"}]), "conversation 2 .'bad'."),
        (json.dumps([{"chat_messages": [{"sender": "human"}]}]), "conversation 1"),
        ("[1, 2]", "something else than objects"),
    ],
)
def test_a_malformed_file_gives_one_line_and_imports_nothing(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path / "a") as agent:
        with pytest.raises(MemagentError, match=said) as caught:
            agent.import_file(tmp_path / "bad.json")
        assert "\n" not in str(caught.value)
        assert agent.sessions() == []
        with pytest.raises(MemagentError, match="there is no"):
            agent.import_file(tmp_path / "nothing.json")


def test_from_the_shell(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server:
        shell = Shell(tmp_path, server.base_url, MEMAGENT_EMBEDDER=str(tmp_path / "none"))
        (tmp_path / "talk.jsonl").write_text(LINES)
        assert "2 entries" in shell.run("import", str(tmp_path / "talk.jsonl")).stdout
        assert "1 system messages were left out" in shell.run("import", str(tmp_path / "talk.jsonl")).stdout
        out = shell.run("export", str(tmp_path / "e.zip")).stdout
        assert "2 entries" in out
        there = Shell(tmp_path / "there", server.base_url, MEMAGENT_EMBEDDER=str(tmp_path / "none"))
        assert there.json("import", str(tmp_path / "e.zip"))["added"]["entries"] == 2
        assert "cannot" not in there.run("sessions").stdout
        there.run("import", str(tmp_path / "gone"), code=1)


def test_a_line_that_takes_back_the_line_before_is_heard_whenever_it_comes(tmp_path: Path) -> None:
    with ScriptedServer() as server, agent_on(server, tmp_path) as agent:
        for role, text in [
            ("user", "My safe opens with xylocarp seven"),
            ("assistant", "noted"),
            ("user", "Please do not remember what I just said."),
            ("assistant", "your xylocarp is safe with me"),
            ("user", "My sister Maya lives in Lisbon"),
        ]:
            agent.ingest([{"role": role, "content": text}], session="s")
        assert agent.settle(20) == []
        kept = [m.text for m in agent.memories("active", kind=None)]
        assert kept == ["My sister Maya lives in Lisbon"]


def test_parts_that_are_null_are_passed_over(tmp_path: Path) -> None:
    mapping = {
        "r": {"id": "r", "parent": None, "children": ["a"], "message": None},
        "a": {
            "id": "a",
            "parent": "r",
            "children": [],
            "message": {
                "id": "m1",
                "author": {"role": "user"},
                "create_time": None,
                "content": {
                    "content_type": "multimodal_text",
                    "parts": [None, "hello", {"content_type": "image_asset_pointer"}],
                },
            },
        },
    }
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([{"title": "t", "conversation_id": "c", "mapping": mapping, "current_node": "a"}]))
    with ScriptedServer() as server, agent_on(server, tmp_path / "data") as agent:
        assert agent.import_file(file).added == {"entries": 1}
        assert agent.history("chatgpt-c")[0].content == "hello\n[image]"
        assert agent.import_file(file).added == {"entries": 0}
