"""Fetching model files: from an HTTP server and from real packages, both on this machine."""

from __future__ import annotations

import hashlib
import os
import random
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from memagent.errors import ModelFileError, NoModelError
from memagent.llm.catalog import CATALOG, DEFAULT_MODEL, ModelFile, PackagePart, model_file
from memagent.llm.pull import find_gguf, pull, pull_file

BYTES = random.Random(3).randbytes(3_000_000)
NOWHERE = "http://127.0.0.1:9/file.gguf"


class _Hub(BaseHTTPRequestHandler):
    """Serves BYTES with ranges; ``/short`` ends after a third, ``/wrong`` gives other bytes."""

    requests: list[str | None]

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.requests.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        data = bytes(len(BYTES)) if self.path == "/wrong" else BYTES[start:]
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 3] if self.path == "/short" else data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[tuple[str, list[str | None]]]:
    """The address of a hub and the ranges it was asked for."""
    handler = type("Hub", (_Hub,), {"requests": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", handler.requests
    server.shutdown()
    server.server_close()


def entry(hub_url: str = NOWHERE, parts: tuple[PackagePart, ...] = (), name: str = "tiny") -> ModelFile:
    return ModelFile(name, "for tests", len(BYTES), hashlib.sha256(BYTES).hexdigest(), "none", hub_url, parts)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[PackagePart, ...]:
    """Two wheels that carry BYTES, in a folder that pip takes for its index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, data in ((1, BYTES[:2_000_000]), (2, BYTES[2_000_000:])):
        name, info = f"tiny_part{number}", f"tiny_part{number}-1.0.dist-info"
        with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/__init__.py", "raise SystemExit('must not be imported')")
            wheel.writestr(f"{name}/data/part0{number}.bin", data)
            wheel.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nRequires-Dist: unwanted\n"
            )
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return tuple(PackagePart(f"tiny_part{number}==1.0", "data", ".bin") for number in (1, 2))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


WHOLE = {"tiny.gguf", "tiny.gguf.verified", "tiny.lock"}


def test_a_file_comes_from_the_hub_with_progress(tmp_path: Path, hub: tuple[str, list[str | None]]) -> None:
    seen: list[tuple[int, int]] = []
    path = pull_file(entry(f"{hub[0]}/file"), tmp_path / "models", lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == BYTES
    assert seen == sorted(seen)
    assert seen[-1] == (len(BYTES), len(BYTES))
    assert names(path.parent) - {"tiny.lock"} == WHOLE - {"tiny.lock"}


def test_what_is_there_is_not_fetched_again(tmp_path: Path, hub: tuple[str, list[str | None]]) -> None:
    tiny = entry(f"{hub[0]}/file")
    path = pull_file(tiny, tmp_path)
    pull_file(tiny, tmp_path)
    pull_file(tiny, tmp_path, verify=True)
    assert len(hub[1]) == 1
    path.write_bytes(bytes(len(BYTES)))  # damaged, same size
    os.utime(path, ns=(1, 1))
    assert pull_file(tiny, tmp_path).read_bytes() == BYTES
    assert len(hub[1]) == 2


def test_a_right_file_without_a_note_is_only_hashed(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(BYTES)
    assert pull_file(entry(), tmp_path).read_bytes() == BYTES


def test_a_broken_transfer_is_resumed(tmp_path: Path, hub: tuple[str, list[str | None]]) -> None:
    with pytest.raises(ModelFileError, match="tiny was not fetched"):
        pull_file(entry(f"{hub[0]}/short"), tmp_path)
    have = (tmp_path / "tiny.gguf.part").stat().st_size
    assert 0 < have < len(BYTES)
    assert pull_file(entry(f"{hub[0]}/file"), tmp_path).read_bytes() == BYTES
    assert hub[1] == [None, f"bytes={have}-"]


def test_without_the_hub_the_packages_do(tmp_path: Path, packages: tuple[PackagePart, ...]) -> None:
    seen: list[int] = []
    path = pull_file(entry(NOWHERE, packages), tmp_path / "models", lambda done, total: seen.append(done))
    assert path.read_bytes() == BYTES
    assert seen[-1] == len(BYTES)
    assert names(path.parent) - {"tiny.lock"} == WHOLE - {"tiny.lock"}


def test_wrong_bytes_are_removed(tmp_path: Path, hub: tuple[str, list[str | None]]) -> None:
    with pytest.raises(ModelFileError, match="wrong checksum") as caught:
        pull_file(entry(f"{hub[0]}/wrong"), tmp_path)
    assert "\n" not in str(caught.value)
    assert names(tmp_path) <= {"tiny.lock"}


def test_wrong_bytes_from_the_hub_do_not_keep_the_packages_from_trying(
    tmp_path: Path, hub: tuple[str, list[str | None]], packages: tuple[PackagePart, ...]
) -> None:
    assert pull_file(entry(f"{hub[0]}/wrong", packages), tmp_path / "models").read_bytes() == BYTES


@pytest.mark.parametrize("path", ["/missing", None])
def test_no_source_is_one_clear_line(
    tmp_path: Path, hub: tuple[str, list[str | None]], packages: tuple[PackagePart, ...], path: str | None
) -> None:
    absent = (replace(packages[0], requirement="no-such-package==1.0"),)
    with pytest.raises(ModelFileError, match=r"pip says of no-such-package==1.0: .*; check the network") as caught:
        pull_file(entry(f"{hub[0]}{path}" if path else NOWHERE, absent), tmp_path / "models")
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "models").glob("*.gguf*"))


def test_a_package_without_the_file_is_refused(tmp_path: Path, packages: tuple[PackagePart, ...]) -> None:
    odd = (replace(packages[0], folder="elsewhere"),)
    with pytest.raises(ModelFileError, match="does not hold what was expected"):
        pull_file(entry(NOWHERE, odd), tmp_path / "models")


def test_no_room_is_said_before_anything_is_fetched(tmp_path: Path, hub: tuple[str, list[str | None]]) -> None:
    with pytest.raises(ModelFileError, match="MB are free"):
        pull_file(replace(entry(f"{hub[0]}/file"), size_bytes=10**15), tmp_path)
    assert hub[1] == []


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelFileError, match="cannot write to"):
        pull_file(entry(), tmp_path / "file" / "models")


def test_two_pulls_at_once_fetch_once(tmp_path: Path, hub: tuple[str, list[str | None]]) -> None:
    tiny = entry(f"{hub[0]}/file")
    threads = [threading.Thread(target=pull_file, args=(tiny, tmp_path)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "tiny.gguf").read_bytes() == BYTES
    assert len(hub[1]) == 1


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(ModelFileError, match=r"qwen2\.5-coder-0\.5b"):
        pull("gpt-9", Path("/nowhere"))


def test_find_gguf(tmp_path: Path) -> None:
    with pytest.raises(NoModelError, match="`memagent model pull`"):
        find_gguf(None, tmp_path)
    with pytest.raises(NoModelError, match=r"`memagent model pull qwen2\.5-coder-1\.5b`"):
        find_gguf("qwen2.5-coder-1.5b", tmp_path)
    with pytest.raises(NoModelError, match="there is no model file"):
        find_gguf(str(tmp_path / "x.gguf"), tmp_path)
    assert find_gguf("gpt-4o", tmp_path) is None
    (tmp_path / "x.GGUF").write_bytes(b"x")
    assert find_gguf(str(tmp_path / "x.GGUF"), tmp_path) == tmp_path / "x.GGUF"
    (tmp_path / DEFAULT_MODEL.file_name).write_bytes(b"x")
    with pytest.raises(ModelFileError, match="damaged"):
        find_gguf(None, tmp_path)


def test_the_catalogue_is_consistent() -> None:
    for known in CATALOG:
        assert model_file(known.name) is known
        assert len(known.sha256) == 64
        assert known.hub_url.endswith(".gguf")
        assert all("==" in part.requirement for part in known.parts)
