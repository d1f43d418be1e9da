"""What tests of the context look at: what was sent, what the person was told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memagent import Agent
from memagent.events import Event, Notice
from tests.agents import agent_on
from tests.scripted_server import ScriptedServer
from tests.wire import prompt_tokens, violations

Wire = dict[str, Any]


def texts(agent: Agent) -> list[str]:
    """What the session's stored history holds."""
    return [message.content for message in agent.history()]


def check_requests(server: ScriptedServer, window: int) -> None:
    """W1–W5 for all that was sent, requests for summaries too."""
    for record in server.records:
        if record.body is not None:
            assert violations(record.body) == []
            assert prompt_tokens(record.body) + record.body["max_tokens"] <= window


def warnings_in(events: tuple[Event, ...]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice) and event.level != "info"]


def system_text(body: Wire) -> str:
    return body["messages"][0]["content"]


def all_text(body: Wire) -> str:
    return json.dumps(body["messages"], ensure_ascii=False)


def material(body: Wire) -> str:
    """What a request for a summary gives to read."""
    return body["messages"][-1]["content"]


def imported(server: ScriptedServer, data_dir: Path, talk: list[Wire]) -> None:
    """The talk as session "s", imported while there was room for all of it."""
    with agent_on(server, data_dir, session="s", window_tokens=32_768) as agent:
        agent.ingest(talk)
        agent.settle(20)
