"""nDCG@k: graded gain, discounted by rank, over the best that was possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Options, Order, UnjudgedEnds
from tiepoint.measures.ties import TiedRun

GAINS = {"exponential": np.array([0.0, 1.0, 3.0, 7.0]), "linear": np.array([0.0, 1.0, 2.0, 3.0])}
ROUNDS = 60
"""Far more than the search for the largest ratio takes, which converges superlinearly."""
SAME = 1e-15


def ndcg(graded: GradedRun, k: int, options: Options) -> Column:
    """Discounted cumulative gain over its ideal, for every query at once.

    options   gain: "exponential" is 2^grade - 1, "linear" is the grade
    returns   Column in [0, 1]; the ideal orders the same relevant documents; undefined where there is none
    source    Järvelin & Kekäläinen 2002; the exponential gain of Burges et al. 2005
    """
    gain = GAINS[str(options["gain"])]
    return _over_ideal(graded, gain, _discounted(gain[np.maximum(graded.grade[:, :k], 0)]), k)


def expected(tied: TiedRun, k: int, options: Options) -> Column:
    """The mean over all orders of tied documents: each place gains the mean gain of its group.

    source   McSherry & Najork 2008
    """
    gain = GAINS[str(options["gain"])]
    mean = sum((gain[g] - gain[g - 1]) * tied.share(g, k) for g in range(1, len(gain)))
    return _over_ideal(tied.graded, gain, _discounted(np.asarray(mean)), k)


def unjudged(order: Order, k: int, options: Options) -> UnjudgedEnds:
    """The range over all grades that the unjudged hits could have, the ideal made anew for each.

    A gain is the sum of a step for each grade reached, so found and ideal gain are sums over grades t of
    step(t) * (discounts of the hits of grade t or better) and step(t) * (the first N(t) discounts). The ratio is smallest
    where the lowest m of the unjudged hits have the highest grade, for some m. It is largest where the highest m(t) have
    grade t or better; Dinkelbach's method finds the m(t), which for a given ratio can be chosen apart.

    source   Dinkelbach 1967, On nonlinear fractional programming
    """
    graded, parts = order(1), _Parts.of(order, GAINS[str(options["gain"])], k)
    defined = graded.count(1) > 0
    return UnjudgedEnds(
        smallest=lambda: Column.of(parts.smallest(), defined),
        largest=lambda: Column.of(parts.largest(), defined | graded.unjudged(k).any(axis=1)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """The sums that found and ideal gain are made of, by grade t from 1 to the highest.

    step    (grades,) what grade t adds to the gain of the one below
    base    (grades, queries) the discounts of the judged hits of grade t or better, summed
    ideal   (grades, queries, most + 1) the first N(t) discounts summed, with 0..most more documents of grade t or better
    first   (grades, queries, most + 1) the discounts of the highest 0..most unjudged hits, summed; once where the order is one
            for all grades
    many    (grades, queries) unjudged hits, likewise; most: the largest of them
    """

    step: NDArray[np.float64]
    base: NDArray[np.float64]
    ideal: NDArray[np.float64]
    first: NDArray[np.float64]
    many: NDArray[np.int64]

    @classmethod
    def of(cls, order: Order, gain: NDArray[np.float64], k: int) -> _Parts:
        discount, top = _discount(k), order(1).top
        by_grade = [(t, order(t)) for t in range(1, top + 1)]
        same = all(graded is by_grade[0][1] for _, graded in by_grade)
        unknown = np.stack([graded.unjudged(k) for _, graded in (by_grade[:1] if same else by_grade)])
        many = unknown.sum(axis=2)
        more = np.arange(int(many.max(initial=0)) + 1)
        relevant = np.stack([graded.count(t) for t, graded in by_grade])
        return cls(
            step=np.diff(gain[: top + 1]),
            base=np.stack([((graded.grade[:, :k] >= t) * discount).sum(axis=1) for t, graded in by_grade]),
            ideal=_sums(discount)[np.minimum(relevant[:, :, None] + more, k)],
            first=_sums(-np.sort(-(unknown * discount), axis=2)[:, :, : len(more) - 1]),
            many=many,
        )

    def smallest(self) -> NDArray[np.float64]:
        """(queries,) the least ratio over m = 0, 1, ...: the lowest m of the unjudged hits have the top grade."""
        more = np.arange(self.first.shape[2])
        # Without the highest many - m of them the lowest m are left.
        kept = np.maximum(self.many[:, :, None] - more, 0)
        lowest = self.first[:, :, -1:] - np.take_along_axis(self.first, kept, axis=2)
        found = np.einsum("t,tqm->qm", self.step, self.base[:, :, None] + lowest)
        ideal = np.einsum("t,tqm->qm", self.step, self.ideal)
        possible = (more <= self.many.min(axis=0)[:, None]) & (ideal > 0)
        least: NDArray[np.float64] = np.where(possible, found / np.where(ideal > 0, ideal, 1.0), 1.0).min(axis=1)
        return least

    def largest(self) -> NDArray[np.float64]:
        """(queries,) the largest ratio over all grades of the unjudged hits."""
        ratio = np.zeros(self.base.shape[1])
        beyond = np.arange(self.first.shape[2]) > self.many[:, :, None]
        for _ in range(ROUNDS):
            worth = np.where(beyond, -np.inf, self.first - ratio[:, None] * self.ideal)
            chosen = worth.shape[2] - 1 - worth[:, :, ::-1].argmax(axis=2)  # the most of those that are worth the same
            first, ideal = (
                np.take_along_axis(np.broadcast_to(a, worth.shape), chosen[:, :, None], axis=2)[:, :, 0]
                for a in (self.first, self.ideal)
            )
            found, below = (np.einsum("t,tq->q", self.step, of) for of in (self.base + first, ideal))
            better = found / np.where(below > 0, below, 1.0)
            if not (better > ratio + SAME).any():
                break
            ratio = np.maximum(ratio, better)
        return ratio


def _sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of the first 0, 1, 2, ... values along the last axis."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


def _discount(k: int) -> NDArray[np.float64]:
    return 1 / np.log2(np.arange(k) + 2)


def _discounted(gain: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = (gain * _discount(gain.shape[1])).sum(axis=1)
    return found


def _over_ideal(graded: GradedRun, gain: NDArray[np.float64], found: NDArray[np.float64], k: int) -> Column:
    # Place p of the ideal list holds the highest grade of which more than p documents are that good or better.
    grade = np.zeros((len(graded), k), dtype=np.int8)
    for rel in range(1, len(gain)):
        grade += graded.count(rel)[:, None] > np.arange(k)
    ideal = _discounted(gain[grade])
    defined = ideal > 0
    return Column.of(found / np.where(defined, ideal, 1.0), defined)


MEASURE = MeasureKind(
    name="nDCG",
    compute=ndcg,
    expected=expected,
    unjudged=unjudged,
    definition="discounted gain of the first k hits over that of the ideal order; gain 2^grade - 1 (with gain=linear: the "
    "grade itself), discount log2(rank + 1), an unjudged hit gains 0; mean over queries",
    range="0 to 1; undefined without a relevant document",
    ties="each place gains the mean gain of its group",
    source="Järvelin & Kekäläinen 2002; exponential gain: Burges et al. 2005",
    options={"gain": ("exponential", "linear")},
)
