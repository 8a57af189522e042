"""A result as a folder that a reviewer can read in a year: written beside, renamed once."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tiepoint.core.result import Conditions, Result, Summary
from tiepoint.errors import InputError
from tiepoint.formats import result_json, trec
from tiepoint.report.html import html
from tiepoint.report.markdown import markdown
from tiepoint.report.page import page
from tiepoint.workflows.conditions import TREC_RUNS
from tiepoint.workflows.snapshot import DOCUMENTS, WORDS
from tiepoint.workflows.tables import GOLD, PER_QUERY, QUERIES, RANKINGS

TABLES = ("per_query", "rankings", "gold", "queries", "documents", "words")
BESIDE = ".writing-"
LEFT_OVER_S = 3600
"""A folder written beside that is older was left by a run that was killed."""


def record(result: Result, folder: str | Path) -> Path:
    """Write a result under a folder of results, as `<UTC time>-<hash>/`.

    returns   the new folder. It appears whole or not at all; results that are there are never touched
    """
    results = Path(folder)
    results.mkdir(parents=True, exist_ok=True)
    _sweep(results)
    beside = Path(tempfile.mkdtemp(prefix=BESIDE, dir=results))
    try:
        name = _write(result, beside)
        beside.chmod(0o755)
        target = _free(results / name)
        beside.rename(target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return target


def load_result(folder: str | Path) -> Result:
    """Read a recorded result back. A result without rows/ (the owner's part) has empty tables.

    raises   InputError when the folder holds no result, or one of another schema version
    """
    place = Path(folder)
    if not (place / "result.json").is_file() or not (place / "conditions.json").is_file():
        raise InputError("the folder holds no result", where=str(place), fix="name one folder under results/")
    return Result(
        summary=result_json.parse(Summary, (place / "result.json").read_bytes(), where=str(place / "result.json")),
        conditions=result_json.parse(
            Conditions, (place / "conditions.json").read_bytes(), where=str(place / "conditions.json")
        ),
        per_query=_read(place / "rows" / "per_query.parquet", PER_QUERY),
        rankings=_read(place / "rows" / "rankings.parquet", RANKINGS),
        gold=_read(place / "rows" / "gold.parquet", GOLD),
        queries=_read(place / "rows" / "queries.parquet", QUERIES),
        documents=_read(place / "rows" / "documents.parquet", DOCUMENTS),
        words=_read(place / "rows" / "words.parquet", WORDS),
    )


def _write(result: Result, beside: Path) -> str:
    """Every file of a result; returns the name that its folder is to have."""
    summary = result_json.dump(result.summary)
    (beside / "result.json").write_bytes(summary)
    (beside / "conditions.json").write_bytes(result_json.dump(result.conditions))
    whole = page(result.summary, result.conditions)
    (beside / "report.md").write_text(markdown(whole), encoding="utf-8", newline="\n")
    (beside / "report.html").write_text(html(whole), encoding="utf-8", newline="\n")
    rows = beside / "rows"
    rows.mkdir()
    for name in TABLES:
        pq.write_table(getattr(result, name), rows / f"{name}.parquet", compression="zstd")
    if TREC_RUNS not in result.conditions.not_executed:
        _write_runs(result, rows)
    moment = result.conditions.created.replace("-", "").replace(":", "").replace("+0000", "Z")
    return f"{moment}-{hashlib.sha256(summary).hexdigest()[:8]}"


def _write_runs(result: Result, rows: Path) -> None:
    measured = [c.id for c in result.summary.candidates if c.status == "measured"]
    for arm in [*measured, *(b.id for b in result.summary.baselines)]:
        for name in ("unfiltered", "filtered"):
            if result.summary.denominators[name].queries:
                with (rows / f"run-{arm}-{name}.trec").open("w", encoding="utf-8", newline="\n") as file:
                    file.writelines(trec.run_lines(result.rankings, arm, name))


def _free(target: Path) -> Path:
    """The target, or the first of target-2, target-3, ... that does not exist."""
    number, free = 1, target
    while free.exists():
        number += 1
        free = target.with_name(f"{target.name}-{number}")
    return free


def _sweep(results: Path) -> None:
    """Remove what runs that were killed left beside the results."""
    for left in results.glob(f"{BESIDE}*"):
        if time.time() - left.stat().st_mtime > LEFT_OVER_S:
            shutil.rmtree(left, ignore_errors=True)


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    return pq.read_table(path, schema=schema) if path.is_file() else schema.empty_table()
