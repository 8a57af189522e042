"""The walk of the decision rule: from the cheapest arm, in, out or open. docs/decision.md states it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tiepoint.stats.paired import SAME, certainty, chance_beyond
from tiepoint.stats.units import Units

NOT_TESTED, IN, OUT, OPEN = range(4)


def walk(units: Units, *, gap: float, confidence: float, counts: NDArray[np.float64] | None = None) -> NDArray[np.int8]:
    """The state of each arm for every sample: (samples, arms) of NOT_TESTED, IN, OUT and OPEN.

    units        arms in cost order, at least two
    confidence   one-sided, as 0.95
    counts       (samples, units) how often each unit stands in each sample; None: one sample, once each
    """
    arms = range(units.arms)
    states = np.zeros((1 if counts is None else len(counts), units.arms), dtype=np.int8)
    error = 1 - confidence
    enough = _enough(units, counts, gap, error)
    walking = np.arange(len(states))
    times = None if counts is None else counts.sum(axis=0)  # whole numbers, so exact
    for c in arms:
        if not len(walking):
            break
        # The other that is furthest ahead comes first: against it most samples fall out, or are called out, at once.
        others = sorted((j for j in arms if j != c), key=lambda j: -_total(units.deficit(c, j), times))
        left = walking[enough[walking]]
        for j in others:
            left = left[_shown(units.deficit(c, j), units, gap, counts, left, error)]
        lost, unsure = np.empty(0, dtype=np.int64), np.setdiff1d(walking, left)
        for j in others:
            shown = _shown(-units.least_deficit(c, j), units, -gap, counts, unsure, error / len(others))
            lost, unsure = np.concatenate([lost, unsure[shown]]), unsure[~shown]
        states[left, c], states[lost, c], states[unsure, c] = IN, OUT, OPEN
        walking = np.sort(lost)
    return states


def _total(deficit: NDArray[np.float64], times: NDArray[np.float64] | None) -> float:
    """times: (units,) how often each stands in all samples together; None: once each."""
    return float(deficit.sum() if times is None else np.einsum("u,u->", times, deficit))


def _enough(units: Units, counts: NDArray[np.float64] | None, gap: float, error: float) -> NDArray[np.bool_]:
    """(samples,) False where so few units cannot show anything inside the gap, see stats.paired.least_units."""
    if gap <= 0:
        return np.zeros(1 if counts is None else len(counts), dtype=bool)
    certain = certainty(units.size, gap, units.largest)
    held = certain.sum(keepdims=True) if counts is None else np.einsum("su,u->s", counts, certain)
    return np.asarray(held >= -math.log(error) - SAME, dtype=np.bool_)


def _shown(
    deficit: NDArray[np.float64],
    units: Units,
    at: float,
    counts: NDArray[np.float64] | None,
    samples: NDArray[np.int64],
    error: float,
) -> NDArray[np.bool_]:
    """(samples,) True where the mean deficit is shown to be at most `at`."""
    if not len(samples):
        return np.zeros(0, dtype=bool)
    some = counts if counts is None or len(samples) == len(counts) else counts[samples]
    return chance_beyond(deficit, units.size, at, largest=units.largest, counts=some, level=error) <= error
