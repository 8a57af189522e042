"""Supposed populations with a known truth, and how often the decision rule is confidently wrong about them.

A population is a set of independent units (queries, or clusters of them) with the chance of each to be drawn. Its means are
exact: the chances are tilted until they are, or follow from the arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from tiepoint.core.study import Rule
from tiepoint.decide import Arm, cost_order
from tiepoint.stats.paired import certainty
from tiepoint.stats.units import Units
from tiepoint.stats.walk import IN, OUT, walk

BEYOND = 1e-6
ALLOWED = 0.05
CONFIDENCE = 0.95
GAPS = (0.01, 0.02, 0.05, 0.10)
NUMBERS = (20, 60, 150, 400, 1_000, 2_000)
ROWS = 1_000
SPARSE_ROWS = 2_000
"""So many that a share of 1 % is a whole number of them."""


@dataclass(frozen=True, eq=False)
class Truth:
    """units: arms in cost order; share: the chance of each unit; means: the true mean of each arm."""

    units: Units
    share: np.ndarray
    means: np.ndarray

    def wrong(self, states: np.ndarray, gap: float) -> np.ndarray:
        """(samples,) True where an arm that loses more than the gap was chosen, or one that does not was called out."""
        outside = self.means.max() - self.means > gap + BEYOND / 2
        return ((states == IN) & outside).any(axis=1) | ((states == OUT) & ~outside).any(axis=1)


def truth(deficits: np.ndarray, share: np.ndarray, size: np.ndarray | None = None) -> Truth:
    """From (units, others) sums of what each other arm is ahead of the cheapest."""
    size = np.ones(len(share)) if size is None else size
    sums = np.concatenate([np.zeros((len(share), 1)), deficits], axis=1)
    share = share / share.sum()
    return Truth(Units(size, sums, sums, sums), share, (share @ sums) / (share @ size))


def tilted(deficits: np.ndarray, share: np.ndarray, mean: float, size: np.ndarray | None = None) -> Truth:
    """The nearest chances under which one other arm is ahead of the cheapest by exactly `mean`."""
    size = np.ones(len(share)) if size is None else size
    off = deficits - mean * size
    low, high = -2000.0, 2000.0
    for _ in range(200):
        turn = (low + high) / 2
        level = turn * off + np.log(share)
        chance = np.exp(level - level.max())
        low, high = (turn, high) if chance @ off < 0 else (low, turn)
    return truth(deficits[:, None], chance, size)


def atoms(distribution: Callable[[np.ndarray], np.ndarray], number: int = 400) -> np.ndarray:
    return np.clip(distribution((np.arange(number) + 0.5) / number), -1, 1)


def sparse(differ: float, mean: float) -> Truth | None:
    """A share of the queries differs, by any amount either way; the rest is equal. None: so few cannot lose so much."""
    if mean > differ + 1e-12:
        return None
    if mean > 0.999 * differ:
        return truth(np.array([[1.0], [0.0]]), np.array([mean, 1 - mean]))
    values = np.linspace(-1, 1, 41)
    values = values[np.abs(values) > 1e-9]
    return tilted_within(values, differ, mean)


def tilted_within(values: np.ndarray, differ: float, mean: float) -> Truth:
    """Only the chances among the queries that differ are tilted."""
    inner = tilted(values, np.full(len(values), 1 / len(values)), mean / differ)
    deficits = np.append(values, 0.0)
    return truth(deficits[:, None], np.append(inner.share * differ, 1 - differ))


def pairs(mean: float) -> Iterator[tuple[str, Truth | None]]:
    """Two arms, unclustered; the second is ahead by exactly `mean`. None: values in [-1, 1] cannot be."""
    even = np.full(400, 1 / 400)
    yield "whole losses, else equal", truth(np.array([[1.0], [0.0]]), np.array([mean, 1 - mean]))
    small = (mean + 0.05) / 1.05
    yield "whole losses, else a small gain", truth(np.array([[1.0], [-0.05]]), np.array([small, 1 - small]))
    yield "half losses, else equal", truth(np.array([[0.5], [0.0]]), np.array([2 * mean, 1 - 2 * mean]))
    yield (
        "whole gains, else a loss of 0.1 or so",
        truth(np.array([[-1.0], [(mean + 0.02) / 0.98]]), np.array([0.02, 0.98])),
    )
    for equal in (99, 98, 95, 90):
        yield f"{equal} % equal", sparse((100 - equal) / 100, mean)
    yield "dense, sd 0.1", tilted(atoms(lambda u: stats.norm.ppf(u, mean, 0.1)), even, mean)
    yield "dense, sd 0.3", tilted(atoms(lambda u: stats.norm.ppf(u, mean, 0.3)), even, mean)
    yield "dense, long tail of losses", tilted(atoms(lambda u: stats.beta.ppf(u, 0.15, 0.15 / mean - 0.15)), even, mean)
    yield "dense, long tail of gains", tilted(atoms(lambda u: mean + 0.2 - stats.expon.ppf(u, scale=0.2)), even, mean)


def clustered(mean: float) -> Iterator[tuple[str, Truth]]:
    """Two arms and clusters of queries; the second is ahead by exactly `mean` over queries."""
    yield "clusters of 5, lost whole", lost({5: 1.0}, mean, lambda s: s > 0)
    uneven = {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}
    many = {s: 0.2 * 0.8 ** (s - 1) for s in range(1, 26)}
    mixed = {1: 0.7, 10: 0.3}
    yield "clusters of 1 to 3, any lost whole", lost(uneven, mean, lambda s: s > 0)
    yield "clusters of 1 to 3, the largest lost", lost(uneven, mean, lambda s: s == 3)
    yield "clusters of 1 to 25, any lost whole", lost(many, mean, lambda s: s > 0)
    yield "clusters of 1 to 25, large ones lost", lost(many, mean, lambda s: s >= 8)
    yield "clusters of 1 or 10, the largest lost", lost(mixed, mean, lambda s: s == 10)
    values = atoms(lambda u: stats.norm.ppf(u, mean, 0.2), 60)
    size = np.repeat([1.0, 2.0, 3.0], 60)
    yield "clusters of 1 to 3, dense", tilted(np.tile(values, 3) * size, np.full(180, 1 / 180), mean, size)


def lost(sizes: dict[int, float], mean: float, may: Callable[[int], bool]) -> Truth:
    """Clusters of these sizes, some of those that may be being lost whole."""
    queries = sum(s * p for s, p in sizes.items())
    rate = mean * queries / sum(s * p for s, p in sizes.items() if may(s))
    if rate >= 1:
        raise ValueError("such clusters are too few to lose so much")
    rows = [(float(s), float(s), p * rate) for s, p in sizes.items() if may(s)]
    rows += [(0.0, float(s), p * (1 - rate if may(s) else 1)) for s, p in sizes.items()]
    loss, size, share = map(np.array, zip(*rows, strict=True))
    return truth(loss[:, None], share, size)


def stands(arms: int, gap: float, kind: str) -> np.ndarray:
    """(arms,) how far each is behind the best one; arms in cost order."""
    behind = {
        "one just beyond, the others best": [gap + BEYOND] + [0.0] * (arms - 1),
        "all but one just beyond": [gap + BEYOND] * (arms - 1) + [0.0],
        "all but one on the gap": [gap] * (arms - 1) + [0.0],
        "one far, the next just beyond": [3 * gap, gap + BEYOND] + [0.0] * (arms - 2),
        "one a little further, the next just beyond": [1.5 * gap, gap + BEYOND] + [0.0] * (arms - 2),
    }[kind]
    return np.array(behind[:arms])


KINDS = (
    "one just beyond, the others best",
    "all but one just beyond",
    "all but one on the gap",
    "one far, the next just beyond",
    "one a little further, the next just beyond",
)


def several(arms: int, gap: float, *, kind: str, differ: float = 1.0) -> Truth:
    """More candidates, every one moved on all queries, with noise on a share of them."""
    behind = stands(arms, gap, kind)
    rng = np.random.default_rng([arms, round(1000 * differ), round(1000 * gap)])
    noise = rng.normal(0, 0.15, (ROWS, arms)) * (rng.random((ROWS, arms)) < differ)
    noise -= noise.mean(axis=0)
    values = np.clip(0.5 - behind + noise, 0, 1)
    for _ in range(50):
        values = np.clip(values + (0.5 - behind) - values.mean(axis=0), 0, 1)
    ones = np.ones(ROWS)
    return Truth(Units(ones, values, values, values), ones / ROWS, 0.5 - behind)


def several_sparse(arms: int, gap: float, *, kind: str, differ: float) -> Truth | None:
    """Every candidate equals the best one but on a share `differ` of the queries, where it loses or gains all.

    None: so few queries cannot lose so much.
    """
    behind = stands(arms, gap, kind)
    rng = np.random.default_rng([arms, round(1000 * differ), round(1000 * gap)])
    base = (np.arange(SPARSE_ROWS) % 2).astype(float)
    values = np.repeat(base[:, None], arms, axis=1)
    moved = round(differ * SPARSE_ROWS)
    for c, loss in enumerate(behind):
        if c == arms - 1:
            break  # the best one itself
        ahead = round(loss * SPARSE_ROWS)
        gained, rest = (moved - ahead) // 2, loss * SPARSE_ROWS - ahead
        if gained < (rest > 0):
            return None
        values[rng.choice(np.flatnonzero(base == 1), ahead + gained, replace=False), c] = 0.0
        gain = rng.choice(np.flatnonzero(base == 0), gained, replace=False)
        values[gain, c] = 1.0
        if rest > 0:
            values[gain[0], c] -= rest  # a millionth of the mean more
    kinds, times = np.unique(values, axis=0, return_counts=True)
    return Truth(Units(np.ones(len(kinds)), kinds, kinds, kinds), times / SPARSE_ROWS, 0.5 - behind)


MIXES = {"clusters of 1 to 3": {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}, "clusters of 1 or 10": {1: 0.7, 10: 0.3}}


def several_clustered(found: Truth, sizes: dict[int, float]) -> Truth:
    """The same candidates on clusters of these sizes, of which all queries are alike: the largest chance to go wrong."""
    size = np.repeat(np.array(list(sizes), dtype=float), len(found.share))
    share = np.concatenate([p * found.share for p in sizes.values()])
    values = np.tile(found.units.mid, (len(sizes), 1)) * size[:, None]
    return Truth(Units(size, values, values, values), share, found.means)


def drawn(found: Truth, number: int, *, rng: np.random.Generator, samples: int) -> np.ndarray:
    """(samples, units) how often each unit stands in samples of so many."""
    return rng.multinomial(number, found.share, size=samples).astype(float)


def states(found: Truth, counts: np.ndarray, gap: float, confidence: float = CONFIDENCE) -> np.ndarray:
    """The walk of every sample; its imagined cluster is as large as the largest of that sample, for no study knows more."""
    size = found.units.size
    if np.ptp(size) == 0:
        return walk(found.units, gap=gap, confidence=confidence, counts=counts)
    largest = np.where(counts > 0, size, 0.0).max(axis=1)
    walked = np.zeros((len(counts), found.units.arms), dtype=np.int8)
    for cap in np.unique(largest):
        some = np.flatnonzero(largest == cap)
        units = replace(found.units, cap=float(cap))
        walked[some] = walk(units, gap=gap, confidence=confidence, counts=counts[some])
    return walked


def rate(found: Truth, number: int, gap: float, *, seed: int, samples: int, confidence: float = CONFIDENCE) -> float:
    """The share of samples with a wrong confident verdict."""
    rng = np.random.default_rng([seed, number, round(1000 * gap)])
    counts = drawn(found, number, rng=rng, samples=samples)
    return float(found.wrong(states(found, counts, gap, confidence), gap).mean())


def least(gap: float, error: float = ALLOWED) -> int:
    """Below so many units of one size nothing is in."""
    return math.ceil(math.log(error) / math.log(1 - gap) - 1e-9)


def able(found: Truth, number: int, gap: float, confidence: float) -> bool:
    """False where so few units show nothing inside the gap, whatever they hold: no sample of 200 is large enough."""
    size = found.units.size
    if np.ptp(size) == 0:
        return number >= least(gap, 1 - confidence)
    counts = drawn(found, number, rng=np.random.default_rng(number), samples=200)
    largest = np.where(counts > 0, size, 0.0).max(axis=1)
    sure = [float(row @ certainty(size, gap, cap)) for row, cap in zip(counts, largest, strict=True)]
    return max(sure) >= -math.log(1 - confidence) - 1e-9


def tied_rate(gap: float, number: int, *, seed: int, samples: int) -> float:
    """Ties: what the two arms could be lies 0.1 around each value, and the second is ahead by just beyond at the worst."""
    plain = tilted(atoms(lambda u: stats.norm.ppf(u, gap, 0.2), 200), np.full(200, 1 / 200), gap + BEYOND)
    around = np.array([[0.05, 0.05]]) * np.ones((200, 1))
    mid = plain.units.mid + np.array([[0.0, -0.1]])
    units = Units(plain.units.size, mid - around, mid, mid + around)
    return rate(Truth(units, plain.share, plain.means), number, gap, seed=seed, samples=samples)


def timed_rate(gap: float, number: int, *, seed: int, samples: int) -> float:
    """Cost order by timing: three arms of one dimension whose speeds vary by 15 %, one of them just beyond the gap."""
    found = several(3, gap, kind="one just beyond, the others best", differ=1.0)
    rng = np.random.default_rng([seed, number])
    prefer, nothing = Rule(measure="nDCG@10").prefer, np.empty(0)
    orders: dict[tuple[int, ...], int] = {}
    for _ in range(samples):
        speeds = 100 * np.exp(rng.normal(0, 0.15, 3))
        arms = [
            Arm(str(i), nothing, nothing, nothing, {"dimension": 256, "documents_per_s": s})
            for i, s in enumerate(speeds)
        ]
        order = tuple(int(arm.id) for arm in cost_order(arms, prefer))
        orders[order] = orders.get(order, 0) + 1
    total = 0.0
    for order, times in orders.items():
        cols = list(order)
        values = found.units.mid[:, cols]
        turned = Truth(Units(found.units.size, values, values, values), found.share, found.means[cols])
        total += (
            rate(turned, number, gap, seed=seed + sum(3**i * o for i, o in enumerate(order)), samples=times) * times
        )
    return total / samples


def losses_allowed(number: int, gap: float, *, bootstrap: bool, error: float = ALLOWED) -> int:
    """Whole losses among so many queries with which an arm is still in; -1: not even none.

    bootstrap   by what was tried and rejected: whole numbers of copies of the queries and of one imagined loss
    """
    if number < least(gap, error):
        return -1
    k = np.arange(int(gap * number) + 2)  # as many losses as the gap's share of the queries are never inside
    if bootstrap:
        beyond = special.bdtrc(math.floor(gap * (number + 1) + 1e-9), number + 1, (k + 1) / (number + 1))
    else:
        beyond = special.betaincc(k + 1, number - k, gap)
    return int((beyond <= error).sum()) - 1


def exact_error(number: int, gap: float, *, bootstrap: bool, error: float = ALLOWED) -> float:
    """The chance that an arm is in which loses a share of just the gap of all queries whole."""
    allowed = losses_allowed(number, gap, bootstrap=bootstrap, error=error)
    return float(special.bdtr(allowed, number, gap)) if allowed >= 0 else 0.0


def settling() -> Iterator[tuple[str, Truth, float]]:
    """Populations whose number of queries to settle is tried out, with the gap."""
    even = np.full(400, 1 / 400)
    yield "dense, equal means", tilted(atoms(lambda u: stats.norm.ppf(u, 0, 0.2)), even, 0.0), 0.02
    yield "dense, half the gap behind", tilted(atoms(lambda u: stats.norm.ppf(u, 0, 0.2)), even, 0.01), 0.02
    yield "dense, twice the gap behind", tilted(atoms(lambda u: stats.norm.ppf(u, 0, 0.2)), even, 0.10), 0.05
    yield "90 % equal, equal means", sparse(0.10, 0.0), 0.02
    yield "99 % equal, a little behind", sparse(0.01, 0.003), 0.02
    yield "whole losses on 1 in 200", truth(np.array([[1.0], [0.0]]), np.array([0.005, 0.995])), 0.02
    yield "whole losses on 1 in 10", truth(np.array([[1.0], [0.0]]), np.array([0.10, 0.90])), 0.05
    yield "long tail of losses", tilted(atoms(lambda u: stats.beta.ppf(u, 0.15, 14.85)), even, 0.01), 0.05
    yield "clusters of 1 to 3", next(t for name, t in clustered(0.005) if name.endswith("dense")), 0.05
    yield "5 candidates, equal", several(5, 0.0, kind="all but one on the gap", differ=0.5), 0.05
    yield "10 candidates, one far behind", several(10, 0.05, kind="one far, the next just beyond", differ=0.3), 0.12


def as_units(found: Truth, rows: int = 2_000) -> Units:
    """A population of equal shares, as the queries of a result are taken to be: each unit as often as its share says."""
    edges = np.rint(np.cumsum(found.share) * rows).astype(int)
    at = np.repeat(np.arange(len(found.share)), np.diff(edges, prepend=0))
    mid = found.units.mid[at]
    return Units(found.units.size[at], mid, mid, mid)


def study(found: Truth, number: int, rng: np.random.Generator) -> Units:
    """One study of so many units, drawn from the population."""
    at = rng.choice(len(found.share), size=number, p=found.share)
    mid = found.units.mid[at]
    return Units(found.units.size[at], mid, mid, mid)
