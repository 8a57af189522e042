"""tiepoint bench: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tiepoint.cli.progress import Drawn
from tiepoint.cli.show import console, print_verdict
from tiepoint.core.dry_run import DryRun
from tiepoint.core.result import Result
from tiepoint.encoding.progress import SILENT
from tiepoint.errors import CannotRun
from tiepoint.formats import result_json
from tiepoint.report.dry_run import section
from tiepoint.report.sections import conditions_of, notes
from tiepoint.report.terminal import show_section
from tiepoint.workflows.bench.dry_run import dry_run
from tiepoint.workflows.bench.run import bench as run_bench
from tiepoint.workflows.intake.load import load_study
from tiepoint.workflows.record.result import record

COULD_NOT_RUN = 3
UNDECIDED = 4


def bench(
    study: Annotated[Path, typer.Argument(help="The study folder, with its study.toml.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print result.json on stdout instead of the table.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Encode everything anew, whatever spaces/ holds.")] = False,
    candidate: Annotated[
        list[str] | None,
        typer.Option(
            "--candidate", metavar="ID", help="Run this one; again for more. The others stand as not executed."
        ),
    ] = None,
    dry: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be encoded, how long and at what price; write nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing on stderr but errors.")] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Say on stderr what was read, re-used, left out and not executed, and how it was searched.",
        ),
    ] = False,
) -> None:
    """Benchmark the study's candidates, decide by its rule, and record the result under results/.

    Exit codes: 0 decided (or no decision was asked of one candidate, or a dry run), 2 the study is wrong, 3 no candidate could be
    measured, 4 undecided.

    Example: tiepoint bench county-archive
    """
    aside = Console(stderr=True, soft_wrap=True, highlight=False, quiet=quiet)
    loaded = load_study(study)
    if dry:
        _dry(dry_run(loaded, only=candidate, fresh=fresh), as_json=as_json)
        return
    result = run_bench(loaded, only=candidate, fresh=fresh, progress=SILENT if quiet else Drawn(Console(stderr=True)))
    folder = _recorded(result, loaded.folder / "results")
    if as_json:
        typer.echo(result_json.dump(result.summary).decode(), nl=False)
    else:
        print_verdict(result.summary)
    if verbose:
        for line in (*notes(result.summary), *conditions_of(result.conditions), *result.explained):
            aside.print(line, markup=False)
    aside.print(f"Recorded in {folder}", markup=False)
    raise typer.Exit(exit_code(result))


def exit_code(result: Result) -> int:
    """0 decided, or one candidate alone was measured; 3 none was; 4 undecided."""
    if not any(c.status == "measured" for c in result.summary.candidates):
        return COULD_NOT_RUN
    return UNDECIDED if result.summary.decision.verdict == "undecided" else 0


def _dry(run: DryRun, *, as_json: bool) -> None:
    if as_json:
        typer.echo(result_json.dump(run).decode(), nl=False)
    else:
        show_section(console(), section(run))


def _recorded(result: Result, results: Path) -> Path:
    try:
        return record(result, results)
    except OSError as error:
        raise CannotRun(
            f"the result cannot be recorded ({error.strerror or type(error).__name__})",
            where=str(results),
            fix="make room or give write access, and run again: the vectors are kept; no half result was left",
        ) from error
