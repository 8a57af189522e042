"""The thresholds of the gates: which bound is held against each, what loss or share it tolerates; the worst outcome of all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gates_kit import DELTA, FEW, GOOD, GROUP, WIDE, outcome, quality, ruled, sampled, vectors
from tiepoint.core.audit import GateResult, Outcome
from tiepoint.core.gates import Gates
from tiepoint.gates import overall


def test_no_significant_drop_is_no_pass() -> None:
    """p says nothing against the move, the interval holds zero, and still a loss beyond the tolerated one may be there."""
    shy = replace(DELTA, difference=-0.001, low=-0.05, high=0.05, worst=-0.06, best=0.06, p=0.97, p_holm=1.0)
    assert outcome("mean quality", WIDE, quality=quality(shy)) == "undecided"
    group = replace(shy, subgroup="codes", worst=-0.08)
    assert outcome("subgroups", WIDE, quality=quality(DELTA, group)) == "undecided"
    assert outcome("mean quality", WIDE, quality=quality(shy), loss=0.06) == "pass"


def test_a_significant_drop_inside_the_tolerated_loss_passes() -> None:
    sure = replace(DELTA, difference=-0.01, low=-0.015, high=-0.005, worst=-0.018, best=-0.002, p=0.0001, p_holm=0.0001)
    assert outcome("mean quality", WIDE, quality=quality(sure)) == "pass"
    assert outcome("mean quality", WIDE, quality=quality(replace(sure, p_lost=0.01)), loss=0.001) == "fail"


def test_the_least_mean_needs_the_targets_own_bound() -> None:
    cases = ((0.66, 0.9, "pass"), (0.661, 0.9, "undecided"), (0.75, 0.051, "undecided"), (0.751, 0.024, "fail"))
    for least, p, expected in cases:
        found = ruled(
            "mean quality", replace(GOOD, quality=quality(replace(DELTA, p_below=p))), Gates(least_mean=least)
        )
        assert found is not None
        assert found.outcome == expected, least
        assert f"and has a mean of at least {least:g}" in found.threshold
        assert "the target's own mean is between 0.6600 and 0.7500" in found.evidence
    lost = quality(replace(DELTA, worst=-0.3, best=-0.1, p_lost=0.01))
    assert outcome("mean quality", Gates(least_mean=0.5), quality=lost) == "fail", "the loss fails it all the same"


def test_a_subgroup_loss_of_its_own_stands_for_the_mean_s() -> None:
    group = quality(DELTA, replace(GROUP, worst=-0.04))
    assert outcome("subgroups", Gates(), quality=group) == "undecided"
    assert outcome("subgroups", Gates(subgroup_loss=0.04), quality=group) == "pass"


def test_the_share_elsewhere_that_is_tolerated_decides() -> None:
    some_are = sampled(elsewhere=4, low=0.004, high=0.034)
    for tolerated, expected in ((0.0, "fail"), (0.0039, "fail"), (0.004, "undecided"), (0.034, "pass")):
        assert outcome("provenance", Gates(elsewhere=tolerated), target_provenance=some_are) == expected, tolerated
    odd = {"target_vectors": vectors(shared_vector=FEW), "target_provenance": some_are}
    assert outcome("vectors", Gates(elsewhere=0.033), **odd) == "undecided"
    assert outcome("vectors", Gates(elsewhere=0.034), **odd) == "pass"


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ((), "not executed"),
        (("pass", "pass"), "pass"),
        (("pass", "not executed"), "not executed"),
        (("not executed", "undecided", "pass"), "undecided"),
        (("undecided", "fail", "not executed", "pass"), "fail"),
    ],
)
def test_the_worst_outcome_is_the_audits(outcomes: tuple[Outcome, ...], expected: Outcome) -> None:
    results = [GateResult(name="g", outcome=o, mechanical=True, evidence="", threshold="") for o in outcomes]
    assert overall(results) == expected
