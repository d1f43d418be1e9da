"""Fingerprints of what is sent, so that a replay can prove itself. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

DIGEST_BYTES = 16

RENDERING = 2
"""Raised with every change of how journal entries become messages: an older prompt that then renders
differently has expired, it is not different."""


def message_digest(messages: Iterable[Mapping[str, Any]]) -> bytes:
    """Of messages in order, each as the strict JSON that is sent."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for message in messages:
        digest.update(_bytes(message))
        digest.update(b"\n")
    return digest.digest()


def prompt_digest(
    tools: Sequence[Mapping[str, Any]],
    head: Iterable[Mapping[str, Any]],
    window: bytes,
    tail: Iterable[Mapping[str, Any]],
) -> str:
    """Of a whole prompt, in hex; ``window`` is the digest of the part that need not be read again."""
    digest = hashlib.blake2b(_bytes(tools), digest_size=DIGEST_BYTES)
    for part in (message_digest(head), window, message_digest(tail)):
        digest.update(part)
    return digest.hexdigest()


class RunningDigest:
    """Of a growing series of digests, from any of them on, without reading it all for each."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._start: int = 0
        self._running = hashlib.blake2b(digest_size=DIGEST_BYTES)

    def append(self, part: bytes) -> None:
        """Adds the newest."""
        self._parts.append(part)
        self._running.update(part)

    def since(self, start: int) -> bytes:
        """The digest of all from ``start`` on. Asked for the same start again and again it costs nothing."""
        if start != self._start:
            self._start = start
            self._running = hashlib.blake2b(b"".join(self._parts[start:]), digest_size=DIGEST_BYTES)
        return self._running.copy().digest()


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
