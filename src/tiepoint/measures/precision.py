"""P@k: how many of the first k hits are relevant."""

from __future__ import annotations

from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Options
from tiepoint.measures.ties import TiedRun


def precision(graded: GradedRun, k: int, options: Options) -> Column:
    """|top k and R| / k for every query at once, whether or not a ranking holds k hits.

    returns   Column in [0, 1]; undefined for a query without a relevant document that counts
    source    trec_eval P_k
    """
    rel = int(options["rel"])
    found = (graded.grade[:, :k] >= rel).sum(axis=1)
    return Column.of(found / k, graded.count(rel) > 0)


def expected(tied: TiedRun, k: int, options: Options) -> Column:
    """The mean over all orders of tied documents.

    source   McSherry & Najork 2008
    """
    rel = int(options["rel"])
    return Column.of(tied.share(rel, k).sum(axis=1) / k, tied.graded.count(rel) > 0)


MEASURE = MeasureKind(
    name="P",
    compute=precision,
    expected=expected,
    definition="relevant documents (grade {rel} or better) among the first k hits, over k, also where there are fewer hits; "
    "mean over queries",
    range="0 to 1; undefined without a relevant document",
    ties="each place holds its group's share of relevant documents",
    source="Cleverdon, Mills & Keen 1966; trec_eval P",
    options={"rel": (1, 2, 3)},
)
