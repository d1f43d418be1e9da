"""The lines a person typed in the terminal, kept so that the arrow keys bring them back, and erased from there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from stores.errors import StoreError


def erase_lines(file: Path, goes: Callable[[str], bool]) -> int:
    """Takes out the inputs of which ``goes`` is true, and says how many; the others stay as they are. The file is
    replaced whole. No file: 0. Raises StoreError."""
    try:
        text = file.read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror}") from error
    kept = [part for part in _parts(text) if not goes(_typed(part))]
    gone = len(_parts(text)) - len(kept)
    if gone:
        _replace(file, "".join(kept))
    return gone


def _parts(text: str) -> list[str]:
    """Each input with the line of its time: "# time", then a "+" before each line."""
    parts: list[str] = []
    for line in text.splitlines(keepends=True):
        starts = not line.startswith("+") and (not parts or "\n+" in f"\n{parts[-1]}")
        if starts or not parts:
            parts.append(line)
        else:
            parts[-1] += line
    return parts


def _typed(part: str) -> str:
    return "\n".join(line[1:] for line in part.splitlines() if line.startswith("+"))


def _replace(file: Path, text: str) -> None:
    fresh = file.with_name(f"{file.name}.{uuid4().hex[:8]}.part")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(descriptor)
        fresh.replace(file)
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror}") from error
    finally:
        fresh.unlink(missing_ok=True)
