"""Where the program meets its terminal or pipe: encodings, and one line for what went wrong."""

from __future__ import annotations

import io
import sys

import typer


def one_line(text: object) -> str:
    """An error's, or any, text without line breaks."""
    return " ".join(str(text).split())


def tell(text: object) -> None:
    """One line on standard error."""
    typer.echo(f"memagent: {one_line(text)}", err=True)


def prepare_streams() -> None:
    """A terminal keeps its encoding, anything else gets UTF-8; no character ever stops the output."""
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors=errors)
