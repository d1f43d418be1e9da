"""Small HTTP questions beside chatting: what a server lists, and fetching a file. The only user of httpx."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, cast
from urllib.parse import urlsplit

import httpx

_OK, _PARTIAL = 200, 206
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own."""
    return (urlsplit(url).hostname or "") in LOOPBACK


async def get_json(url: str, *, api_key: str | None = None, timeout_seconds: float = 3.0) -> Any | None:
    """The JSON at an address; None if nothing answers in time, or something else than 200 and JSON."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        # A proxy named in the environment cannot reach this machine's own loopback.
        async with httpx.AsyncClient(trust_env=not is_loopback(url), timeout=timeout_seconds) as client:
            response = await client.get(url, headers=headers)
            return response.json() if response.status_code == _OK else None
    except (httpx.HTTPError, httpx.InvalidURL, json.JSONDecodeError, UnicodeDecodeError):
        return None


async def list_models(
    base_url: str, *, api_key: str | None = None, timeout_seconds: float = 3.0
) -> list[dict[str, Any]]:
    """The entries of a server's model list, each with a text ``id``; [] if it gives none."""
    answer = await get_json(f"{base_url.rstrip('/')}/models", api_key=api_key, timeout_seconds=timeout_seconds)
    entries: Any = cast("dict[str, Any]", answer).get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        return []
    found = [cast("dict[str, Any]", entry) for entry in cast("list[Any]", entries) if isinstance(entry, dict)]
    return [entry for entry in found if isinstance(entry.get("id"), str)]


class FetchError(Exception):
    """A file cannot be fetched: no network, no such file, or the transfer broke off."""


@contextmanager
def open_url(
    url: str, *, start_bytes: int = 0, connect_timeout_seconds: float = 5.0
) -> Generator[tuple[int, Iterator[bytes]]]:
    """A file's pieces from byte ``start_bytes`` on, with the byte at which they really start (0 if the
    server cannot resume). Raises FetchError, also while reading."""
    headers = {"Range": f"bytes={start_bytes}-"} if start_bytes else {}
    timeout = httpx.Timeout(60.0, connect=connect_timeout_seconds)
    try:
        with (
            httpx.Client(follow_redirects=True, timeout=timeout, trust_env=not is_loopback(url)) as client,
            client.stream("GET", url, headers=headers) as response,
        ):
            if response.status_code not in (_OK, _PARTIAL):
                raise FetchError(f"{urlsplit(url).hostname} answered {response.status_code}")
            resumed = response.status_code == _PARTIAL
            yield start_bytes if resumed else 0, response.iter_bytes(1 << 16)
    except httpx.HTTPError as error:
        raise FetchError(
            f"{urlsplit(url).hostname} cannot be reached ({str(error) or type(error).__name__})"
        ) from error
