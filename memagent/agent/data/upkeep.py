"""What is kept where, and which stored outputs nothing refers to any more."""

from __future__ import annotations

import asyncio
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from memagent.agent.data.repairing import IndexReport, Repairer
from memagent.agent.rooms import BLOBS_NAME, DATABASE_NAME, VECTORS_NAME, Rooms
from memagent.errors import MemagentError
from stores.base import BlobInfo

STRAY_AFTER_SECONDS = 3_600
"""Younger ones may belong to a result that is just being written down."""

Why = Literal["no entry refers to it", "left by a write that was cut short"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Place(_Value):
    """Something that is kept. ``size_bytes`` None: it lies elsewhere, or is not there yet."""

    what: str
    where: str
    size_bytes: int | None


class Stray(_Value):
    """A stored output that can go, and why."""

    digest: str
    size_bytes: int
    modified_at: datetime
    why: Why


class Checkup(_Value):
    """``outputs`` and ``strays`` are those of one user; ``collected`` says that the strays are gone.
    ``missing``: outputs that entries refer to and that are not there. ``indexes``: how the views of the journal
    stood; ``repaired`` says that what differed has been made anew since."""

    places: tuple[Place, ...]
    outputs: int
    outputs_bytes: int
    missing: tuple[str, ...]
    strays: tuple[Stray, ...]
    collected: bool = False
    indexes: tuple[IndexReport, ...] = ()
    repaired: bool = False


async def check(rooms: Rooms, *, collect: bool, repair: bool = False) -> Checkup:
    """Looks everything through, and removes the strays if asked to. Safe while others write: what was put
    within the hour stays, and whoever is about to refer to an old output has put it again just before."""
    blobs, scope = rooms.stores.blobs, rooms.scope
    if collect and rooms.settings.blob_url is not None:
        raise MemagentError(
            f"nothing was removed: {rooms.settings.blob_url} may hold outputs of other data folders, which this one "
            "knows nothing of. Remove there by hand what `memagent doctor` lists, if no other folder uses it"
        )
    before = time.time() - STRAY_AFTER_SECONDS  # the files' own clock, not the person's
    found = await blobs.list(scope)
    used = await rooms.stores.journal.overflow_digests(scope)
    strays = tuple(
        Stray(
            digest=info.digest,
            size_bytes=info.size_bytes,
            modified_at=datetime.fromtimestamp(info.modified_at, UTC),
            why="left by a write that was cut short" if info.digest.endswith(".part") else "no entry refers to it",
        )
        for info in sorted(found, key=lambda info: info.modified_at)
        if info.digest not in used and info.modified_at < before
    )
    if collect and strays:
        await blobs.delete(scope, [stray.digest for stray in strays], unused_since=before)
        found = await blobs.list(scope)
        left = {info.digest for info in found}
        strays = tuple(stray for stray in strays if stray.digest not in left)
    return Checkup(
        places=await asyncio.to_thread(_places, rooms),
        outputs=len(found),
        outputs_bytes=sum(info.size_bytes for info in found),
        missing=tuple(sorted(used - await _digests(rooms, found))),
        strays=strays,
        collected=collect,
        indexes=tuple(await Repairer(rooms).look(repair=repair)),
        repaired=repair,
    )


async def _digests(rooms: Rooms, found: list[BlobInfo]) -> set[str]:
    """Of the outputs: those seen before the journal was read, and those put since."""
    return {info.digest for info in [*found, *await rooms.stores.blobs.list(rooms.scope)]}


def _places(rooms: Rooms) -> tuple[Place, ...]:
    settings = rooms.settings
    folder = settings.data_dir
    local = (
        ("messages, memories, their words", folder / DATABASE_NAME),
        ("the meaning of memories", folder / VECTORS_NAME),
        *((("outputs too long for a prompt", folder / BLOBS_NAME),) if settings.blob_url is None else ()),
        ("model files", settings.models_dir),
    )
    places = [Place(what=what, where=str(path), size_bytes=_size(path)) for what, path in local]
    if settings.blob_url is not None:
        places.append(Place(what="outputs too long for a prompt", where=settings.blob_url, size_bytes=None))
    return tuple(places)


def _size(path: Path) -> int | None:
    """Of a file with what SQLite keeps beside it, or of a folder."""
    files = list(path.parent.glob(f"{path.name}*")) if not path.is_dir() else _files(path)
    sizes = [size for file in files if (size := _file_size(file)) is not None]
    return sum(sizes) if sizes else None


def _files(folder: Path) -> list[Path]:
    return [Path(place) / name for place, _, names in os.walk(folder) for name in names]


def _file_size(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except OSError:  # it went away meanwhile
        return None
