"""Another process: `python -m tests.contract.worker COMMAND ARGUMENTS`. Prints a line for each thing done."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psycopg

from stores.errors import StoreError
from stores.indexes import Passage
from stores.sql import open_sql
from tests.contract.samples import U1, memory, message

ROOT = Path(__file__).parents[2]


def start(*arguments: object, module: str = "tests.contract.worker") -> subprocess.Popen[str]:
    """Starts a worker, from a test. Its stdout and stderr are pipes."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[str]) -> list[str]:
    """Waits for a worker and returns the lines it printed; fails when it failed."""
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    return out.splitlines()


def say(text: object) -> None:
    print(text, flush=True)


async def append(location: str, name: str, count: str) -> None:
    """Appends messages to session "s1" one by one."""
    stores = open_sql(location)
    for number in range(int(count)):
        [entry] = await stores.journal.append(U1, [message(number, id=f"{name}-{number}")])
        say(entry.id)
    await stores.close()


async def remember(location: str, name: str, count: str) -> None:
    """Puts memories one by one."""
    stores = open_sql(location)
    for number in range(int(count)):
        await stores.memories.put(U1, [memory(f"{name}-{number}", f"{name} says {number}")])
        say(f"{name}-{number}")
    await stores.close()


async def fill(location: str, limit_bytes: str) -> None:
    """Appends until no file may grow, then reads, and says what happened."""
    stores = open_sql(location)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit_bytes), int(limit_bytes)))
    try:
        for number in range(10_000):
            [entry] = await stores.journal.append(U1, [message(number, "x" * 5_000)])
            say(entry.id)
    except StoreError as error:
        say(type(error).__name__)
    say(len(await stores.journal.read(U1, "s1")))
    await stores.close()


async def hold(location: str, seconds: str) -> None:
    """Holds a write transaction."""
    if "://" in location:
        with psycopg.connect(location) as connection:
            connection.execute("LOCK TABLE entries IN EXCLUSIVE MODE")
            say("held")
            time.sleep(float(seconds))  # noqa: ASYNC251  nothing else runs here
    else:
        connection = sqlite3.connect(location, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        say("held")
        time.sleep(float(seconds))  # noqa: ASYNC251
        connection.execute("COMMIT")
        connection.close()


async def history(location: str, count: str) -> None:
    """Adds passages, ten at a time."""
    stores = open_sql(location)
    for first in range(0, int(count), 10):
        given = [Passage(f"e{number}", "s1", 0, f"tea {number}") for number in range(first, first + 10)]
        await stores.history.add(U1, given, cursor=first + 10)
        say(first)
    await stores.close()


async def open_only(location: str) -> None:
    """Opens and closes."""
    await open_sql(location).close()


COMMANDS = {function.__name__: function for function in (append, remember, fill, hold, history, open_only)}

if __name__ == "__main__":
    asyncio.run(COMMANDS[sys.argv[1]](*sys.argv[2:]))
