"""tiepoint check: the study before the run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tiepoint.cli.show import print_sections
from tiepoint.formats import result_json
from tiepoint.report.check import sections
from tiepoint.workflows.check.run import check as check_study
from tiepoint.workflows.intake.load import load_study


def check(
    study: Annotated[Path, typer.Argument(help="The study folder, with its study.toml.")],
    since: Annotated[
        Path | None,
        typer.Option("--since", metavar="RESULT", help="An earlier result: says whether a new benchmark is due."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the same values as JSON.")] = False,
) -> None:
    """Check a study before it is benchmarked: all that bench would refuse, and what its owner should know. Encodes nothing.

    What is shown is the owner's own: it names documents whatever [report] readers says. Exit codes: 0 the study can be
    benchmarked, with or without warnings; 2 it cannot.

    Example: tiepoint check county-archive
    """
    found = check_study(load_study(study), since=since)
    if as_json:
        typer.echo(result_json.dump(found).decode(), nl=False)
        return
    print_sections(sections(found))
