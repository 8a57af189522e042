"""How benchmarks time a call."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

REPEATS = 3


def seconds(work: Callable[[], object]) -> float:
    """The median processor time of a few calls, after one that is not counted."""
    work()
    taken = []
    for _ in range(REPEATS):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return float(np.median(taken))
