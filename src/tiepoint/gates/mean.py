"""The mean gate: the target's mean quality lies inside the tolerated loss, and at or above the least mean asked for."""

from __future__ import annotations

from tiepoint.core.audit import Delta, GateResult, Outcome
from tiepoint.core.gates import Gates
from tiepoint.gates.gate import Findings, Gate, percent, too_few


def judge(found: Findings, gates: Gates) -> GateResult:
    """A pass needs the bound inside the tolerated loss: `no significant drop` is none."""
    least = "" if gates.least_mean is None else f", and has a mean of at least {gates.least_mean:g}"
    threshold = found.asked(f"{{}} loses at most {found.loss:g} at {percent(gates.confidence)}{least}")
    overall = _overall(found)
    if overall is None or overall.difference is None:
        return GATE.result("not executed", found.reason or "no query is scored on both sides", threshold)
    outcomes = {_loss(overall, found.loss)}
    if gates.least_mean is not None:
        outcomes.add(_least(overall, gates.least_mean))
    order: tuple[Outcome, ...] = ("fail", "undecided")
    said = _sentence(overall, found.loss, least=gates.least_mean is not None)
    return GATE.result(next((o for o in order if o in outcomes), "pass"), said, threshold)


def _overall(found: Findings) -> Delta | None:
    deltas = () if found.quality is None else found.quality.deltas
    return next((d for d in deltas if (d.measure, d.slice, d.subgroup) == (found.measure, found.slice, None)), None)


def _loss(delta: Delta, tolerated: float) -> Outcome:
    if delta.worst is not None and delta.worst >= -tolerated:
        return "pass"
    return "fail" if delta.best is not None and delta.best < -tolerated else "undecided"


def _least(delta: Delta, least: float) -> Outcome:
    if delta.target_low is not None and delta.target_low >= least:
        return "pass"
    return "fail" if delta.target_high is not None and delta.target_high < least else "undecided"


def _sentence(delta: Delta, tolerated: float, *, least: bool) -> str:
    interval = "" if delta.low is None else f" [{delta.low:+.4f}, {delta.high:+.4f}]"
    worst = "" if delta.worst is None else f"; at worst {delta.worst:+.4f}, at best {delta.best:+.4f}"
    own = ""
    if least and delta.target_low is not None:
        own = f"; the target's own mean is between {delta.target_low:.4f} and {delta.target_high:.4f}"
    change = f"{delta.source:.4f} to {delta.target:.4f}, difference {delta.difference:+.4f}"
    return f"{change}{interval}{worst}{own}; {too_few(delta, tolerated)}"


GATE = Gate("mean quality", 60, mechanical=False, judge=judge, beyond=True)
