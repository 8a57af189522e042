"""The mean gate: the target's mean quality lies inside the tolerated loss, and at or above the least mean asked for."""

from __future__ import annotations

from tiepoint.core.audit import GateResult
from tiepoint.core.audit_quality import EVERY, Delta
from tiepoint.core.gates import Gates
from tiepoint.core.rounding import bound_above, bound_below
from tiepoint.gates.gate import Findings, Gate, at_best, at_worst, changed, percent, too_few
from tiepoint.gates.tested import Asked, outcome_of, tested


def judge(found: Findings, gates: Gates) -> GateResult:
    """A pass needs the bound inside the tolerated loss: `no significant drop` is none. Fewer queries than 20 decide nothing."""
    least = "" if gates.least_mean is None else f", and has a mean of at least {gates.least_mean:g}"
    threshold = found.asked(f"{{}} loses at most {found.loss:g} at {percent(gates.confidence)}{least}")
    overall = _overall(found)
    if overall is None or overall.difference is None:
        return GATE.result("not executed", found.reason or "no query is scored on both sides", threshold)
    said = _sentence(overall, found.loss, least=gates.least_mean is not None)
    if not overall.enough:
        return GATE.result("undecided", f"{said}; too few to decide, {overall.least:,} needed", threshold)
    asked = [
        Asked(
            of=EVERY,
            wrong=found.asked(f"loses more than {found.loss:g} of {{}}"),
            right=found.asked(f"loses at most {found.loss:g} of {{}}"),
            holds=overall.worst is not None and overall.worst >= -found.loss,
            p=overall.p_lost,
        )
    ]
    if gates.least_mean is not None:
        asked.append(
            Asked(
                of=EVERY,
                wrong=found.asked(f"has a mean of {{}} below {gates.least_mean:g}"),
                right=found.asked(f"has a mean of {{}} of at least {gates.least_mean:g}"),
                holds=overall.target_low is not None and overall.target_low >= gates.least_mean,
                p=overall.p_below,
            )
        )
    hypotheses = tested(asked, error=1 - gates.confidence)
    return GATE.result(outcome_of(hypotheses), said, threshold, hypotheses)


def _overall(found: Findings) -> Delta | None:
    deltas = () if found.quality is None else found.quality.deltas
    return next((d for d in deltas if d.whole and (d.measure, d.slice) == (found.measure, found.slice)), None)


def _sentence(delta: Delta, tolerated: float, *, least: bool) -> str:
    worst = "" if delta.worst is None else f"; {at_worst(delta)}, {at_best(delta)}"
    own = ""
    if least and delta.target_low is not None and delta.target_high is not None:
        low, high = bound_below(delta.target_low), bound_above(delta.target_high)
        own = f"; the target's own mean is between {low:.4f} and {high:.4f}"
    change = f"{delta.source:.4f} to {delta.target:.4f}, difference {changed(delta)}"
    return f"{change}{worst}{own}; {too_few(delta, tolerated)}"


GATE = Gate("mean quality", 60, mechanical=False, judge=judge, beyond=True)
