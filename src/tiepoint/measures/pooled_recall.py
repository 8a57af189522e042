"""pooled_recall@k: all relevant documents found, over all there are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Option


def pooled_recall(graded: GradedRun, k: int, options: Mapping[str, Option]) -> Column:
    """The sum over queries of |top k and R|, over the sum of |R|.

    returns   Column whose mean is the pooled ratio, in [0, 1]; undefined for a query without a relevant document
    source    DESIGN.md, section 5
    """
    rel = int(options["rel"])
    relevant = graded.count(rel)
    found = (graded.grade[:, :k] >= rel).sum(axis=1)
    return Column(found.astype(np.float64), relevant.astype(np.float64), relevant > 0)


MEASURE = MeasureKind(
    name="pooled_recall",
    compute=pooled_recall,
    definition="relevant documents found within the first k hits of all queries together, over all relevant documents",
    options={"rel": (1, 2, 3)},
    pooled=True,
)
