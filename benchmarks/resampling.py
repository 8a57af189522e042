"""Resampling against scipy: `python -m benchmarks.resampling` prints ratios of one run."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from scipy import stats

from benchmarks.timing import seconds
from tiepoint.stats import resample
from tiepoint.stats.interval import bca, percentile
from tiepoint.stats.paired import deficit_bounds
from tiepoint.stats.resample import Draws, stream
from tiepoint.stats.settle import queries_to_settle
from tiepoint.stats.units import ArmValues, Units

MANY = 10_000


def against_scipy(method: str) -> tuple[str, str, float, str]:
    """A paired bootstrap of 10,000 resamples of the differences of 10,000 queries."""
    away = np.random.default_rng(1).normal(0.01, 0.2, MANY)
    top, bottom = away[:, None], np.ones((MANY, 1))
    ours_of = percentile if method == "percentile" else bca

    def ours() -> tuple[np.ndarray, np.ndarray]:
        return ours_of(top, bottom, level=0.95, draws=Draws(stream(1), MANY))

    def theirs() -> tuple[float, float]:
        found = stats.bootstrap(
            (away,), np.mean, n_resamples=MANY, method=method, batch=500, rng=np.random.default_rng(1)
        )
        return found.confidence_interval

    (low, high), peer = ours(), theirs()
    off = max(abs(low[0] - peer[0]), abs(high[0] - peer[1])) / (peer[1] - peer[0])
    loop = "numba" if find_spec("numba") else "numpy"
    return (
        f"paired bootstrap, {MANY:,} x {MANY:,}, {method} ({loop})",
        f"scipy.stats.bootstrap, {method}",
        seconds(ours) / seconds(theirs),
        f"ends differ by {off:.1%} of the width",
    )


def without_numba() -> tuple[str, str, float, str]:
    """The sums of one column in numpy alone."""
    column = np.random.default_rng(1).normal(0.01, 0.2, (1, MANY))
    kept = resample.WORTH
    quick = Draws(stream(1), MANY).sums(column)
    fast = seconds(lambda: Draws(stream(1), MANY).sums(column))
    resample.WORTH = 10**15
    try:
        plain = Draws(stream(1), MANY).sums(column)
        slow = seconds(lambda: Draws(stream(1), MANY).sums(column))
    finally:
        resample.WORTH = kept
    return "resampled sums in numpy", "the same in numba", slow / fast, f"the same bits: {np.array_equal(quick, plain)}"


def decision() -> tuple[str, str, float, str]:
    """The bounds and the number of queries of ten candidates and 2,000 queries, in seconds, beside one interval of scipy."""
    rng = np.random.default_rng(2)
    values = rng.random((2_000, 10)) * 0.5 + np.linspace(0, 0.05, 10)
    units = Units.of(ArmValues(values, values, values), np.arange(2_000))

    def ours() -> object:
        deficit_bounds(units, confidence=0.95)
        return queries_to_settle(units, gap=0.02, confidence=0.95, rng=stream(3))

    def theirs() -> object:
        away = values[:, 1] - values[:, 0]
        return stats.bootstrap((away,), np.mean, n_resamples=MANY, method="BCa", rng=np.random.default_rng(1))

    spent = seconds(ours)
    return (
        "decision over 10 candidates, 2,000 queries",
        "one BCa interval of scipy",
        spent / seconds(theirs),
        f"{spent:.2f} s",
    )


def main() -> None:
    """Print the table."""
    print("| work | peer | processor time, ours / peer | agreement |\n|---|---|---:|---|")
    for made in (against_scipy("percentile"), against_scipy("BCa"), without_numba(), decision()):
        work, peer, ratio, agreement = made
        print(f"| {work} | {peer} | {ratio:.3f} | {agreement} |")


if __name__ == "__main__":
    main()
