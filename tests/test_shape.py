"""The house rules that a machine can check: sizes, docstrings, rooms of outside libraries, what an import loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
PACKAGES = ("memagent", "stores")
MODULES = sorted(path for package in PACKAGES for path in (TOP / package).rglob("*.py"))
TESTS = sorted((TOP / "tests").rglob("*.py"))

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
LONGER_FUNCTIONS = {"memagent/agent/loop.py": 110, "memagent/build.py": 80}
"""The loop fits two screens; the composition root is one list."""

ROOMS = {
    "sqlalchemy": ("stores/sql/",),
    "alembic": ("stores/sql/",),
    "chromadb": ("stores/chroma.py",),
    "fsspec": ("stores/blobs.py",),
    "detect_secrets": ("memagent/secret_rules.py",),
    "regex": ("memagent/context/reading.py",),
    "tiktoken": ("memagent/llm/tokens.py",),
    "openai": ("memagent/llm/openai_chat.py",),
    "genai_prices": ("memagent/llm/prices.py",),
    "xllamacpp": ("memagent/llm/local_worker.py",),
    "typer": ("memagent/cli/",),
    "rich": ("memagent/cli/",),
    "prompt_toolkit": ("memagent/cli/",),
    "sentence_transformers": ("memagent/memory/embed.py",),
    "torch": ("memagent/memory/embed.py",),
}
HEAVY = ("torch", "chromadb", "openai", "sqlalchemy", "xllamacpp", "genai_prices", "sentence_transformers", "tiktoken")


def _name(path: Path) -> str:
    return path.relative_to(TOP).as_posix()


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _imported(tree: ast.AST) -> Iterator[str]:
    """Full names of the modules that a file imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_file_is_longer_than_a_room_should_be() -> None:
    long = {
        _name(path): lines for path in MODULES if (lines := len(path.read_text("utf-8").splitlines())) > MAX_FILE_LINES
    }
    assert not long, f"over {MAX_FILE_LINES} lines"


def test_every_function_fits_a_screen() -> None:
    long: list[str] = []
    for path in MODULES:
        limit = LONGER_FUNCTIONS.get(_name(path), MAX_FUNCTION_LINES)
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > limit:
                    long.append(f"{_name(path)}:{node.lineno} {node.name}: {lines} lines")
    assert not long


def test_every_public_name_has_a_docstring() -> None:
    bare: list[str] = []
    for path in MODULES:
        tree = _tree(path)
        if tree.body and not ast.get_docstring(tree):
            bare.append(_name(path))
        bare += [f"{_name(path)}:{node.lineno} {node.name}" for node in _public(tree) if not ast.get_docstring(node)]
    assert not bare


def _public(tree: ast.Module) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """The public classes and functions of a module. Methods are free: a protocol or a class says it once."""
    for node in tree.body:
        named = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if named and not node.name.startswith("_") and "overload" not in map(ast.unparse, node.decorator_list):
            yield node


def test_every_outside_library_stays_in_its_room() -> None:
    strays = [
        f"{_name(path)} imports {module}"
        for path in MODULES
        for module in set(_imported(_tree(path)))
        for library, rooms in ROOMS.items()
        if module.split(".")[0] == library and module.count(".") <= 1 and not _name(path).startswith(rooms)
    ]
    assert not strays


def test_there_are_no_mocks() -> None:
    users = [
        _name(path)
        for path in MODULES + TESTS
        if any(module == "mock" or module.startswith("unittest.mock") for module in _imported(_tree(path)))
    ]
    assert not users


@pytest.mark.parametrize(
    "line",
    [
        "import memagent; memagent.Settings, memagent.MemagentError",
        "import memagent.cli.main",
        "import memagent.cli.terminal",
    ],
)
def test_imports_load_nothing_heavy(line: str) -> None:
    code = f"import sys; {line}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=TOP, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_every_public_name_of_the_package_is_there() -> None:
    code = "import memagent; print([n for n in memagent.__all__ if getattr(memagent, n, None) is None])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=TOP, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_an_unknown_name_is_an_attribute_error() -> None:
    import memagent

    with pytest.raises(AttributeError, match="Nothing"):
        _ = memagent.Nothing  # pyright: ignore[reportAttributeAccessIssue]
    assert "Agent" in dir(memagent)
