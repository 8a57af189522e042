"""An audit as a folder that a reviewer can read in a year."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tiepoint.core.audit import Audit, AuditSummary
from tiepoint.errors import InputError
from tiepoint.formats import result_json
from tiepoint.workflows.audit.agreement import AGREEMENT
from tiepoint.workflows.audit.findings import FINDINGS
from tiepoint.workflows.audit.rows import PER_QUERY, SIDE_RANKINGS
from tiepoint.workflows.record.folders import name_of, read_table, written_beside
from tiepoint.workflows.report.files import write_report_files, written

TABLES: Mapping[str, pa.Schema] = {
    "findings": FINDINGS,
    "per_query": PER_QUERY,
    "agreement": AGREEMENT,
    "rankings": SIDE_RANKINGS,
}
"""The owner's tables by the names of core.audit.Audit, which are those of their files."""


def record_audit(audit: Audit, folder: str | Path) -> Path:
    """Write an audit under a folder of results, as `<UTC time>-<hash>/` with audit.json, report.md, report.html and rows/.

    returns   the new folder. It appears whole or not at all; rows/ is the owner's and names every id
    """
    return written_beside(Path(folder), lambda beside: _write(audit, beside))


def load_audit(folder: str | Path) -> Audit:
    """Read a recorded audit back. An audit without rows/ (the owner's part) has empty tables.

    raises   InputError when the folder holds no audit, or one of another schema version, or a table that cannot be read
    """
    place = Path(folder)
    if not (place / "audit.json").is_file():
        raise InputError("the folder holds no audit", where=str(place), fix="name one folder under results/")
    found = result_json.parse(AuditSummary, (place / "audit.json").read_bytes(), where=str(place / "audit.json"))
    rows = {name: place / "rows" / f"{name}.parquet" for name in TABLES}
    return Audit(summary=found, **{name: read_table(path, TABLES[name]) for name, path in rows.items()})


def _write(audit: Audit, beside: Path) -> str:
    summary = result_json.dump(audit.summary)
    (beside / "audit.json").write_bytes(summary)
    write_report_files(written(audit), beside)
    rows = beside / "rows"
    rows.mkdir()
    for name in TABLES:
        pq.write_table(getattr(audit, name), rows / f"{name}.parquet", compression="zstd")
    return name_of(audit.summary.conditions["created"], summary)
