"""The process in which the embedded model runs. Started by `local`, never imported; the only user of xllamacpp.

Reads its orders as one line of JSON from standard input, loads the model into llama.cpp's own server
on 127.0.0.1, writes one line of JSON (``{"address": …}`` or ``{"error": …}``), and serves until
standard input closes: however the parent ends, this process ends with it.

A process of its own, because a server in the parent's process (xllamacpp 2026.10) crashes the
interpreter when it exits in the middle of an answer, and hangs it when freed then or after a fork.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, cast

import xllamacpp  # pyright: ignore[reportMissingTypeStubs]


def serve() -> Any:
    """Carries out the orders; returns the server when nobody wants the model any more."""
    orders = json.loads(sys.stdin.buffer.readline())
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)  # llama.cpp writes to both descriptors by itself
    os.dup2(silence, 2)
    try:
        server = load(orders)
    except RuntimeError as error:
        answers.write(json.dumps({"error": str(error)}) + "\n")
        answers.flush()
        return None
    answers.write(json.dumps({"address": server.listening_address}) + "\n")
    answers.flush()
    sys.stdin.buffer.read()
    return server


def load(orders: dict[str, Any]) -> Any:
    """The server with the model loaded. Raises RuntimeError if llama.cpp cannot."""
    library = cast(Any, xllamacpp)
    params = library.CommonParams()
    params.model.path = orders["path"]
    params.model_alias = {orders["name"]}
    params.api_keys = [orders["api_key"]]
    params.n_ctx = orders["window_tokens"]
    params.n_parallel = 1  # a second slot would halve the window and lose the cached prefix
    params.cache_ram_mib = orders["cache_mib"]
    params.use_jinja = True
    params.cpuparams.n_threads = orders["generation_threads"]
    params.cpuparams_batch.n_threads = orders["prompt_threads"]
    params.verbosity = -1
    params.ui = False
    params.endpoint_slots = False  # it would show prompts
    return library.Server(params)


if __name__ == "__main__":
    try:
        kept = serve()  # still held at the exit below: freeing it could wait for a request for ever
    finally:
        # Also after an error, as the broken pipe of a parent that was killed while the model loaded:
        # the interpreter's own end would wait for the server's threads.
        os._exit(0)
