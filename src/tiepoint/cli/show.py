"""tiepoint show: a recorded result, read again."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tiepoint.core.result import Summary
from tiepoint.errors import InputError
from tiepoint.formats import result_json
from tiepoint.report import shown
from tiepoint.report.page import main as main_table
from tiepoint.report.table import Section
from tiepoint.report.terminal import WIDTH, show_section
from tiepoint.report.terminal import show as show_verdict
from tiepoint.workflows.record.result import load_result
from tiepoint.workflows.show import show_part, show_query


def show(
    result: Annotated[Path, typer.Argument(help="One folder under results/.")],
    query: Annotated[
        str | None, typer.Option("--query", metavar="ID", help="One query's rankings side by side.")
    ] = None,
    subgroup: Annotated[
        str | None, typer.Option("--subgroup", metavar="NAME", help="The figures of a subgroup.")
    ] = None,
    region: Annotated[str | None, typer.Option("--region", metavar="NAME", help="The figures of a region.")] = None,
    slice_name: Annotated[
        str | None, typer.Option("--slice", metavar="NAME", help="unfiltered, filtered, unfiltered_same or rare.")
    ] = None,
    owner: Annotated[
        bool, typer.Option("--owner", help="With --query: also what the readers of the report may not see.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Read a recorded result again: its verdict, the figures of one part of it, or one query's rankings side by side.

    What is shown obeys [report] readers. Rankings come from rows/, which is the owner's. Exit codes: 0 shown, 2 the folder
    or a name is wrong, 3 the result has no rows/.

    Example: tiepoint show county-archive/results/20261130T090000Z-1a2b3c4d --query q17
    """
    if query is not None and (subgroup is not None or region is not None):
        raise InputError("a query is shown alone", fix="leave out --subgroup and --region; --slice may stay")
    if owner and query is None:
        raise InputError("--owner goes with --query", fix="name a query: figures are the same for everybody")
    loaded = load_result(result)
    if query is not None:
        rankings = show_query(loaded, query, slice_name=slice_name, owner=owner)
        _print(result_json.dump(rankings)) if as_json else show_section(console(), shown.side_by_side(rankings))
    elif (subgroup, region, slice_name) != (None, None, None):
        part = show_part(loaded, subgroup=subgroup, region=region, slice_name=slice_name)
        _print(result_json.dump(part)) if as_json else show_section(console(), shown.part(part))
    elif as_json:
        _print(result_json.dump(loaded.summary))
    else:
        print_verdict(loaded.summary)
        for line in shown.suspect_lines(loaded.summary):
            typer.echo(line)


def console() -> Console:
    """Where results are printed: as wide as the terminal, 100 columns on a pipe."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)


def print_sections(sections: Iterable[Section]) -> None:
    """Print sections on stdout, a blank line between them."""
    out = console()
    for i, section in enumerate(sections):
        if i:
            out.print()
        show_section(out, section)


def print_verdict(summary: Summary) -> None:
    """The table and sentence of a result."""
    show_verdict(
        console(),
        notice=summary.notice,
        sentence=summary.decision.sentence,
        rule=summary.decision.rule,
        table=main_table(summary),
    )


def _print(text: bytes) -> None:
    typer.echo(text.decode(), nl=False)
