"""RR@k: how high the first relevant hit stands."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Option


def rr(graded: GradedRun, k: int, options: Mapping[str, Option]) -> Column:
    """Reciprocal rank of the first relevant hit, for every query at once.

    returns   Column in [0, 1]: 1 / rank, 0 for a miss; undefined for a query without a relevant document that counts
    source    Kantor & Voorhees 2000; trec_eval recip_rank
    """
    rel = int(options["rel"])
    hit = graded.grade[:, :k] >= rel
    return Column.of(np.where(hit.any(axis=1), 1 / (hit.argmax(axis=1) + 1), 0.0), graded.count(rel) > 0)


MEASURE = MeasureKind(
    name="RR",
    compute=rr,
    definition="1 / rank of the first relevant hit (grade 1 or better) within the first k, 0 for a miss; mean over queries",
    options={"rel": (1, 2, 3)},
)
