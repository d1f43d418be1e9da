"""How long `preview(recall=False)` takes in short and long sessions: ``python -m tests.bench.preview [--json]``."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

from tests.agents import agent_on
from tests.scripted_server import ScriptedServer

LENGTHS = (100, 1_000, 10_000)
WINDOWS = (8_192, 131_072, 1_000_000)
ROUNDS = 300


def median_ms(exchanges: int, window_tokens: int, rounds: int = ROUNDS) -> float:
    """The median over ``rounds`` calls in a session of so many exchanges, once its indexes are settled."""
    talk: list[dict[str, str]] = []
    for number in range(exchanges):
        talk.append({"role": "user", "content": f"question {number} about rivers and bridges"})
        talk.append({"role": "assistant", "content": f"answer {number}: there are many bridges over that river"})
    with ScriptedServer(default="ok") as server, tempfile.TemporaryDirectory() as folder:
        agent = agent_on(server, Path(folder), window_tokens=window_tokens)
        with agent:
            agent.ingest(talk, session=agent.session_id)
            agent.settle()
            agent.preview("hello there", recall=False)
            times: list[float] = []
            for _ in range(rounds):
                start = time.perf_counter()
                agent.preview("hello there", recall=False)
                times.append(time.perf_counter() - start)
    return statistics.median(times) * 1_000


def main() -> None:
    """Prints a line a window: medians in milliseconds and the growth from the shortest to the longest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    for window_tokens in WINDOWS:
        medians = {length: round(median_ms(length, window_tokens), 3) for length in LENGTHS}
        growth = round(medians[LENGTHS[-1]] / medians[LENGTHS[0]], 2)
        if as_json:
            print(json.dumps({"window_tokens": window_tokens, "median_ms": medians, "growth": growth}))
        else:
            figures = ", ".join(f"{ms} ms at {length:,}" for length, ms in medians.items())
            print(f"window {window_tokens:,}: {figures} exchanges; growth {growth}")


if __name__ == "__main__":
    main()
