"""The README is true: its Python runs, its commands run, and its table has every setting."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memagent.settings import Settings
from tests.scripted_server import ScriptedServer, say
from tests.shell import TOP, Shell

README = (TOP / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [TOP / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


PYTHON = _blocks("python")
COMMANDS = [
    line.split("  #")[0].strip()
    for block in _blocks("sh")
    for line in block.splitlines()
    if "memagent " in line and not line.startswith("make ") and "model pull" not in line
]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A folder in which somebody has talked and remembered something."""
    with ScriptedServer(default=say("She lives in Lisbon.")) as server:
        shell = Shell(tmp_path_factory.mktemp("docs"), server.base_url)
        (shell.cwd / "README.md").write_text(README, encoding="utf-8")
        commands = shell.cwd / "bin"
        commands.mkdir()
        (commands / "memagent").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memagent "$@"\n')
        (commands / "memagent").chmod(0o755)
        shell.env["PATH"] = f"{commands}:{shell.env['PATH']}"
        shell.run("ask", "My sister Maya lives in Lisbon")
        shell.run("memory", "add", "I prefer trains to planes")
        yield shell
        server.check()


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python(shell: Shell, code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=shell.env, cwd=shell.cwd, timeout=100
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Lisbon" in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_command(shell: Shell, command: str) -> None:
    if "--session ID" in command:
        command = command.replace("ID", shell.json("sessions")[0]["id"])
    elif "ID" in command:
        memory_id = shell.json("memory", "add", f"for the command {command}")["id"]
        command = command.replace("ID", memory_id)
        if "restore" in command:
            shell.run("memory", "forget", memory_id)
    if "everything.zip" in command:
        (shell.cwd / "everything.zip").unlink(missing_ok=True)
    if "import everything" in command:
        shell.run("export", "everything.zip")
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        input="hello\n", capture_output=True, text=True, env=shell.env, cwd=shell.cwd, timeout=100,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def test_the_readme_shows_python_and_commands() -> None:
    assert len(PYTHON) >= 3
    assert len(COMMANDS) >= 10


def test_every_setting_is_in_the_table() -> None:
    shown = set(re.findall(r"^\| `MEMAGENT_([A-Z_]+)`", README, re.MULTILINE))
    assert shown == {name.upper() for name in Settings.model_fields}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_paths_exist(path: Path) -> None:
    named = re.findall(r"`((?:memagent|stores|tests|notebooks)/[\w./]+|[A-Z]+\.md)`", path.read_text(encoding="utf-8"))
    missing = [name for name in named if not (TOP / name).exists()]
    assert not missing
