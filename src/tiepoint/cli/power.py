"""tiepoint power: what the questions can settle, before the run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tiepoint.cli.show import print_sections
from tiepoint.formats import result_json
from tiepoint.report.power import sections
from tiepoint.workflows.intake.load import load_study
from tiepoint.workflows.power import power as power_of


def power(
    study: Annotated[Path, typer.Argument(help="The study folder, with its study.toml.")],
    difference: Annotated[
        float, typer.Option("--difference", metavar="D", help="How much the others are truly ahead of the cheapest.")
    ] = 0.0,
    spread: Annotated[
        float | None,
        typer.Option("--spread", metavar="SD", help="Standard deviation of a query's difference, around its mean."),
    ] = None,
    unequal: Annotated[
        float | None,
        typer.Option("--unequal", metavar="SHARE", help="Share of the queries that differ, with --spread."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the same values as JSON.")] = False,
) -> None:
    """Say how likely the study's rule is to decide, by number of queries, and how many it would take. Encodes nothing.

    The rule's own code walks over samples of a supposed population. Its clusters are as large as those of the study that
    decide; its spread, around the mean, is measured on the dev queries of the latest result, or stated, or else assumed,
    which is said. With fewer than 20 independent queries nothing is decided. What is shown is the owner's own. Exit codes: 0
    shown, 2 the study or an option is wrong, or the rule decides by point estimate.

    Example: tiepoint power county-archive --difference 0.01
    """
    found = power_of(load_study(study), difference=difference, spread=spread, unequal=unequal)
    if as_json:
        typer.echo(result_json.dump(found).decode(), nl=False)
        return
    print_sections(sections(found))
