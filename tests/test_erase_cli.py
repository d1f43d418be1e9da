"""Erasing from the shell and the chat, and what becomes of an erasure that is killed."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest

from tests.agents import agent_on
from tests.residue import files_with
from tests.scripted_server import ScriptedServer
from tests.shell import Shell
from tests.test_erasing import RARE, SECRET, nowhere

KILLS = 8


def test_it_shows_what_would_go_before_it_goes(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server:
        shell = Shell(tmp_path, server.base_url, MEMAGENT_EMBEDDER=str(tmp_path / "none"))
        shell.run("ask", SECRET)
        shell.run("memory", "add", f"so {SECRET}")
        shown = shell.run("memory", "erase", "--text", "xylocarp", "--dry-run").stdout
        assert shown.count("xylocarp") >= 3
        refused = shell.run("memory", "erase", "--text", "xylocarp", code=2)
        assert "--yes" in refused.stderr
        assert files_with(shell.data_dir, RARE)
        done = shell.run("memory", "erase", "--text", "xylocarp", "--yes").stdout
        assert "nothing of it was found" in done
        assert "out of reach: what the model's provider keeps" in done
        assert files_with(shell.data_dir, RARE) == []
        assert shell.json("memory", "erase", "--text", "xylocarp")["matches"] == []
        shell.run("memory", "erase", code=2)
        shell.run("memory", "erase", "nobody", "--yes", code=1)


def test_in_the_chat_the_line_that_asks_is_erased_too(tmp_path: Path) -> None:
    with ScriptedServer(default="ok") as server:
        shell = Shell(tmp_path, server.base_url, MEMAGENT_EMBEDDER=str(tmp_path / "none"))
        out = shell.run("chat", given=f"{SECRET}\n/erase xylocarp\n/erase yes xylocarp\n/erase xylocarp\n").stdout
        assert "/erase yes TEXT" in out
        assert "nothing of it was found" in out
        assert out.rstrip().endswith("there is nothing of it")
        assert files_with(shell.data_dir, RARE) == []


SCRIPT = """
import sys
from pathlib import Path
from tests.agents import agent_on
class Server: base_url = sys.argv[1]
agent = agent_on(Server, Path(sys.argv[2]), session="s")
print("ready", flush=True)
print(agent.erase(text="xylocarp").finished, flush=True)
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_at_any_moment_it_is_finished_at_the_next_start(tmp_path: Path) -> None:
    dice = random.Random(11)
    took = 0.0  # seconds that an erasure takes here; the first is left alone
    script = tmp_path / "erase.py"
    script.write_text(SCRIPT)
    interrupted = 0
    with ScriptedServer(default="ok") as server:
        shell = Shell(tmp_path, server.base_url)
        for number in range(KILLS + 1):
            folder = tmp_path / f"data{number}"
            with agent_on(server, folder, session="s") as agent:
                for some in range(40):
                    agent.remember(f"fact {some} about gardens")
                agent.ask(SECRET)
                agent.remember(f"and {SECRET}")
                agent.ask("what opens with xylocarp")
                assert agent.settle(30) == []
            (folder / "input_history").write_text(f"\n# 2026-01-01\n+{SECRET}\n")
            process = subprocess.Popen(
                [Shell.argv()[0], str(script), server.base_url, str(folder)],
                stdout=subprocess.PIPE,
                env=shell.env,
                cwd=shell.cwd,
            )
            assert process.stdout
            assert process.stdout.readline() == b"ready\n"
            begun = time.monotonic()
            if took:
                time.sleep(dice.uniform(0.0, took))
                process.kill()
            process.wait()
            took = took or time.monotonic() - begun
            rest = process.stdout.read()
            process.stdout.close()
            with agent_on(server, folder, session="s") as agent:
                assert agent.settle(60) == []
                receipts = agent.receipts()
                if not receipts:  # nothing was promised yet
                    assert not rest
                    assert agent.erase(text="xylocarp").finished
                else:
                    interrupted += not rest
                    assert [r.finished for r in receipts] == [True]
                    assert receipts[0].found == ()
                assert len(agent.memories()) == 40
                assert agent.recall("gardens fact 7")
            assert nowhere(folder)
    assert interrupted >= 2
