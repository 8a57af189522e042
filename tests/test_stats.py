"""Intervals and resampling against scipy and against what the design says; paired bounds stand in test_decision_rule.py."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from tiepoint.stats import resample
from tiepoint.stats.fast import gather
from tiepoint.stats.interval import bca, exact_binomial, percentile, trusted
from tiepoint.stats.resample import by_cluster, resampled_sums, stream, weights


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


@pytest.mark.parametrize("seed", range(3))
def test_percentile_agrees_with_scipy_within_monte_carlo_error(seed: int) -> None:
    values = np.random.default_rng(seed).beta(0.7, 1.5, size=120)
    low, high = percentile(*column(values), level=0.95, rng=stream(seed, "test"), resamples=20_000)
    theirs = scipy_stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=0.95,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    width = theirs.high - theirs.low
    assert low[0] == pytest.approx(theirs.low, abs=0.03 * width)
    assert high[0] == pytest.approx(theirs.high, abs=0.03 * width)


def test_a_percentile_without_a_bottom_is_not_a_number() -> None:
    low, high = percentile(np.zeros((5, 1)), np.zeros((5, 1)), level=0.95, rng=stream(1))
    assert np.isnan(low[0])
    assert np.isnan(high[0])


@pytest.mark.parametrize(("units", "columns"), [(2, 1), (7, 3), (8, 1), (501, 4)])
def test_draws_follow_from_the_seed_alone_with_and_without_numba(
    units: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(units).normal(0, 30, size=(units, columns))
    monkeypatch.setattr(resample, "WORTH", 10**15)
    plain = resampled_sums(stream(3, "x"), values, 300)
    monkeypatch.setattr(resample, "CHUNK", 7)
    assert np.array_equal(plain, resampled_sums(stream(3, "x"), values, 300)), (
        "how many are drawn at once changes no bit"
    )
    drawn = np.concatenate(list(weights(stream(3, "x"), units, 300)))
    assert np.allclose(plain, drawn @ values, atol=1e-9)
    if gather() is None:
        pytest.skip("not executed: numba is not installed (pip install 'tiepoint[fast]')")
    monkeypatch.setattr(resample, "WORTH", 0)
    assert np.array_equal(plain, resampled_sums(stream(3, "x"), values, 300))


def test_without_numba_there_is_no_quick_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiepoint.stats.fast.find_spec", lambda name: None)
    gather.cache_clear()
    try:
        assert gather() is None
    finally:
        gather.cache_clear()


def test_every_unit_is_drawn_as_often_as_any_other() -> None:
    drawn = np.concatenate(list(weights(stream(1), 11, 20_000)))
    assert scipy_stats.chisquare(drawn.sum(axis=0)).pvalue > 1e-3
    pairs = np.corrcoef(drawn.T)[np.triu_indices(11, 1)]
    assert pairs.mean() == pytest.approx(-1 / 10, abs=0.005), "as counts of a multinomial are"
    assert np.abs(np.corrcoef(drawn[:-1, 0], drawn[1:, 0])[0, 1]) < 0.03


def test_an_interval_is_trusted_from_ten_units_on_that_differ_from_most() -> None:
    top = np.ones((30, 2))
    top[:9, 0], top[:10, 1] = np.linspace(0, 0.8, 9), np.linspace(0, 0.9, 10)
    assert trusted(top, np.ones_like(top)).tolist() == [False, True]
    bottom = np.ones_like(top)
    bottom[9:15] = 0.0
    assert trusted(top, bottom).tolist() == [False, False], "only units that are scored count"
