"""Several processes at once on one data folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents import agent_on
from tests.scripted_server import ScriptedServer
from tests.shell import Shell

SECONDS = 20
PROCESSES = 4
WORK = """
import json, sys, time
from pathlib import Path
from tests.agents import agent_on

class Server: base_url = sys.argv[1]
me, seconds, together = int(sys.argv[3]), float(sys.argv[4]), sys.argv[5] or None
said, kept, found = [], [], set()
with agent_on(Server, Path(sys.argv[2]), session=together) as agent:
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        agent.remember(f"process {me} keeps secret{me}x{number}")
        kept.append(f"process {me} keeps secret{me}x{number}")
        agent.ask(f"process {me} asks {number}")
        said.append(f"process {me} asks {number}")
        for other in range(4):
            wanted = f"process {other} keeps"
            if other != me and any(wanted in hit.memory.text for hit in agent.recall(f"{wanted} secret")):
                found.add(other)
        number += 1
    session = agent.session_id
print(json.dumps({"said": said, "kept": kept, "found": sorted(found), "session": session}))
"""


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("together", ["", "one talk"])
def test_four_processes_chat_and_remember_on_one_folder(tmp_path: Path, together: str) -> None:
    seconds = SECONDS if not together else SECONDS / 4
    with ScriptedServer(default="ok") as server:
        shell = Shell(tmp_path, server.base_url)
        script = tmp_path / "work.py"
        script.write_text(WORK)
        running = [
            subprocess.Popen(
                [sys.executable, str(script), server.base_url, str(shell.data_dir), str(me), str(seconds), together],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=shell.env,
            )
            for me in range(PROCESSES)
        ]
        done = [process.communicate(timeout=150) for process in running]
        assert [process.returncode for process in running] == [0] * PROCESSES, [err.decode() for _, err in done]
        reports = [json.loads(out) for out, _ in done]
        for me, report in enumerate(reports):
            assert len(report["said"]) >= 3
            assert report["found"] == [other for other in range(PROCESSES) if other != me]
        with agent_on(server, shell.data_dir) as agent:
            assert agent.settle(60) == []
            kept = [text for report in reports for text in report["kept"]]
            assert sorted(memory.text for memory in agent.memories()) == sorted(kept)
            if together:
                history = [message.content for message in agent.history(together)]
                for report in reports:
                    assert [text for text in history if text in set(report["said"])] == report["said"]
                assert history.count("ok") == sum(len(report["said"]) for report in reports)
            else:
                for report in reports:
                    history = [message.content for message in agent.history(report["session"])]
                    assert history == [line for text in report["said"] for line in (text, "ok")]
            assert {hit.memory.text for text in kept[::10] for hit in agent.recall(text, limit=1)} == set(kept[::10])
        server.check()
