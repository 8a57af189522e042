"""The paired randomisation test against every exchange, against scipy, and against its own promise under no difference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats as scipy_stats

from tiepoint.stats import randomisation
from tiepoint.stats.randomisation import EXACT, RESAMPLES, sign_flip
from tiepoint.stats.resample import by_cluster, stream


def every_exchange(source: np.ndarray, target: np.ndarray, weight: np.ndarray) -> float:
    """Ratios of sums with the two sides' units exchanged in every way."""

    def figure(top: list[float]) -> float:
        return sum(top) / weight.sum()

    observed = abs(figure(list(target)) - figure(list(source)))
    hits = []
    for chosen in itertools.product([False, True], repeat=len(source)):
        pairs = [(s, t) if not c else (t, s) for s, t, c in zip(source, target, chosen, strict=True)]
        hits.append(abs(figure([t for _, t in pairs]) - figure([s for s, _ in pairs])) >= observed - 1e-12)
    return sum(hits) / len(hits)


@pytest.mark.parametrize("seed", range(6))
def test_few_units_are_exchanged_in_every_way_also_for_a_pooled_ratio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 6, size=9).astype(float)
    source, target = (np.floor(weight * rng.random(9)) for _ in range(2))
    assert sign_flip(target - source, rng=stream(seed)) == pytest.approx(every_exchange(source, target, weight))


@pytest.mark.parametrize("units", [8, 40])
@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_it_agrees_with_scipy_within_monte_carlo_error(units: int, shift: float) -> None:
    rng = np.random.default_rng(units)
    source = rng.random(units)
    target = source + rng.normal(shift, 0.2, size=units)
    theirs = scipy_stats.permutation_test(
        (target, source),
        lambda t, s, axis=-1: t.mean(axis=axis) - s.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=rng,
    ).pvalue
    ours = sign_flip(target - source, rng=stream(1, "randomisation"))
    error = 0.0 if units <= EXACT else 4 * (theirs * (1 - theirs) * 2 / RESAMPLES) ** 0.5 + 2 / RESAMPLES
    assert ours == pytest.approx(theirs, abs=error + 1e-12)


def test_a_drawn_p_is_never_zero_and_a_seed_gives_it_again() -> None:
    away = np.full(400, 0.5)
    assert sign_flip(away, rng=stream(1)) == pytest.approx(1 / (RESAMPLES + 1))
    mixed = np.random.default_rng(1).normal(0.02, 1, size=400)
    assert sign_flip(mixed, rng=stream(2)) == sign_flip(mixed, rng=stream(2))
    assert sign_flip(mixed, rng=stream(2)) != sign_flip(mixed, rng=stream(3))


def test_what_does_not_move_tells_nothing_and_rounding_is_no_difference() -> None:
    assert sign_flip(np.zeros(30), rng=stream(1)) == 1
    assert sign_flip(np.array([]), rng=stream(1)) == 1
    some = np.array([0.3, 0.5, -0.1, 0.2])
    assert sign_flip(np.concatenate([some, np.zeros(5_000)]), rng=stream(1)) == sign_flip(some, rng=stream(1))
    assert sign_flip(np.array([0.1, 0.2, -0.3]), rng=stream(1)) == 1, "their sum is 0 but for rounding"


def test_a_whole_cluster_is_exchanged_at_once() -> None:
    away, cluster = np.full(40, 0.1), np.repeat(np.arange(4), 10)
    assert sign_flip(away, rng=stream(1)) < 0.001
    assert sign_flip(by_cluster(away[:, None], cluster)[:, 0], rng=stream(1)) == pytest.approx(2 / 2**4)


@pytest.mark.parametrize("units", [10, 30])
def test_without_a_difference_five_in_a_hundred_fall_below_five_per_cent(
    units: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(randomisation, "RESAMPLES", 999)
    rng = np.random.default_rng(units)
    found = [sign_flip(rng.normal(size=units), rng=stream(i)) for i in range(600)]
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=3 * (0.05 * 0.95 / 600) ** 0.5)
