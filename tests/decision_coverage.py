"""Populations of figures with a known mean, and how often a figure's interval covers it.

A population is a set of independent units (queries, or clusters of them), each with what it adds to the top and to the bottom
of the figure: a mean over queries, a pooled ratio, or a mean of paired differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from tiepoint.stats.interval import bca, trusted
from tiepoint.stats.resample import RESAMPLES, Draws, stream

NUMBERS = (20, 30, 50, 100, 150, 500)
ROOM = 0.02 / np.sqrt(0.95 * 0.05)
"""Two points at 95 %, in standard deviations of a single 0 or 1; as many at other levels."""
FAIR = 0.5
"""Where fewer samples are trusted they are not a fair draw: what makes them trusted moves their means too."""
SEEN = 0.99
"""Below this chance to draw any of what is rare, a cell stands among those that no sample can tell."""
ROWS = 20_000
PART = 1_000
"""Samples whose intervals come from the same resamples."""
SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Figures:
    """top, bottom: (units,) what each adds; share: the chance of each; rare: of all units that are of a rare kind, 0: none."""

    name: str
    kind: str
    top: np.ndarray
    bottom: np.ndarray
    share: np.ndarray
    rare: float = 0.0

    @property
    def mean(self) -> float:
        return float((self.share @ self.top) / (self.share @ self.bottom))


@dataclass(frozen=True, eq=False)
class Cell:
    """One population and a number of units."""

    figures: Figures
    units: int

    @property
    def name(self) -> str:
        return self.figures.name

    @property
    def unseen(self) -> float:
        """The chance that a sample holds none of the rare units."""
        return float((1 - self.figures.rare) ** self.units) if self.figures.rare else 0.0

    @property
    def rare(self) -> bool:
        return self.unseen > 1 - SEEN


@dataclass(frozen=True)
class Covered:
    """Shares: of samples that are trusted; of these, of the others and of all that cover; of all, trusted and missing."""

    trusted: float
    sure: float
    unsure: float
    whole: float
    missed: float


def tried(cell: Cell, level: float, *, seed: int, samples: int, resamples: int = RESAMPLES) -> Covered:
    """Samples whose interval cannot be told are left out, as reports print none."""
    found, covers, sure = cell.figures, [], []
    rng = np.random.default_rng([seed, cell.units, *found.name.encode()])
    for part, start in enumerate(range(0, samples, PART)):
        pick = rng.choice(len(found.top), size=(cell.units, min(PART, samples - start)), p=found.share)
        top, bottom = found.top[pick], found.bottom[pick]
        draws = Draws(stream(seed, "coverage", str(part)), resamples)
        low, high = bca(top, bottom, level=level, draws=draws)
        told = ~np.isnan(low)
        covers.append(((low <= found.mean + SAME) & (found.mean <= high + SAME))[told])
        sure.append(trusted(top, bottom)[told])
    right, of = np.concatenate(covers), np.concatenate(sure)

    def share(some: np.ndarray) -> float:
        return float(right[some].mean()) if some.any() else float("nan")

    return Covered(
        float(of.mean()), share(of), share(~of), share(np.ones(len(of), dtype=bool)), float((of & ~right).mean())
    )


def singles(name: str, *parts: tuple[float, object], kind: str = "mean", rare: float = 0.0) -> Figures:
    """Single queries: each part is a share and the values among which it is spread evenly."""
    values = [np.atleast_1d(np.asarray(v, dtype=float)) for _, v in parts]
    share = np.concatenate([np.full(len(v), w / len(v)) for (w, _), v in zip(parts, values, strict=True)])
    top = np.concatenate(values)
    return Figures(name, kind, top, np.ones(len(top)), share / share.sum(), rare)


def even(low: float, high: float, number: int = 200) -> np.ndarray:
    return low + (high - low) * (np.arange(number) + 0.5) / number


def means() -> Iterator[Figures]:
    """One measure's mean over single queries."""
    yield singles("nDCG, spread over 0 to 1", (1, even(0, 1)))
    yield singles("nDCG, most near 1", (1, special.betaincinv(2.0, 0.4, even(0, 1))))
    yield singles("nDCG, nearly all near 1", (1, special.betaincinv(5.0, 0.3, even(0, 1))))
    yield singles("nDCG, most near 0", (1, special.betaincinv(0.4, 2.0, even(0, 1))))
    yield singles("nDCG, 20 % at 0 and 20 % at 1", (0.2, 0), (0.2, 1), (0.6, even(0.2, 1)))
    for rare in (0.10, 0.03, 0.01):
        yield singles(f"{1 - rare:.0%} in 0.99 to 1, {rare:.0%} zero", (1 - rare, even(0.99, 1)), (rare, 0), rare=rare)
    yield singles(
        "RR, half at 1", (0.5, 1), (0.2, 1 / 2), (0.1, 1 / 3), (0.05, 1 / 4), (0.05, 1 / 5), (0.05, 0.1), (0.05, 0)
    )
    yield singles("RR, 80 % at 1", (0.8, 1), (0.1, 1 / 2), (0.04, 1 / 3), (0.02, 1 / 4), (0.02, 0.1), (0.02, 0))
    yield singles("P@10, mean 0.15", *((stats.binom.pmf(n, 10, 0.15), n / 10) for n in range(11)))
    yield singles("recall of 3, 70 % at 1", (0.05, 0), (0.1, 1 / 3), (0.15, 2 / 3), (0.7, 1))
    yield singles("90 % at 1, the rest spread", (0.9, 1), (0.1, even(0, 1, 50)))
    yield singles("97 % at 1, the rest spread", (0.97, 1), (0.03, even(0, 1, 50)))


