"""Another process that uses the vector index: `python -m tests.contract.vector_worker COMMAND ARGUMENTS`."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import subprocess
import sys
from pathlib import Path

from stores.chroma import ChromaVectorIndex
from stores.errors import StoreError
from stores.sql import open_sql
from tests.contract import worker
from tests.contract.samples import U1, angle, memory, vector
from tests.contract.worker import say


def start(*arguments: object) -> subprocess.Popen[str]:
    """Starts this worker, from a test."""
    return worker.start(*arguments, module="tests.contract.vector_worker")


async def put_vectors(path: str, name: str, degrees: str) -> None:
    """Puts a vector as memory ``name`` and removes the memory "old"."""
    index = ChromaVectorIndex(Path(path))
    await index.put(U1, "g", {name: [angle(float(degrees))], "old": []})
    await index.close()


async def use_offline(path: str) -> None:
    """Uses all stores and says which addresses Python code tried to reach."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("socket.connect", "socket.getaddrinfo"):
            say(f"{event} {arguments[1:]}")

    sys.addaudithook(hook)
    os.environ.pop("ANONYMIZED_TELEMETRY", None)
    stores = open_sql(Path(path) / "memagent.db")
    index = ChromaVectorIndex(Path(path) / "vectors")
    await stores.memories.put(U1, [memory("a", "text")])
    await index.put(U1, "g", {"a": [angle(0)]})
    say(len(await index.query(U1, "g", angle(0), limit=5)))
    await index.close()
    await stores.close()


async def fill_vectors(path: str, limit_bytes: str) -> None:
    """Puts vectors until no file may grow, and says what happened."""
    index = ChromaVectorIndex(Path(path))
    await index.put(U1, "g", {"first": [vector(*[1.0] * 384)]})
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit_bytes), int(limit_bytes)))
    try:
        for number in range(100):
            await index.put(U1, "g", {f"m{number}-{i}": [vector(*[float(i)] * 384)] for i in range(1, 100)})
    except StoreError as error:
        say(type(error).__name__)
    await index.close()


async def share(path: str, name: str, count: str) -> None:
    """Puts vectors, a hundred at a time, asks for one of them each time, and reopens now and then."""
    # Two processes that write an index at once can blow up its files to the size of the disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000_000, 50_000_000))
    index = ChromaVectorIndex(Path(path))
    for first in range(0, int(count), 100):
        await index.put(U1, "g", {f"{name}-{number}": [spread(name, number)] for number in range(first, first + 100)})
        [hit] = await index.query(U1, "g", spread(name, first), limit=1)
        assert hit.memory_id == f"{name}-{first}", hit
        if first % 300 == 0:
            await index.reopen()
    await index.close()


def spread(name: str, number: int) -> bytes:
    """A vector that is near no other's."""
    source = random.Random(f"{name} {number}")
    return vector(*(source.gauss(0, 1) for _ in range(32)))


COMMANDS = {function.__name__: function for function in (put_vectors, use_offline, fill_vectors, share)}

if __name__ == "__main__":
    asyncio.run(COMMANDS[sys.argv[1]](*sys.argv[2:]))
