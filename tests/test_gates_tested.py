"""The hypotheses that gates test: declared by what was asked and by sizes alone, each with its level and its correction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gates_kit import DELTA, GOOD, GROUP, LOST, NORTH, UNKNOWN, outcome, quality, ruled, sampled
from tiepoint.core.audit_findings import Stratum
from tiepoint.core.gates import Gates
from tiepoint.gates.tested import ALONE, EVERY_ONE


def test_either_of_two_ways_to_fail_is_corrected_for_both() -> None:
    """The mean may fail by its loss and by the least mean: each at 5% would fail a good move up to 10 times in 100."""
    for p, expected in ((0.024, "fail"), (0.026, "undecided"), (0.05, "undecided")):
        two = quality(replace(DELTA, worst=-0.3, p_lost=p, p_below=0.3))
        assert outcome("mean quality", Gates(least_mean=0.7), quality=two) == expected
        assert outcome("mean quality", Gates(), quality=two) == "fail", "alone it needs no correction"
        assert outcome("mean quality", Gates(least_mean=0.7), quality=quality(replace(DELTA, p_below=p))) == expected


def test_every_hypothesis_is_declared_with_its_level_and_its_correction() -> None:
    few = replace(GROUP, subgroup="few", enough=False)
    found = replace(
        GOOD, quality=quality(DELTA, GROUP, replace(LOST, subgroup="names"), few, replace(NORTH, worst=-0.9))
    )
    mean = ruled("mean quality", found, Gates(least_mean=0.7))
    groups = ruled("subgroups", found)
    assert mean is not None
    assert groups is not None
    asked = "of nDCG@10 (filtered)"
    assert [(h.of, h.states, h.speaks_for, h.rejected) for h in mean.hypotheses] == [
        ("every query", f"loses more than 0.02 {asked}", "pass", True),
        ("every query", f"loses at most 0.02 {asked}", "fail", False),
        ("every query", f"has a mean {asked} below 0.7", "pass", False),
        ("every query", f"has a mean {asked} of at least 0.7", "fail", False),
    ]
    assert [(h.of, h.speaks_for, h.rejected) for h in groups.hypotheses] == [
        ("codes", "pass", True), ("codes", "fail", False), ("names", "pass", False), ("names", "fail", False),
        ("region North", "pass", False), ("region North", "fail", False),
    ], "what is too small is not tested, and so does not make the others' correction dearer"  # fmt: skip
    every = (*mean.hypotheses, *groups.hypotheses)
    assert {h.level for h in every} == {0.05}
    assert {h.correction for h in every if h.speaks_for == "pass"} == {EVERY_ONE}
    assert {h.p for h in every if h.speaks_for == "pass"} == {None}
    assert [h.correction for h in every if h.speaks_for == "fail"] == ["Holm over 2"] * 2 + ["Holm over 3"] * 3
    lost = next(h for h in groups.hypotheses if h.of == "names" and h.speaks_for == "fail")
    assert (lost.p, lost.p_corrected) == (0.02, pytest.approx(0.06))
    (alone,) = (h for h in ruled("mean quality", GOOD).hypotheses if h.speaks_for == "fail")  # type: ignore[union-attr]
    assert (alone.correction, alone.p_corrected) == (ALONE, None)


def test_provenance_declares_both_ends_of_its_intervals() -> None:
    one = ruled("provenance", replace(GOOD, target_provenance=sampled(elsewhere=90, low=0.25, high=0.36)))
    assert one is not None
    assert [(h.of, h.speaks_for, h.level, h.rejected) for h in one.hypotheses] == [
        ("source", "pass", pytest.approx(0.025), True), ("source", "fail", pytest.approx(0.05), False),
        ("target", "pass", pytest.approx(0.025), False), ("target", "fail", pytest.approx(0.05), True),
    ]  # fmt: skip
    assert "2% tolerated" in one.hypotheses[0].states
    looked = sampled(sampled=40, low=0.0, high=0.0, strata=(Stratum(name="all", rows=40, sampled=40, elsewhere=0),))
    every_row = ruled("provenance", replace(GOOD, source_provenance=UNKNOWN, target_provenance=looked))
    assert every_row is not None
    assert every_row.hypotheses == (), "where every row was embedded again, nothing is estimated"