def differences() -> Iterator[Figures]:
    """The mean of one measure's paired differences over single queries."""
    normal, laplace = (of.ppf(even(0, 1), 0.02, 0.1).clip(-1, 1) for of in (stats.norm, stats.laplace))
    yield singles("dense, sd 0.1", (1, normal), kind="difference")
    yield singles("dense, heavy tails", (1, laplace), kind="difference")
    either = even(-1, 1, 60)
    for differ in (0.5, 0.2, 0.05):
        yield singles(f"{differ:.0%} differ, by any amount", (1 - differ, 0), (differ, either), kind="difference")
    yield singles("20 % lose any amount", (0.8, 0), (0.2, even(-1, 0.2, 60)), kind="difference")
    yield singles("10 % differ, by 1", (0.9, 0), (0.06, 1), (0.04, -1), kind="difference")
    small = stats.norm.ppf(even(0, 1), 0, 0.02)
    yield singles("small, but 3 % lost whole", (0.97, small), (0.03, -1), kind="difference", rare=0.03)


def pooled() -> Iterator[Figures]:
    """A ratio of sums over single queries: found of relevant documents."""
    rng = np.random.default_rng(7)
    some, half = rng.geometric(0.3, ROWS), rng.beta(2, 2, ROWS)
    many = rng.geometric(0.2, ROWS)
    uneven = np.where(rng.random(ROWS) < 0.1, 30, 1)
    yield ratio("1 to 10 relevant", rng.integers(1, 11, ROWS), half, rng)
    yield ratio("3 relevant in the mean, geometric", some, half, rng)
    yield ratio("many relevant are found worse", many, (rng.beta(4, 1, ROWS) - 0.03 * many).clip(0, 1), rng)
    yield ratio("1 in 10 has 30, the others 1", uneven, half, rng, rare=0.1)


def ratio(name: str, of: np.ndarray, chance: np.ndarray, rng: np.random.Generator, rare: float = 0.0) -> Figures:
    top = rng.binomial(of, chance).astype(float)
    return Figures(name, "pooled", top, of.astype(float), np.full(ROWS, 1 / ROWS), rare)


SPREADS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "spread": lambda u: u,
    "most near 1": lambda u: special.betaincinv(2.0, 0.4, u),
    "0/1, mean 0.8": lambda u: (u < 0.8).astype(float),
}


def clusters() -> Iterator[Figures]:
    """A mean over the queries of clusters that are alike."""
    sizes = {
        "of 5": {5: 1.0},
        "of 1 to 3": {1: 1 / 3, 2: 1 / 3, 3: 1 / 3},
        "of 1 (60 %), 2 (30 %) or 20": {1: 0.6, 2: 0.3, 20: 0.1},
        "of 1 (80 %) or 10": {1: 0.8, 10: 0.2},
        "of 1 to 25, geometric": {s: 0.2 * 0.8 ** (s - 1) / (1 - 0.8**25) for s in range(1, 26)},
        "of 1 (97 %) or 30": {1: 0.97, 30: 0.03},
    }
    for label, chances in sizes.items():
        for values, spread in SPREADS.items():
            rng = np.random.default_rng([9, len(label), len(values)])
            size = rng.choice(list(chances), size=ROWS, p=list(chances.values()))
            common = rng.normal(size=ROWS)
            top = np.zeros(ROWS)
            for place in range(max(chances)):
                own = np.sqrt(0.7) * common + np.sqrt(0.3) * rng.normal(size=ROWS)
                top += np.where(place < size, spread(np.clip(stats.norm.cdf(own), 1e-12, 1 - 1e-12)), 0.0)
            rare = 0.03 if "97" in label else 0.1 if "20" in label else 0.0
            yield Figures(f"{label}: {values}", "clusters", top, size.astype(float), np.full(ROWS, 1 / ROWS), rare)


CELLS = tuple(
    Cell(figures, units)
    for source in (means, differences, pooled, clusters)
    for figures in source()
    for units in NUMBERS
)
