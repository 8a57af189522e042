"""Intervals and paired bounds against scipy and against what the design says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from tiepoint.stats import paired
from tiepoint.stats.interval import bca, exact_binomial
from tiepoint.stats.paired import ArmValues, deficit_bounds, least_units, queries_to_settle
from tiepoint.stats.resample import by_cluster, stream, weights


def column(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return values[:, None], np.ones((len(values), 1))


@pytest.mark.parametrize("seed", range(4))
def test_bca_agrees_with_scipy_within_monte_carlo_error(seed: int) -> None:
    values = np.random.default_rng(seed).beta(0.7, 1.5, size=120)
    low, high = bca(*column(values), level=0.95, rng=stream(seed, "test"))
    theirs = scipy_stats.bootstrap(
        (values,), np.mean, confidence_level=0.95, n_resamples=20_000, method="BCa", rng=np.random.default_rng(seed)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert low[0] == pytest.approx(theirs.low, abs=0.05 * width)
    assert high[0] == pytest.approx(theirs.high, abs=0.05 * width)


def test_an_interval_that_cannot_be_told_is_not_a_number() -> None:
    for values in (np.full(20, 1.0), np.array([0.3])):
        low, high = bca(*column(values), level=0.95, rng=stream(1))
        assert np.isnan(low[0])
        assert np.isnan(high[0])


def test_clusters_widen_an_interval_as_whole_units() -> None:
    seeds = np.random.default_rng(2).random(30)
    values = np.repeat(seeds, 8)
    alone = bca(*column(values), level=0.95, rng=stream(1))
    cluster = np.repeat(np.arange(30), 8)
    together = bca(
        by_cluster(values[:, None], cluster), by_cluster(np.ones((240, 1)), cluster), level=0.95, rng=stream(1)
    )
    assert together[1][0] - together[0][0] > 2 * (alone[1][0] - alone[0][0])


def test_a_pooled_ratio_is_resampled_as_a_ratio() -> None:
    rng = np.random.default_rng(4)
    bottom = rng.integers(1, 40, size=80).astype(float)
    top = np.floor(bottom * rng.random(80))
    low, high = bca(top[:, None], bottom[:, None], level=0.9, rng=stream(3))
    theirs = scipy_stats.bootstrap(
        (top, bottom),
        lambda t, b, axis=-1: t.sum(axis=axis) / b.sum(axis=axis),
        paired=True,
        vectorized=True,
        confidence_level=0.9,
        n_resamples=20_000,
        rng=rng,
    ).confidence_interval
    assert low[0] == pytest.approx(theirs.low, abs=0.01)
    assert high[0] == pytest.approx(theirs.high, abs=0.01)


def test_exact_binomial_is_clopper_pearson() -> None:
    # Clopper & Pearson 1934: 0 of 10 at 95 % has the upper limit 1 - 0.025 ** (1 / 10).
    assert exact_binomial(0, 10, level=0.95) == pytest.approx((0.0, 1 - 0.025**0.1))
    for successes in range(13):
        theirs = scipy_stats.binomtest(successes, 12).proportion_ci(confidence_level=0.9, method="exact")
        assert exact_binomial(successes, 12, level=0.9) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_a_stream_is_its_seed_and_its_purpose() -> None:
    assert np.array_equal(stream(1, "a").random(5), stream(1, "a").random(5))
    assert not np.array_equal(stream(1, "a").random(5), stream(1, "b").random(5))
    assert not np.array_equal(stream(1, "ab", "c").random(5), stream(1, "a", "bc").random(5))
    for drawn in weights(stream(1), 7, 1000):
        assert (drawn.sum(axis=1) == 7).all()


@pytest.mark.parametrize(("gap", "least"), [(0.02, 149), (0.05, 59)])
def test_too_few_queries_can_show_nothing_inside_the_gap(gap: float, least: int) -> None:
    assert least_units(gap, 0.95) == least
    for queries, inside in ((least - 1, False), (least, True)):
        same = np.zeros((queries, 2))
        bounds = deficit_bounds(ArmValues(same, same, same), np.arange(queries), confidence=0.95, rng=stream(5))
        assert (bounds.upper[0, 1] <= gap + 1e-12) == inside


def test_among_clusters_the_imagined_unit_is_a_whole_cluster() -> None:
    """A loss on whole seed questions goes unseen as easily as one on single queries: 50 clusters show nothing at 0.02."""
    same = np.zeros((250, 2))
    bounds = deficit_bounds(ArmValues(same, same, same), np.repeat(np.arange(50), 5), confidence=0.95, rng=stream(5))
    assert bounds.upper[0, 1] > 0.02


def test_ties_widen_the_bounds_on_both_sides() -> None:
    rng = np.random.default_rng(8)
    mid = rng.random((300, 2)) * 0.5 + 0.2
    plain = deficit_bounds(ArmValues(mid, mid, mid), np.arange(300), confidence=0.95, rng=stream(1))
    moved = deficit_bounds(ArmValues(mid - 0.1, mid, mid + 0.1), np.arange(300), confidence=0.95, rng=stream(1))
    assert moved.upper[0, 1] == pytest.approx(plain.upper[0, 1] + 0.2, abs=0.01)
    assert moved.lower[0, 1] == pytest.approx(plain.lower[0, 1] - 0.2, abs=0.01)


def test_queries_to_settle_is_roughly_the_number_that_settles() -> None:
    rng = np.random.default_rng(1)
    small = rng.normal(0.0, 0.15, size=60)
    needed = queries_to_settle(small - small.mean(), np.arange(60), gap=0.05, confidence=0.95, others=1)
    assert needed is not None
    for factor, inside in ((0.3, False), (1.0, True)):
        n = int(needed * factor)
        d = rng.normal(0.0, small.std(), size=n)
        values = np.stack([np.zeros(n), d - d.mean()], axis=1)
        bounds = deficit_bounds(ArmValues(values, values, values), np.arange(n), confidence=0.95, rng=stream(2))
        assert (bounds.upper[0, 1] <= 0.05) == inside
    assert queries_to_settle(np.full(60, 0.05), np.arange(60), gap=0.05, confidence=0.95, others=1) is None


@pytest.mark.parametrize("queries", [60, 150, 300])
def test_rare_total_losses_just_beyond_the_gap_are_not_passed_as_inside(
    queries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2.01 % of queries lost whole at a gap of .02. The share of wrong verdicts stays near 5 % (400 draws: ± 2.2 points)."""
    monkeypatch.setattr(paired, "RESAMPLES", 2000)
    wrong = 0
    for repeat in range(400):
        lost = (np.random.default_rng([queries, repeat]).random(queries) < 0.0201).astype(float)
        values = np.stack([np.zeros(queries), lost], axis=1)
        bounds = deficit_bounds(
            ArmValues(values, values, values), np.arange(queries), confidence=0.95, rng=stream(repeat, "rare")
        )
        wrong += bool(bounds.upper[0, 1] <= 0.02)
    assert wrong / 400 <= 0.05 + 2 * (0.05 * 0.95 / 400) ** 0.5 + 0.02
