"""How many independent units the rule would need, found by walking samples drawn from a population with the rule's own code."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tiepoint.stats.enough import FEWEST, fewest
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
STEP, FURTHEST = 1.3, 4.0
"""The first ratio of the numbers that are tried, which grows as long as they lie on one side, and the largest."""
NEAR = 1.15
"""Two numbers this near to one another, of which one reaches POWER and one does not, are interpolated between."""
WITHIN, JUMP = 0.06, 0.3
"""Two standard errors of SAMPLES; where the chances of the two lie further apart than JUMP, what is interpolated is named only
if its chance lies no lower than WITHIN below POWER."""
DRAWN_EACH, DRAWN = 4, 4_000_000
"""Up to so many draws for each unit, and so many at all, drawing one by one is quicker than drawing how often each comes."""
RESAMPLES = 100
"""Of the units, to tell how far the number moves with the queries that happen to be here."""
ENDS = (0.1, 0.9)


def walked(
    units: Units,
    number: int,
    *,
    gap: float,
    confidence: float,
    rng: np.random.Generator,
    samples: int = SAMPLES,
) -> NDArray[np.int8]:
    """The states of every arm in samples of so many units, drawn with replacement: (samples, arms), see stats.walk.

    units   the population
    """
    counts = _samples(units, number, samples, rng).astype(np.float64)
    return walk(units, gap=gap, confidence=confidence, counts=counts)


def _samples(units: Units, number: int, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(samples, units) how often each stands in samples of so many, each as likely as any other."""
    many = len(units.size)
    if number > DRAWN_EACH * many or number * samples > DRAWN:
        return rng.multinomial(number, np.full(many, 1 / many), size=samples)
    drawn = rng.integers(many, size=(samples, number)) + many * np.arange(samples)[:, None]
    return np.bincount(drawn.reshape(-1), minlength=samples * many).reshape(samples, many)


@dataclass(frozen=True, slots=True)
class Settling:
    """Roughly how many queries would settle the walk; all None where none can be named.

    queries     see queries_to_settle
    low, high   between these the number lies in eight of ten samples of the units from themselves; high None: above LIMIT.
                What is in none of the units is in no sample of them either
    """

    queries: int | None = None
    low: int | None = None
    high: int | None = None


def settling(units: Units, *, gap: float, confidence: float, rng: np.random.Generator) -> Settling:
    """The number and how far it moves with the queries that happen to be here. Arguments: see queries_to_settle."""
    named = queries_to_settle(units, gap=gap, confidence=confidence, rng=rng)
    least = fewest(gap, confidence, units.size, units.largest)
    if named is None or least is None:
        return Settling()
    resamples = _samples(units, len(units.size), RESAMPLES, rng)
    counts = np.concatenate([np.ones((1, len(units.size))), resamples])
    # By the normal approximation, which is quick, scaled to what was found by walking.
    guesses = np.maximum(_guesses(units, gap, confidence, counts), least)
    low, high = (np.quantile(guesses[1:], ENDS, method="inverted_cdf") / guesses[0] * named).tolist()
    low = rounded_up(max(low, least * float(units.size.mean())))
    return Settling(named, min(low, named), None if high > LIMIT else max(rounded_up(high), named))


def queries_to_settle(units: Units, *, gap: float, confidence: float, rng: np.random.Generator) -> int | None:
    """Roughly how many queries would settle the walk with a chance of POWER, if means and spreads are as in these.

    units     of at least two arms, in cost order; taken as the whole population
    returns   queries, see rounded_up; None where LIMIT units would not do (a mean lies on the gap or close to it, or the gap
              is 0), and where fewer than FEWEST units are here, which tell nothing of means and spreads
    """
    least = fewest(gap, confidence, units.size, units.largest)
    if least is None or len(units.size) < FEWEST:
        return None
    (guess,) = _guesses(units, gap, confidence, np.ones((1, len(units.size))))
    if guess > LIMIT:
        return None

    def chance(number: int) -> float:
        def decided(samples: int) -> NDArray[np.bool_]:
            states = walked(units, number, gap=gap, confidence=confidence, rng=rng, samples=samples)
            return np.asarray((states == IN).any(axis=1))

        return how_often(decided)

    found = first_enough(chance, max(least, round(guess)), least)
    return None if found is None else rounded_up(found * float(units.size.mean()))


