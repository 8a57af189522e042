"""Judged@k: how much of a ranking the judges have seen."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tiepoint.measures.graded import NO_HIT, UNJUDGED, GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Option


def judged(graded: GradedRun, k: int, options: Mapping[str, Option]) -> Column:
    """The share of the first k hits that carry a judgement of any grade.

    returns   Column in [0, 1]; undefined for a query without hits or without a relevant document that counts
    source    the Judged measure of ir_measures
    """
    del options
    grade = graded.grade[:, :k]
    hits = (grade != NO_HIT).sum(axis=1)
    seen = (grade > UNJUDGED).sum(axis=1)
    return Column.of(seen / np.maximum(hits, 1), (hits > 0) & (graded.count(1) > 0))


MEASURE = MeasureKind(
    name="Judged",
    compute=judged,
    definition="share of the first k hits that carry a judgement of any grade; mean over the scored queries that have hits",
    decides=False,
)
