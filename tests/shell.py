"""The command line as a person meets it: real processes, with a home and a data folder of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH")


class Shell:
    """Runs `memagent` in folders under ``place``, talking to the server at ``base_url``."""

    def __init__(self, place: Path, base_url: str | None, **settings: str) -> None:
        self.data_dir = place / "data"
        home = place / "home"
        home.mkdir(parents=True, exist_ok=True)
        self.env = {name: os.environ[name] for name in KEPT if name in os.environ} | {
            "HOME": str(home),
            "PYTHONPATH": str(TOP),
            "MEMAGENT_DATA_DIR": str(self.data_dir),
            "MEMAGENT_MODEL": "scripted",
            "MEMAGENT_API_KEY": "sk-test",
            "MEMAGENT_FIND_LOCAL_SERVER": "false",
            "MEMAGENT_WINDOW_TOKENS": "8192",  # else every answer comes with a notice that it was guessed
            "MEMAGENT_MAX_RETRIES": "0",
        }
        if base_url:
            self.env["MEMAGENT_BASE_URL"] = base_url
        self.env |= settings
        self.cwd = home

    @staticmethod
    def argv(*args: str) -> list[str]:
        """The command with these arguments, as a list."""
        return [sys.executable, "-m", "memagent", *args]

    def run(
        self, *args: str, given: str | bytes = "", code: int = 0, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs the command and checks its exit code. Input and output are UTF-8, whatever the locale."""
        done = subprocess.run(
            self.argv(*args),
            input=given.encode() if isinstance(given, str) else given,
            capture_output=True,
            env=self.env | dict(env or {}),
            cwd=self.cwd,
            timeout=100,
        )
        out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        assert done.returncode == code, f"exit code {done.returncode}\n{out}\n{err}"
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    def json(self, *args: str) -> Any:
        """What a command prints with --json."""
        return json.loads(self.run(*args, "--json").stdout)

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        """Starts the command with pipes, in a process group of its own."""
        return subprocess.Popen(
            self.argv(*args),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env,
            cwd=self.cwd,
            start_new_session=True,
        )

    def said(self, session: str = "last") -> list[tuple[str, str]]:
        """Role and text of a session's messages, read by another process."""
        code = (
            "import json, memagent\n"
            f"with memagent.Agent(session={session!r}) as agent:\n"
            "    print(json.dumps([(str(m.role), m.content) for m in agent.history()]))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, env=self.env, cwd=self.cwd, timeout=100, check=True
        )
        return [(role, text) for role, text in json.loads(done.stdout)]


def last_text(body: Mapping[str, Any]) -> str:
    """The newest message of a request, as text."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def texts(body: Mapping[str, Any]) -> Sequence[str]:
    """All messages of a request, as text."""
    return [json.dumps(message, ensure_ascii=False) for message in body["messages"]]
