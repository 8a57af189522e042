"""The provenance gate: the vectors are in the space that their label names."""

from __future__ import annotations

from tiepoint.core.audit import GateResult, Hypothesis, Outcome
from tiepoint.core.audit_findings import Provenance
from tiepoint.core.gates import Gates
from tiepoint.core.rounding import bound_above, bound_below
from tiepoint.gates.gate import Findings, Gate, counted, named, percent, shown_inside
from tiepoint.gates.tested import EVERY_ONE


def judge(found: Findings, gates: Gates) -> GateResult:
    """Pass where both sides' interval of the share elsewhere ends below the tolerated share; fail where one begins above it."""
    threshold = f"at most {percent(gates.elsewhere)} of rows outside their declared space, shown on both sides"
    sides = (("source", found.source_provenance), ("target", found.target_provenance))
    outcomes = {side: _outcome(one, gates.elsewhere) for side, one in sides}
    said = "; ".join(f"{side}: {_sentence(one, gates.elsewhere)}" for side, one in sides)
    if len({_sentence(one, gates.elsewhere) for _, one in sides}) == 1:
        said = f"source and target: {_sentence(found.source_provenance, gates.elsewhere)}"
    worst: tuple[Outcome, ...] = ("fail", "undecided", "not executed")
    outcome: Outcome = next((o for o in worst if o in outcomes.values()), "pass")
    hypotheses = tuple(h for side, one in sides for h in _tested(side, one, gates.elsewhere))
    return GATE.result(outcome, said, threshold, hypotheses)


def _outcome(one: Provenance, tolerated: float) -> Outcome:
    if one.reason is not None or one.low is None or one.high is None:
        return "not executed"
    if shown_inside(one, tolerated):
        return "pass"
    return "fail" if one.low > tolerated else "undecided"


def _tested(side: str, one: Provenance, tolerated: float) -> tuple[Hypothesis, ...]:
    """The interval's two ends; none where it was not executed, or where every row was looked at and nothing is estimated."""
    if one.low is None or one.high is None or one.sampled == sum(part.rows for part in one.strata):
        return ()
    error = 1 - one.level
    share = f"of its rows lie outside their declared space, {percent(tolerated)} tolerated"
    return (
        Hypothesis(
            of=side, states=f"too many {share}", speaks_for="pass", level=error / 2, correction=EVERY_ONE,
            rejected=one.high <= tolerated,
        ),
        Hypothesis(
            of=side, states=f"not too many {share}", speaks_for="fail", level=error,
            correction="half of it for each side", rejected=one.low > tolerated,
        ),
    )  # fmt: skip


def _sentence(one: Provenance, tolerated: float) -> str:
    if one.low is None or one.high is None:
        return f"not executed, {one.reason or 'nothing was sampled'}"
    which = f" ({named(one.offenders)})" if one.offenders.count else ""
    blind = ""
    if one.unchecked:
        blind = f"; {counted(one.unchecked, 'row')} whose text is not known could not be checked"
    small = ""
    if not one.elsewhere and one.high > tolerated and not one.unchecked:
        small = f"; so small a sample shows no less than {bound_above(one.high):.2%}: ask for a larger one"
    return (
        f"{one.elsewhere:,} of {counted(one.sampled, 'sampled row')} elsewhere{which}, "
        f"share {bound_below(one.low):.2%} to {bound_above(one.high):.2%} at {percent(one.level)}{blind}{small}"
    )


GATE = Gate("provenance", 40, mechanical=True, judge=judge)
