"""The paired bounds and the walk: against exact distributions, against the walk's own words, and, slow, by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

import decision_grid as grid
import decision_tables as tables
from tiepoint.stats import settle
from tiepoint.stats.measured import Measured
from tiepoint.stats.paired import (
    chance_beyond,
    deficit_bounds,
    difference_bounds,
    least_shown,
    least_units,
    upper_bound,
)
from tiepoint.stats.resample import stream
from tiepoint.stats.settle import POWER, first_enough, queries_to_settle, walked
from tiepoint.stats.units import ArmValues, Units
from tiepoint.stats.walk import IN, NOT_TESTED, OPEN, OUT, walk
from tiepoint.stats.weighted import chance_positive


def units(values: np.ndarray, cluster: np.ndarray | None = None, around: float = 0.0) -> Units:
    cluster = np.arange(len(values)) if cluster is None else cluster
    return Units.of(ArmValues(values - around, values, values + around), cluster)


def upper(deficits: np.ndarray, cluster: np.ndarray | None = None) -> float:
    values = np.stack([np.zeros(len(deficits)), deficits], axis=1)
    return float(deficit_bounds(units(values, cluster), confidence=0.95).upper[0])


@pytest.mark.parametrize(
    ("lost", "queries", "at"), [(0, 149, 0.02), (9, 749, 0.02), (30, 2000, 0.02), (3, 20, 0.4), (0, 2, 0.8)]
)
def test_the_chance_is_the_beta_distributions_where_there_are_two_values(lost: int, queries: int, at: float) -> None:
    values = np.append(np.repeat([1.0, 0.0], [lost, queries - lost]) - at, 1 - at)[None]
    expected = stats.beta.sf(at, lost + 1, queries - lost)
    assert chance_positive(values)[0] == pytest.approx(expected, abs=1e-6)
    counted = chance_positive(np.array([[1 - at, -at, 7.0]]), np.array([[lost + 1.0, queries - lost, 0.0]]))
    assert counted[0] == pytest.approx(expected, abs=1e-6), "what stands there no times is as if it were not given"
    quick = chance_positive(values, level=expected * 5)[0]
    assert quick == pytest.approx(expected, rel=0.05)


def test_the_chance_is_the_share_of_random_weights() -> None:
    rng = np.random.default_rng(3)
    values = np.append(rng.normal(-0.02, 0.2, 60), 0.95)
    weighted = rng.exponential(size=(100_000, 61)) @ values
    found = chance_positive(values[None])[0]
    assert found == pytest.approx((weighted > 0).mean(), abs=4 * math.sqrt(found * (1 - found) / 100_000))
    assert chance_positive(-values[None] * 0 + 1.0)[0] == 1.0


def test_beside_one_large_cluster_the_quick_formula_does_not_decide() -> None:
    values = np.concatenate([[-100.0], np.full(28, -0.05), [1.0]])[None]
    exact = chance_positive(values)[0]
    weighted = np.random.default_rng(3).exponential(size=(400_000, 30)) @ values[0]
    assert exact == pytest.approx((weighted > 0).mean(), abs=4 * math.sqrt(exact / 400_000))
    for beside in (0.9, 1.1):
        assert (chance_positive(values, level=exact * beside)[0] > exact * beside) == (beside < 1)


def test_a_first_step_that_ends_on_the_pole_is_no_step() -> None:
    values = np.array([[1.0] + [-0.5] * 8])
    assert -values.sum() / (values**2).sum() == 1 / values.max(), "Newton's first step from 0"
    assert chance_positive(values)[0] == pytest.approx(1.5**-8, abs=1e-6)


@pytest.mark.parametrize("lost", [0, 1, 5, 40])
def test_the_bound_of_whole_losses_is_clopper_and_pearsons(lost: int) -> None:
    exact = stats.binomtest(lost, 200, alternative="less").proportion_ci(confidence_level=0.95, method="exact").high
    assert upper(np.repeat([1.0, 0.0], [lost, 200 - lost])) == pytest.approx(exact, abs=1e-6)


def test_the_bound_is_gaffkes_by_its_own_formula() -> None:
    rng = np.random.default_rng(4)
    deficits = rng.normal(0.01, 0.25, 80).clip(-1, 1)
    ordered = np.append(np.sort(deficits), 1.0)
    uniform = np.sort(rng.random((40_000, 80)), axis=1)
    drawn = 1 - uniform @ np.diff(ordered)
    assert upper_bound(deficits, np.ones(80), 0.05) == pytest.approx(np.quantile(drawn, 0.95), abs=0.001)


def test_all_lost_is_a_loss_of_one() -> None:
    assert upper_bound(np.ones(30), np.ones(30), 0.05) == 1.0


@pytest.mark.parametrize(("gap", "least"), [(0.02, 149), (0.05, 59), (0.9, 2)])
def test_too_few_queries_can_show_nothing_inside_the_gap(gap: float, least: int) -> None:
    assert least_units(gap, 0.95) == least
    assert least_shown(least, 0.95) <= gap < least_shown(least - 1, 0.95)
    for queries, state in ((least - 1, OPEN), (least, IN)):
        for ahead in (0.0, -0.05):  # not even one that is better throughout
            values = np.stack([np.zeros(queries), np.full(queries, ahead)], axis=1)
            assert walk(units(values), gap=gap, confidence=0.95)[0, 0] == state
            assert (deficit_bounds(units(values), confidence=0.95).upper[0] <= gap + 1e-6) == (state == IN)
    assert least_units(0.0, 0.95) is None
    same = np.zeros((500, 2))
    assert walk(units(same), gap=0.0, confidence=0.95)[0].tolist() == [OPEN, NOT_TESTED]


def test_among_clusters_the_imagined_unit_is_as_large_as_the_largest() -> None:
    """A loss on whole seed questions goes unseen as easily as one on single queries: 50 clusters show nothing at 0.02."""
    assert upper(np.zeros(250), np.repeat(np.arange(50), 5)) == pytest.approx(least_shown(50, 0.95))
    sizes = np.repeat([1.0, 3.0], [140, 20])
    cluster = np.repeat(np.arange(160), sizes.astype(int))
    needed = least_units(0.02, 0.95, sizes)
    assert needed > 2 * 149
    assert upper(np.zeros(len(cluster)), cluster) == pytest.approx(least_shown(160, 0.95, sizes), abs=1e-6)
    assert chance_beyond(np.zeros(160), sizes, least_shown(160, 0.95, sizes))[0] == pytest.approx(0.05, abs=1e-4)
    many = np.tile(sizes, math.ceil(needed / 160))[: needed + 10]
    assert least_shown(len(many), 0.95, many) <= 0.021


def test_ties_widen_the_bounds_on_both_sides() -> None:
    rng = np.random.default_rng(8)
    mid = rng.random((300, 2)) * 0.5 + 0.2
    plain = deficit_bounds(units(mid), confidence=0.95)
    moved = deficit_bounds(units(mid, around=0.1), confidence=0.95)
    assert moved.upper[0] == pytest.approx(plain.upper[0] + 0.2, abs=0.01)
    assert moved.lower[0] == pytest.approx(plain.lower[0] - 0.2, abs=0.01)


def test_the_bounds_of_several_are_of_the_largest_deficit() -> None:
    rng = np.random.default_rng(9)
    values = rng.random((200, 4)) * 0.5 + np.array([0.0, 0.02, 0.05, 0.06])
    found = deficit_bounds(units(values), confidence=0.95)
    ones = np.ones(200)
    for c in range(4):
        away = [values[:, j] - values[:, c] for j in range(4) if j != c]
        assert found.upper[c] == pytest.approx(max(upper_bound(d, ones, 0.05) for d in away), abs=1e-7)
        assert found.lower[c] == pytest.approx(max(-upper_bound(-d, ones, 0.05 / 3) for d in away), abs=1e-7)
        paired = difference_bounds(-away[0][:, None], -away[0][:, None], np.arange(200), confidence=0.95)
        assert paired.lower[0] == pytest.approx(-max(upper_bound(away[0], ones, 0.05), found.floor), abs=1e-7)
        assert paired.upper[0] == pytest.approx(upper_bound(-away[0], ones, 0.05), abs=1e-7)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.02, 0.05, 0.2]))
def test_the_walk_says_what_the_bounds_say(seed: int, gap: float) -> None:
    rng = np.random.default_rng(seed)
    arms, queries = int(rng.integers(2, 5)), int(rng.integers(5, 400))
    values = rng.random((queries, arms)) * rng.choice([0.1, 0.5]) + rng.normal(0, gap, arms).clip(-0.2, 0.2) + 0.3
    cluster = np.unique(rng.integers(0, rng.choice([queries // 3 + 1, 10 * queries]), queries), return_inverse=True)[1]
    found = units(values, cluster)
    bounds = deficit_bounds(found, confidence=0.95)
    walking = True
    for c, state in enumerate(walk(found, gap=gap, confidence=0.95)[0]):
        if not walking:
            assert state == NOT_TESTED
            continue
        if min(abs(bounds.upper[c] - gap), abs(bounds.lower[c] - gap)) > 1e-6:
            assert state == (IN if bounds.upper[c] <= gap else OUT if bounds.lower[c] > gap else OPEN)
        walking = state == OUT


def test_samples_walked_at_once_are_walked_as_each_alone() -> None:
    rng = np.random.default_rng(10)
    values = rng.random((90, 3)) * 0.6 + np.array([0.0, 0.05, 0.07])
    counts = rng.multinomial(300, np.full(90, 1 / 90), size=40).astype(float)
    together = walk(units(values), gap=0.06, confidence=0.95, counts=counts)
    for row, states in zip(counts.astype(int), together, strict=True):
        alone = walk(units(np.repeat(values, row, axis=0)), gap=0.06, confidence=0.95)[0]
        assert states.tolist() == alone.tolist()
    assert len(np.unique(together, axis=0)) > 1
    clustered = Units(np.repeat([1.0, 2.0], 45), *[values * np.repeat([1.0, 2.0], 45)[:, None]] * 3)
    assert walk(clustered, gap=0.06, confidence=0.95, counts=counts).shape == (40, 3)


def test_many_values_are_put_into_classes_that_change_no_verdict() -> None:
    rng = np.random.default_rng(11)
    found = units(np.stack([np.zeros(2000), rng.normal(0.0, 0.15, 2000).clip(-1, 1)], axis=1))
    counts = rng.multinomial(500, np.full(2000, 1 / 2000), size=60).astype(float)
    together = walk(found, gap=0.02, confidence=0.95, counts=counts)[:, 0] == IN
    alone = [chance_beyond(found.deficit(0, 1), found.size, 0.02, counts=row[None])[0] <= 0.05 for row in counts]
    assert np.mean(together == np.array(alone)) >= 0.98


def test_equal_evidence_gives_an_equal_verdict_whatever_the_seed_and_the_order() -> None:
    rng = np.random.default_rng(12)
    values = rng.random((200, 2))
    first = deficit_bounds(units(values), confidence=0.95)
    again = deficit_bounds(units(values[rng.permutation(200)]), confidence=0.95)
    assert np.allclose(first.upper, again.upper, atol=1e-9)


@pytest.mark.parametrize("error", [0.1, 0.05, 0.01])
@pytest.mark.parametrize("gap", grid.GAPS)
def test_whole_losses_at_the_gap_are_never_passed_as_inside_more_often_than_allowed(gap: float, error: float) -> None:
    """By enumeration, without error."""
    errors = [grid.exact_error(n, gap, bootstrap=False, error=error) for n in range(20, 2001)]
    assert max(errors) <= error + 1e-9
    assert max(errors) >= 0.9 * error, "nor is the rule far from what is allowed"


@pytest.mark.parametrize(
    ("gap", "queries", "wrong"),
    [(0.01, 400, 0.0), (0.02, 150, 0.0), (0.02, 400, 0.0), (0.02, 749, 0.068), (0.05, 139, 0.079), (0.1, 39, 0.087)],
)
def test_the_rule_is_what_was_enumerated(gap: float, queries: int, wrong: float) -> None:
    """wrong: the error of a bootstrap there, the worst of its cells."""
    allowed = grid.losses_allowed(queries, gap, bootstrap=False)
    for lost, inside in ((allowed, True), (allowed + 1, False)):
        values = np.stack([np.zeros(queries), np.repeat([1.0, 0.0], [lost, queries - lost])], axis=1)
        assert (walk(units(values), gap=gap, confidence=0.95)[0, 0] == IN) == inside
    assert special.bdtr(allowed, queries, gap) <= 0.05
    assert grid.exact_error(queries, gap, bootstrap=True) >= wrong


def test_the_search_for_a_number_stops_where_there_is_none() -> None:
    assert first_enough(lambda n: 0.0, 100, 10) is None
    assert first_enough(lambda n: 1.0, 100, 10) == 10
    assert 950_000 < first_enough(lambda n: 0.81 if n >= 950_000 else 0.7, 59, 59) <= 1_000_000, (
        "up to the limit itself"
    )
    assert first_enough(lambda n: float(n > 1_000_000), 59, 59) is None
    assert first_enough(lambda n: 1.0, 3_000_000, 3_000_000) is None


@pytest.mark.parametrize("start", [10, 20, 99, 100, 5_000])
def test_the_search_ends_at_the_number_from_whatever_it_starts(start: int) -> None:
    assert 100 <= first_enough(lambda n: float(n >= 100), start, 10) <= 110, (
        "a jump lies between two numbers that were tried"
    )
    steep = first_enough(lambda n: float(stats.norm.cdf(8 * math.log(n / 90))), start, 10)
    assert steep == pytest.approx(90 * math.exp(stats.norm.ppf(0.8) / 8), abs=1), "a line in its quantile is met"


@pytest.mark.parametrize(
    "name",
    ["dense, half the gap behind", "whole losses on 1 in 200", "dense, twice the gap behind", "clusters of 1 to 3"],
)
def test_the_named_number_of_queries_has_the_promised_power_within_ten_points(name: str) -> None:
    found, gap = next((t, g) for label, t, g in grid.settling() if label == name)
    whole = grid.as_units(found)
    queries = queries_to_settle(whole, gap=gap, confidence=0.95, rng=stream(1))
    number = round(queries / whole.size.mean())
    states = walked(whole, number, gap=gap, confidence=0.95, rng=stream(2), samples=1_000)
    assert (states == IN).any(axis=1).mean() == pytest.approx(POWER, abs=0.10)
    fewer = walked(whole, number // 3, gap=gap, confidence=0.95, rng=stream(2), samples=300)
    assert (fewer == IN).any(axis=1).mean() < POWER - 0.1


def test_samples_are_the_same_in_law_however_they_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    found, gap = next((t, g) for label, t, g in grid.settling() if label == "clusters of 1 to 3")
    whole, decided = grid.as_units(found), []
    for most in (settle.DRAWN, 0):
        monkeypatch.setattr(settle, "DRAWN", most)
        states = walked(whole, 200, gap=gap, confidence=0.95, rng=stream(3), samples=2_000)
        decided.append((states == IN).any(axis=1))
    one, other = (float(of.mean()) for of in decided)
    assert 0.5 < one < 0.95
    assert one == pytest.approx(other, abs=4 * math.sqrt(2 * 0.25 / 2_000))
    assert (decided[0] != decided[1]).any(), "not the same draws"


def test_no_number_settles_a_mean_on_the_gap() -> None:
    rng = np.random.default_rng(1)
    deficits = rng.normal(0, 0.2, 100)
    values = np.stack([np.zeros(100), deficits - deficits.mean() + 0.05], axis=1)
    assert queries_to_settle(units(values), gap=0.05, confidence=0.95, rng=stream(1)) is None
    assert queries_to_settle(units(values), gap=0.0, confidence=0.95, rng=stream(1)) is None


@pytest.mark.parametrize("difference", [0.0, 0.03, -0.1])
def test_a_measured_population_has_the_mean_that_was_asked_for(difference: float) -> None:
    values = np.random.default_rng(2).random((60, 3))
    found = Measured.of(ArmValues(values, values, values), np.repeat(np.arange(30), 2)).at(difference)
    means = (found.share @ found.units.mid[:, 1:]) / (found.share @ found.units.size)
    assert means == pytest.approx(difference, abs=1e-8)


FIRST, MORE = 1_000, 10_000
Wrong = Callable[[int, int], float]
"""Samples and seed to the share of them that is wrong."""


def too_often(wrong: Wrong, allowed: float = grid.ALLOWED) -> bool:
    """True where verdicts are wrong more often than allowed, beyond four standard errors.

    Few samples are enough where they show no more than is allowed; else many decide: 5.9 % and more is then too often.
    """
    return wrong(FIRST, 1) > allowed and wrong(MORE, 2) > allowed + 4 * math.sqrt(allowed * (1 - allowed) / MORE)


def test_an_error_of_seven_in_a_hundred_is_found_and_one_of_five_is_not_called_too_often() -> None:
    def of(share: float, run: int) -> Wrong:
        return lambda samples, seed: float((np.random.default_rng([run, seed]).random(samples) < share).mean())

    assert sum(too_often(of(0.069, run)) for run in range(300)) >= 285
    assert not any(too_often(of(0.05, run)) for run in range(300))


@pytest.mark.parametrize(("gap", "queries"), [(0.02, 749), (0.05, 139), (0.1, 39)])
def test_a_bootstrap_would_be_found_where_it_is_wrong(gap: float, queries: int) -> None:
    def by(bootstrap: bool) -> Wrong:
        allowed = grid.losses_allowed(queries, gap, bootstrap=bootstrap)
        return lambda n, seed: float((np.random.default_rng(seed).binomial(queries, gap, n) <= allowed).mean())

    assert too_often(by(True))
    assert not too_often(by(False))


def found_wrong(some: Iterable[tables.Table], numbers: Sequence[int]) -> list[tuple[str, str, int]]:
    """Cells of these tables that are wrong more often than allowed."""

    def wrong(case: tables.Case, number: int) -> Wrong:
        return lambda samples, seed: grid.rate(
            case.found, number, case.gap, seed=seed, samples=samples, confidence=case.confidence
        )

    return [
        (table.caption, case.label, number)
        for table in some
        for case in table.cases
        for number in numbers
        if case.found is not None and too_often(wrong(case, number), 1 - case.confidence)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("gap", grid.GAPS)
def test_confident_verdicts_on_two_candidates_are_wrong_five_times_in_a_hundred_at_most(gap: float) -> None:
    assert not found_wrong(tables.two(gap), (60, 150, 400, 1_000))


@pytest.mark.slow
@pytest.mark.parametrize("confidence", tables.LEVELS)
def test_confident_verdicts_are_wrong_as_often_as_the_confidence_says_at_most(confidence: float) -> None:
    assert not found_wrong(tables.two(0.05, confidence), (60, 150, 400, 1_000))


@pytest.mark.slow
@pytest.mark.parametrize("of", [tables.dense_tables, tables.sparse_tables, tables.clustered_tables])
def test_confident_verdicts_on_several_candidates_are_wrong_five_times_in_a_hundred_at_most(
    of: Callable[[], Iterable[tables.Table]],
) -> None:
    assert not found_wrong(of(), (150, 1_000))


@pytest.mark.slow
def test_ties_and_an_order_made_by_timing_make_no_verdict_more_often_wrong() -> None:
    for tried in (grid.tied_rate, grid.timed_rate):
        for number in (60, 400):
            assert not too_often(lambda n, seed, of=tried, at=number: of(0.05, at, seed=seed, samples=n))


def test_clusters_larger_than_any_of_the_sample_are_beyond_the_promise() -> None:
    """No rule can know of sizes that were never drawn; among samples that hold one, wrong verdicts stay within 5 %."""
    case, _ = next(tables.rare())
    counts = grid.drawn(case.found, 60, rng=np.random.default_rng(1), samples=2_000)
    wrong = case.found.wrong(grid.states(case.found, counts, case.gap), case.gap)
    large = counts[:, case.found.units.size > 1].sum(axis=1) > 0
    assert wrong.mean() > 0.5
    assert (wrong & large).mean() <= 0.05
