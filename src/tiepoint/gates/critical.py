"""The critical gate: named queries that must not fall."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow.compute as pc

from tiepoint.core.audit import GateResult
from tiepoint.core.gates import Gates
from tiepoint.gates.gate import NAMED, Findings, Gate, counted

ROUNDING = 1e-12
"""Of values alone: sums of floats differ by as much. The floor of what counts as a fall is the noise, within worst and best."""
UNFILTERED = "unfiltered"
UNTOLD = "a query without values has an answer that these readers may not see"


@dataclass(frozen=True, slots=True)
class _Value:
    """One query on both sides, and the difference with ties against and for the target. None: either does not score it.

    told   False: it has an answer that the readers may not see, so its values are not printed
    """

    source: float | None
    target: float | None
    worst: float | None
    best: float | None
    told: bool = True


def judge(found: Findings, _: Gates) -> GateResult | None:
    """Fail where one falls however tied documents are ordered; pass where none does; undecided where ties decide.

    Documents that noise of encoding alone tells apart tie as well (Run.noise): what they move is no fall, and no proof of none.
    A query that the gates' slice does not have (no region under `filtered`) is looked at without filter, as it is asked. One that
    is not scored leaves the gate undecided. None: no query is named.
    """
    if not found.critical:
        return None
    count = counted(len(found.critical), "critical query", "critical queries")
    threshold = found.asked(f"none of {count} falls in {{}}")
    if found.quality is None:
        return GATE.result("not executed", found.reason or "no quality was measured", threshold)
    values = _values(found, UNFILTERED) | _values(found, found.slice)
    known = {q: values[q] for q in found.critical if q in values and values[q].worst is not None}
    fallen = [q for q, v in known.items() if v.best is not None and v.best < -ROUNDING]
    tied = [q for q, v in known.items() if q not in fallen and v.worst is not None and v.worst < -ROUNDING]
    unseen = [q for q in found.critical if q not in known]
    if fallen:
        return GATE.result("fail", _said(found, known, fallen, "falls", "fall"), threshold)
    if tied or unseen:
        parts = [_said(found, known, tied, "may fall: ties decide", "may fall: ties decide")] if tied else []
        parts += [_said(found, known, unseen, "is not scored", "are not scored")] if unseen else []
        return GATE.result("undecided", "; ".join(parts), threshold)
    return GATE.result("pass", "none falls", threshold)


def _values(found: Findings, name: str | None) -> dict[str, _Value]:
    rows = found.per_query.filter((pc.field("slice") == name) & (pc.field("measure") == found.measure))
    columns = [rows.column(c).to_pylist() for c in ("source", "target", "worst", "best")]
    queries = rows.column("query").to_pylist()
    told = (shown is not False for shown in rows.column("shown").to_pylist())
    return {q: _Value(*five) for q, *five in zip(queries, *columns, told, strict=True)}


def _said(found: Findings, known: dict[str, _Value], chosen: list[str], one: str, many: str) -> str:
    """`2 of 5 fall: q1 0.9000 to 0.5000, q4 ...`; without names and numbers where no single query may be told."""
    if not found.single:
        return f"at least one of {len(found.critical):,} {one}"
    head = f"{len(chosen):,} of {len(found.critical):,} {one if len(chosen) == 1 else many}"
    values = {q: known[q] for q in chosen if q in known}
    named = [f"{q} {v.source:.4f} to {v.target:.4f}" if v.told else q for q, v in values.items()] if values else chosen
    left = len(chosen) - NAMED
    bare = any(not v.told for v in list(values.values())[:NAMED])
    why = f"; {UNTOLD}" if bare else ""
    return f"{head}: {', '.join(named[:NAMED])}" + (f" and {left:,} more" if left > 0 else "") + why


GATE = Gate("critical queries", 80, mechanical=False, judge=judge, beyond=True)
