"""`memagent bench memory` on small stores."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from memagent.bench.memory import MemoryReport, Size, bench_memory


def size(memories: int, p50_ms: float) -> Size:
    return Size(memories=memories, built_seconds=1.0, memory_mb=200.0, p50_ms=p50_ms, p95_ms=2 * p50_ms)


def test_stores_are_built_and_asked() -> None:
    told: list[tuple[int, int]] = []
    report = asyncio.run(bench_memory((400, 1_000), progress=lambda _label, done, total: told.append((done, total))))
    assert [row.memories for row in report.sizes] == [400, 1_000]
    assert all(0 < row.p50_ms <= row.p95_ms and row.memory_mb > 0 for row in report.sizes)
    assert 0 < report.sizes[0].built_seconds < report.sizes[1].built_seconds
    assert report.remember_ms > 0 < report.ingest_ms
    assert told == [(400, 1_000), (1_000, 1_000)]


def test_what_is_too_slow_is_named() -> None:
    report = MemoryReport(remember_ms=4.9, ingest_ms=5.0, sizes=[size(1_000, 99.0), size(10_000, 11.0)])
    assert report.missed() == ["recall in 10,000 memories 11.0 ms, floor 10", "ingest 5.0 ms, floor 5"]


def test_the_command_prints_what_it_measured(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "memagent", "bench", "memory", "--quick", "--json"]
    env = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=env)
    assert done.returncode in (0, 1)  # 1: this machine is too busy for a floor, and it says so
    assert [row["memories"] for row in json.loads(done.stdout)["sizes"]] == [1_000, 10_000]
    assert ("below the floor" in done.stderr) == (done.returncode == 1)
