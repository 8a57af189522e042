"""The command line: parse, call one workflow, print, choose the exit code."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from tiepoint.cli.audit import audit
from tiepoint.cli.bench import bench
from tiepoint.cli.check import check
from tiepoint.cli.compare import compare
from tiepoint.cli.demo import demo
from tiepoint.cli.embedders import embedders
from tiepoint.cli.fixture import fixture
from tiepoint.cli.init import init
from tiepoint.cli.power import power
from tiepoint.cli.report import report
from tiepoint.cli.schema import schema
from tiepoint.cli.show import show
from tiepoint.errors import CannotRun, Problem, TiepointError

app = typer.Typer(
    name="tiepoint",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Choose an embedding model on your own documents and questions.",
    epilog="Start here: tiepoint demo demo, then tiepoint bench demo",
)
app.command(short_help="Write a study.toml for a folder of data.")(init)
app.command(short_help="Check a study before the benchmark.")(check)
app.command(short_help="Say what the questions can settle.")(power)
app.command(short_help="Benchmark the candidates and decide.")(bench)
app.command(short_help="Read a recorded result again.")(show)
app.command(short_help="Show what moved between two results.")(compare)
app.command(short_help="Write reports and charts anew, or an index.")(report)
app.command(short_help="Show what a move between two spaces changes.")(audit)
app.command(short_help="List the embedders and their contracts.")(embedders)
app.command(short_help="Write the demonstration study.")(demo)
app.command(short_help="Write the bundled fixture of two spaces.")(fixture)
app.command(short_help="Print the JSON Schema of a result.")(schema)


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
    except OSError as error:  # a disk or a right is missing where no floor below could say more
        problem = Problem(f"the system refuses: {error.strerror or type(error).__name__}", str(error.filename or ""))
        typer.echo(str(problem), err=True)
        raise SystemExit(CannotRun.exit_code) from None
