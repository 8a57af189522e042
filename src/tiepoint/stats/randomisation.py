"""The paired randomisation test: what if each unit's two values had come from the other side?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 20_000
EXACT = 14
"""Up to so many units that differ, every one of the 2 ** units exchanges is looked at."""
CHUNK = 512
SAME = 1e-12
"""Sums nearer than this share of their whole size are equal: they differ by rounding alone."""


def sign_flip(away: NDArray[np.float64], *, rng: np.random.Generator) -> float:
    """Two-sided p of the hypothesis that the two sides are exchangeable within every independent unit.

    The statistic is the difference of two ratios of sums, sum(t) / sum(weight) - sum(s) / sum(weight): a mean over queries,
    or a pooled measure. Both sides of a query have one weight, so that an exchange leaves the denominators as they are and
    flips the sign of what the unit adds. So only these signed sums matter, in whatever scale.

    away      (units,) float64: of each independent unit (a query, or a whole cluster of them) the sum over its queries of
              weight times (target less source)
    rng       a stream of its own; used only where more than EXACT units differ
    returns   the share of exchanges whose difference is at least as large, either way: of all of them where at most EXACT
              units differ, else of RESAMPLES drawn ones and the observed one, (hits + 1) / (RESAMPLES + 1). 1 where none
              differs
    source    Fisher 1935; Smucker, Allan and Carterette 2007 for rankings; Phipson and Smyth 2010 for the + 1
    """
    moved = away[away != 0]
    if not len(moved):
        return 1.0
    # A sum that is smaller by rounding alone counts as equal.
    reached = abs(float(moved.sum())) - SAME * float(np.abs(moved).sum())
    exact = len(moved) <= EXACT
    signs = _every(len(moved)) if exact else _drawn(rng, len(moved))
    hits = sum(int((np.abs(np.einsum("ru,u->r", chunk, moved)) >= reached).sum()) for chunk in signs)
    return hits / 2 ** len(moved) if exact else (hits + 1) / (RESAMPLES + 1)


def _every(units: int) -> Iterator[NDArray[np.float64]]:
    """Every assignment of signs: (2 ** units, units) in one chunk."""
    yield _signs(np.arange(2**units)[:, None] >> np.arange(units) & 1)


def _drawn(rng: np.random.Generator, units: int) -> Iterator[NDArray[np.float64]]:
    """RESAMPLES assignments of signs, a chunk at a time."""
    for start in range(0, RESAMPLES, CHUNK):
        rows = min(CHUNK, RESAMPLES - start)
        yield _signs(rng.integers(0, 2, size=(rows, units)))


def _signs(bits: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 for a pair left as it is (0), -1 for an exchanged one (1)."""
    return 1.0 - 2.0 * bits.astype(np.float64)
