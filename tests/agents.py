"""Agents for tests: the real one, against a scripted server, with an embedder that needs no model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memagent import Agent, AsyncAgent
from memagent.testing import WordEmbedder
from tests.scripted_server import ScriptedServer


def options(server: ScriptedServer, data_dir: Path, **more: Any) -> dict[str, Any]:
    """Constructor arguments for an agent that talks to the scripted server."""
    return {
        "base_url": server.base_url,
        "api_key": "test-key",
        "model": "scripted",
        "data_dir": data_dir,
        "window_tokens": 8_192,
        "embedder": WordEmbedder(),
        **more,
    }


def agent_on(server: ScriptedServer, data_dir: Path, **more: Any) -> Agent:
    """The synchronous agent."""
    return Agent(**options(server, data_dir, **more))


def async_agent_on(server: ScriptedServer, data_dir: Path, **more: Any) -> AsyncAgent:
    """The one for coroutines."""
    return AsyncAgent(**options(server, data_dir, **more))


def newest(body: dict[str, Any]) -> str:
    """The text of the newest user message of a request."""
    content = next(m["content"] for m in reversed(body["messages"]) if m["role"] == "user")
    return content if isinstance(content, str) else content[0]["text"]
