"""Holm's correction: p values that hold for a whole family of tests at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's step-down adjusted p values, in the order in which they are given.

    A hypothesis is rejected at a level when its adjusted value is at or below it; the chance of any wrong rejection in the
    family is then at most the level, however the tests depend on each other.

    p         (tests,) float64 in [0, 1]: of every test that was declared, whatever it showed
    returns   (tests,) float64 in [0, 1], none below its own p; empty for an empty family
    raises    ValueError where a p is no number in [0, 1]
    source    Holm 1979, Scandinavian Journal of Statistics 6, 65-70
    """
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("a p value lies outside [0, 1]")
    order = np.argsort(p, kind="stable")
    left = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * left), 1.0)
    return adjusted
