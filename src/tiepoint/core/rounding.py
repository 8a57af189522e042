"""How a bound is rounded for a reader: outwards, so that none is shown tighter than it is."""

from __future__ import annotations

import math

PLACES = 1e4
"""Four places."""
SAME = 1e-6
"""Of the last place: no bound is found closer than that, so what lies so little beyond a number is that number."""


def bound_above(bound: float) -> float:
    """An upper bound to four places: the least such number that is not below it. For display; never compared."""
    return math.ceil(bound * PLACES - SAME) / PLACES


def bound_below(bound: float) -> float:
    """A lower bound to four places: the largest such number that is not above it."""
    return math.floor(bound * PLACES + SAME) / PLACES
