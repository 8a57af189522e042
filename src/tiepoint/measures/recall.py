"""recall@k: the share of a query's relevant documents that its first k hits hold."""

from __future__ import annotations

from collections.abc import Mapping

from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Option


def recall(graded: GradedRun, k: int, options: Mapping[str, Option]) -> Column:
    """|top k and R| / |R| for every query at once.

    returns   Column in [0, 1]; undefined for a query without a relevant document that counts
    source    DESIGN.md, section 5; trec_eval recall
    """
    rel = int(options["rel"])
    relevant = graded.count(rel)
    found = (graded.grade[:, :k] >= rel).sum(axis=1)
    return Column.of(found / relevant.clip(min=1), relevant > 0)


MEASURE = MeasureKind(
    name="recall",
    compute=recall,
    definition="share of a query's relevant documents (grade 1 or better, eligible or absent from the corpus) among its "
    "first k hits; mean over queries",
    options={"rel": (1, 2, 3)},
)
