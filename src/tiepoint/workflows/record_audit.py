"""An audit as a folder that a reviewer can read in a year."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from tiepoint.core.audit import Audit
from tiepoint.formats import result_json
from tiepoint.report.audit import audit_page
from tiepoint.report.html import html
from tiepoint.report.markdown import markdown
from tiepoint.workflows.folders import name_of, written_beside

TABLES = ("findings", "per_query", "agreement", "rankings")


def record_audit(audit: Audit, folder: str | Path) -> Path:
    """Write an audit under a folder of results, as `<UTC time>-<hash>/` with audit.json, report.md, report.html and rows/.

    returns   the new folder. It appears whole or not at all; rows/ is the owner's and names every id
    """
    return written_beside(Path(folder), lambda beside: _write(audit, beside))


def _write(audit: Audit, beside: Path) -> str:
    summary = result_json.dump(audit.summary)
    (beside / "audit.json").write_bytes(summary)
    whole = audit_page(audit.summary)
    (beside / "report.md").write_text(markdown(whole), encoding="utf-8", newline="\n")
    (beside / "report.html").write_text(html(whole), encoding="utf-8", newline="\n")
    rows = beside / "rows"
    rows.mkdir()
    for name in TABLES:
        pq.write_table(getattr(audit, name), rows / f"{name}.parquet", compression="zstd")
    return name_of(audit.summary.conditions["created"], summary)
