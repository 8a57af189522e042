"""The mean gate: the target's mean quality lies inside the tolerated loss, and at or above the least mean asked for."""

from __future__ import annotations

from tiepoint.core.audit import Delta, GateResult, Outcome
from tiepoint.core.gates import Gates
from tiepoint.gates.gate import Findings, Gate, counted


def judge(found: Findings, gates: Gates) -> GateResult:
    """A pass needs the bound inside the tolerated loss: `no significant drop` is none."""
    least = "" if gates.least_mean is None else f", and a mean of at least {gates.least_mean:g}"
    threshold = f"{found.measure} ({found.slice}) loses at most {found.loss:g} at {gates.confidence:.0%}{least}"
    overall = _overall(found)
    if overall is None or overall.difference is None:
        return GATE.result("not executed", found.reasons.get("quality", "no query is scored on both sides"), threshold)
    outcomes = {_loss(overall, found.loss)}
    if gates.least_mean is not None:
        outcomes.add(_least(overall, gates.least_mean))
    order: tuple[Outcome, ...] = ("fail", "undecided")
    return GATE.result(next((o for o in order if o in outcomes), "pass"), _sentence(overall), threshold)


def _overall(found: Findings) -> Delta | None:
    deltas = () if found.quality is None else found.quality.deltas
    return next((d for d in deltas if (d.measure, d.slice, d.subgroup) == (found.measure, found.slice, None)), None)


def _loss(delta: Delta, tolerated: float) -> Outcome:
    if delta.worst is not None and delta.worst >= -tolerated:
        return "pass"
    return "fail" if delta.high is not None and delta.high < -tolerated else "undecided"


def _least(delta: Delta, least: float) -> Outcome:
    if delta.target_low is not None and delta.target_low >= least:
        return "pass"
    return "fail" if delta.target_high is not None and delta.target_high < least else "undecided"


def _sentence(delta: Delta) -> str:
    interval = "" if delta.low is None else f" [{delta.low:+.4f}, {delta.high:+.4f}]"
    worst = "" if delta.worst is None else f"; at worst {delta.worst:+.4f}"
    return (
        f"{delta.source:.4f} to {delta.target:.4f}, difference {delta.difference:+.4f}{interval}{worst}; "
        f"{counted(delta.clusters, 'independent query', 'independent queries')}"
    )


GATE = Gate("mean quality", 60, mechanical=False, judge=judge)
