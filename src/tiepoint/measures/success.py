"""Success@k: whether any relevant document stands in the first k hits."""

from __future__ import annotations

import numpy as np

from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Options
from tiepoint.measures.ties import TiedRun


def success(graded: GradedRun, k: int, options: Options) -> Column:
    """1 where one of the first k hits is relevant, else 0; undefined for a query without a relevant document."""
    rel = int(options["rel"])
    hit = (graded.grade[:, :k] >= rel).any(axis=1)
    return Column.of(np.where(hit, 1.0, 0.0), graded.count(rel) > 0)


def expected(tied: TiedRun, k: int, options: Options) -> Column:
    """The share of all orders of tied documents that have a relevant one within the first k."""
    rel = int(options["rel"])
    return Column.of(1 - tied.none_yet(rel, k)[:, -1], tied.graded.count(rel) > 0)


MEASURE = MeasureKind(
    name="Success",
    compute=success,
    expected=expected,
    definition="1 where a relevant document (grade {rel} or better) stands within the first k hits, else 0; mean over queries",
    range="0 or 1; undefined without a relevant document",
    ties="hypergeometric: the chance that a relevant document stands within the first k",
    source="trec_eval success",
    options={"rel": (1, 2, 3)},
    binary=True,
)
