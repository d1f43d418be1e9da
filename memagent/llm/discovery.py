"""Finding out: the profile of a model, and whether a model server runs on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from memagent.llm.fetch import get_json, list_models
from memagent.llm.prices import context_window
from memagent.llm.profiles import DEFAULT_WINDOW_TOKENS, ModelProfile
from memagent.llm.tokens import encoding_for

_WINDOW_FIELDS = (
    "max_model_len",  # vLLM
    "n_ctx",  # llama.cpp, in its "meta"
    "loaded_context_length",  # LM Studio
    "context_length",  # OpenRouter, Together
    "context_window",  # Groq
    "max_context_length",  # Mistral
)
_SANE_WINDOW_TOKENS = range(256, 100_000_001)
_WITHOUT_WINDOWS = {"api.openai.com"}
"""Hosts whose list is long and says nothing of windows."""
OLLAMA_PORT, LLAMA_CPP_PORT, LM_STUDIO_PORT = 11434, 8080, 1234
_OLLAMA_WINDOW_TOKENS = 4_096
"""What Ollama gives a model it has not loaded yet; it cuts longer prompts without a word."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A model server on this machine and the first chat model it lists."""

    base_url: str
    model: str


async def discover_profile(
    name: str, base_url: str, api_key: str | None = None, window_setting: int | None = None
) -> ModelProfile:
    """The profile of a model: its window from the setting, else as the server reports it, else from the
    prices' data, else a cautious guess (`ModelProfile.notice`). Waits at most 3 s for the server."""
    window, source = window_setting, "setting"
    if window is None:
        window, source = await _reported_window(name, base_url, api_key), "server"
    if window is None:
        window, source = await asyncio.to_thread(context_window, name, base_url), "prices"
    if window is None:
        ollama = urlsplit(base_url).port == OLLAMA_PORT
        window, source = _OLLAMA_WINDOW_TOKENS if ollama else DEFAULT_WINDOW_TOKENS, "default"
    encoding, exact = encoding_for(name)
    return ModelProfile(name, window, source, encoding, exact)


async def find_local_server(
    ports: Sequence[int] = (OLLAMA_PORT, LLAMA_CPP_PORT, LM_STUDIO_PORT), timeout_seconds: float = 0.3
) -> LocalServer | None:
    """The first of Ollama, llama.cpp and LM Studio that answers on 127.0.0.1 with a model list. All are
    asked at once; one that is slower than the timeout does not count."""
    addresses = [f"http://127.0.0.1:{port}/v1" for port in ports]
    lists = await asyncio.gather(*(list_models(address, timeout_seconds=timeout_seconds) for address in addresses))
    for address, entries in zip(addresses, lists, strict=True):
        model = next((entry["id"] for entry in entries if "embed" not in entry["id"].lower()), None)
        if model:
            return LocalServer(address, model)
    return None


async def _reported_window(name: str, base_url: str, api_key: str | None) -> int | None:
    if (urlsplit(base_url).hostname or "") in _WITHOUT_WINDOWS:
        return None
    entries = await list_models(base_url, api_key=api_key)
    entry = next((entry for entry in entries if entry["id"] == name), entries[0] if len(entries) == 1 else None)
    window = _window_in(entry) if entry else None
    if window is None and urlsplit(base_url).port == OLLAMA_PORT:
        return await _loaded_by_ollama(name, base_url)
    return window


async def _loaded_by_ollama(name: str, base_url: str) -> int | None:
    """The window with which Ollama has loaded the model, if it has."""
    parts = urlsplit(base_url)
    answer = await get_json(f"{parts.scheme}://{parts.netloc}/api/ps")
    models: Any = cast("dict[str, Any]", answer).get("models") if isinstance(answer, dict) else None
    for model in cast("list[Any]", models) if isinstance(models, list) else []:
        fields = cast("dict[str, Any]", model) if isinstance(model, dict) else {}
        if name in (fields.get("name"), fields.get("model")):
            return _window_in(fields)
    return None


def _window_in(entry: Mapping[str, Any]) -> int | None:
    meta = entry.get("meta")
    for fields in (entry, cast("dict[str, Any]", meta) if isinstance(meta, dict) else {}):
        for field in _WINDOW_FIELDS:
            value = fields.get(field)
            if isinstance(value, int) and value in _SANE_WINDOW_TOKENS:
                return value
    return None
