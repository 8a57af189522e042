"""pooled_recall@k: all relevant documents found, over all there are."""

from __future__ import annotations

import numpy as np

from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Options
from tiepoint.measures.ties import TiedRun


def pooled_recall(graded: GradedRun, k: int, options: Options) -> Column:
    """The sum over queries of |top k and R|, over the sum of |R|.

    returns   Column whose mean is the pooled ratio, in [0, 1]; undefined for a query without a relevant document
    source    the micro-averaged recall of Lewis 1991
    """
    rel = int(options["rel"])
    relevant = graded.count(rel)
    found = (graded.grade[:, :k] >= rel).sum(axis=1)
    return Column(found.astype(np.float64), relevant.astype(np.float64), relevant > 0)


def expected(tied: TiedRun, k: int, options: Options) -> Column:
    """The mean over all orders of tied documents; no order moves a denominator."""
    rel = int(options["rel"])
    relevant = tied.graded.count(rel)
    return Column(tied.share(rel, k).sum(axis=1), relevant.astype(np.float64), relevant > 0)


MEASURE = MeasureKind(
    name="pooled_recall",
    compute=pooled_recall,
    expected=expected,
    definition="relevant documents (grade {rel} or better) found within the first k hits of all queries together, over all "
    "relevant documents",
    range="0 to 1; a query without a relevant document adds nothing",
    ties="each place holds its group's share of relevant documents",
    source="the micro-averaged recall of Lewis 1991",
    options={"rel": (1, 2, 3)},
    pooled=True,
)
