"""The command line: parse, call one workflow, print, choose the exit code."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from tiepoint.cli.bench import bench
from tiepoint.cli.check import check
from tiepoint.cli.compare import compare
from tiepoint.cli.demo import demo
from tiepoint.cli.embedders import embedders
from tiepoint.cli.init import init
from tiepoint.cli.schema import schema
from tiepoint.cli.show import show
from tiepoint.errors import TiepointError

app = typer.Typer(
    name="tiepoint",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Choose an embedding model on your own documents and questions.",
    epilog="Start here: tiepoint demo demo, then tiepoint bench demo",
)
app.command()(init)
app.command()(check)
app.command()(bench)
app.command()(show)
app.command()(compare)
app.command()(embedders)
app.command()(demo)
app.command()(schema)


def _version(wanted: bool) -> None:
    if wanted:
        from tiepoint import __version__

        typer.echo(f"tiepoint {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _shown: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; every error that is a person's to mend is printed without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    try:
        app()
    except TiepointError as error:
        typer.echo(str(error), err=True)
        raise SystemExit(error.exit_code) from None
