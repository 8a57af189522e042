"""One space of a fixture, searched by its own query vectors inside permissions, and measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

import numpy as np

from tiepoint.core.corpus import Corpus
from tiepoint.core.fixture import Case, FixtureItem, FixtureSpace
from tiepoint.core.fixture_audit import CaseFigures, Inventory, Means, SpaceFigures
from tiepoint.core.qrels import Qrels
from tiepoint.core.queries import Queries
from tiepoint.core.regions import Regions
from tiepoint.core.run import Run
from tiepoint.core.space import Space, Vectors
from tiepoint.errors import InputError, some
from tiepoint.measures import parse
from tiepoint.measures.graded import UNJUDGED, GradedRun
from tiepoint.search.eligibility import Eligibility
from tiepoint.search.exact import search


def evaluate(space: FixtureSpace, cases: Sequence[Case], k: int) -> SpaceFigures:
    """Every figure of one space.

    cases    in ascending case_id; each asks an item that the space holds
    k        the cut-off, at least 1
    raises   InputError where a score overflows float64
    """
    documents, asked = space.of_role("document"), space.of_role("query")
    corpus = Corpus.from_columns(
        [d.item_id for d in documents], [d.text for d in documents], acl=[d.acl for d in documents]
    )
    eligibility = Eligibility.of(corpus, _queries(cases, asked), Regions(frozenset()), filtered=False)
    # Nothing below the last document can be found or missed, so a larger k gives the same figures.
    depth = min(k, len(documents))
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by name, just below
        run = search(_space(space, cases), eligibility, depth=depth)
    _refuse_overflow(run, cases, space.contract.space_id)
    figures = _measure(run, cases, corpus, eligibility, depth)
    return SpaceFigures(
        contract=space.contract,
        inventory=_inventory(space),
        means=_means(figures),
        subgroups={
            name: _means([case for case in figures if name in case.subgroups])
            for name in sorted({name for case in cases for name in case.subgroups})
        },
        cases=tuple(figures),
        copies=_copies(documents),
    )


def _queries(cases: Sequence[Case], asked: Sequence[FixtureItem]) -> Queries:
    text = {item.item_id: item.text for item in asked}
    none = np.zeros(len(cases), dtype=bool)
    return Queries(
        ids=tuple(case.case_id for case in cases),
        texts=tuple(text[case.query_item_id] for case in cases),
        groups=tuple(case.subject_groups for case in cases),
        regions=((),) * len(cases),
        subgroups=tuple(case.subgroups for case in cases),
        rare=none,
        no_answer=none,
        split=(None,) * len(cases),
        cluster=tuple(case.case_id for case in cases),
        provenance=("unknown",) * len(cases),
    )


def _space(space: FixtureSpace, cases: Sequence[Case]) -> Space:
    """The space in columns: documents aligned with the corpus, query vectors with the cases."""
    documents, asked = space.of_role("document"), space.of_role("query")
    row = {item.item_id: i for i, item in enumerate(asked)}
    return Space(
        space.contract,
        Vectors(np.array([d.vector for d in documents]), np.arange(len(documents))),
        Vectors(np.array([q.vector for q in asked]), np.array([row[case.query_item_id] for case in cases])),
    )


def _refuse_overflow(run: Run, cases: Sequence[Case], space_id: str) -> None:
    ranked = run.document >= 0
    short = ranked.sum(axis=1) < np.minimum(run.eligible, run.depth)
    broken = short | (ranked & ~np.isfinite(run.score)).any(axis=1)
    if broken.any():
        raise InputError(
            f"item: the scores of {int(broken.sum())} cases overflow float64",
            where=f"space {space_id}, cases {some(cases[int(i)].case_id for i in np.flatnonzero(broken))}",
            fix="scale the vectors of this space",
        )


def _measure(
    run: Run, cases: Sequence[Case], corpus: Corpus, eligibility: Eligibility, depth: int
) -> list[CaseFigures]:
    """The figures of every case. GradedRun.of refuses repeated documents and bad grades."""
    ids = corpus.ids
    rows = [(case.case_id, document, grade) for case in cases for document, grade in case.relevance.items()]
    qrels = Qrels.from_rows(rows, query_ids=[case.case_id for case in cases], document_ids=ids)
    eligible = np.zeros((len(cases), len(corpus)), dtype=bool)
    for part in eligibility.parts():
        eligible[np.ix_(part.queries, part.rows)] = True
    counted = (qrels.document < 0) | eligible[qrels.query, qrels.document]
    graded = GradedRun.of(run, qrels, counted)
    recall, rr, ndcg = (parse(f"{name}@{depth}")(graded).values.tolist() for name in ("recall", "RR", "nDCG"))
    found = []
    for i, case in enumerate(cases):
        hits = int((run.document[i] >= 0).sum())
        found.append(
            CaseFigures(
                case_id=case.case_id,
                query_item_id=case.query_item_id,
                result_ids=tuple(ids[row] for row in run.document[i, :hits]),
                scores=tuple(run.score[i, :hits].tolist()),
                recall=_defined(recall[i]),
                rr=_defined(rr[i]),
                ndcg=_defined(ndcg[i]),
                judged=int((graded.grade[i] > UNJUDGED).sum()),
                subgroups=case.subgroups,
            )
        )
    return found


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the defined values, rounded once; None without one."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None


def _means(cases: Sequence[CaseFigures]) -> Means:
    return Means(
        queries=len(cases),
        recall=mean(case.recall for case in cases),
        rr=mean(case.rr for case in cases),
        ndcg=mean(case.ndcg for case in cases),
    )


def _inventory(space: FixtureSpace) -> Inventory:
    norms = [item.norm for item in space.items]
    return Inventory(
        items=len(space.items),
        documents=len(space.of_role("document")),
        queries=len(space.of_role("query")),
        raw_bytes=len(space.items) * space.contract.bytes_per_item,
        norm_min=min(norms),
        norm_median=median(norms),
        norm_max=max(norms),
    )


def _copies(documents: Sequence[FixtureItem]) -> tuple[str, ...]:
    groups: dict[str, list[str]] = {}
    for document in documents:
        groups.setdefault(document.content_sha256, []).append(document.item_id)
    return tuple(" = ".join(group) for group in groups.values() if len(group) > 1)
