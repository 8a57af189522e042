"""tiepoint audit: what a move between two embedding spaces changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tiepoint.cli.fixture import cutoff
from tiepoint.cli.progress import Drawn
from tiepoint.cli.show import print_sections
from tiepoint.core.audit import AuditSummary, Outcome
from tiepoint.encoding.progress import SILENT
from tiepoint.errors import CannotRun, InputError
from tiepoint.formats import result_json
from tiepoint.formats.fixture_json import dump_audit
from tiepoint.report.audit import brief
from tiepoint.report.fixture import sections
from tiepoint.workflows.audit.run import audit as run_audit
from tiepoint.workflows.fixture.file import load_fixture
from tiepoint.workflows.fixture.run import audit_fixture
from tiepoint.workflows.intake.load import load_study
from tiepoint.workflows.record.result import record

EXIT: dict[Outcome, int] = {"pass": 0, "fail": 1, "undecided": 4, "not executed": 4}
K = 3


def audit(
    study: Annotated[
        Path | None, typer.Argument(help="The study folder; without it quality and access are not executed.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="ID|PATH", help="The space to move from: a candidate, a folder, a .parquet."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="ID|PATH", help="The space to move to, likewise.")
    ] = None,
    source_contract: Annotated[
        Path | None, typer.Option("--source-contract", metavar="TOML", help="The contract of a .parquet file.")
    ] = None,
    target_contract: Annotated[
        Path | None, typer.Option("--target-contract", metavar="TOML", help="The contract of a .parquet file.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", metavar="DIR", help="Where to record the audit; with a study, its own results/."),
    ] = None,
    fixture: Annotated[
        str | None,
        typer.Option(
            "--fixture", metavar="FILE|bundled", help="A fixture instead: spaces held by hand in one JSON file."
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="N", parser=cutoff, help="With --fixture: how many hits count (3 if not said)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing on stderr but errors.")] = False,
) -> None:
    """Hold two embedding spaces against each other, every row, and judge the move by the [gates] of the study.

    Reads both; writes to neither. A candidate that is not encoded yet is encoded first. With --fixture the first space, in order
    of space_id, is held against each other one. Gates that pass authorise no release: a quality decision is required.

    Exit codes: 0 every gate that was asked for passes (of a fixture: the mechanical ones); 1 one fails; 2 the input or the
    call is wrong; 3 it could not run; 4 none fails, and not every one could be decided or executed.

    Example: tiepoint audit county-archive --source wordllama --target use
    """
    if fixture is not None:
        others = {
            "STUDY": study, "--source": source, "--target": target, "--source-contract": source_contract,
            "--target-contract": target_contract, "--results": results,
        }  # fmt: skip
        if beside := [name for name, value in others.items() if value is not None]:
            raise InputError(f"--fixture is audited alone, without {', '.join(beside)}", fix="leave one of them out")
        _fixture(fixture, k=K if k is None else k, as_json=as_json)
    if source is None or target is None:
        missing = [name for name, value in (("--source", source), ("--target", target)) if value is None]
        raise InputError(
            f"{' and '.join(missing)} missing: an audit holds two spaces against each other",
            fix="tiepoint audit STUDY --source ID|PATH --target ID|PATH, or tiepoint audit --fixture FILE|bundled",
        )
    if k is not None:
        raise InputError("--k goes with --fixture", fix="a study states its own k; leave --k out")
    loaded = None if study is None else load_study(study)
    found = run_audit(
        loaded,
        source,
        target,
        source_contract=source_contract,
        target_contract=target_contract,
        progress=SILENT if quiet else Drawn(Console(stderr=True)),
    )
    aside = Console(stderr=True, soft_wrap=True, highlight=False, quiet=quiet)
    place = results if results is not None else None if loaded is None else loaded.folder / "results"
    if place is not None:
        try:
            aside.print(f"Recorded in {record(found, place)}", markup=False)
        except OSError as error:
            raise CannotRun(
                f"the audit cannot be recorded ({error.strerror or type(error).__name__})",
                where=str(place),
                fix="make room or give write access, and run again; no half result was left",
            ) from error
    _print(found.summary, as_json=as_json)
    raise typer.Exit(EXIT[found.summary.outcome])


def _print(summary: AuditSummary, *, as_json: bool) -> None:
    if as_json:
        typer.echo(result_json.dump(summary).decode(), nl=False)
        return
    print_sections(brief(summary))


def _fixture(name: str, *, k: int, as_json: bool) -> None:
    """Audit a fixture, print it, leave with the code of its gates."""
    found = audit_fixture(load_fixture(name), k=k)
    if as_json:
        typer.echo(dump_audit(found).decode(), nl=False)
    else:
        print_sections(sections(found))
    raise typer.Exit(0 if found.gates_pass else 1)
