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


OPENAI = "the OpenAI API"


class ModelStatus(NamedTuple):
    """Who would answer. ``where`` is an address or a path; ``problem`` is why nobody would, or empty."""

    kind: Literal["endpoint", "local server", "embedded"]
    model: str | None
    where: str
    problem: str = ""


def status(settings: Settings) -> ModelStatus:
    """Who would answer, in the order of `memagent.llm.opening.open_model`; asks no endpoint anything."""
    if settings.base_url:
        return ModelStatus("endpoint", settings.model, settings.base_url)
    if settings.model is None or _file_of(settings.model, settings):
        if settings.model is None and settings.api_key:
            return ModelStatus("endpoint", None, OPENAI)
        server = _local_server(settings) if settings.model is None else None
        return server or _embedded(settings)
    if settings.api_key:
        return ModelStatus("endpoint", settings.model, OPENAI)
    problem = f"no endpoint is set for the model {settings.model}: set OPENAI_BASE_URL or OPENAI_API_KEY"
    return _local_server(settings) or ModelStatus("endpoint", settings.model, "", problem)


def _local_server(settings: Settings) -> ModelStatus | None:
    found = asyncio.run(find_local_server()) if settings.find_local_server else None
    return ModelStatus("local server", settings.model or found.model, found.base_url) if found else None


def _embedded(settings: Settings) -> ModelStatus:
    name = settings.model or DEFAULT_MODEL.name
    try:
        path, problem = find_gguf(name, settings.models_dir), ""
    except (NoModelError, ModelFileError) as error:
        path, problem = _file_of(name, settings), str(error)
    return ModelStatus("embedded", name, str(path), problem)


def _file_of(model: str, settings: Settings) -> Path | None:
    """Where the file of a model should be; None for a model of some endpoint."""
    entry = model_file(model)
    if entry is not None:
        return settings.models_dir / entry.file_name
    return Path(model).expanduser() if model.lower().endswith(".gguf") else None


def fetch_if_needed(settings: Settings) -> None:
    """Fetches the embedded model when it is the one to answer and its file is not there. Says on
    standard error what it does. Raises ModelFileError."""
    entry = model_file(settings.model or DEFAULT_MODEL.name)
    if settings.base_url or entry is None or _is_there(entry, settings.models_dir):
        return
    found = status(settings)
    if found.kind == "embedded" and found.problem:
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
