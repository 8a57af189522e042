"""Studies with spaces to rank them: made studies with their vectors, and small ones whose rankings are written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import tiepoint as tp
from sample import contract
from test_differential import written
from tiepoint.core.audit_quality import Delta, Quality
from tiepoint.core.corpus import Corpus
from tiepoint.core.qrels import Qrels
from tiepoint.core.queries import Queries
from tiepoint.core.regions import Regions
from tiepoint.core.space import Space, Vectors
from tiepoint.core.study import Rule, Study

DOCUMENTS = [f"d{i:03d}" for i in range(30)]
RULE = {"measure": "nDCG@5", "slice": "unfiltered"}


def made_pair(folder: Path, made: dict) -> tuple[Study, Space, Space]:
    """A made study of test_differential, with its first two arms as source and target."""
    study = tp.load_study(written(folder, made, RULE))
    source, target = (space_of(study, arm) for arm in made["arms"][:2])
    return study, source, target


def space_of(study: Study, arm: dict) -> Space:
    """The vectors of an arm, aligned with the study."""

    def vectors(texts: Sequence[str]) -> Vectors:
        rows = [arm["vectors"][text] for text in texts]
        array = np.array([row or [0] * arm["dimension"] for row in rows], dtype=np.float32)
        return Vectors(array, np.array([-1 if row is None else i for i, row in enumerate(rows)]))

    stated = contract(arm["dimension"], metric=arm["metric"])
    return Space(stated, vectors(study.corpus.texts), vectors(study.queries.texts))


def small(
    documents: Mapping[str, Sequence[str]] | Sequence[str],
    queries: Mapping[str, Sequence[str]] | Sequence[str],
    judgements: Sequence[tuple[str, str, int]],
    *,
    pooled: bool = False,
    parents: Mapping[str, str] | None = None,
    **columns: object,
) -> Study:
    """A study in memory. documents, queries: ids to groups, or ids alone in a public study. columns: of the queries."""
    ids, asked = list(documents), sorted(queries)
    public = not isinstance(documents, Mapping)
    corpus = Corpus.from_columns(
        ids,
        [f"text of {i}" for i in ids],
        acl=None if public else [documents[i] for i in ids],
        parents=None if parents is None else [parents.get(i) for i in ids],
    )
    n = len(asked)
    plain = Queries(
        ids=tuple(asked),
        texts=tuple(f"question {q}" for q in asked),
        groups=tuple(frozenset(() if public else queries[q]) for q in asked),
        regions=((),) * n,
        subgroups=((),) * n,
        rare=np.zeros(n, dtype=bool),
        no_answer=np.zeros(n, dtype=bool),
        split=(None,) * n,
        cluster=tuple(asked),
        provenance=("unknown",) * n,
    )
    return Study(
        folder=Path(),
        name="small",
        k=10,
        measures=("recall@10", "nDCG@10"),
        seed=3,
        corpus=corpus,
        queries=replace(plain, **columns),
        qrels=Qrels.from_rows(judgements, query_ids=asked, document_ids=corpus.units.ids, pooled=pooled),
        regions=Regions(frozenset()),
        rule=Rule(measure="recall@10", slice="unfiltered", gap=0.05),
    )


def ranking(study: Study, wanted: Mapping[str, Sequence[str]]) -> Space:
    """A space in which each query ranks these documents in this order, and then all others as equals."""
    row = {name: i for i, name in enumerate(study.corpus.ids)}
    asked = len(study.queries)
    documents = np.zeros((len(row), asked), dtype=np.float32)
    for q, name in enumerate(study.queries.ids):
        for place, document in enumerate(wanted.get(name, ())):
            documents[row[document], q] = 1000 - place
    return Space(
        contract(asked, metric="dot"),
        Vectors(documents, np.arange(len(row))),
        Vectors(np.eye(asked, dtype=np.float32), np.arange(asked)),
    )


def lists(wanted: dict[str, tuple[int, int]]) -> dict[str, list[str]]:
    """Ten hits for each query: the first of its ten relevant documents d000.., then others that are not. (found, other)."""
    return {q: [*DOCUMENTS[:found], *DOCUMENTS[other : other + 10 - found]] for q, (found, other) in wanted.items()}


def judged_all(queries: list[str], relevant: int = 10) -> list[tuple[str, str, int]]:
    return [(q, d, 1 if i < relevant else 0) for q in queries for i, d in enumerate(DOCUMENTS)]


def whole(
    quality: Quality, measure: str = "recall@10", subgroup: str | None = None, region: str | None = None
) -> Delta:
    wanted = ("unfiltered", measure, subgroup, region)
    return next(d for d in quality.deltas if (d.slice, d.measure, d.subgroup, d.region) == wanted)
