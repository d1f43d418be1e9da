"""Which model would answer, and fetching the embedded one when nothing else does."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from memagent.cli.wall import tell
from memagent.errors import ModelFileError, NoModelError
from memagent.llm.catalog import DEFAULT_MODEL, ModelFile, model_file
from memagent.llm.discovery import find_local_server
from memagent.llm.pull import find_gguf, pull

if TYPE_CHECKING:
    from memagent import Settings


class ModelStatus(NamedTuple):
    """Who would answer. ``where`` is an address or a path; ``problem`` is why nobody would, or empty."""

    kind: Literal["endpoint", "local server", "embedded"]
    model: str | None
    where: str
    problem: str = ""


def status(settings: Settings) -> ModelStatus:
    """Who would answer, without asking an endpoint anything."""
    if settings.base_url or settings.api_key:
        return ModelStatus("endpoint", settings.model, settings.base_url or "the OpenAI API")
    entry = _wanted(settings)
    if settings.find_local_server and settings.model is None:
        server = asyncio.run(find_local_server())
        if server is not None:
            return ModelStatus("local server", server.model, server.base_url)
    expected = str(settings.models_dir / entry.file_name) if entry else ""
    try:
        path = find_gguf(settings.model, settings.models_dir)
    except (NoModelError, ModelFileError) as error:
        return ModelStatus("embedded", settings.model or DEFAULT_MODEL.name, expected, str(error))
    if path is None:
        problem = f"no endpoint is set for the model {settings.model}: set MEMAGENT_BASE_URL"
        return ModelStatus("endpoint", settings.model, "", problem)
    return ModelStatus("embedded", settings.model or DEFAULT_MODEL.name, str(path))


def fetch_if_needed(settings: Settings) -> None:
    """Fetches the embedded model when no endpoint is set, no local server answers and its file is not
    there. Says on standard error what it does. Raises ModelFileError."""
    entry = _wanted(settings)
    if settings.base_url or settings.api_key or entry is None:
        return
    # A file that is there decides it without looking for servers.
    if not _is_there(entry, settings.models_dir) and status(settings).problem:
        fetch(entry.name, settings.models_dir)


def fetch(name: str, models_dir: Path, *, verify: bool = False) -> Path:
    """Fetches a model of the catalogue, with a bar if standard error is a terminal; its path. Does
    nothing if it is there. Raises ModelFileError."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    )
    entry = model_file(name)
    if entry is not None and not _is_there(entry, models_dir):
        size = f"{entry.size_bytes / 1e6:,.0f} MB, {entry.licence}"
        tell(f"fetching the model {name} ({size}) into {models_dir}, once …")
    with bar:
        task = bar.add_task(name, total=entry.size_bytes if entry else None)
        return pull(name, models_dir, lambda done, total: bar.update(task, completed=done, total=total), verify=verify)


def _is_there(entry: ModelFile, models_dir: Path) -> bool:
    path = models_dir / entry.file_name
    return path.is_file() and path.stat().st_size == entry.size_bytes


def _wanted(settings: Settings) -> ModelFile | None:
    """The catalogue's entry that the settings mean, if it is one."""
    return DEFAULT_MODEL if settings.model is None else model_file(settings.model)
