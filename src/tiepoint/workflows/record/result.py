"""A result as a folder that a reviewer can read in a year: written beside, renamed once."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from tiepoint.core.audit import Audit
from tiepoint.core.result import Conditions, Result, Summary
from tiepoint.errors import InputError
from tiepoint.formats import result_json, trec
from tiepoint.workflows.conditions import TREC_RUNS
from tiepoint.workflows.record.audit import record_audit
from tiepoint.workflows.record.folders import name_of, read_table, written_beside
from tiepoint.workflows.report.files import write_report_files, written
from tiepoint.workflows.snapshot import DOCUMENTS, WORDS
from tiepoint.workflows.tables import GOLD, PER_QUERY, QUERIES, RANKINGS

TABLES = ("per_query", "rankings", "gold", "queries", "documents", "words")


def record(result: Result | Audit, folder: str | Path) -> Path:
    """Write a result, or an audit, under a folder of results, as `<UTC time>-<hash>/`.

    returns   the new folder. It appears whole or not at all; results that are there are never touched
    """
    if isinstance(result, Audit):
        return record_audit(result, folder)
    return written_beside(Path(folder), lambda beside: _write(result, beside))


def load_result(folder: str | Path) -> Result:
    """Read a recorded result back. A result without rows/ (the owner's part) has empty tables.

    raises   InputError when the folder holds no result, or one of another schema version, or a table that cannot be read
    """
    place = Path(folder)
    if not (place / "result.json").is_file() or not (place / "conditions.json").is_file():
        raise InputError("the folder holds no result", where=str(place), fix="name one folder under results/")
    return Result(
        summary=result_json.parse(Summary, (place / "result.json").read_bytes(), where=str(place / "result.json")),
        conditions=result_json.parse(
            Conditions, (place / "conditions.json").read_bytes(), where=str(place / "conditions.json")
        ),
        per_query=read_table(place / "rows" / "per_query.parquet", PER_QUERY),
        rankings=read_table(place / "rows" / "rankings.parquet", RANKINGS),
        gold=read_table(place / "rows" / "gold.parquet", GOLD),
        queries=read_table(place / "rows" / "queries.parquet", QUERIES),
        documents=read_table(place / "rows" / "documents.parquet", DOCUMENTS),
        words=read_table(place / "rows" / "words.parquet", WORDS),
    )


def _write(result: Result, beside: Path) -> str:
    """Every file of a result; returns the name that its folder is to have."""
    summary = result_json.dump(result.summary)
    (beside / "result.json").write_bytes(summary)
    (beside / "conditions.json").write_bytes(result_json.dump(result.conditions))
    write_report_files(written(result), beside)
    rows = beside / "rows"
    rows.mkdir()
    for name in TABLES:
        pq.write_table(getattr(result, name), rows / f"{name}.parquet", compression="zstd")
    if TREC_RUNS not in result.conditions.not_executed:
        _write_runs(result, rows)
    return name_of(result.conditions.created, summary)


def _write_runs(result: Result, rows: Path) -> None:
    measured = [c.id for c in result.summary.candidates if c.status == "measured"]
    for arm in [*measured, *(b.id for b in result.summary.baselines)]:
        for name in ("unfiltered", "filtered"):
            if result.summary.denominators[name].queries:
                with (rows / f"run-{arm}-{name}.trec").open("w", encoding="utf-8", newline="\n") as file:
                    file.writelines(trec.run_lines(result.rankings, arm, name))
