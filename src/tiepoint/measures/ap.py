"""AP@k: the precision at each relevant hit, averaged over all relevant documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Options, Order, UnjudgedEnds
from tiepoint.measures.ties import TiedRun

BEYOND = 2.0
"""Above every value: keeps a place out of a minimum."""


def ap(graded: GradedRun, k: int, options: Options) -> Column:
    """Average precision of the first k hits, for every query at once.

    returns   Column in [0, 1]: the sum over relevant hits of the precision at their rank, over |R|, however few of R fit
              within k; undefined for a query without a relevant document that counts
    source    Buckley & Voorhees 2000; trec_eval map_cut
    """
    rel = int(options["rel"])
    hit = graded.grade[:, :k] >= rel
    return _over(graded.count(rel), (hit * np.cumsum(hit, axis=1, dtype=np.int32) / np.arange(1, k + 1)).sum(axis=1))


def expected(tied: TiedRun, k: int, options: Options) -> Column:
    """The mean over all orders of tied documents.

    At place i of a group of n that holds r relevant documents, with B in the groups above, a relevant one stands with the
    chance r / n, and then so many are found by there: B + 1 + i (r - 1) / (n - 1).

    source   McSherry & Najork 2008
    """
    rel = int(options["rel"])
    place, size, held = (a[:, :k] for a in (tied.groups.place, tied.groups.size, tied.at_least[rel]))
    found = tied.above(rel, k) + 1 + place * (held - 1) / np.maximum(size - 1, 1)
    return _over(tied.graded.count(rel), (tied.share(rel, k) * found / np.arange(1, k + 1)).sum(axis=1))


def unjudged(order: Order, k: int, options: Options) -> UnjudgedEnds:
    """The range over which of the unjudged hits are relevant.

    So many of them as are relevant make most of it as the highest ranked, least as the lowest ranked ones; so the highest
    are taken as relevant one after another from the top, the lowest from the bottom, and every number of them is looked at.
    """
    rel = int(options["rel"])
    graded = order(rel)
    as_ranked, unknown = ap(graded, k, options), graded.unjudged(k)
    if rel > graded.top:  # no unjudged hit can be relevant then
        return UnjudgedEnds(lambda: as_ranked, lambda: as_ranked)
    share, hit, unknown = 1 / np.arange(1, k + 1), (graded.grade[:, :k] >= rel).astype(float), unknown.astype(float)
    relevant, found, taken = (
        graded.count(rel)[:, None].astype(float),
        np.cumsum(hit, axis=1),
        np.cumsum(unknown, axis=1),
    )
    hit_share, unknown_share = hit * share, unknown * share
    total = np.einsum("qk,qk->q", hit_share, found)[:, None]

    # One that becomes relevant brings the precision at its own rank, and 1 / rank to every relevant one below it.
    def smallest() -> Column:
        gain = (found + 1.0) * unknown_share + unknown * _below(hit_share + unknown_share)
        left = taken[:, -1:] - taken + unknown
        least = (total + _below(gain) + gain) / np.maximum(relevant + left, 1.0) + (1.0 - unknown) * BEYOND
        return Column.of(np.minimum(as_ranked.top, least.min(axis=1)), as_ranked.defined)

    def largest() -> Column:
        gain = (found + taken) * unknown_share + unknown * _below(hit_share)
        most = unknown * (total + np.cumsum(gain, axis=1)) / np.maximum(relevant + taken, 1.0)
        return Column.of(np.maximum(as_ranked.top, most.max(axis=1)), as_ranked.defined | (taken[:, -1] > 0))

    return UnjudgedEnds(smallest, largest)


def _over(relevant: NDArray[np.int64], total: NDArray[np.float64]) -> Column:
    return Column.of(total / relevant.clip(min=1), relevant > 0)


def _below(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """(queries, k) the sum of what stands at the places below each."""
    sums = np.cumsum(weight, axis=1)
    return np.asarray(sums[:, -1:] - sums)


MEASURE = MeasureKind(
    name="AP",
    compute=ap,
    expected=expected,
    unjudged=unjudged,
    definition="precision at the rank of each relevant hit (grade {rel} or better) within the first k, summed, over all "
    "relevant documents, however many fit within k; mean over queries",
    range="0 to 1; undefined without a relevant document",
    ties="hypergeometric: the chance of a relevant document at each place, and how many then stand above it",
    source="Buckley & Voorhees 2000; trec_eval map_cut",
    options={"rel": (1, 2, 3)},
)
