"""tiepoint bench: the main job."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tiepoint.cli.progress import Drawn
from tiepoint.core.result import Result
from tiepoint.encoding.progress import SILENT
from tiepoint.formats import result_json
from tiepoint.report.page import main as main_table
from tiepoint.report.terminal import WIDTH, show
from tiepoint.workflows.bench import bench as run_bench
from tiepoint.workflows.load import load_study
from tiepoint.workflows.record import record

COULD_NOT_RUN = 3
UNDECIDED = 4


def bench(
    study: Annotated[Path, typer.Argument(help="The study folder, with its study.toml.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print result.json on stdout instead of the table.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Encode everything anew, whatever spaces/ holds.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing on stderr but errors.")] = False,
) -> None:
    """Benchmark the study's candidates, decide by its rule, and record the result under results/.

    Exit codes: 0 decided (or no decision was asked of one candidate), 2 the study is wrong, 3 no candidate could be
    measured, 4 undecided.

    Example: tiepoint bench county-archive
    """
    notes = Console(stderr=True, soft_wrap=True, highlight=False, quiet=quiet)
    loaded = load_study(study)
    result = run_bench(loaded, fresh=fresh, progress=SILENT if quiet else Drawn(Console(stderr=True)))
    folder = record(result, loaded.folder / "results")
    if as_json:
        typer.echo(result_json.dump(result.summary).decode(), nl=False)
    else:
        _print(result)
    notes.print(f"Recorded in {folder}", markup=False)
    raise typer.Exit(exit_code(result))


def exit_code(result: Result) -> int:
    """0 decided, or one candidate alone was measured; 3 none was; 4 undecided."""
    if not any(c.status == "measured" for c in result.summary.candidates):
        return COULD_NOT_RUN
    return UNDECIDED if result.summary.decision.verdict == "undecided" else 0


def _print(result: Result) -> None:
    summary = result.summary
    show(
        Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH),
        notice=summary.notice,
        sentence=summary.decision.sentence,
        rule=summary.decision.rule,
        table=main_table(summary),
    )
