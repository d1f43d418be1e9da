"""Outputs too long for a prompt: shown in part, kept whole, read back. C13, C17 and the overflow half of C25."""

from __future__ import annotations

import dataclasses
import enum
import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from memagent import Agent, tool
from memagent.errors import ContextError, NotFoundError
from memagent.events import Notice, ToolFinished
from memagent.testing import FakeClock
from memagent.tools.definition import Tool
from stores.records import Message, MessageRole
from tests.agents import agent_on
from tests.scripted_server import Reply, ScriptedServer, call
from tests.shell import Shell
from tests.wire import count_text, prompt_tokens

TOTAL = 50_000
ROWS = "\n".join(f"row {number:05d} of the harbour ledger" for number in range(1, TOTAL + 1))


def report_tool(text: str = ROWS, **more: Any) -> Tool:
    """A tool that returns a text."""

    def report() -> str:
        """The harbour's ledger."""
        return text

    return tool(name="report", **more)(report)


def results(agent: Agent, session: str | None = None) -> list[Message]:
    return [message for message in agent.history(session) if message.role is MessageRole.TOOL]


def shown(body: dict[str, Any]) -> list[str]:
    """The tool results of a request."""
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


def stored(data_dir: Path) -> list[Path]:
    return [path for path in (data_dir / "blobs").glob("*/*") if path.is_file()]


def follow(text: str) -> dict[str, str]:
    """The arguments of the call that a notice names."""
    match = re.search(r"read_output\(([^)]*)\)", text)
    return dict(re.findall(r'(\w+)="([^"]*)"', match[1])) if match else {}


# --- C13: reading back an overflowed output overflows again -----------------------------------------


