"""tiepoint compare: what moved between two results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tiepoint.cli.show import console
from tiepoint.formats import result_json
from tiepoint.report import shown
from tiepoint.report.terminal import show_section
from tiepoint.workflows.compare import compare as compare_results
from tiepoint.workflows.record.result import load_result


def compare(
    before: Annotated[Path, typer.Argument(help="One folder under results/.")],
    after: Annotated[Path, typer.Argument(help="Another.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show what moved between two results, per candidate, slice and measure, paired by query.

    A direction (higher, lower) is a test by whole clusters, over all orders of tied documents, corrected for all directions of
    its table (Holm). The intervals describe and decide nothing.

    Refused where definitions, k, corpus, queries, judgements or regions differ; files are compared by what they say, so a
    shuffled or re-saved one compares. Exit codes: 0 compared, 2 refused, 3 a result has no rows/.

    Example: tiepoint compare county-archive/results/20261101T090000Z-1a2b3c4d county-archive/results/20261130T090000Z-5e6f7a8b
    """
    found = compare_results(load_result(before), load_result(after))
    if as_json:
        typer.echo(result_json.dump(found).decode(), nl=False)
        return
    show_section(console(), shown.sides(found))
    if found.movements:
        typer.echo()
        show_section(console(), shown.movements(found))