def rounded_up(number: float) -> int:
    """Rounded up by less than a twentieth, to two significant digits, or to a 5 as the third: samples tell no more."""
    ten = int(10 ** max(0, len(str(math.ceil(number))) - 2))
    step = ten // 2 if ten > 1 and number < 20 * ten else ten
    return math.ceil(number / step) * step


def how_often(held: Callable[[int], NDArray[np.bool_]]) -> float:
    """In what share of SAMPLES something holds, or of the FIRST alone where that is CLEAR of POWER. held: of so many new ones."""
    first = held(FIRST)
    if abs(first.mean() - POWER) > CLEAR:
        return float(first.mean())
    return float(np.concatenate([first, held(SAMPLES - FIRST)]).mean())


def first_enough(chance: Callable[[int], float], start: int, least: int) -> int | None:
    """Roughly the smallest number from `least` on whose chance is POWER, looked for from `start` outwards; None: above LIMIT.

    chance   of a number, as samples tell it; below `least` it is 0
    """
    start = min(start, LIMIT)
    if least > LIMIT:
        return None
    low, high, ratio = (least - 1, 0.0), (start, chance(start)), STEP
    if high[1] >= POWER:
        while high[0] > least:
            number = max(least, math.floor(high[0] / ratio))
            tried = (number, chance(number))
            if tried[1] < POWER:
                low = tried
                break
            high, ratio = tried, min(ratio * ratio, FURTHEST)
    else:
        while high[1] < POWER:
            if high[0] >= LIMIT:
                return None
            low, number, ratio = high, min(math.ceil(high[0] * ratio), LIMIT), min(ratio * ratio, FURTHEST)
            high = (number, chance(number))
    while high[0] > low[0] + 1 and high[0] > NEAR * low[0]:
        number = round(math.sqrt(low[0] * high[0]))
        tried = (number, chance(number))
        low, high = (low, tried) if tried[1] >= POWER else (tried, high)
    number = _between(low, high)
    if number < high[0] and high[1] - low[1] > JUMP and chance(number) < POWER - WITHIN:
        return high[0]
    return min(number, high[0])


def _between(low: tuple[int, float], high: tuple[int, float]) -> int:
    """The number at which the chance is POWER, its normal quantile being a line in the logarithm of the number."""
    rare = 1 / (2 * FIRST)
    below, above, sought = special.ndtri(np.clip([low[1], high[1], POWER], rare, 1 - rare))
    way = float((sought - below) / (above - below))
    return max(low[0] + 1, math.ceil(low[0] * math.pow(high[0] / low[0], way)))


def _guesses(units: Units, gap: float, confidence: float, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rows,) units by the normal approximation, for the first arm whose mean lies inside the gap and those before it.

    counts   (rows, units) how often each unit stands in each row
    """
    needed, walking = np.zeros(len(counts)), np.arange(len(counts))
    error, reach = 1 - confidence, float(special.ndtri(POWER))
    for c in range(units.arms):
        deficits = np.delete(units.mid, c, axis=1) - units.mid[:, [c]]
        mean, spread = _moments(deficits, units.size, counts[walking])
        beyond = mean > gap
        outside = beyond.any(axis=1)
        z = reach - special.ndtri(np.where(outside, error / deficits.shape[1], error))
        each = (z[:, None] * spread / np.maximum(np.abs(mean - gap), 1e-9)) ** 2
        least = np.where(beyond, each, np.inf).min(axis=1)
        needed[walking] = np.maximum(needed[walking], np.where(outside, least, each.max(axis=1)))
        walking = walking[outside]
    return needed


def _moments(
    deficits: NDArray[np.float64], size: NDArray[np.float64], counts: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means of the deficits and, over units of mean size, their standard deviations: (rows, deficits) both."""
    across = np.ascontiguousarray(deficits.T)  # each sum runs along memory
    rows = np.concatenate([across, across * size, across**2])
    first, mixed, second = np.split(np.einsum("ru,cu->rc", counts, rows), 3, axis=1)
    units, queries = counts.sum(axis=1)[:, None], np.einsum("ru,u->r", counts, size)[:, None]
    mean = first / queries
    around = second - 2 * mean * mixed + mean**2 * np.einsum("ru,u->r", counts, size**2)[:, None]
    return mean, np.sqrt(np.maximum(around, 0.0) * units) / queries
