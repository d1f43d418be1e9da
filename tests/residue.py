"""Looking for what should be gone in every byte of a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def files_with(folder: Path, wanted: bytes) -> list[str]:
    """The files that hold these bytes."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [str(file.relative_to(folder)) for file in files if wanted in file.read_bytes()]


def files_with_vector(folder: Path, vector: bytes) -> list[str]:
    """The files that hold a row of float32, at any place; copying it may have changed its last bits."""
    return [
        str(file.relative_to(folder))
        for file in folder.rglob("*")
        if file.is_file() and _holds(file.read_bytes(), np.frombuffer(vector, dtype="<f4"))
    ]


def _holds(data: bytes, row: np.ndarray) -> bool:
    row = row / np.linalg.norm(row)
    for shift in range(4):
        floats = np.frombuffer(data[shift : len(data) - (len(data) - shift) % 4], dtype="<f4")
        with np.errstate(invalid="ignore", over="ignore"):
            starts = np.flatnonzero(np.abs(floats - row[0]) < 1e-5)
        for start in starts:
            here = floats[start : start + len(row)]
            if len(here) == len(row) and np.allclose(here, row, atol=1e-5):
                return True
    return False
