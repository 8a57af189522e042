"""RR@k: how high the first relevant hit stands."""

from __future__ import annotations

import numpy as np

from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Options
from tiepoint.measures.ties import TiedRun


def rr(graded: GradedRun, k: int, options: Options) -> Column:
    """Reciprocal rank of the first relevant hit, for every query at once.

    returns   Column in [0, 1]: 1 / rank, 0 for a miss; undefined for a query without a relevant document that counts
    source    Kantor & Voorhees 2000; trec_eval recip_rank
    """
    rel = int(options["rel"])
    hit = graded.grade[:, :k] >= rel
    return Column.of(np.where(hit.any(axis=1), 1 / (hit.argmax(axis=1) + 1), 0.0), graded.count(rel) > 0)


def expected(tied: TiedRun, k: int, options: Options) -> Column:
    """The mean over all orders of tied documents: sum over ranks of the chance that the first relevant hit stands there.

    source   McSherry & Najork 2008
    """
    rel = int(options["rel"])
    none_yet = tied.none_yet(rel, k)
    first = -np.diff(none_yet, axis=1, prepend=1.0)
    return Column.of((first / np.arange(1, k + 1)).sum(axis=1), tied.graded.count(rel) > 0)


MEASURE = MeasureKind(
    name="RR",
    compute=rr,
    expected=expected,
    definition="1 / rank of the first relevant hit (grade {rel} or better) within the first k, 0 for a miss; mean over queries",
    range="0, or 1 / k to 1; undefined without a relevant document",
    ties="hypergeometric: the chance that the first relevant document stands at each place",
    source="Kantor & Voorhees 2000; trec_eval recip_rank",
    options={"rel": (1, 2, 3)},
)
