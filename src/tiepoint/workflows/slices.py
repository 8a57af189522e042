"""Slices: which queries a figure is over, under which filter, and which judgements count there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.figure import Denominators
from tiepoint.core.study import Study
from tiepoint.measures.measure import Measure
from tiepoint.search.eligibility import Eligibility
from tiepoint.search.masks import Masks

UNFILTERED = "unfiltered"
FILTERED = "filtered"


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One way to search: inside permissions alone, or also under each query's own filter.

    eligibility   of every query
    counted       (judgements,) True where the judged document is in R: eligible, or absent from the corpus where the
                  query has no filter
    readable      (judgements,) True where the document is in the corpus and the principal may read it
    eligible      (queries,) int64: how many documents each may be answered with
    """

    name: str
    eligibility: Eligibility
    counted: NDArray[np.bool_]
    readable: NDArray[np.bool_]
    eligible: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """A name of core.study.SLICES, the positions of its queries, and the view that they are searched under."""

    name: str
    queries: NDArray[np.int64]
    view: View


def views(study: Study) -> dict[str, View]:
    """The two ways to search a study."""
    masks = Masks.of(study.corpus)
    plain = Eligibility.of(study.corpus, study.queries, study.regions, filtered=False, masks=masks)
    narrow = Eligibility.of(study.corpus, study.queries, study.regions, filtered=True, masks=masks)
    readable, admitted = _admitted(study, plain), _admitted(study, narrow)
    absent = study.qrels.document < 0
    no_filter = ~study.queries.has_region[study.qrels.query]
    return {
        UNFILTERED: View(UNFILTERED, plain, readable | absent, readable, plain.eligible),
        FILTERED: View(FILTERED, narrow, admitted | (absent & no_filter), readable, narrow.eligible),
    }


def slices(study: Study, by_name: dict[str, View]) -> list[Slice]:
    """All queries without the filter; those with a region under it, and without it; rare ones under it. Each may hold none."""
    every = np.arange(len(study.queries))
    placed = np.flatnonzero(study.queries.has_region)
    return [
        Slice("unfiltered", every, by_name[UNFILTERED]),
        Slice("filtered", placed, by_name[FILTERED]),
        Slice("unfiltered_same", placed, by_name[UNFILTERED]),
        Slice("rare", np.flatnonzero(study.queries.rare), by_name[FILTERED]),
    ]


def scored(study: Study, view: View, measure: Measure | None = None) -> NDArray[np.bool_]:
    """(queries,) True where a query has a relevant document that counts and is not flagged as having no answer.

    measure   one that can decide: relevant is what it takes as relevant, so that it has a value of these queries and of no
              other, whatever the run; None: a document of any grade from 1 on, as where no measure is meant
    """
    least = 1 if measure is None else measure.least_grade
    gold = view.counted & (study.qrels.grade >= least)
    has = np.bincount(study.qrels.query[gold], minlength=len(study.queries)) > 0
    return has & ~study.queries.no_answer


def denominators(study: Study, part: Slice) -> Denominators:
    """Who stands in the means of a slice and why the others do not."""
    qrels, chosen = study.qrels, part.queries
    inside = np.zeros(len(study.queries), dtype=bool)
    inside[chosen] = True
    counts = scored(study, part.view)
    flagged, judged = study.queries.no_answer, qrels.judged
    gold = inside[qrels.query] & (qrels.grade >= 1)
    absent = gold & (qrels.document < 0)
    return Denominators(
        queries=len(chosen),
        scored=int(counts[chosen].sum()),
        no_relevant=int((judged & ~counts & ~flagged)[chosen].sum()),
        not_judged=int((~judged & ~flagged)[chosen].sum()),
        no_answer=int(flagged[chosen].sum()),
        left_out=len(study.queries) - len(chosen),
        few_eligible=int((part.view.eligible <= study.k)[chosen].sum()),
        gold=int(gold.sum()),
        gold_filtered=int((gold & part.view.readable & ~part.view.counted).sum()),
        gold_absent=int(absent.sum()),
        gold_ceiling=_ceiling(study, part, counts),
    )


def _ceiling(study: Study, part: Slice, counts: NDArray[np.bool_]) -> float | None:
    """The mean recall that a perfect ranking could reach: judged documents that the corpus lacks cannot be found."""
    gold = part.view.counted & (study.qrels.grade >= 1)
    size = len(study.queries)
    relevant = np.bincount(study.qrels.query[gold], minlength=size)
    present = np.bincount(study.qrels.query[gold & (study.qrels.document >= 0)], minlength=size)
    chosen = part.queries[counts[part.queries]]
    return float((present[chosen] / relevant[chosen]).mean()) if len(chosen) else None


def _admitted(study: Study, eligibility: Eligibility) -> NDArray[np.bool_]:
    """(judgements,) True where the judged document is eligible for its query."""
    qrels = study.qrels
    admitted = np.zeros(len(qrels), dtype=bool)
    entry = eligibility.group[qrels.query]
    for number, part in enumerate(eligibility.parts()):
        mine = np.flatnonzero((entry == number) & (qrels.document >= 0))
        eligible = np.zeros(len(study.corpus.units.ids), dtype=bool)
        eligible[part.units] = True
        admitted[mine] = eligible[qrels.document[mine]]
    return admitted
