"""The subgroup gate: no subgroup and no region loses more than is tolerated, the small ones are said to be too small."""

from __future__ import annotations

from tiepoint.core.audit import GateResult
from tiepoint.core.audit_quality import Delta
from tiepoint.core.gates import Gates
from tiepoint.gates.gate import NAMED, Findings, Gate, at_best, at_worst, changed, counted, listed, percent, too_few
from tiepoint.gates.tested import Asked, tested

TELLING = "figures over so few queries would tell of single ones"


def judge(found: Findings, gates: Gates) -> GateResult | None:
    """Pass where every group's bound lies inside; fail where one is shown to lose more, after Holm; else undecided.

    A group of fewer independent queries than it takes (core.audit_quality.Delta.least) is not tested and decides nothing,
    whatever its figures are: which groups are tested follows from their sizes alone.
    """
    tolerated = found.loss if gates.subgroup_loss is None else gates.subgroup_loss
    threshold = found.asked(
        f"each subgroup and region loses at most {tolerated:g} of {{}} at {percent(gates.confidence)}"
    )
    if found.quality is None:
        return GATE.result("not executed", found.reason or "no quality was measured", threshold)
    groups = [
        d for d in found.quality.deltas if not d.whole and d.n and (d.measure, d.slice) == (found.measure, found.slice)
    ]
    if not groups and not found.small:
        return None
    large = [d for d in groups if d.enough]
    held = [d for d in large if d.worst is not None and d.worst >= -tolerated]
    hypotheses = tested(
        [
            Asked(
                of=d.group,
                wrong=found.asked(f"loses more than {tolerated:g} of {{}}"),
                right=found.asked(f"loses at most {tolerated:g} of {{}}"),
                holds=d in held,
                p=d.p_lost,
            )
            for d in large
        ],
        error=1 - gates.confidence,
    )
    failing = [h for h in hypotheses if h.speaks_for == "fail"]
    lost = [d for d, h in zip(large, failing, strict=True) if h.rejected]
    if lost:
        return GATE.result("fail", listed([_said(d, at_best(d), tolerated) for d in lost]), threshold, hypotheses)
    open_ = sorted((d for d in large if d not in held), key=lambda d: d.difference or 0.0)
    few = [d for d in groups if not d.enough]
    if open_ or few or found.small:
        said = [listed([_said(d, at_worst(d), tolerated) for d in open_])] if open_ else []
        said += [_few(few)] if few else []
        said += (
            [f"{counted(found.small, 'group')} that may not be shown to these readers: {TELLING}"]
            if found.small
            else []
        )
        return GATE.result("undecided", "; ".join(said), threshold, hypotheses)
    return GATE.result("pass", listed([_said(d, at_worst(d), tolerated) for d in large]), threshold, hypotheses)


def _few(deltas: list[Delta]) -> str:
    """`too few independent queries to decide: codes (8 of 59 needed), region North (12 of 59) and 2 more`."""
    counts = [
        f"{d.group} ({d.clusters:,} of {d.least:,}{'' if at else ' needed'})" for at, d in enumerate(deltas[:NAMED])
    ]
    left = len(deltas) - len(counts)
    more = f" and {left:,} more" if left else ""
    return f"too few independent queries to decide: {', '.join(counts)}{more}"


def _said(delta: Delta, bound: str, tolerated: float) -> str:
    """bound: at_worst or at_best of it."""
    parts = (changed(delta), bound, too_few(delta, tolerated))
    return f"{delta.group}: {', '.join(part for part in parts if part)}"


GATE = Gate("subgroups", 70, mechanical=False, judge=judge, beyond=True)
