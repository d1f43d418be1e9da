"""Every notebook runs from top to bottom, in a real kernel, against the scripted server."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.scripted_server import ScriptedServer, say
from tests.shell import TOP, Shell

NOTEBOOKS = sorted((TOP / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    with ScriptedServer(default=say("She lives in Lisbon.")) as server:
        env = Shell(tmp_path, server.base_url).env
        for name, value in (env | {"JUPYTER_RUNTIME_DIR": str(tmp_path), "IPYTHONDIR": str(tmp_path)}).items():
            monkeypatch.setenv(name, value)
        NotebookClient(
            notebook, timeout=100, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
        ).execute()
        server.check()
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ()))
    assert "She lives in Lisbon." in printed
    assert "Maya" in printed
    assert "[finished]" in printed


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS
