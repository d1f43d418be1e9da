"""`memagent model …`: the embedded model's files, and who would answer."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from memagent.cli import options as opt

app = typer.Typer(help="Which model answers; the embedded one's files.", no_args_is_help=True)


@app.callback()
def _model() -> None:
    """Which model answers; the embedded one's files."""


@app.command("list")
def list_(as_json: opt.AsJson = False) -> None:
    """List the models that can be fetched and run without an endpoint."""
    from memagent.cli import render
    from memagent.llm.catalog import CATALOG

    models_dir = opt.settings_of().models_dir
    rows = [
        {
            "name": entry.name,
            "size_bytes": entry.size_bytes,
            "licence": entry.licence,
            "title": entry.title,
            "path": str(path) if (path := models_dir / entry.file_name).is_file() else None,
        }
        for entry in CATALOG
    ]
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        render.console(sys.stdout).print(render.models_table(rows))


@app.command()
def pull(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A name of `model list`.")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Check a file that is there once more.")] = False,
) -> None:
    """Fetch a model (the default one unless named), check its SHA-256, and print its path."""
    from memagent.cli.fetch import fetch
    from memagent.llm.catalog import DEFAULT_MODEL

    typer.echo(str(fetch(name or DEFAULT_MODEL.name, opt.settings_of().models_dir, verify=verify)))


@app.command()
def status(as_json: opt.AsJson = False, model: opt.Model = None, base_url: opt.BaseUrl = None) -> None:
    """Say who would answer, and whether anything is missing. Asks no endpoint."""
    from memagent.cli import fetch

    found = fetch.status(opt.settings_of(model=model, base_url=base_url))
    if as_json:
        typer.echo(json.dumps(found._asdict(), ensure_ascii=False, indent=2))
        return
    typer.echo(f"{found.kind}: {found.model or 'its default model'}{f' at {found.where}' if found.where else ''}")
    if found.problem:
        typer.echo(found.problem)
