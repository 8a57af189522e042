"""Intervals and resampling against scipy and against what the design says; paired bounds stand in test_decision_rule.py."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as scipy_stats

from tiepoint.stats import interval, resample
from tiepoint.stats.fast import single_sums
from tiepoint.stats.interval import bca, exact_binomial, percentile
from tiepoint.stats.resample import Draws, by_cluster, on_grid, stream


def column(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return values[:, None], np.ones((len(values), 1))


@pytest.mark.parametrize("seed", range(4))
def test_bca_agrees_with_scipy_within_monte_carlo_error(seed: int) -> None:
    values = np.random.default_rng(seed).beta(0.7, 1.5, size=120)
    low, high = bca(*column(values), level=0.95, draws=Draws(stream(seed, "test")))
    theirs = scipy_stats.bootstrap(
        (values,), np.mean, confidence_level=0.95, n_resamples=20_000, method="BCa", rng=np.random.default_rng(seed)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert low[0] == pytest.approx(theirs.low, abs=0.05 * width)
    assert high[0] == pytest.approx(theirs.high, abs=0.05 * width)


def test_an_interval_that_cannot_be_told_is_not_a_number() -> None:
    for values in (np.full(20, 1.0), np.array([0.3])):
        low, high = bca(*column(values), level=0.95, draws=Draws(stream(1)))
        assert np.isnan(low[0])
        assert np.isnan(high[0])


def test_clusters_widen_an_interval_as_whole_units() -> None:
    seeds = np.random.default_rng(2).random(30)
    values = np.repeat(seeds, 8)
    alone = bca(*column(values), level=0.95, draws=Draws(stream(1)))
    cluster = np.repeat(np.arange(30), 8)
    together = bca(
        by_cluster(values[:, None], cluster), by_cluster(np.ones((240, 1)), cluster), level=0.95, draws=Draws(stream(1))
    )
    assert together[1][0] - together[0][0] > 2 * (alone[1][0] - alone[0][0])


def test_the_order_of_units_moves_no_bit_of_an_interval() -> None:
    rng = np.random.default_rng(8)
    bottom = np.stack([np.ones(90), rng.integers(0, 2, 90), rng.integers(1, 9, 90), rng.random(90)], axis=1)
    top = bottom * rng.random((90, 4))
    for made in (bca, percentile):
        straight = made(top, bottom, level=0.95, draws=Draws(stream(1)))
        for seed in range(5):
            turned = np.random.default_rng(seed).permutation(90)
            again = made(top[turned], bottom[turned], level=0.95, draws=Draws(stream(1)))
            assert np.array_equal(straight, again)
            alone = [
                made(top[turned, c : c + 1], bottom[turned, c : c + 1], level=0.95, draws=Draws(stream(1)))
                for c in range(4)
            ]
            assert np.array_equal(straight, np.concatenate(alone, axis=1)), "nor does what stands beside a column"


def test_sums_over_clusters_of_values_on_the_grid_are_the_same_in_any_order() -> None:
    rng = np.random.default_rng(12)
    values, cluster = rng.random((3, 200)), rng.integers(0, 20, 200)
    cluster[:20] = np.arange(20)
    straight, turned = by_cluster(on_grid(values).T, cluster), rng.permutation(200)
    assert np.array_equal(straight, by_cluster(on_grid(values[:, turned]).T, cluster[turned]))
    assert straight[3, 1] == math.fsum(on_grid(values)[1, cluster == 3])
    assert not np.array_equal(by_cluster(values.T, cluster), by_cluster(values[:, turned].T, cluster[turned]))


def test_columns_whose_bottoms_hold_the_same_values_share_their_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    sums = Draws.sums
    monkeypatch.setattr(Draws, "sums", lambda self, columns: asked.append(len(columns)) or sums(self, columns))
    rng = np.random.default_rng(9)
    bottom = np.stack([rng.permutation(np.arange(40) % 4 + 1.0) for _ in range(6)], axis=1)
    bca(bottom * rng.random(bottom.shape), bottom, level=0.95, draws=Draws(stream(1)))
    assert asked == [6 + 1]


def test_a_pooled_ratio_is_resampled_as_a_ratio() -> None:
    rng = np.random.default_rng(4)
    bottom = rng.integers(1, 40, size=80).astype(float)
    top = np.floor(bottom * rng.random(80))
    low, high = bca(top[:, None], bottom[:, None], level=0.9, draws=Draws(stream(3)))
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
    assert all((counts.sum(axis=1) == 7).all() for counts in Draws(stream(1), 1000).counts(7))


@pytest.mark.parametrize("missing", [0, 3, 40])
def test_quantiles_are_those_of_numpy_to_the_bit(missing: int) -> None:
    rng = np.random.default_rng(missing)
    drawn = np.round(rng.normal(size=(30, 400)), 1 + missing % 3)
    drawn[::3, :missing] = np.nan
    levels = np.stack([rng.uniform(0, 0.6, 30), rng.uniform(0.4, 1, 30)])
    levels[:, 0], levels[:, 1] = (0.0, 1.0), (0.9, 0.1)
    expected = [[np.quantile(row[~np.isnan(row)], level[i]) for i, row in enumerate(drawn)] for level in levels]
    many = np.count_nonzero(~np.isnan(drawn), axis=1)
    assert np.array_equal(interval._quantiles(drawn.copy(), many, levels), expected)


@pytest.mark.parametrize("seed", range(3))
def test_percentile_agrees_with_scipy_within_monte_carlo_error(seed: int) -> None:
    values = np.random.default_rng(seed).beta(0.7, 1.5, size=120)
    low, high = percentile(*column(values), level=0.95, draws=Draws(stream(seed, "test"), 20_000))
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
    low, high = percentile(np.zeros((5, 1)), np.zeros((5, 1)), level=0.95, draws=Draws(stream(1)))
    assert np.isnan(low[0])
    assert np.isnan(high[0])


@pytest.mark.parametrize(("units", "columns"), [(2, 1), (7, 3), (8, 1), (501, 4)])
def test_draws_follow_from_the_seed_alone_with_and_without_numba(
    units: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(units).normal(0, 30, size=(columns, units))
    draws = Draws(stream(3, "x"), 300)
    plain = draws.sums(values)
    counts = np.concatenate(list(draws.counts(units)))
    assert np.allclose(plain, values @ counts.T, atol=1e-9)
    exact = [[math.fsum(np.repeat(column, times)) for times in counts.astype(int)] for column in on_grid(values)]
    assert np.array_equal(plain, exact), "sums of values on the grid are exact"
    for name, value in (("BLOCK", 64), ("WIDE", 7), ("KEPT", 0)):
        monkeypatch.setattr(resample, name, value)
        assert np.array_equal(plain, Draws(stream(3, "x"), 300).sums(values)), f"{name} changes no bit"
    if single_sums() is None:
        pytest.skip("not executed: numba is not installed (pip install 'tiepoint[fast]')")
    monkeypatch.setattr(resample, "WORTH", 0)
    assert np.array_equal(plain[:1], Draws(stream(3, "x"), 300).sums(values[:1]))


def test_threads_that_share_draws_get_the_same_sums() -> None:
    values = [np.random.default_rng(n).random((3, 40 + n % 5)) for n in range(40)]
    alone = [Draws(stream(5), 500).sums(of) for of in values]
    shared = Draws(stream(5), 500)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(shared.sums, values))
    assert all(np.array_equal(one, other) for one, other in zip(alone, together, strict=True))


@given(
    arrays(np.float64, (3, 9), elements=st.floats(-1e9, 1e9, allow_subnormal=False)),
    st.integers(0, 5),
    st.integers(1, 9),
)
def test_values_on_the_grid_stay_and_add_up_exactly(values: np.ndarray, power: int, units: int) -> None:
    scaled = values[:, :units] * 10.0**-power
    found = on_grid(scaled)
    assert np.array_equal(on_grid(found), found)
    assert (np.abs(found - scaled) <= np.abs(scaled).max(axis=1, keepdims=True) * 2.0**-48).all()
    for row in found:
        assert row.sum() == row[::-1].sum() == math.fsum(row)


def test_a_column_does_not_hang_on_the_ones_beside_it() -> None:
    values = np.random.default_rng(1).random((2, 60)) * [[1.0], [1e6]]
    assert np.array_equal(Draws(stream(2)).sums(values)[:1], Draws(stream(2)).sums(values[:1]))


def test_without_numba_there_is_no_quick_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiepoint.stats.fast.find_spec", lambda name: None)
    single_sums.cache_clear()
    try:
        assert single_sums() is None
    finally:
        single_sums.cache_clear()


def test_every_unit_is_drawn_as_often_as_any_other() -> None:
    drawn = np.concatenate(list(Draws(stream(1), 20_000).counts(11)))
    assert scipy_stats.chisquare(drawn.sum(axis=0)).pvalue > 1e-3
    pairs = np.corrcoef(drawn.T)[np.triu_indices(11, 1)]
    assert pairs.mean() == pytest.approx(-1 / 10, abs=0.005), "as counts of a multinomial are"
    assert np.abs(np.corrcoef(drawn[:-1, 0], drawn[1:, 0])[0, 1]) < 0.03
