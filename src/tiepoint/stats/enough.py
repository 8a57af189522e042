"""The least number of independent queries with which the rule decides at all, overall or on a group alone."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tiepoint.stats.paired import least_units

FEWEST = 20
"""Below so many independent queries the rule's error rate was not shown to hold, see docs/decision.md."""


def fewest(
    gap: float,
    confidence: float | Literal["point"],
    sizes: NDArray[np.float64] | None = None,
    largest: float | None = None,
) -> int | None:
    """Below so many independent queries nothing is decided; None: no number would do.

    confidence   one-sided, as 0.95; "point": nothing is shown, and only FEWEST is asked for
    sizes        (units,) float64: queries of each cluster, where they are not all equal; the number is then of such clusters
    largest      queries of the imagined cluster, see stats.paired.least_units
    """
    if confidence == "point":
        return FEWEST
    least = least_units(gap, confidence, sizes, largest)
    return None if least is None else max(least, FEWEST)
