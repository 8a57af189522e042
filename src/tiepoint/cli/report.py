"""tiepoint report: the report of a recorded result anew, or one page over all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tiepoint.errors import InputError
from tiepoint.workflows.report.index import is_stored, write_index
from tiepoint.workflows.report.run import write_report


def report(
    result: Annotated[Path, typer.Argument(help="One folder under results/, or results/ itself.")],
    charts: Annotated[
        Path | None,
        typer.Option("--charts", metavar="DIR", help="Write each chart there as SVG and PNG too."),
    ] = None,
    with_text: Annotated[
        Path | None,
        typer.Option("--with-text", metavar="STUDY", help="Show texts that every reader may read."),
    ] = None,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option("--compare", metavar="A B", help="Of results/: put these two side by side."),
    ] = None,
) -> None:
    """Write report.html and report.md of a result or audit anew; of a folder of results, index.html over all of them.

    The page is one file that opens from disk without a network. Texts stand in it only with --with-text, and only where the
    study is the one that was measured. Exit codes: 0 written, 2 refused and nothing was written, 3 it could not be
    written.

    Example: tiepoint report county-archive/results
    """
    if is_stored(result):
        if compare is not None:
            raise InputError("--compare goes with a folder of results", fix="name the folder that holds both")
        typer.echo(f"Wrote {write_report(result, with_text=with_text, charts=charts)}")
        return
    if charts is not None or with_text is not None:
        raise InputError(
            "--charts and --with-text go with one result",
            where=f"{result} holds no result itself",
            fix="name one folder under results/",
        )
    typer.echo(f"Wrote {write_index(result, beside=compare)}")
