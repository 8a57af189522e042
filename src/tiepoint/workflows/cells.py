"""Which groups of queries a report may show: none off which the value of a query with a hidden answer could be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.study import Study
from tiepoint.workflows.slices import Slice

Kind: TypeAlias = Literal["subgroups", "regions", "splits"]
SMALL_CELL = 5
"""No figure is over fewer scored queries than this where one of them has an answer that these readers may not see."""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """The queries (positions, at least one) of one group within one slice."""

    slice: Slice
    kind: Kind
    name: str
    queries: NDArray[np.int64]


def cells(study: Study, parts: Sequence[Slice]) -> Iterator[Cell]:
    """Every subgroup, region and split of every slice that has queries of it."""
    queries = study.queries
    members: Mapping[Kind, Sequence[Sequence[str]]] = {
        "subgroups": queries.subgroups,
        "regions": queries.regions,
        "splits": [[split] if split else [] for split in queries.split],
    }
    for kind, names in members.items():
        for name in sorted({n for of in names for n in of}):
            member = np.array([name in of for of in names], dtype=bool)
            for part in parts:
                if len(chosen := part.queries[member[part.queries]]):
                    yield Cell(part, kind, name, chosen)


def told(study: Study) -> NDArray[np.bool_]:
    """(queries,) False where a query has an answer that the readers may not see, so that no value of it may be told."""
    qrels = study.qrels
    found = np.ones(len(study.queries), dtype=bool)
    if not study.corpus.public:
        gold = np.flatnonzero(qrels.grade >= 1)
        absent = qrels.document[gold] < 0
        found[qrels.query[gold[absent | ~study.shown_units[qrels.document[gold]]]]] = False
    return found


def withheld(study: Study, scored: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(queries,) True where a query's value may not be told to these readers: without readers of every scored query."""
    if study.corpus.public:
        return np.zeros_like(scored)
    return scored if study.readers is None else scored & ~told(study)


def shown(study: Study, groups: Sequence[NDArray[np.int64]], scored: NDArray[np.bool_]) -> list[bool]:
    """For each group of queries (positions): False where so few are scored that a figure over them tells of single ones.

    From SMALL_CELL scored queries on a group is shown; a smaller one only to named readers who may see every answer in it.

    scored    (queries of the study,) True where the figure has a value of the query
    """
    if study.corpus.public:
        return [True] * len(groups)
    unsaid = withheld(study, scored)
    named = study.readers is not None
    return [int(scored[of].sum()) >= SMALL_CELL or (named and not unsaid[of].any()) for of in groups]
