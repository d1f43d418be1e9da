"""`memagent`: the commands, and the wall at which every error becomes one line and an exit code.

0 done · 1 failed · 2 wrong usage · 128 + n ended by signal n.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Annotated, NoReturn

import typer

import memagent
from memagent.cli import bench, bench_memory, bench_recall, commands, doctor, erase, history, memory, model, transfer
from memagent.cli.wall import prepare_streams, tell
from memagent.errors import MemagentError
from stores.errors import StoreError

app = typer.Typer(
    help="An assistant that remembers, and shows what it sends to its model.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # rich's help costs a tenth of a second
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command("chat")(commands.chat)
app.command("ask")(commands.ask)
app.command("sessions")(commands.sessions)
app.add_typer(commands.context, name="context")
app.add_typer(history.app, name="history")
memory.app.command("erase")(erase.erase)
app.add_typer(memory.app, name="memory")
app.add_typer(model.app, name="model")
bench.app.command("recall")(bench_recall.recall)
bench.app.command("memory")(bench_memory.memory)
app.add_typer(bench.app, name="bench")
app.command("export")(transfer.export)
app.command("import")(transfer.import_)
app.command("doctor")(doctor.doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memagent {memagent.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """An assistant that remembers, and shows what it sends to its model."""


def main() -> NoReturn:
    """Runs the command line and ends the process."""
    code = _guarded()
    sys.stderr.flush()
    # What was opened is closed by now. A thread may still be importing torch, for nobody: an ordinary exit
    # would wait seconds for it.
    os._exit(code)


def _guarded() -> int:
    prepare_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    code = 1
    try:
        code = _run()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough: `memagent sessions | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _run() -> int:
    try:
        app(prog_name="memagent")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except (MemagentError, StoreError) as error:
        tell(error)
        return 1
    return 0


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)
