"""`memagent model …`: placeholder until the catalogue arrives."""

import typer

app = typer.Typer(help="The embedded model.", no_args_is_help=True)


@app.callback()
def _model() -> None:
    """The embedded model."""


@app.command("list")
def list_() -> None:
    """x"""
