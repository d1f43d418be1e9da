"""`memagent memory …` and the slash commands about memories: what a person sees and changes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from memagent import Agent
from memagent.cli import slash
from memagent.cli.main import app
from memagent.errors import NotFoundError
from tests.agents import agent_on
from tests.scripted_server import ScriptedServer, call

RUNNER = CliRunner()


def run(folder: Path, *words: str) -> str:
    result = RUNNER.invoke(app, ["memory", *words, "--data-dir", str(folder)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def listed(folder: Path, *words: str) -> list[dict[str, object]]:
    return json.loads(run(folder, "list", "--json", *words))


def typed(agent: Agent, line: str) -> str:
    output = io.StringIO()
    slash.run(agent, Console(file=output, width=200, color_system=None), line)
    return output.getvalue()


def test_a_memory_is_reworded_pinned_forgotten_and_comes_back(tmp_path: Path) -> None:
    run(tmp_path, "add", "I live in Berlin")
    run(tmp_path, "add", "I play the violin")
    [home] = [str(m["id"]) for m in listed(tmp_path) if m["text"] == "I live in Berlin"]
    assert "I live in Porto" in run(tmp_path, "edit", home[:8], "I live in Porto")
    run(tmp_path, "pin", home[:8])
    assert "I live in Porto" in run(tmp_path, "profile")
    story = json.loads(run(tmp_path, "show", home[:8], "--json"))
    assert story["text"] == "I live in Porto"
    assert [before["text"] for before in story["before"]] == ["I live in Berlin", "I live in Porto"]
    assert [origin["text"] for origin in story["origins"]] == ["I live in Berlin"]
    assert "what it was before" in run(tmp_path, "show", home)
    run(tmp_path, "unpin", home)
    assert "empty" in run(tmp_path, "profile")
    run(tmp_path, "forget", home)
    assert [m["text"] for m in listed(tmp_path)] == ["I play the violin"]
    run(tmp_path, "restore", home)
    assert len(listed(tmp_path)) == 2


@pytest.mark.parametrize("verb", ["show", "forget", "restore", "pin", "unpin", "approve", "edit"])
def test_an_unknown_id_is_refused(tmp_path: Path, verb: str) -> None:
    words = ["memory", verb, "nobody", *(["text"] if verb == "edit" else []), "--data-dir", str(tmp_path)]
    result = RUNNER.invoke(app, words)
    assert result.exit_code == 1
    assert isinstance(result.exception, NotFoundError)
    assert "nobody" in str(result.exception)


def test_the_same_by_slash(scripted: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(scripted, tmp_path) as agent:
        home = agent.remember("I live in Berlin").id
        assert "I live in Berlin" in typed(agent, "/memories")
        assert "/show has what it was" in typed(agent, f"/edit {home} I live in Porto")
        assert "I live in Berlin" in typed(agent, f"/show {home[:8]}")
        assert "in every prompt" in typed(agent, f"/pin {home[:8]}")
        assert "I live in Porto" in typed(agent, "/profile")
        assert "I live in Porto" in agent.preview("hello").messages[0]["content"]
        typed(agent, f"/unpin {home}")
        assert "I live in Porto" not in agent.preview("hello").messages[0]["content"]
        assert "/restore" in typed(agent, f"/forget {home}")
        assert "no memories yet" in typed(agent, "/memories")
        typed(agent, f"/restore {home}")
        assert "I live in Porto" in typed(agent, "/memory porto")


def test_what_the_model_was_talked_into_waits(scripted: ScriptedServer, tmp_path: Path) -> None:
    with agent_on(scripted, tmp_path) as agent:
        scripted.add(call("remember", text="the user's bank is Mallory & Sons"), "Kept.")
        agent.ask("what does the mail say?")
        assert "waiting for your word" in typed(agent, "/memories")
        [waiting] = agent.memories("quarantined")
        typed(agent, f"/approve {waiting.id}")
        assert [m.text for m in agent.memories("active")] == ["the user's bank is Mallory & Sons"]
