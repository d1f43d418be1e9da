"""Small real implementations for tests: a model that plays a script, an embedder that needs no model,
a clock and ids that can be foreseen."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from zlib import crc32

import numpy as np

from memagent.events import Usage
from memagent.llm.client import ChatRequest, Completion, Retrying, TextPiece
from memagent.llm.profiles import ModelProfile
from memagent.memory.embed import Vectors
from stores.records import ToolCall

_WORD = re.compile(r"\w+")


class FakeClock:
    """A clock that stands until it is moved, or moves by ``step`` at each look."""

    def __init__(self, start: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC), step: timedelta = timedelta()) -> None:
        self.now = start
        self._step = step

    def __call__(self) -> datetime:
        now = self.now
        self.now += self._step
        return now

    def advance(self, **units: float) -> None:
        """Moves by a timedelta's units: ``advance(days=21)``."""
        self.now += timedelta(**units)


def sequential_ids(prefix: str = "id") -> Callable[[], str]:
    """Ids "id-1", "id-2", …"""
    numbers = count(1)
    return lambda: f"{prefix}-{next(numbers)}"


class WordEmbedder:
    """Each word gets a fixed direction; a text is the sum of its words. Texts that share words are near.
    ``table`` overrides single texts."""

    def __init__(
        self, dimensions: int = 64, table: Mapping[str, Sequence[float]] | None = None, name: str = "words"
    ) -> None:
        self._dimensions = dimensions
        self._table = dict(table or {})
        self._name = name

    @property
    def generation(self) -> str:
        return f"{self._name}/{self._dimensions}"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        if text in self._table:
            vector = np.asarray(self._table[text], dtype=np.float32)
        else:
            vector = np.full(self._dimensions, 1e-6, dtype=np.float32)
            for word in _WORD.findall(text.casefold()):
                vector += (
                    np.random.default_rng(crc32(word.encode())).standard_normal(self._dimensions).astype(np.float32)
                )
        return (vector / np.linalg.norm(vector)).astype(np.float32)


class ScriptedModel:
    """A model that plays a list of replies and keeps every request. A reply is a text, a sequence of
    calls, an exception to raise, or a function of the request giving one of these. A request with
    nothing left to play raises; `unused` tells what was not played."""

    def __init__(self, *replies: object, window_tokens: int = 8_192, name: str = "scripted") -> None:
        self._replies = list(replies)
        self.requests: list[ChatRequest] = []
        self.profile = ModelProfile(name=name, window_tokens=window_tokens, window_source="setting")
        self.endpoint = "scripted"

    @property
    def unused(self) -> int:
        """How many replies are left."""
        return len(self._replies)

    async def stream(self, request: ChatRequest) -> AsyncIterator[TextPiece | Retrying | Completion]:
        self.requests.append(request)
        if not self._replies:
            raise AssertionError("the scripted model was asked more often than it has replies")
        reply = self._replies.pop(0)
        reply = reply(request) if callable(reply) else reply
        if isinstance(reply, Exception):
            raise reply
        usage = Usage(prompt_tokens=1, completion_tokens=1, estimated=True)
        if isinstance(reply, str):
            yield TextPiece(reply)
            yield Completion(reply, (), "stop", usage, 0.0)
        else:
            calls = tuple(call for call in reply if isinstance(call, ToolCall))  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
            yield Completion("", calls, "tool_calls", usage, 0.0)

    async def close(self) -> None:
        """Nothing to release."""
