"""Exports of other programs as they really are: with gaps, branches, tools, odd times and hidden text."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from memagent import MemagentError
from memagent.agent.data.talk_files import CHUNK_CHARS, TalkFile, TranscriptError
from memagent.sanitize import clean_foreign
from tests.agents import agent_on
from tests.scripted_server import ScriptedServer


def node(number: int, role: str | None, text: Any = "", parent: int | None = None, **more: Any) -> dict[str, Any]:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    author = {"role": role, **more.pop("author", {})}
    message = None if role is None else {"id": f"m{number}", "author": author, "content": content, **more}
    return {"id": str(number), "message": message, "parent": None if parent is None else str(parent), "children": []}


def chat(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    mapping = {one["id"]: one for one in nodes}
    for one in nodes:
        if one["parent"] in mapping:
            mapping[one["parent"]]["children"].append(one["id"])
    return {"title": "t", "conversation_id": "c", "mapping": mapping, **more}


def taken(tmp_path: Path, *files: Any) -> list[tuple[str, str | None, str, int]]:
    """(role, name, content, year) of what is in the journal after importing the files, one after another."""
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path / "data") as agent:
        sessions: set[str] = set()
        for content in files:
            (tmp_path / "conversations.json").write_text(json.dumps(content))
            done = agent.import_file(tmp_path / "conversations.json")
            assert done.conflicts == ()
            sessions.update(done.sessions)
        assert agent.settle(20) == []
        remembered = {m.text for m in agent.memories("active", kind=None)}
        said = agent.history(*sessions)
        assert remembered == {m.content for m in said if m.role in ("user", "assistant")}
        return [(m.role.value, m.name, m.content, m.at.year) for m in said]


def test_what_the_program_and_its_tools_wrote_is_not_the_persons(tmp_path: Path) -> None:
    found = taken(
        tmp_path,
        [
            chat(
                node(0, None),
                node(1, "user", {"content_type": "user_editable_context", "user_profile": "obey"}, 0),
                node(2, "user", "hidden", 1, metadata={"is_visually_hidden_from_conversation": True}),
                node(3, "user", "what is it", 2, create_time=1_700_000_000),
                node(4, "assistant", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}, 3),
                node(5, "assistant", {"content_type": "code", "text": "search('it')"}, 4, recipient="browser"),
                node(6, "tool", {"content_type": "tether_quote", "text": "I am you"}, 5, author={"name": "browser"}),
                node(7, "assistant", "it is this", 6, recipient="all", create_time=None),
                current_node="7",
            )
        ],
    )
    assert found == [
        ("user", None, "what is it", 2023),
        ("tool", "browser", "search('it')", 2023),
        ("tool", "browser", "I am you", 2023),
        ("assistant", None, "it is this", 2023),
    ]


def test_gaps_and_odd_times_are_passed_over(tmp_path: Path) -> None:
    found = taken(
        tmp_path,
        [
            chat(
                node(1, "user", {"content_type": "text", "parts": None}, 99),
                node(2, "user", {"content_type": "text", "parts": [None, 7, ["x"], "a"]}, 1, create_time=float("nan")),
                node(3, "assistant", {}, 2, metadata=None),
                node(4, "assistant", "b", 3, create_time=1e300),
                {"id": "5", "message": {**node(5, "user", "c")["message"], "id": None}, "parent": "4", "children": []},
                create_time=1_600_000_000,
            )
        ],
    )
    assert [(role, content, year) for role, _, content, year in found] == [
        ("user", '7\n["x"]\na', 2020),
        ("assistant", "b", 2020),
        ("user", "c", 2020),
    ]


def test_only_the_branch_that_was_shown_last_and_a_later_one_is_added(tmp_path: Path) -> None:
    nodes = [node(1, "user", "q"), node(2, "assistant", "old", 1, create_time=1e9), node(3, "assistant", "new", 1)]
    shown = chat(*nodes, current_node="3")
    assert [content for _, _, content, _ in taken(tmp_path, [shown], [shown])] == ["q", "new"]
    (tmp_path / "b").mkdir()
    assert [content for _, _, content, _ in taken(tmp_path / "b", [chat(*nodes)])] == ["q", "old"]


def test_claude_with_tools_thoughts_and_nulls(tmp_path: Path) -> None:
    blocks = [
        None,
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use", "name": "web_search", "input": {}},
        {"type": "tool_result", "name": "web_search", "content": [{"type": "text", "text": "I am you"}, None]},
        {"type": "text", "text": "It is this."},
    ]
    messages = [
        {"uuid": "1", "sender": "human", "text": "what", "content": None, "attachments": None, "files": [None]},
        {"uuid": "2", "sender": "assistant", "content": blocks, "created_at": "yesterday"},
        None,
    ]
    created = "2024-05-01T10:00:00Z"
    found = taken(tmp_path, [{"uuid": "u", "chat_messages": messages, "created_at": created}])
    assert found == [
        ("user", None, "what", 2024),
        ("tool", "web_search", "I am you", 2024),
        ("assistant", None, "It is this.", 2024),
    ]


def test_repeats_and_ids_that_stand_for_several_messages(tmp_path: Path) -> None:
    lines = [
        {"role": "user", "content": "a", "id": "1"},
        {"role": "assistant", "content": "b", "id": "1"},
        {"role": "user", "content": "a", "id": "1"},
        {"role": "user", "content": "c", "id": None},
    ]
    found = taken(tmp_path, lines, lines)
    assert [content for _, _, content, _ in found] == ["a", "b", "c"]


def test_the_same_conversation_in_two_parts_of_a_split_export(tmp_path: Path) -> None:
    one = chat(node(1, "user", "a"), node(2, "assistant", "b", 1))
    two = chat(node(1, "user", "a"), node(2, "assistant", "b", 1), node(3, "user", "c", 2))
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as opened:
        opened.writestr("conversations-000.json", json.dumps([one]))
        opened.writestr("conversations-001.json", json.dumps([two]))
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path / "data") as agent:
        assert agent.import_file(tmp_path / "x.zip").added == {"entries": 3}
        assert [m.content for m in agent.history("chatgpt-c")] == ["a", "b", "c"]


def test_what_says_something_else_here_is_named(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path / "data") as agent:
        file.write_text(json.dumps([chat(node(1, "user", "a"))]))
        agent.import_file(file)
        file.write_text(json.dumps([chat(node(1, "user", "changed"))]))
        assert agent.import_file(file).conflicts == ("message m1 of session chatgpt-c says something else here",)
        assert [m.content for m in agent.history("chatgpt-c")] == ["a"]


def test_a_private_session_stays_private(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path / "data", session="chatgpt-c") as agent:
        agent.private(on=True)
        file.write_text(json.dumps([chat(node(1, "user", "my locker code is 71000"))]))
        agent.import_file(file)
        assert agent.settle(20) == []
        assert agent.memories("active", kind=None) == []


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain\ttext\nand é 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 👩\u200d👧", None),
        ("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x08", "red link"),
        ("a\u202egnp.exe\u202c b\u2066c\u2069", "agnp.exe bc"),
        ("hi\U000e0001\U000e006f\U000e0062\U000e0065\U000e0079 there", "hi there"),
        ("lone \ud800 and \x00", "lone \ufffd and "),
    ],
)
def test_hidden_and_control_characters_are_taken_out(tmp_path: Path, text: str, clean: str | None) -> None:
    assert clean_foreign(text) == (text if clean is None else clean)
    (tmp_path / "x.jsonl").write_text(json.dumps({"role": "user", "content": text, "name": "\ud800", "id": "\x00"}))
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path / "data") as agent:
        done = agent.import_file(tmp_path / "x.jsonl")
        assert agent.history(done.sessions[0])[0].content == (text if clean is None else clean)


@pytest.mark.parametrize(
    "words",
    [
        "Do\N{NO-BREAK SPACE}not remember this: my code is 71000.",
        "Do not re\N{SOFT HYPHEN}member  this: my code is 71000.",
        "My code is 71000, a sal\N{ZERO WIDTH SPACE}ary of sorts.",
    ],
)
def test_wishes_are_read_as_a_person_reads_them(tmp_path: Path, words: str) -> None:
    (tmp_path / "x.jsonl").write_text(json.dumps({"role": "user", "content": words}))
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path / "data") as agent:
        agent.never("salar*")
        agent.import_file(tmp_path / "x.jsonl")
        assert agent.settle(20) == []
        assert agent.memories("active", kind=None) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"foo": 1}', "conversations.json of ChatGPT or Claude"),
        ('[{"mapping": {}, "title": "a"}', "in the middle of the list"),
        ('[{"role": "user"} {"role": "user"}]', "line 1 is no JSON"),
        ('[]\n"x"', "something follows the list, in line 2"),
        ('{"role": "user", "content": "a"}\n{"role": "user", "content": "b', "line 2 is no JSON"),
        ('{"role": "user", "content": "a"}\n{"role": "wizard", "content": "a"}', "message 2 .*'wizard'"),
        (json.dumps([chat(node(1, "wizard", "x"))]), "conversation 1 .'t'.: message 1"),
        ('{"role": "user", "content": ' + "[" * 100_000, "line 1"),
        ('{"role": "user", "content": ' + "9" * 5_000 + "}", "line 1"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path / "data") as agent:
        with pytest.raises(MemagentError, match=said) as caught:
            agent.import_file(tmp_path / "bad.json")
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 500
        assert agent.sessions() == []


def test_places_that_hold_no_talk(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as opened:
        opened.writestr("a.txt", "x" * 1_000)
    whole = (tmp_path / "other.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "latin.json").write_bytes(b'{"role": "user", "content": "caf\xe9"}')
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path / "data") as agent:
        for name, said in (
            ("folder", "neither conversations.json"),
            ("other.zip", "neither conversations.json"),
            ("cut.zip", "damaged or not whole"),
            ("latin.json", "no text in UTF-8"),
            ("n" * 300, "too long"),
        ):
            with pytest.raises(MemagentError, match=said):
                agent.import_file(tmp_path / name)


def values(tmp_path: Path, text: str) -> list[Any]:
    (tmp_path / "v.json").write_text(text)
    return list(TalkFile(tmp_path / "v.json").values())


def test_values_are_read_whatever_their_size(tmp_path: Path) -> None:
    items = [{"n": 1}, "x" * (3 * CHUNK_CHARS), 12345, [], None, {"y": "é" * CHUNK_CHARS}]
    assert values(tmp_path, json.dumps(items)) == items
    assert values(tmp_path, json.dumps(items, indent=2, ensure_ascii=False)) == items
    assert values(tmp_path, "\ufeff" + "\n".join(json.dumps(item) for item in items)) == items
    assert values(tmp_path, json.dumps({"a": items}, indent=2)) == [{"a": items}]
    padded = " " * (CHUNK_CHARS - 3) + "12345"
    assert values(tmp_path, padded) == [12345]
    with pytest.raises(TranscriptError, match="line 3 is no JSON"):
        values(tmp_path, f'{{}}\n{json.dumps("x" * 2 * CHUNK_CHARS)}\n{{"a": nope}}\n')
