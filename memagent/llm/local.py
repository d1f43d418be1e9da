"""The embedded model: llama.cpp's server in a process of its own, as long as somebody here uses it."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

from memagent.errors import ModelFileError, NoModelError
from memagent.llm.catalog import model_file
from memagent.llm.dialects import EMBEDDED
from memagent.llm.openai_chat import OpenAIChat
from memagent.llm.profiles import ModelProfile

CACHE_MIB = 512
"""Room for prompt prefixes, so that a helper's call does not cost the chat its own; llama.cpp would take 8 GB."""
_WORKER = Path(__file__).with_name("local_worker.py")
_END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Orders:
    """What makes two users share one process."""

    path: str
    window_tokens: int
    generation_threads: int


@dataclass(slots=True)
class _Worker:
    """A running process and how many use it; ``process`` None: none runs."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0
    process: subprocess.Popen[bytes] | None = None
    base_url: str = ""
    api_key: str = ""


_workers: dict[_Orders, _Worker] = {}
_workers_lock = threading.Lock()


class LocalModel:
    """A model file and the server for it. Users of the same file, window and threads in this process
    share one server, which ends with its last user, and in any case with this process.

    ``threads``: for generation; None is one less than the cores (as many as cores, with anything else
    running, wait for each other: 0.4 tokens/s were measured instead of 7–14).
    """

    def __init__(self, path: Path, *, window_tokens: int = 8_192, threads: int | None = None) -> None:
        self.path = path
        self.window_tokens = window_tokens
        self._orders = _Orders(str(path.resolve()), window_tokens, threads or max(1, _cores() - 1))
        with _workers_lock:
            self._worker = _workers.setdefault(self._orders, _Worker())
        self._started = False

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    @property
    def base_url(self) -> str:
        """The server's address; "" while none runs."""
        return self._worker.base_url

    @property
    def api_key(self) -> str:
        """A key made for this server, so that no web page or other user of the machine can use it."""
        return self._worker.api_key

    def start(self) -> None:
        """Loads the model unless it is loaded already; blocks for 1–8 s. Raises ModelFileError if
        llama.cpp cannot load it, NoModelError if there is no such file."""
        if not self.path.is_file():
            raise NoModelError(f"there is no model file {self.path}")
        with self._worker.lock:
            if self._started:
                return
            if self._worker.process is None or self._worker.process.poll() is not None:
                _launch(self._worker, self._orders, self.name)
            self._worker.users += 1
            self._started = True

    def stop(self) -> None:
        """Gives the server up; the last user ends it, with whatever it is doing. May be called twice."""
        with self._worker.lock:
            if not self._started:
                return
            self._started = False
            self._worker.users -= 1
            if self._worker.users == 0:
                _end(self._worker)


class EmbeddedChat(OpenAIChat):
    """A started `LocalModel` as a `ChatModel`; closing it gives the server up."""

    def __init__(
        self, server: LocalModel, *, window_source: str = "setting", silence_timeout_seconds: float = 300.0
    ) -> None:
        entry = model_file(server.name)
        super().__init__(
            ModelProfile(
                server.name,
                server.window_tokens,
                window_source,
                calls_tools=entry is None or entry.calls_tools,
                extracts=entry is None or entry.extracts,
                one_at_a_time=True,
            ),
            server.base_url,
            server.api_key,
            EMBEDDED,
            silence_timeout_seconds=silence_timeout_seconds,
            endpoint="embedded model",
        )
        self.server = server

    async def close(self) -> None:
        await super().close()
        self.server.stop()


def _cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _launch(worker: _Worker, orders: _Orders, name: str) -> None:
    """Starts the process and waits until the model is loaded."""
    api_key = secrets.token_urlsafe(24)
    process = subprocess.Popen(
        [sys.executable, "-P", str(_WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in the terminal stops an answer, not the model
    )
    assert process.stdin is not None
    assert process.stdout is not None
    text = json.dumps(
        {
            "path": orders.path,
            "name": name,
            "api_key": api_key,
            "window_tokens": orders.window_tokens,
            "cache_mib": CACHE_MIB,
            "generation_threads": orders.generation_threads,
            "prompt_threads": _cores(),
        }
    )
    worker.process = process
    try:
        process.stdin.write(text.encode() + b"\n")
        process.stdin.flush()
        answer: dict[str, str] = json.loads(process.stdout.readline() or b"{}")
    except (BrokenPipeError, ValueError):
        answer = {}
    if "address" not in answer:
        _end(worker)
        reason = answer.get("error", f"it ended with code {process.returncode}; is there enough memory?")
        raise ModelFileError(f"llama.cpp cannot load {orders.path}: {reason}")
    worker.base_url, worker.api_key = f"{answer['address']}/v1", api_key


def _end(worker: _Worker) -> None:
    process, worker.process = worker.process, None
    worker.base_url = worker.api_key = ""
    if process is None:
        return
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:  # it is gone already
                continue
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:  # still loading
        process.kill()
        process.wait()


@atexit.register
def _end_all() -> None:
    """For those who do not close: the process would end anyway, but not before this one has."""
    for worker in _workers.values():
        _end(worker)
