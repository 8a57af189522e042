"""The subgroup gate: no subgroup loses more than is tolerated, the small ones are said to be too small."""

from __future__ import annotations

from tiepoint.core.audit import Delta, GateResult
from tiepoint.core.gates import Gates
from tiepoint.gates.gate import Findings, Gate


def judge(found: Findings, gates: Gates) -> GateResult | None:
    """Pass where every subgroup's bound lies inside; fail where one is shown to lose more, after Holm; else undecided."""
    tolerated = found.loss if gates.subgroup_loss is None else gates.subgroup_loss
    threshold = (
        f"each subgroup loses at most {tolerated:g} of {found.measure} ({found.slice}) at {gates.confidence:.0%}"
    )
    if found.quality is None:
        return GATE.result("not executed", found.reasons.get("quality", "no quality was measured"), threshold)
    groups = [
        d
        for d in found.quality.deltas
        if d.subgroup is not None and (d.measure, d.slice) == (found.measure, found.slice)
    ]
    if not groups:
        return None
    lost = [d for d in groups if d.enough and _lost(d, tolerated, 1 - gates.confidence)]
    if lost:
        return GATE.result("fail", "; ".join(map(_sentence, lost)), threshold)
    held = [d for d in groups if d.worst is not None and d.worst >= -tolerated]
    open_ = [d for d in groups if d not in held]
    if open_:
        return GATE.result("undecided", "; ".join(map(_sentence, open_)), threshold)
    return GATE.result("pass", "; ".join(map(_sentence, held)), threshold)


def _lost(delta: Delta, tolerated: float, level: float) -> bool:
    """Shown to lose more than is tolerated: the interval lies below it, and the test stands after Holm."""
    below = delta.high is not None and delta.high < -tolerated
    return below and delta.p_holm is not None and delta.p_holm <= level


def _sentence(delta: Delta) -> str:
    if not delta.enough:
        return f"{delta.subgroup}: {delta.clusters} independent queries are too few to decide"
    interval = "" if delta.low is None else f" [{delta.low:+.4f}, {delta.high:+.4f}]"
    worst = "" if delta.worst is None else f", at worst {delta.worst:+.4f}"
    change = "no query is scored" if delta.difference is None else f"{delta.difference:+.4f}{interval}{worst}"
    return f"{delta.subgroup}: {change}, n {delta.n}"


GATE = Gate("subgroups", 70, mechanical=False, judge=judge)
