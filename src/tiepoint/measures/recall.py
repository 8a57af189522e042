"""recall@k: the share of a query's relevant documents that its first k hits hold."""

from __future__ import annotations

from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Options
from tiepoint.measures.ties import TiedRun


def recall(graded: GradedRun, k: int, options: Options) -> Column:
    """|top k and R| / |R| for every query at once.

    returns   Column in [0, 1]; undefined for a query without a relevant document that counts
    source    Cleverdon, Mills and Keen 1966; trec_eval recall
    """
    rel = int(options["rel"])
    relevant = graded.count(rel)
    found = (graded.grade[:, :k] >= rel).sum(axis=1)
    return Column.of(found / relevant.clip(min=1), relevant > 0)


def expected(tied: TiedRun, k: int, options: Options) -> Column:
    """The mean over all orders of tied documents.

    source   McSherry & Najork 2008
    """
    rel = int(options["rel"])
    relevant = tied.graded.count(rel)
    return Column.of(tied.share(rel, k).sum(axis=1) / relevant.clip(min=1), relevant > 0)


MEASURE = MeasureKind(
    name="recall",
    compute=recall,
    expected=expected,
    definition="share of a query's relevant documents (grade {rel} or better; eligible, or absent from the corpus where the "
    "query has no filter) among its first k hits; mean over queries",
    earlier=(
        "share of a query's relevant documents (grade {rel} or better, eligible or absent from the corpus) among its first k "
        "hits; mean over queries",
    ),
    range="0 to 1; undefined without a relevant document",
    ties="each place holds its group's share of relevant documents",
    source="Cleverdon, Mills & Keen 1966; trec_eval recall",
    options={"rel": (1, 2, 3)},
)
