"""The provenance gate: the vectors are in the space that their label names."""

from __future__ import annotations

from tiepoint.core.audit import GateResult, Outcome, Provenance
from tiepoint.core.gates import Gates
from tiepoint.errors import some
from tiepoint.gates.gate import Findings, Gate


def judge(found: Findings, gates: Gates) -> GateResult:
    """Pass where both sides' interval of the share elsewhere ends below the tolerated share; fail where one begins above it."""
    threshold = f"at most {gates.elsewhere:.2%} of rows outside their declared space, shown on both sides"
    sides = (("source", found.source_provenance), ("target", found.target_provenance))
    outcomes = {side: _outcome(one, gates.elsewhere) for side, one in sides}
    said = "; ".join(f"{side}: {_sentence(one)}" for side, one in sides)
    worst: tuple[Outcome, ...] = ("fail", "undecided", "not executed")
    outcome: Outcome = next((o for o in worst if o in outcomes.values()), "pass")
    return GATE.result(outcome, said, threshold)


def _outcome(one: Provenance, tolerated: float) -> Outcome:
    if one.reason is not None or one.low is None or one.high is None:
        return "not executed"
    return "pass" if one.high <= tolerated else "fail" if one.low > tolerated else "undecided"


def _sentence(one: Provenance) -> str:
    if one.low is None or one.high is None:
        return f"not executed, {one.reason or 'nothing was sampled'}"
    named = f" ({some(one.offenders.first)})" if one.offenders.count else ""
    return (
        f"{one.elsewhere:,} of {one.sampled:,} sampled rows are elsewhere{named}, "
        f"share {one.low:.2%} to {one.high:.2%} at {one.level:.0%}"
    )


GATE = Gate("provenance", 40, mechanical=True, judge=judge)