def test_c13_the_preview_says_how_much_and_how_to_go_on(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    def small() -> str:
        """Ten tokens."""
        return "the harbour is closed on Mondays and Fridays"

    scripted.add(Reply(calls=[("report", {}), ("small", {})]), "done")
    with agent_on(scripted, tmp_path, tools=[report_tool(max_output_tokens=400), small]) as agent:
        reply = agent.ask("read the ledger")
        long, short = sorted(results(agent), key=lambda message: message.name or "")
    [preview, inline] = shown(scripted.bodies[1])
    assert count_text(preview) <= 400
    assert preview.startswith("row 00001 of the harbour ledger\nrow 00002")
    assert preview.endswith(f"row {TOTAL} of the harbour ledger")
    assert f"of {TOTAL:,} lines" in preview
    assert f"of {len(ROWS):,} characters" in preview
    head = preview[: preview.index("\n[...")].count("\n") + 1
    assert follow(preview) == {"ref": long.id, "lines": f"{head + 1}-{2 * head}"}
    assert inline == short.content == "the harbour is closed on Mondays and Fridays"
    assert short.overflow is None
    assert long.content == preview  # what is stored is what was shown
    assert long.overflow is not None
    assert (long.overflow.chars, long.overflow.size_bytes) == (len(ROWS), len(ROWS))
    told = [event.content for event in reply.events if isinstance(event, ToolFinished)]
    assert preview in told
    assert len(stored(tmp_path)) == 1


def test_c13_reading_back_gives_rows_within_the_limit_and_stores_nothing(
    scripted: ScriptedServer, tmp_path: Path
) -> None:
    def read(**selectors: str) -> Callable[[dict[str, Any]], Reply]:
        return lambda body: call("read_output", ref=follow(shown(body)[0])["ref"], **selectors)

    scripted.add(
        call("report"),
        read(),
        read(lines="25000-25100"),
        read(lines="60000-60100"),
        call("read_output", ref="no-such-ref"),
        read(grep="row 4999[89]"),
        read(chars="100-180"),
        "done",
    )
    with agent_on(scripted, tmp_path, tools=[report_tool(max_output_tokens=400)]) as agent:
        reply = agent.ask("read the ledger")
        assert reply.finish_reason == "stop"
        assert not any(message.overflow for message in results(agent)[1:])
        whole = [message.content for message in results(agent)]
    _, first, middle, beyond, unknown, grep, chars = shown(scripted.bodies[-1])
    assert [_, first, middle, beyond, unknown, grep, chars] == whole
    for text in (first, middle, beyond, unknown, grep, chars):
        assert count_text(text) <= 400
    assert "row 00001 of the harbour ledger\nrow 00002" in first
    assert "lines 1-" in first
    assert "row 25000 of the harbour ledger\nrow 25001" in middle
    assert "lines 25000-" in middle
    assert "only 50,000 lines" in beyond
    assert "no-such-ref" in unknown
    assert "49998: row 49998" in grep
    assert ROWS[99:180] in chars
    assert len(stored(tmp_path)) == 1
    assert all(prompt_tokens(body) + body["max_tokens"] <= 8_192 for body in scripted.bodies)


def test_c13_following_the_stated_position_gives_every_row_once(scripted: ScriptedServer, tmp_path: Path) -> None:
    rows = "\n".join(ROWS.split("\n")[:400])
    pages: list[str] = []

    def next_page(body: dict[str, Any]) -> Any:
        newest = shown(body)[-1]
        pages.append(newest)
        if len(pages) == 1:
            return call("read_output", ref=follow(newest)["ref"])
        asked = follow(newest)
        return call("read_output", **asked) if asked else "done"

    scripted.add(call("report"))
    scripted.default = next_page
    with agent_on(scripted, tmp_path, tools=[report_tool(rows)], settings=None, window_tokens=16_384) as agent:
        reply = agent.ask("read all of it")
        while reply.finish_reason == "turn_limit" and follow(pages[-1]):  # ten turns a message
            reply = agent.ask("go on")
    found = [line for page in pages[1:] for line in page.splitlines() if line.startswith("row ")]
    assert found == rows.split("\n")


def test_c13_a_host_walks_all_fifty_thousand_rows(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(call("report"), "done")
    with agent_on(scripted, tmp_path, tools=[report_tool(max_output_tokens=400)]) as agent:
        agent.ask("read the ledger")
        [result] = results(agent)
        found: list[str] = []
        asked = {"ref": result.id, "lines": f"{TOTAL - 3_000}-"}
        while asked:
            page = agent.read_output(asked.pop("ref"), **asked)
            found += [line for line in page.splitlines() if line.startswith("row ")]
            asked = follow(page)
        assert found == ROWS.split("\n")[TOTAL - 3_001 :]
    assert len(stored(tmp_path)) == 1


def test_c13_reading_works_after_reopening_and_says_that_it_may_be_stale(
    scripted: ScriptedServer, tmp_path: Path
) -> None:
    clock = FakeClock()
    tools = [report_tool(stale_after_seconds=3_600)]
    scripted.add(call("report"), "done")
    with agent_on(scripted, tmp_path, tools=tools, clock=clock, session="s1") as agent:
        agent.ask("read the ledger")
        [result] = results(agent)

    def read(session: str) -> str:
        scripted.add(call("read_output", ref=result.id, lines="-2"), "done")
        with agent_on(scripted, tmp_path, tools=tools, clock=clock, session=session) as agent:
            agent.ask("and the end?")
            assert agent.read_output(result.id) == ROWS
        return shown(scripted.bodies[-1])[-1]

    fresh = read("s1")
    assert fresh.startswith("[Result of report, 2026-01-05")
    assert "stale" not in fresh
    assert fresh.endswith("row 49999 of the harbour ledger\nrow 50000 of the harbour ledger")
    assert "possibly stale: from an earlier session" in read("s2").splitlines()[0]
    clock.advance(hours=2)
    assert "possibly stale: older than 3600 s" in read("s1").splitlines()[0]
    assert len(stored(tmp_path)) == 1


# --- whose it is ------------------------------------------------------------------------------------


def test_c25_another_user_cannot_read_it(scripted: ScriptedServer, tmp_path: Path) -> None:
    secret = "\n".join(f"gate {number} code 7741" for number in range(5_000))
    scripted.add(call("report"), "done")
    with agent_on(scripted, tmp_path, user="u1", session="s1", tools=[report_tool(secret)]) as agent:
        agent.ask("the codes?")
        [result] = results(agent)
        assert agent.read_output(result.id) == secret
    scripted.add(call("read_output", ref=result.id), "I do not know.")
    for user in ("U1", "u2", "", "u1 x"):
        with agent_on(scripted, tmp_path, user=user, session="s1") as agent:
            if user == "u2":
                agent.ask("what is the gate code?")
                assert "nothing is kept under" in results(agent)[0].content
            with pytest.raises(NotFoundError):
                agent.read_output(result.id)
            with pytest.raises(NotFoundError):
                agent.read_output(result.id, lines="1-3")
            assert agent.checkup(collect=True).outputs == 0
    assert not any("7741" in json.dumps(body) for body in scripted.bodies[2:])
    with agent_on(scripted, tmp_path, user=" u1 ", session="s1") as agent:
        assert agent.read_output(result.id) == secret


def test_c25_another_user_cannot_reach_a_summary(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.summary = "The person told the gate code, 7741."
    scripted.default = "I do not know."
    with agent_on(scripted, tmp_path, user="u1", session="s1") as agent:
        for text in ("My gate code is 7741. " + "please " * 200, "and the tides? " + "please " * 200, "thanks"):
            agent.ask(text)
        assert agent.compact() is not None
        [summary] = agent.summaries()
        assert "7741" in summary.text
        assert agent.search_history("gate code", session="all")
        undone, edited = summary.id, agent.edit(summary.id, "The gate code is 7741.").id
    sent, asked = len(scripted.bodies), len(scripted.summary_bodies)
    for user in ("U1", "u2", "", None, "u1 x"):
        for session in ("s1", None):
            scripted.add(
                Reply(calls=[("expand_summary", {"summary": edited}), ("read_output", {"ref": edited})]),
                call("search_history", query="gate code", session="all"),
            )
            with agent_on(scripted, tmp_path, user=user, session=session) as agent:
                for ref in (undone, edited, edited[:6]):
                    for act in (agent.expand, agent.read_output, lambda r: agent.edit(r, "The code is 1.")):
                        with pytest.raises(NotFoundError):
                            act(ref)
                assert agent.summaries() == []
                for where in (None, "all"):
                    assert not any("7741" in hit.snippet for hit in agent.search_history("7741", session=where))
                with pytest.raises(ContextError):
                    agent.undo()
                assert agent.ask("what is the secret of the gate?").text == "I do not know."
                came = {message.name: message.content for message in results(agent)}
                assert "no summary" in came["expand_summary"]
                assert "nothing is kept under" in came["read_output"]
                assert "7741" not in came["search_history"]
    assert not any("7741" in json.dumps(body) for body in scripted.bodies[sent:] + scripted.summary_bodies[asked:])
    with agent_on(scripted, tmp_path, user="u1", session="s1") as agent:
        [summary] = agent.summaries()
        assert (summary.id, summary.text) == (edited, "The gate code is 7741.")
        assert agent.expand(summary.id)[0].content.startswith("My gate code is 7741.")


def test_the_current_session_comes_first_where_imported_ids_repeat(scripted: ScriptedServer, tmp_path: Path) -> None:
    def talk(word: str) -> list[dict[str, Any]]:
        return [
            {"role": "user", "content": "look", "id": "1"},
            {"role": "assistant", "content": None, "id": "2", "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
            {"role": "tool", "tool_call_id": "c", "content": f"{word} " * 9_000, "name": "f", "id": "3"},
        ]

    with agent_on(scripted, tmp_path, session="one") as agent:
        agent.ingest(talk("first"))
        agent.ingest(talk("second"), session="two")
        assert agent.read_output("3") == "first " * 9_000
        assert agent.read_output("1") == "look"
        agent.resume("two")
        assert agent.read_output("3") == "second " * 9_000
        agent.new_session()
        assert agent.read_output("3") == "second " * 9_000


# --- what a host gets -------------------------------------------------------------------------------


def test_hosts_get_all_of_it_or_a_page(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(call("report"), "done")
    with agent_on(scripted, tmp_path, tools=[report_tool()]) as agent:
        agent.ask("read the ledger")
        ref = results(agent)[0].id
        assert agent.read_output(ref) == ROWS
        assert agent.read_output(ref, lines="3-4").endswith("\n" + "\n".join(ROWS.split("\n")[2:4]))
        assert "matches 1-1 of 1" in agent.read_output(ref, grep="row 00077")
        assert count_text(agent.read_output(ref, lines="1-")) <= 1_000
        asked = agent.history()[0]
        assert agent.read_output(asked.id) == "read the ledger"
        assert agent.read_output(asked.id, chars="1-4").startswith("[Message of the user, ")
        with pytest.raises(NotFoundError, match="nothing is kept"):
            agent.read_output("no such ref")


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{n}: naïve 日本 🎉\t{n}" for n in range(4_000)) + "\n",
        "word " * 20_000,
        "日本語" * 9_000,
        "\n" * 60_000 + "end",
    ],
)
def test_texts_come_back_byte_for_byte(scripted: ScriptedServer, tmp_path: Path, text: str) -> None:
    scripted.add(call("report"), "done", "done")
    with agent_on(scripted, tmp_path, tools=[report_tool(text)]) as agent:
        agent.ask("read the ledger")
        [result] = results(agent)
        assert count_text(result.content) <= 8_192 * 15 // 100
        assert agent.read_output(result.id) == text
        agent.ask("and?")
    assert shown(scripted.bodies[2]) == [result.content]


def test_ansi_and_nul_never_reach_the_store(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(call("report"), "done")
    with agent_on(scripted, tmp_path, tools=[report_tool("\x1b[31mred\x1b[0m \x00row\n" * 5_000)]) as agent:
        agent.ask("read the ledger")
        assert agent.read_output(results(agent)[0].id) == "red row\n" * 5_000


def test_a_megabyte_of_one_line_json_is_read_by_lines_and_by_path(scripted: ScriptedServer, tmp_path: Path) -> None:
    items = [{"id": number, "name": f"ship {number}", "tags": ["a", "b"], "price": 1.10} for number in range(75_000)]
    text = json.dumps({"items": items, "next": None})
    assert len(text) > 5_000_000

    def read(**selectors: str) -> Callable[[dict[str, Any]], Reply]:
        return lambda body: call("read_output", ref=follow(shown(body)[0])["ref"], **selectors)

    scripted.add(
        call("report"), read(lines="70000-70002"), read(json_path="$.items[41234]"), read(grep="ship 41235"), "done"
    )
    begin = time.monotonic()
    with agent_on(scripted, tmp_path, tools=[report_tool(text)]) as agent:
        agent.ask("read the ledger")
        assert agent.read_output(results(agent)[0].id) == text
    assert time.monotonic() - begin < 30
    preview, lines, path, grep = shown(scripted.bodies[-1])
    assert preview.splitlines()[:3] == [
        "{",
        ' "items": [',
        '  {"id": 0, "name": "ship 0", "tags": ["a", "b"], "price": 1.1},',
    ]
    assert "of the unwrapped JSON" in preview
    assert '"name": "ship 69997"' in lines
    assert json.loads(path.splitlines()[-1]) == items[41_234]
    assert '41238:   {"id": 41235' in grep
    assert all(count_text(page) <= 1_000 for page in (lines, path, grep))


# --- caps and failures ------------------------------------------------------------------------------


def test_results_of_one_turn_share_its_room(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(Reply(calls=[("report", {}) for _ in range(6)]), "done")
    with agent_on(scripted, tmp_path, tools=[report_tool()]) as agent:
        agent.ask("read the ledger")
        assert all(agent.read_output(result.id) == ROWS for result in results(agent))
    previews = shown(scripted.bodies[1])
    assert sum(count_text(text) for text in previews) <= 8_192 * 30 // 100
    assert len({follow(text)["ref"] for text in previews}) == 6
    assert len(stored(tmp_path)) == 1  # the same text is kept once


def test_if_it_cannot_be_stored_the_person_is_told_and_it_is_cut(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(call("report"), "done", "still here")
    (tmp_path / "blobs").write_text("in the way")
    with agent_on(scripted, tmp_path, tools=[report_tool()]) as agent:
        reply = agent.ask("read the ledger")
        assert agent.ask("and?").text == "still here"
        [result] = results(agent)
        assert agent.read_output(result.id) == result.content
    [text] = shown(scripted.bodies[1])
    assert text == result.content
    assert result.overflow is None
    assert count_text(text) <= 8_192 * 15 // 100
    assert "characters are lost" in text
    told = [event.text for event in reply.events if isinstance(event, Notice) and event.level == "warning"]
    assert any("could not be kept" in line for line in told)


def test_a_stored_output_that_is_gone_or_damaged_is_said(scripted: ScriptedServer, tmp_path: Path) -> None:
    from memagent import StoreError

    scripted.add(call("report"), "done")
    with agent_on(scripted, tmp_path, tools=[report_tool()]) as agent:
        agent.ask("read the ledger")
        [result] = results(agent)
        [file] = stored(tmp_path)
        file.write_bytes(b"something else")
        scripted.add(call("read_output", ref=result.id), "done")
        agent.ask("again?")
        assert "damaged" in results(agent)[-1].content
        with pytest.raises(StoreError, match="damaged"):
            agent.read_output(result.id)
        shutil.rmtree(file.parent)
        with pytest.raises(StoreError, match="any more"):
            agent.read_output(result.id, lines="1-2")
        assert agent.checkup().missing == (file.name,)


def test_another_place_can_be_set(scripted: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMAGENT_BLOB_URL", f"memory://{uuid.uuid4().hex}/outputs")
    scripted.add(call("report"), "done")
    with agent_on(scripted, tmp_path, tools=[report_tool()]) as agent:
        agent.ask("read the ledger")
        assert agent.read_output(results(agent)[0].id) == ROWS
        assert agent.checkup().outputs == 1
    assert not (tmp_path / "blobs").exists()


def test_a_small_window_still_gets_a_reference(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(Reply(calls=[("report", {}) for _ in range(4)]), "done")
    with agent_on(scripted, tmp_path, tools=[report_tool()], window_tokens=1_024) as agent:
        agent.ask("read the ledger")
        assert all(agent.read_output(result.id) == ROWS for result in results(agent))


def test_the_host_s_own_tool_of_that_name_is_its_own(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    def read_output(ref: str) -> str:
        """The host's own."""
        return ROWS

    scripted.add(call("read_output", ref="x"), "done")
    with agent_on(scripted, tmp_path, tools=[read_output]) as agent:
        agent.ask("read it")
        assert agent.read_output(results(agent)[0].id) == ROWS


# --- transcripts ------------------------------------------------------------------------------------


def test_tool_results_of_transcripts_overflow_too(scripted: ScriptedServer, tmp_path: Path) -> None:
    calls = [{"id": f"c{n}", "function": {"name": "f", "arguments": "{}"}} for n in range(3)]
    texts = [f"{n} naïve 🎉\r\n" * 5_000 for n in range(3)]
    talk = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": f"c{n}", "content": text, "name": "f"} for n, text in enumerate(texts)),
        {"role": "assistant", "content": "seen"},
    ]
    scripted.default = "done"
    with agent_on(scripted, tmp_path) as agent:
        agent.ingest(talk)
        assert [agent.read_output(result.id) for result in results(agent)] == texts
        agent.ask("and?")
        assert shown(scripted.bodies[0]) == [result.content for result in results(agent)]
    assert sum(count_text(text) for text in shown(scripted.bodies[0])) <= 8_192 * 30 // 100


# --- C17: tools that return something other than text -----------------------------------------------


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Ship:
    name: str
    built: date


class Berth(BaseModel):
    number: int
    free_from: datetime


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


def _numbers() -> Iterator[Any]:
    yield 1
    yield date(2026, 3, 1)


def _ring() -> list[Any]:
    ring: list[Any] = [1]
    ring.append(ring)
    return ring


NINE = datetime(2026, 3, 1, 9, 30, tzinfo=timezone(timedelta(hours=2)))
C17: dict[str, tuple[Callable[[], Any], str]] = {
    "None": (lambda: None, r"\(no output\)"),
    "empty": (lambda: "", r"\(empty text\)"),
    "blank": (lambda: " \n ", r"\(empty text\)"),
    "zero": (lambda: 0, "0"),
    "False": (lambda: False, "false"),
    "datetime": (lambda: NINE, r'"2026-03-01T09:30:00\+02:00"'),
    "date": (lambda: date(2026, 3, 1), '"2026-03-01"'),
    "Decimal": (lambda: Decimal("1.10"), '"1.10"'),
    "UUID": (lambda: uuid.UUID(int=7), '"00000000-0000-0000-0000-000000000007"'),
    "Enum": (lambda: Colour.RED, '"red"'),
    "set": (lambda: {1}, r"\[1\]"),
    "bytes": (lambda: b"\xff\x00", r'\{"bytes":2,"base64":"/wA="\}'),
    "many bytes": (lambda: b"\xff" * 10**6, r'\{"bytes":1000000,"note":"only the first.*'),
    "dataclass": (lambda: Ship("Alma", date(1987, 5, 1)), r'\{"name":"Alma","built":"1987-05-01"\}'),
    "model": (lambda: Berth(number=4, free_from=NINE), r'\{"number":4,"free_from":"2026-03-01T09:30:00\+02:00"\}'),
    "integer keys": (lambda: {1: "x"}, r'\{"1":"x"\}'),
    "dates inside": (lambda: {"at": date(2026, 3, 1)}, r'\{"at":"2026-03-01"\}'),
    "generator": (_numbers, r'\[1,"2026-03-01"\]'),
    "ring": (_ring, r'\{"error": "unreadable_result".*Circular.*'),
    "no repr": (Unspeakable, r'\{"error": "unreadable_result".*no words.*'),
    "other letters": (lambda: {"città": "日本"}, r'\{"città":"日本"\}'),
    "surrogate inside": (lambda: {"a": "x\ud83d"}, r'\{"a":"x\ufffd"\}'),
}


def test_c17_whatever_a_tool_returns_becomes_text(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    def give(kind: str) -> Any:
        """Gives something."""
        return C17[kind][0]()

    scripted.add(Reply(calls=[("give", {"kind": kind}) for kind in C17]), "done", "still here")
    with agent_on(scripted, tmp_path, tools=[give], window_tokens=32_768, session="s1") as agent:
        assert agent.ask("give me all of them").text == "done"
    with agent_on(scripted, tmp_path, tools=[give], window_tokens=32_768, session="s1") as agent:
        assert agent.ask("and?").text == "still here"
        kept = {message.call_id: message.content for message in results(agent)}
    sent = {m["tool_call_id"]: m["content"] for m in scripted.bodies[1]["messages"] if m["role"] == "tool"}
    again = {m["tool_call_id"]: m["content"] for m in scripted.bodies[2]["messages"] if m["role"] == "tool"}
    assert sent == kept == again
    for (kind, (_, wanted)), text in zip(C17.items(), sent.values(), strict=True):
        if kind != "many bytes":
            assert re.fullmatch(wanted, text, re.DOTALL), (kind, text)
        else:
            assert text.startswith('{"bytes":1000000')
            assert re.match(r'\{\s*"bytes":\s*1000000', text), text


# --- the doctor -------------------------------------------------------------------------------------


def test_the_doctor_shows_what_could_go_and_removes_exactly_that(scripted: ScriptedServer, tmp_path: Path) -> None:
    shell = Shell(tmp_path, scripted.base_url)
    scripted.add(call("report"), "done")
    with agent_on(scripted, shell.data_dir, tools=[report_tool()]) as agent:
        agent.ask("read the ledger")
        ref = results(agent)[0].id
    [used] = stored(shell.data_dir)
    lost, fresh, left = (used.parent / name for name in ("0" * 64, "1" * 64, f"{'2' * 64}.0123abcd.part"))
    for file in (lost, fresh, left):
        file.write_bytes(b"nothing refers to it")
    (used.parent / "notes.txt").write_text("not memagent's")
    for file in (used, lost, left, used.parent / "notes.txt"):
        os.utime(file, (time.time() - 7_200,) * 2)

    found = shell.json("doctor")
    why = {stray["digest"]: stray["why"] for stray in found["strays"]}
    assert why == {lost.name: "no entry refers to it", left.name: "left by a write that was cut short"}
    assert (found["outputs"], found["collected"], found["missing"]) == (4, False, [])
    assert {Path(place["where"]).name: bool(place["size_bytes"]) for place in found["places"]}["memagent.db"]
    assert lost.exists()
    said = shell.run("doctor").stdout
    assert "could go" in said
    assert "no entry refers to it" in said
    assert "removed" in shell.run("doctor", "--collect").stdout
    assert sorted(path.name for path in used.parent.iterdir()) == sorted([used.name, fresh.name, "notes.txt"])
    assert "every one of them is referred to" in shell.run("doctor").stdout
    with agent_on(scripted, shell.data_dir) as agent:
        assert agent.read_output(ref) == ROWS


def test_an_output_that_comes_again_is_not_collected(scripted: ScriptedServer, tmp_path: Path) -> None:
    """The file is old and nothing refers to it: a doctor may look just when the same output comes again."""
    scripted.add(call("report"), "done")
    with agent_on(scripted, tmp_path / "other", tools=[report_tool()]) as agent:
        agent.ask("read the ledger")
    shutil.copytree(tmp_path / "other" / "blobs", tmp_path / "data" / "blobs")
    [file] = stored(tmp_path / "data")
    os.utime(file, (time.time() - 7_200,) * 2)
    scripted.add(call("report"), "done")
    with agent_on(scripted, tmp_path / "data", tools=[report_tool()]) as agent:
        assert len(agent.checkup().strays) == 1
        agent.ask("read the ledger")
        assert agent.checkup(collect=True).strays == ()
        assert agent.read_output(results(agent)[0].id) == ROWS
        assert datetime.now(UTC).timestamp() - file.stat().st_mtime < 3_600
