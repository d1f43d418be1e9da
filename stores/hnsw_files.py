"""The index files of hnswlib as Chroma keeps them (tried with chromadb 1.5.9), where they hold what they should not.

A file of vectors is made with room for more of them, and that room is whatever stood in the process's memory
before: vectors that were removed, or any other text. It is blanked here. Nothing else is touched, and
nothing at all where the header is not as expected.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

_HEADER = struct.Struct("<i5Q")
"""Version, offset, room for how many, how many there are, bytes of each, and one more."""
_VERSION = 1
_STEP_BYTES = 4_000_000


def blank_unused(folder: Path, known: dict[Path, int]) -> None:
    """Blanks the unused room of all vector files below a folder that are new or have grown since the last call;
    ``known`` has their sizes between calls."""
    for file in folder.glob("*/data_level0.bin"):
        size = file.stat().st_size
        if known.get(file) != size:
            _blank(file, size)
            known[file] = size


def _blank(file: Path, size: int) -> None:
    with (file.parent / "header.bin").open("rb") as opened:
        head = opened.read(_HEADER.size)
    if len(head) < _HEADER.size:
        return
    version, offset, most, count, each, _ = _HEADER.unpack(head)
    if version != _VERSION or offset + most * each != size or count > most:
        return
    with file.open("r+b") as opened:
        opened.seek(offset + count * each)
        while room := opened.read(_STEP_BYTES):
            if room.count(0) < len(room):
                opened.seek(-len(room), os.SEEK_CUR)
                opened.write(bytes(len(room)))
        opened.flush()
        os.fsync(opened.fileno())
