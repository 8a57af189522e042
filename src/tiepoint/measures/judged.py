"""Judged@k: how much of a ranking the judges have seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiepoint.measures.graded import NO_HIT, UNJUDGED, GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Options
from tiepoint.measures.ties import TiedRun


def judged(graded: GradedRun, k: int, options: Options) -> Column:
    """The share of the first k hits that carry a judgement of any grade.

    returns   Column in [0, 1]; undefined for a query without hits or without a relevant document that counts
    source    the Judged measure of ir_measures
    """
    del options
    return _column(graded, k, (graded.grade[:, :k] > UNJUDGED).sum(axis=1))


def expected(tied: TiedRun, k: int, options: Options) -> Column:
    """The mean over all orders of tied documents."""
    del options
    return _column(tied.graded, k, tied.share(0, k).sum(axis=1))


def _column(graded: GradedRun, k: int, seen: NDArray[np.int64] | NDArray[np.float64]) -> Column:
    hits = (graded.grade[:, :k] != NO_HIT).sum(axis=1)
    return Column.of(seen / np.maximum(hits, 1), (hits > 0) & (graded.count(1) > 0))


MEASURE = MeasureKind(
    name="Judged",
    compute=judged,
    expected=expected,
    definition="share of the first k hits that carry a judgement of any grade; mean over the scored queries that have hits",
    range="0 to 1; undefined without a hit or without a relevant document",
    ties="each place holds its group's share of judged documents",
    source="ir_measures Judged",
    decides=False,
)
