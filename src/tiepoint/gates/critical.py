"""The critical gate: named queries that must not fall."""

from __future__ import annotations

import pyarrow.compute as pc

from tiepoint.core.audit import GateResult
from tiepoint.core.gates import Gates
from tiepoint.errors import some
from tiepoint.gates.gate import Findings, Gate

ROUNDING = 1e-12


def judge(found: Findings, _: Gates) -> GateResult | None:
    """Fail where one falls; undecided where one is scored on neither side; nothing to say where none is named."""
    if not found.critical:
        return None
    threshold = f"none of {len(found.critical):,} critical queries falls in {found.measure} ({found.slice})"
    if found.quality is None:
        return GATE.result("not executed", found.reasons.get("quality", "no quality was measured"), threshold)
    rows = found.per_query.filter((pc.field("slice") == found.slice) & (pc.field("measure") == found.measure))
    values = {
        query: (source, target)
        for query, source, target in zip(
            *(rows.column(name).to_pylist() for name in ("query", "source", "target")), strict=True
        )
        if source is not None and target is not None
    }
    fallen = [q for q in found.critical if q in values and values[q][1] < values[q][0] - ROUNDING]
    unseen = [q for q in found.critical if q not in values]
    if fallen:
        said = ", ".join(f"{q} {values[q][0]:.4f} to {values[q][1]:.4f}" for q in fallen[:5])
        return GATE.result("fail", f"{len(fallen):,} of them fall: {said}", threshold)
    if unseen:
        return GATE.result("undecided", f"not scored on this slice: {some(unseen)}", threshold)
    return GATE.result("pass", "none falls", threshold)


GATE = Gate("critical queries", 80, mechanical=False, judge=judge)
