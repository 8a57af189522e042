"""Two-sided intervals of a mean or of a pooled ratio."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tiepoint.stats.resample import resampled_sums

RESAMPLES = 4_000
SAME = 1e-12
"""Resampled figures nearer than this to the figure itself are equal to it: they differ by rounding alone."""


def bca(
    top: NDArray[np.float64], bottom: NDArray[np.float64], *, level: float, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bias-corrected and accelerated bootstrap intervals of sum(top) / sum(bottom), for many columns at once.

    top, bottom   (units, columns) float64: sums over each independent unit; a mean over queries has the unit's number
                  of scored queries as its bottom
    level         two-sided, as 0.95
    rng           a stream of its own
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
        sums = resampled_sums(rng, np.concatenate([top, bottom], axis=1), RESAMPLES)
        drawn = sums[:, :columns] / sums[:, columns:]
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


def exact_binomial(successes: int, trials: int, *, level: float) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval of a share of unclustered 0/1 values; trials is at least 1."""
    tail = (1 - level) / 2
    low = float(special.betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    high = float(special.betaincinv(successes + 1, trials - successes, 1 - tail)) if successes < trials else 1.0
    return low, high
