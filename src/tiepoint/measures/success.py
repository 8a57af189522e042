"""Success@k: whether any relevant document stands in the first k hits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Option


def success(graded: GradedRun, k: int, options: Mapping[str, Option]) -> Column:
    """1 where one of the first k hits is relevant, else 0; undefined for a query without a relevant document."""
    rel = int(options["rel"])
    hit = (graded.grade[:, :k] >= rel).any(axis=1)
    return Column.of(np.where(hit, 1.0, 0.0), graded.count(rel) > 0)


MEASURE = MeasureKind(
    name="Success",
    compute=success,
    definition="1 where a relevant document (grade 1 or better) stands within the first k hits, else 0; mean over queries",
    options={"rel": (1, 2, 3)},
    binary=True,
)
