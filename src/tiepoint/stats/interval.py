"""Two-sided intervals of a mean or of a pooled ratio."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tiepoint.stats.resample import resampled_sums

RESAMPLES = 4_000
AWAY = 10
"""With fewer units away from the value that most of them share, a bootstrap interval is not trusted."""
SAME = 1e-12
"""Resampled figures nearer than this to the figure itself are equal to it: they differ by rounding alone."""


def percentile(
    top: NDArray[np.float64],
    bottom: NDArray[np.float64],
    *,
    level: float,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile bootstrap intervals of sum(top) / sum(bottom), for many columns at once; see bca.

    returns   low and high, (columns,) float64; NaN where no resample has a bottom
    source    Efron 1979; agrees with scipy.stats.bootstrap(method="percentile") within Monte Carlo error
    """
    columns = top.shape[1]
    drawn = _ratios(top, bottom, rng, resamples)
    edges = np.array([(1 - level) / 2, (1 + level) / 2])
    found = np.full((2, columns), np.nan)
    for c in range(columns):
        values = drawn[:, c][np.isfinite(drawn[:, c])]
        if len(values):
            found[:, c] = np.quantile(values, edges)
    return found[0], found[1]


def bca(
    top: NDArray[np.float64],
    bottom: NDArray[np.float64],
    *,
    level: float,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bias-corrected and accelerated bootstrap intervals of sum(top) / sum(bottom), for many columns at once.

    top, bottom   (units, columns) float64: sums over each independent unit; a mean over queries has the unit's number
                  of scored queries as its bottom
    level         two-sided, as 0.95
    rng           a stream of its own
    resamples     how many are drawn; the streams of different calls are their own
    returns       low and high, (columns,) float64; NaN where it cannot be told: fewer than two units, or no spread
    source        Efron 1987; agrees with scipy.stats.bootstrap(method="BCa") within Monte Carlo error
    """
    units, columns = top.shape
    low = np.full(columns, np.nan)
    high = np.full(columns, np.nan)
    if units < 2:
        return low, high
    total_top, total_bottom = top.sum(axis=0), bottom.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        figure = total_top / total_bottom
        drawn = _ratios(top, bottom, rng, resamples)
        left_out = (total_top - top) / (total_bottom - bottom)
    for c in range(columns):
        values = drawn[:, c][np.isfinite(drawn[:, c])]
        jackknife = left_out[:, c]
        if len(values) == 0 or not np.isfinite(jackknife).all() or np.ptp(jackknife) < SAME:
            continue
        below = (values < figure[c] - SAME).sum() + (values <= figure[c] + SAME).sum()
        share = np.clip(below / (2 * len(values)), 1 / (2 * len(values)), 1 - 1 / (2 * len(values)))
        bias = special.ndtri(share)
        away = jackknife.mean() - jackknife
        acceleration = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
        edge = special.ndtri(np.array([(1 - level) / 2, (1 + level) / 2])) + bias
        low[c], high[c] = np.quantile(values, special.ndtr(bias + edge / (1 - acceleration * edge)))
    return low, high


def _ratios(
    top: NDArray[np.float64], bottom: NDArray[np.float64], rng: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    """(resamples, columns) sums of the top over sums of the bottom; a bottom that is the same in all units is not resampled."""
    columns = top.shape[1]
    varied = np.flatnonzero(np.ptp(bottom, axis=0) > 0)
    sums = resampled_sums(rng, np.concatenate([top, bottom[:, varied]], axis=1), resamples)
    below = np.broadcast_to(bottom[0] * len(bottom), (resamples, columns)).copy()
    below[:, varied] = sums[:, columns:]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[:, :columns] / below, dtype=np.float64)


def trusted(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(columns,) True where enough units have another value than most for a bootstrap interval to cover as it says.

    top, bottom   see bca
    source        docs/decision.md: from AWAY units on, intervals at 95 % covered the mean 93 to 97 times in 100
    """
    found = np.zeros(top.shape[1], dtype=bool)
    for c in range(top.shape[1]):
        some = bottom[:, c] > 0
        _, counts = np.unique(np.round(top[some, c] / bottom[some, c], 12), return_counts=True)
        found[c] = counts.sum() - counts.max(initial=0) >= AWAY
    return found


def exact_binomial(successes: int, trials: int, *, level: float) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval of a share of unclustered 0/1 values; trials is at least 1."""
    tail = (1 - level) / 2
    low = float(special.betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    high = float(special.betaincinv(successes + 1, trials - successes, 1 - tail)) if successes < trials else 1.0
    return low, high
