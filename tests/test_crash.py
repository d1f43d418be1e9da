"""Killed at any instant: the next start shows every acknowledged message and reply, once and in order."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from stores.records import MessageRole
from tests.agents import agent_on
from tests.scripted_server import Reply, ScriptedServer
from tests.shell import Shell

KILLS = 20
SLOW = Reply(pieces=["slow "] * 100, pause_seconds=0.02)


def answer(body: dict[str, Any]) -> Any:
    """A message that begins with "quick" gets its answer at once, another one of two seconds."""
    text = body["messages"][-1]["content"].rpartition("\n")[2]
    return f"answer to {text}" if text.startswith("quick") else SLOW


def chat_until_killed(shell: Shell, number: int, after_seconds: float) -> list[str]:
    """One start of the chat: a quick message, then a slow one, killed in its middle. What was acknowledged."""
    process = subprocess.Popen(
        Shell.argv("chat", "--continue"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=shell.env,
        cwd=shell.cwd,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"quick {number}\n".encode())
    process.stdin.flush()
    shown = process.stdout.readline().decode().strip()
    process.stdin.write(f"slow {number}\n".encode())
    process.stdin.flush()
    time.sleep(after_seconds)
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    return [f"quick {number}", shown]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_in_the_middle_of_an_answer_again_and_again(tmp_path: Path) -> None:
    dice = random.Random(7)
    acknowledged: list[str] = []
    with ScriptedServer(default=answer) as server:
        shell = Shell(tmp_path, server.base_url, MEMAGENT_EMBEDDER=str(tmp_path / "none"))
        for number in range(KILLS):
            acknowledged += chat_until_killed(shell, number, dice.uniform(0.0, 1.5))
            with agent_on(server, shell.data_dir, session="last") as agent:
                said = agent.history()
            texts = [message.content for message in said]
            assert [text for text in texts if text in set(acknowledged)] == acknowledged
            assert max(Counter(texts[i] for i in range(len(texts)) if said[i].role is MessageRole.USER).values()) == 1
        server.check()
        slow_sent = [b for b in server.bodies if "slow" in b["messages"][-1]["content"].rpartition("\n")[2]]
        # every message was on disk before it was sent
        assert len([text for text in texts if text.startswith("slow") and len(text) < 8]) >= len(slow_sent)
        assert len(slow_sent) >= KILLS // 2
        assert "answer to quick 99" in shell.run("chat", "--continue", given="quick 99\n").stdout


@pytest.mark.timeout(120)
def test_killed_while_indexing_it_catches_up(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server:
        script = tmp_path / "remember.py"
        script.write_text(
            "import sys\nfrom pathlib import Path\nfrom tests.agents import agent_on\n"
            "class Server: base_url = sys.argv[1]\n"
            "agent = agent_on(Server, Path(sys.argv[2]))\n"
            "for number in range(500):\n    agent.remember(f'fact {number}')\n    print(number, flush=True)\n"
        )
        shell = Shell(tmp_path, server.base_url)
        for after in (3, 40, 90):
            process = subprocess.Popen(
                [*Shell.argv()[:1], str(script), server.base_url, str(shell.data_dir)],
                stdout=subprocess.PIPE,
                env=shell.env,
                cwd=shell.cwd,
            )
            assert process.stdout
            for _ in range(after):
                process.stdout.readline()
            process.kill()
            rest = process.stdout.read().decode().split()
            process.stdout.close()
            process.wait()
            with agent_on(server, shell.data_dir) as agent:
                assert agent.settle(30) == []
                count = len([m for m in agent.memories() if m.text == "fact 2"])
                assert count >= 1
                kept = {m.text for m in agent.memories()}
                assert {f"fact {n}" for n in range(after + len(rest))} <= kept
