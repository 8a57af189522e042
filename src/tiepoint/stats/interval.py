"""Two-sided intervals of a mean or of a pooled ratio."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tiepoint.stats.resample import Draws, on_grid

EFFECTIVE = 15
"""Where the spread of a figure rests on fewer units, its bootstrap interval is not trusted."""
SAME = 1e-12
"""Resampled figures nearer than this to the figure itself are equal to it: they differ by rounding alone."""


def percentile(
    top: NDArray[np.float64], bottom: NDArray[np.float64], *, level: float, draws: Draws
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile bootstrap intervals of sum(top) / sum(bottom), for many columns at once; see bca.

    returns   low and high, (columns,) float64; NaN where no resample has a bottom
    source    Efron 1979; agrees with scipy.stats.bootstrap(method="percentile") within Monte Carlo error
    """
    drawn, many = _finite(_ratios(*_rows(top, bottom), draws))
    levels = np.tile([[(1 - level) / 2], [(1 + level) / 2]], len(drawn))
    low, high = _quantiles(drawn, many, levels)
    return low, high


def bca(
    top: NDArray[np.float64], bottom: NDArray[np.float64], *, level: float, draws: Draws
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bias-corrected and accelerated bootstrap intervals of sum(top) / sum(bottom), for many columns at once.

    top, bottom   (units, columns) float64: sums over each independent unit; a mean over queries has the unit's number
                  of scored queries as its bottom. In any order: the same values give the same bits
    level         two-sided, as 0.95
    draws         the resamples; columns of the same values have the same interval
    returns       low and high, (columns,) float64; NaN where it cannot be told: fewer than two units, or no spread
    source        Efron 1987; agrees with scipy.stats.bootstrap(method="BCa") within Monte Carlo error
    """
    units, columns = top.shape
    low = np.full(columns, np.nan)
    high = np.full(columns, np.nan)
    if units < 2:
        return low, high
    top, bottom = _rows(top, bottom)
    total_top, total_bottom = top.sum(axis=1, keepdims=True), bottom.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        figures = total_top / total_bottom
        left_out = (total_top - top) / (total_bottom - bottom)
        told = np.flatnonzero(np.isfinite(left_out).all(axis=1) & ~(np.ptp(left_out, axis=1) < SAME))
    drawn, many = _finite(_ratios(top[told], bottom[told], draws))
    told, drawn, many = told[many > 0], drawn[many > 0], many[many > 0]
    figure, jackknife = figures[told], left_out[told]
    below = np.count_nonzero(drawn < figure - SAME, axis=1) + np.count_nonzero(drawn <= figure + SAME, axis=1)
    bias = special.ndtri(np.clip(below / (2 * many), 1 / (2 * many), 1 - 1 / (2 * many)))
    away = jackknife.mean(axis=1, keepdims=True) - jackknife
    square = away * away
    acceleration = (square * away).sum(axis=1) / (6 * square.sum(axis=1) ** 1.5)
    edge = special.ndtri(np.array([[(1 - level) / 2], [(1 + level) / 2]])) + bias
    with np.errstate(divide="ignore"):
        levels = special.ndtr(bias + edge / (1 - acceleration * edge))
    low[told], high[told] = _quantiles(drawn, many, levels)
    return low, high


def _rows(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(columns, units) each, and on the grid that their sums are exact on: a figure and its resamples are made of one thing.

    Draws go by position, so the units of each column stand in the order of its own values, the bottom first: what is drawn
    follows from the values alone, and columns whose bottoms hold the same values share them.
    """
    over, under = on_grid(np.ascontiguousarray(top.T)), on_grid(np.ascontiguousarray(bottom.T))
    varied = np.ptp(under, axis=1) > 0
    if not varied.any():
        over.sort(axis=1)
    else:
        over[~varied] = np.sort(over[~varied], axis=1)
        order = np.lexsort((over[varied], under[varied]), axis=1)
        over[varied], under[varied] = (np.take_along_axis(of[varied], order, axis=1) for of in (over, under))
    return over, under


def _ratios(top: NDArray[np.float64], bottom: NDArray[np.float64], draws: Draws) -> NDArray[np.float64]:
    """(columns, resamples) sums of the top over sums of the bottom; a bottom that is the same in all units is not resampled.

    Columns often share a bottom, such as the queries that are scored: it is resampled once.

    top, bottom   (columns, units)
    """
    varied = np.flatnonzero(np.ptp(bottom, axis=1) > 0)
    first: dict[bytes, int] = {}
    place = [first.setdefault(bottom[c].tobytes(), len(first)) for c in varied]
    once = varied[np.unique(np.array(place, dtype=np.int64), return_index=True)[1]]
    same = np.setdiff1d(np.arange(len(top)), varied)
    sums = draws.sums(np.concatenate([top, bottom[once]]))
    found = sums[: len(top)]
    with np.errstate(invalid="ignore", divide="ignore"):
        found[same] /= bottom[same, :1] * bottom.shape[1]
        if len(varied):
            found[varied] /= sums[len(top) :][place]
    return found


def _finite(drawn: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The same (columns, resamples) with NaN for what is not finite, and how many are finite in each column."""
    known = np.isfinite(drawn)
    if not known.all():
        drawn = np.where(known, drawn, np.nan)
    return drawn, np.count_nonzero(known, axis=1)


def _quantiles(drawn: NDArray[np.float64], many: NDArray[np.int64], levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """(2, columns): of every column a low and a high quantile, as np.quantile has them, to the bit; NaN for an empty column.

    drawn    (columns, resamples), NaN for what does not count; partly sorted in place
    many     (columns,) how many count
    levels   (2, columns): low and high
    """
    if not drawn.size:
        return np.full(levels.shape, np.nan)
    last = np.maximum(many - 1, 0)
    at = last * levels
    before = np.minimum(np.floor(at), last).astype(np.int64)
    after = np.minimum(before + 1, last)
    # Only the tails are sorted: up to the largest place asked for at the low end, from the smallest at the high end.
    low, high = int(after[0].max()), int(before[1].min())
    if low < high:
        drawn.partition(low, axis=1)
        drawn[:, low + 1 :].partition(high - low - 1, axis=1)
        drawn[:, :low].sort(axis=1)
        drawn[:, high:].sort(axis=1)
    else:
        drawn.sort(axis=1)
    row = np.arange(len(drawn))
    one, other, share = drawn[row, before], drawn[row, after], at - before
    gap = other - one
    return np.where(share >= 0.5, other - gap * (1 - share), one + gap * share)


def trusted(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(columns,) True where the spread rests on enough units for a bootstrap interval to cover as it says.

    A figure moves with a unit by d = top - figure * bottom. How many units its spread rests on is sum(d^2)^2 / sum(d^4): all
    of them where they differ alike, as many as differ where most are equal, few where a few lie far from the rest. The same
    is asked of the bottoms, so that a figure does not hang on a few large clusters.

    top, bottom   see bca
    source        docs/decision.md: where half of the samples rest on as many, intervals at 95 % cover the mean in
                  92.4 to 97.9 %
    """
    total_top, total_bottom = top.sum(axis=0), bottom.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        away = top - total_top / total_bottom * bottom
    away[np.abs(away) <= SAME * bottom] = 0.0  # it differs by rounding alone
    return _many(away) & _many(bottom)


def _many(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(columns,) True where at least EFFECTIVE of the (units, columns) values make up their spread; NaN: False."""
    square = values * values
    spread, fourth = square.sum(axis=0), (square * square).sum(axis=0)
    return np.asarray((spread > 0) & (spread * spread >= (EFFECTIVE - SAME) * fourth), dtype=np.bool_)


def exact_binomial(successes: int, trials: int, *, level: float) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval of a share of unclustered 0/1 values; trials is at least 1."""
    tail = (1 - level) / 2
    low = float(special.betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    high = float(special.betaincinv(successes + 1, trials - successes, 1 - tail)) if successes < trials else 1.0
    return low, high
