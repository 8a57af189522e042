"""How many independent units the rule would need, found by walking samples drawn from a population with the rule's own code."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tiepoint.stats.paired import least_units
from tiepoint.stats.units import Units
from tiepoint.stats.walk import IN, walk

POWER = 0.8
"""The chance that a named number of queries aims at: four times in five."""
SAMPLES = 200
FIRST = 60
"""Samples that are enough where the chance is CLEAR of POWER: more than three standard errors away."""
CLEAR = 0.16
LIMIT = 1_000_000
"""More units than this are not looked for."""
NEAR = 1.1
"""The answer is at most this ratio above a number that does not reach POWER: samples tell no nearer."""


def walked(
    units: Units,
    number: int,
    *,
    gap: float,
    confidence: float,
    rng: np.random.Generator,
    share: NDArray[np.float64] | None = None,
    samples: int = SAMPLES,
) -> NDArray[np.int8]:
    """The states of every arm in samples of so many units, drawn with replacement: (samples, arms), see stats.walk.

    units   the population
    share   (units,) the chance of each to be drawn; None: equal
    """
    equal = np.full(len(units.size), 1 / len(units.size))
    counts = rng.multinomial(number, equal if share is None else share, size=samples).astype(np.float64)
    return walk(units, gap=gap, confidence=confidence, counts=counts)


def queries_to_settle(units: Units, *, gap: float, confidence: float, rng: np.random.Generator) -> int | None:
    """Roughly how many queries would settle the walk with a chance of POWER, if means and spreads stay as they are.

    units     of at least two arms, in cost order; taken as the whole population
    returns   queries; None where LIMIT units would not do (a mean lies on the gap or close to it, or the gap is 0)
    """
    guess = _guess(units, gap, confidence)
    least = least_units(gap, confidence, units.size, units.largest)
    if guess is None or least is None or guess > LIMIT:
        return None

    def enough(number: int) -> bool:
        settled: list[bool] = []
        for samples in (FIRST, SAMPLES - FIRST):
            states = walked(units, number, gap=gap, confidence=confidence, rng=rng, samples=samples)
            settled += (states == IN).any(axis=1).tolist()
            chance = sum(settled) / len(settled)
            if abs(chance - POWER) > CLEAR:
                break
        return chance >= POWER

    found = first_enough(enough, max(least, round(guess)), least)
    return None if found is None else math.ceil(found * units.size.mean())


def first_enough(enough: Callable[[int], bool], start: int, least: int) -> int | None:
    """Roughly the smallest number from `least` on that is enough, looked for from `start` outwards; None: above LIMIT."""
    high = start
    while not enough(high):
        high *= 2
        if high > LIMIT:
            return None
    low = high
    while low > least:
        low = max(least, low // 2)
        if not enough(low):
            break
        high = low
    while high > low + 1 and high > NEAR * low:
        middle = round(math.sqrt(low * high))
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _guess(units: Units, gap: float, confidence: float) -> float | None:
    """Units by the normal approximation, for the first arm whose mean lies inside the gap and those before it."""
    needed = 0.0
    error, reach = 1 - confidence, float(special.ndtri(POWER))
    for c in range(units.arms):
        deficits = [units.mid[:, j] - units.mid[:, c] for j in range(units.arms) if j != c]
        means = [d.sum() / units.size.sum() for d in deficits]
        outside = max(means) > gap
        z = reach - float(special.ndtri(error / len(deficits) if outside else error))
        each = [
            (z * float(np.std(d - mean * units.size)) / units.size.mean() / max(abs(mean - gap), 1e-9)) ** 2
            for d, mean in zip(deficits, means, strict=True)
            if (mean > gap) == outside
        ]
        needed = max(needed, float(min(each) if outside else max(each)))
        if not outside:
            return needed
    return None
