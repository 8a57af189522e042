"""The subgroup gate: no subgroup loses more than is tolerated, the small ones are said to be too small."""

from __future__ import annotations

from tiepoint.core.audit import Delta, GateResult
from tiepoint.core.gates import Gates
from tiepoint.gates.gate import Findings, Gate, counted, listed, percent, too_few


def judge(found: Findings, gates: Gates) -> GateResult | None:
    """Pass where every subgroup's bound lies inside; fail where one is shown to lose more, after Holm; else undecided.

    A subgroup of fewer than gates.subgroup_queries independent queries decides nothing, whatever its figures are.
    """
    tolerated = found.loss if gates.subgroup_loss is None else gates.subgroup_loss
    threshold = found.asked(f"each subgroup loses at most {tolerated:g} of {{}} at {percent(gates.confidence)}")
    if found.quality is None:
        return GATE.result("not executed", found.reason or "no quality was measured", threshold)
    groups = [
        d
        for d in found.quality.deltas
        if d.subgroup is not None and d.n and (d.measure, d.slice) == (found.measure, found.slice)
    ]
    if not groups and not found.small:
        return None
    lost = [d for d in groups if d.enough and _lost(d, tolerated, 1 - gates.confidence)]
    if lost:
        return GATE.result("fail", listed([_sentence(d, tolerated) for d in lost]), threshold)
    held = [d for d in groups if d.enough and d.worst is not None and d.worst >= -tolerated]
    open_ = sorted((d for d in groups if d not in held), key=lambda d: (not d.enough, d.difference or 0.0))
    if open_ or found.small:
        said = [_sentence(d, tolerated) for d in open_]
        said += [f"{counted(found.small, 'subgroup')} too small to be shown"] if found.small else []
        return GATE.result("undecided", listed(said), threshold)
    return GATE.result("pass", listed([_sentence(d, tolerated) for d in held]), threshold)


def _lost(delta: Delta, tolerated: float, level: float) -> bool:
    """Shown to lose more than is tolerated: even its upper bound does, and the test stands after Holm."""
    below = delta.best is not None and delta.best < -tolerated
    return below and delta.p_holm is not None and delta.p_holm <= level


def _sentence(delta: Delta, tolerated: float) -> str:
    counts = too_few(delta, tolerated)
    if not delta.enough:
        few = counted(delta.clusters, "independent query is", "independent queries are")
        return f"{delta.subgroup}: {few} too few to decide"
    interval = "" if delta.low is None else f" [{delta.low:+.4f}, {delta.high:+.4f}]"
    worst = "" if delta.worst is None else f", at worst {delta.worst:+.4f}"
    change = "no query is scored" if delta.difference is None else f"{delta.difference:+.4f}{interval}{worst}"
    return f"{delta.subgroup}: {change}, {counts}"


GATE = Gate("subgroups", 70, mechanical=False, judge=judge, beyond=True)
