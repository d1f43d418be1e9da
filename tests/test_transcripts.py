"""Real agent transcripts, replayed end to end in small windows, and imported.

They lie beside the repository (``../shared/data``), not in it; without them these tests skip. In the quick
profile every fifth is replayed, with ``--thorough`` all are.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from memagent import Agent, load_settings
from memagent.tools.definition import Tool
from stores.records import MessageRole
from tests.agents import agent_on, newest
from tests.scripted_server import Reply, ScriptedServer
from tests.sent import Wire, check_requests

TRANSCRIPTS = Path(__file__).parent.parent.parent / "shared" / "data" / "tool_transcripts_dev.jsonl"
WINDOWS = (4_096, 8_192)
TURNS = 40
"""More than the longest of their exchanges takes."""

GO_ON = "Go on."


def transcripts() -> list[list[Wire]]:
    if not TRANSCRIPTS.is_file():
        return []
    return [json.loads(line)["messages"] for line in TRANSCRIPTS.read_text("utf-8").splitlines()]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every = 1 if metafunc.config.getoption("--thorough") else 5
    found = list(enumerate(transcripts()))[::every]
    absent = pytest.param([], id="absent", marks=pytest.mark.skip(reason=f"{TRANSCRIPTS} is not there"))
    metafunc.parametrize("talk", [pytest.param(talk, id=str(number)) for number, talk in found] or [absent])


class Anything(BaseModel):
    model_config = ConfigDict(extra="allow")


class Player:
    """Plays the assistant's side of a transcript, and its tools'."""

    def __init__(self, talk: list[Wire]) -> None:
        self.instructions = "\n\n".join(m["content"] for m in talk if m["role"] == "system")
        self.asked = [m["content"] for m in talk if m["role"] == "user"]
        self.outputs = [m["content"] for m in talk if m["role"] == "tool"]
        self._said = deque(m for m in talk if m["role"] == "assistant")
        self._returned = deque(self.outputs)
        self._names = dict.fromkeys(c["function"]["name"] for m in talk for c in m.get("tool_calls") or ())

    def tools(self) -> list[Tool]:
        return [Tool(self._returned.popleft, name, f"The airline's {name}.", Anything) for name in self._names]

    def step(self, body: Wire) -> Reply:
        """The next message of the assistant; a word where there is none, some end with the person or a tool, and
        where no call is wanted, since the one before only repeated another."""
        if not self._said or (self._said[0].get("tool_calls") and body.get("tool_choice") == "none"):
            return Reply("One moment.")
        message = self._said.popleft()
        calls = [
            (call["function"]["name"], call["function"]["arguments"], call["id"])
            for call in message.get("tool_calls") or ()
        ]
        return Reply(message["content"] or "", calls=calls)

    @property
    def finished(self) -> bool:
        return not self._said and not self._returned


def results(agent: Agent) -> Iterator[str]:
    """Every tool output of the session, read back by the id of its entry."""
    for message in agent.history():
        if message.role is MessageRole.TOOL:
            yield agent.read_output(message.id)


def ask(agent: Agent, server: ScriptedServer, text: str) -> None:
    """Asks; where the agent stopped because a call was repeated, asks to go on."""
    sent = len(server.bodies)
    reply = agent.ask(text)
    assert all(newest(body).endswith(text) for body in server.bodies[sent:])
    if reply.finish_reason == "no_progress":
        ask(agent, server, GO_ON)
    else:
        assert reply.finish_reason == "stop"


@pytest.mark.parametrize("window", WINDOWS)
def test_replayed_end_to_end(scripted: ScriptedServer, tmp_path: Path, talk: list[Wire], window: int) -> None:
    player = Player(talk)
    scripted.default = player.step
    settings = load_settings(turn_limit=TURNS, instructions=player.instructions)
    with agent_on(scripted, tmp_path, tools=player.tools(), settings=settings, window_tokens=window) as agent:
        for text in player.asked:
            ask(agent, scripted, text)
        assert player.finished
        # a blank output says that it is blank
        assert list(results(agent)) == [output or "(empty text)" for output in player.outputs]
        said = [message.content for message in agent.history() if message.role is MessageRole.USER]
        assert [text for text in said if text != GO_ON] == player.asked
    for body in scripted.bodies:
        assert body["messages"][0]["content"].startswith(player.instructions)
    check_requests(scripted, window)


@pytest.mark.parametrize("window", WINDOWS)
def test_imported_and_gone_on_with(scripted: ScriptedServer, tmp_path: Path, talk: list[Wire], window: int) -> None:
    player = Player(talk)
    scripted.default = "It is booked."
    settings = load_settings(instructions=player.instructions)
    with agent_on(scripted, tmp_path, tools=player.tools(), settings=settings, window_tokens=window) as agent:
        agent.ingest([message for message in talk if message["role"] != "system"])
        assert list(results(agent)) == player.outputs
        assert agent.ask("Where do I stand?").finish_reason == "stop"
        agent.settle(20)
        assert agent.ask("And then?").text == "It is booked."
        assert list(results(agent)) == player.outputs
    assert newest(scripted.bodies[0]).endswith("Where do I stand?")
    check_requests(scripted, window)
