"""From settings to a model that can be asked."""

from __future__ import annotations

import asyncio
from pathlib import Path

from memagent.errors import NoModelError
from memagent.llm.catalog import model_file
from memagent.llm.client import ChatModel
from memagent.llm.discovery import discover_profile, find_local_server
from memagent.llm.fetch import list_models
from memagent.llm.local import EmbeddedChat, LocalModel
from memagent.llm.openai_chat import OpenAIChat
from memagent.llm.pull import find_gguf
from memagent.llm.refusals import endpoint_name
from memagent.settings import Settings

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "gpt-4o-mini"
"""What a key for OpenAI without a model's name gets: cheap, and every account has it."""


async def open_model(settings: Settings) -> ChatModel:
    """The model that the settings mean, ready to be asked; an embedded one takes 1–8 s to load.

    In this order: with ``base_url``, that endpoint; a .gguf file or a catalogue name as ``model``: the
    embedded model (a key that happens to be set does not matter); with ``api_key``, OpenAI; a server on
    this machine that answers (`find_local_server`); the embedded default. An endpoint without ``model``
    gets the first it lists, OpenAI gets OPENAI_MODEL. Raises NoModelError if nothing is left, ModelFileError.
    """
    if settings.base_url:
        return await _endpoint(settings, settings.base_url, settings.model)
    if settings.model and (settings.model.lower().endswith(".gguf") or model_file(settings.model)):
        return await _embedded(settings, find_gguf(settings.model, settings.models_dir))
    if settings.api_key:
        return await _endpoint(settings, OPENAI_URL, settings.model or OPENAI_MODEL)
    found = await find_local_server() if settings.find_local_server else None
    if found:
        return await _endpoint(settings, found.base_url, settings.model or found.model)
    if settings.model:
        raise NoModelError(
            f"nothing here serves the model {settings.model!r}: set an endpoint (OPENAI_BASE_URL, OPENAI_API_KEY), "
            "or name a .gguf file or a model that `memagent model list` shows"
        )
    return await _embedded(settings, find_gguf(None, settings.models_dir))


async def _endpoint(settings: Settings, base_url: str, model: str | None) -> OpenAIChat:
    api_key = settings.api_key.get_secret_value() if settings.api_key else None
    if not model:
        entries = await list_models(base_url, api_key=api_key, timeout_seconds=settings.connect_timeout_seconds)
        if not entries:
            raise NoModelError(
                f"{endpoint_name(base_url)} lists no models: is it running? If it is, name one (MEMAGENT_MODEL)"
            )
        model = next((entry["id"] for entry in entries if "embed" not in entry["id"].lower()), entries[0]["id"])
    profile = await discover_profile(str(model), base_url, api_key, settings.window_tokens)
    return OpenAIChat(
        profile,
        base_url,
        api_key,
        connect_timeout_seconds=settings.connect_timeout_seconds,
        silence_timeout_seconds=settings.silence_timeout_seconds,
        max_retries=settings.max_retries,
    )


async def _embedded(settings: Settings, path: Path | None) -> EmbeddedChat:
    assert path is not None, "only for settings that mean a file"
    window_tokens = settings.window_tokens or settings.local_window_tokens
    server = LocalModel(path, window_tokens=window_tokens, threads=settings.local_threads)
    await asyncio.to_thread(server.start)
    return EmbeddedChat(server, silence_timeout_seconds=settings.silence_timeout_seconds)
