"""Erasing a text in whatever form it was written, short ones too, and what comes in between."""

from __future__ import annotations

import asyncio
import json
import threading
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from memagent import load_settings, tool
from memagent.agent.data.erase_planning import ErasePlanner
from memagent.memory.erase import Needles
from memagent.memory.residue import Piece, too_short
from stores.sameness import folded, normalised, words_key
from tests.agents import agent_on
from tests.residue import files_with
from tests.scripted_server import ScriptedServer, call, say

NAME = "Zoë Ünsal wohnt in Kraków"
FORMS = [
    NAME,
    unicodedata.normalize("NFD", NAME),
    NAME.upper(),
    "Zoë\u00a0Ünsal wohnt\u2003in  Kraków",
    "Z\u200bo\u00adë Ünsal wohnt in Kra\u2060ków",
    "\uff3a\uff4f\u00eb Ünsal wohnt in Kraków",
]


@pytest.mark.parametrize("form", FORMS)
def test_texts_that_look_the_same_are_the_same(form: str) -> None:
    assert folded(form) == folded(NAME)
    assert words_key(form) == words_key(NAME)
    assert Needles([NAME]).are_in(f"I heard that {form}, or so.")
    assert Needles([form]).are_in(f"I heard that {NAME}, or so.")


def test_texts_that_differ_stay_different() -> None:
    for one, other in [("Zoë", "Zoe"), ("O+", "O-"), ("-5 °C", "5 °C"), ("naïve 3", "naïve 4"), ("ß1", "ss2")]:
        assert folded(one) != folded(other)
    assert normalised("Straße, 5!") == "strasse 5"
    assert words_key("!…") == ""


@pytest.mark.parametrize(
    ("text", "there", "found"),
    [
        ("PIN 4711", "as he said, pin  4711.", True),
        ("PIN 4711", "pin 47110", False),
        ("佐藤", "田中と佐藤が来た", True),
        ("Zoë", "we met Zoë there", True),
        ("Zoë", "Zoëtrope", False),
        ("ok, thanks", "she said: ok, thanks", False),
        ("yes", "yes", False),
    ],
)
def test_a_short_text_that_says_something_is_found_as_a_whole_word(text: str, there: str, found: bool) -> None:
    assert Needles([text]).are_in(there) is found
    assert not Needles([text]).are_said_in(there)


@pytest.mark.parametrize("form", FORMS[:3])
def test_bytes_are_searched_in_every_form(form: str) -> None:
    piece = Piece.of_text(NAME, "a name")
    for encoded in (form.encode(), json.dumps(form).encode()):
        assert piece.is_in(b"\x00\x01" + encoded.lower() + b"\x02")
    assert too_short("PIN 4711")
    assert not too_short("佐藤太郎")


@pytest.mark.parametrize("form", FORMS)
def test_a_text_is_erased_in_every_form_in_which_it_was_said(tmp_path: Path, form: str) -> None:
    @tool
    def look(who: str) -> str:
        """Looks somebody up."""
        return f"{form} ({who})"

    steps = [call("look", who=unicodedata.normalize("NFD", NAME)), f"So {form}.", "ok"]
    with ScriptedServer(steps, default="ok") as server, agent_on(server, tmp_path, tools=[look]) as agent:
        agent.ask(form)
        agent.remember(f"Merke: {NAME}")
        agent.ask("the weather is fine")
        assert agent.settle(20) == []
        receipt = agent.erase(text=NAME)
        assert (receipt.finished, receipt.found) == (True, ())
        assert [m.content for m in agent.history() if m.content] == ["the weather is fine", "ok"]
        assert agent.memories() == []
    for spelled in {*FORMS, *(unicodedata.normalize("NFD", each) for each in FORMS)}:
        assert files_with(tmp_path, spelled.encode()) == []


def test_a_short_message_goes_from_what_memagent_made_of_it_and_the_receipt_tells_its_limit(tmp_path: Path) -> None:
    steps = ["noted", call("recall", query="pin"), "It is so.", "ok"]
    with ScriptedServer(steps, default="ok") as server, agent_on(server, tmp_path) as agent:
        agent.ask("PIN 4711")
        agent.ask("what was the pin again, and which is it now?")
        assert any("4711" in m.content for m in agent.history() if m.role.value == "tool")
        receipt = agent.erase(entry_id=agent.history()[0].id)
        assert receipt.finished
        assert any("so short" in note for note in receipt.notes)
        assert not any("4711" in m.content for m in agent.history())
    assert files_with(tmp_path, b"PIN 4711") == []


def test_what_is_learned_while_it_is_erased_goes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan is made, and then the learner writes a fact of the same message."""
    secret = "My sister Maya keeps the xylocarp key in Lisbon"
    fact = {"text": secret, "quote": secret, "subject": "Maya", "attribute": "key"}
    with ScriptedServer(default="ok") as server:
        settings = load_settings(extract="on")
        with agent_on(server, tmp_path, settings=settings, session="s") as agent, agent_on(server, tmp_path) as other:
            agent.ask(secret)
            entry = agent.history()[0]
            planned = ErasePlanner.plan

            async def late(self: ErasePlanner, target: Any) -> Any:
                plan = await planned(self, target)
                server.facts = say(json.dumps({"facts": [fact]}))
                worker = threading.Thread(target=agent.settle, args=(20,))
                worker.start()
                await asyncio.to_thread(worker.join)
                return plan

            monkeypatch.setattr(ErasePlanner, "plan", late)
            receipt = other.erase(entry_id=entry.id)
            assert receipt.finished
            assert [m.text for m in agent.memories(kind=None) if "xylocarp" in m.text] == []
    assert files_with(tmp_path, b"xylocarp") == []


def test_a_file_that_cannot_be_read_leaves_the_work_unfinished_and_said_so(tmp_path: Path) -> None:
    secret = "the vault opens with xylocarp seven seven"
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path) as agent:
        agent.ask(secret)
        odd = tmp_path / "memagent.db.before-0003"
        odd.mkdir()  # cannot be unlinked: a copy from before an upgrade that is no file
        (odd / "x").write_text("y")
        receipt = agent.erase(text=secret)
        assert not receipt.finished
        assert "not finished yet" in receipt.notes[0]
        (odd / "x").unlink()
        odd.rmdir()
    with ScriptedServer(default="ok") as server, agent_on(server, tmp_path) as agent:
        agent.settle(20)
        assert agent.receipts()[0].finished
    assert files_with(tmp_path, b"xylocarp") == []
