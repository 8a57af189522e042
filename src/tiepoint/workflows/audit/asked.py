"""Searches of an audit by other principals than the queries' own, and what their rankings may hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.corpus import Corpus
from tiepoint.core.queries import Queries
from tiepoint.core.run import Run
from tiepoint.core.space import Space, Vectors
from tiepoint.search.eligibility import Eligibility
from tiepoint.search.exact import search
from tiepoint.search.score import score
from tiepoint.workflows.audit.pair import Pair, Side


@dataclass(frozen=True, slots=True)
class Broken:
    """One ranking that broke a test. label: as the summary names it."""

    query: str
    label: str
    document: str | None


def may_rank(corpus: Corpus, groups: frozenset[str]) -> NDArray[np.bool_]:
    """(units,) True where a ranking for these groups may hold the unit: from the acl alone, whatever the search does.

    The unit itself may be read, and so may at least one document that stands for it.
    """
    readable = corpus.readable(groups)
    held = np.zeros(len(corpus.units.ids), dtype=bool)
    held[corpus.units.of_row[readable]] = True
    allowed: NDArray[np.bool_] = held & corpus.units_readable(readable)
    return allowed


def every_group(pair: Pair) -> list[str]:
    """Every group that a document or a query names, sorted."""
    named = pc.unique(pc.list_flatten(pair.study.corpus.table.column("acl"))).to_pylist()
    return sorted({*named, *(g for groups in pair.study.queries.groups for g in groups)})


def told_groups(pair: Pair) -> frozenset[str]:
    """The groups that a report may name or count: those of queries, and of documents that its readers may see."""
    shown = pair.study.corpus.table.column("acl").filter(pa.array(pair.study.shown))
    return frozenset(pc.unique(pc.list_flatten(shown)).to_pylist()).union(*pair.study.queries.groups)


def asked_by(queries: Queries, positions: NDArray[np.int64], groups: Sequence[frozenset[str]]) -> Queries:
    """Some of the queries, again and in any order, each asked by these groups; nothing is excluded for its source."""
    return Queries(
        ids=tuple(queries.ids[i] for i in positions),
        texts=tuple(queries.texts[i] for i in positions),
        groups=tuple(groups),
        regions=tuple(queries.regions[i] for i in positions),
        subgroups=((),) * len(positions),
        rare=queries.rare[positions],
        no_answer=queries.no_answer[positions],
        split=(None,) * len(positions),
        cluster=tuple(queries.cluster[i] for i in positions),
        provenance=tuple(queries.provenance[i] for i in positions),
    )


def of_queries(space: Space, positions: NDArray[np.int64]) -> Space:
    """The space with the vectors of these queries, in this order."""
    return Space(space.contract, space.documents, Vectors(space.queries.array, space.queries.row[positions]))


def search_as(pair: Pair, space: Space, asked: Queries, *, filtered: bool) -> Run:
    """Search a space for these queries, which stand in its order, as deep as the audit's own rankings."""
    depth = next(iter(pair.source.arm.views.values())).run.depth
    masks = next(iter(pair.by_view.values())).eligibility.masks
    eligibility = Eligibility.of(pair.study.corpus, asked, pair.study.regions, filtered=filtered, masks=masks)
    prepared = next((s.prepared for s in pair.sides if s.space.documents.array is space.documents.array), None)
    return search(space, eligibility, depth=depth, tolerance=pair.study.tie_tolerance, prepared=prepared)


def outside(
    pair: Pair,
    run: Run,
    asked: Queries,
    allowed: Callable[[frozenset[str]], NDArray[np.bool_]],
    labels: Sequence[str] | None = None,
) -> list[Broken]:
    """Rankings that hold a unit outside what their principal is allowed, ties beyond the depth included."""
    by_groups: dict[frozenset[str], list[int]] = {}
    for i, groups in enumerate(asked.groups):
        by_groups.setdefault(groups, []).append(i)
    broken = []
    for groups, members in by_groups.items():
        mask = allowed(groups)
        for i in members:
            held = np.concatenate([run.document[i], run.tied[run.tied_start[i] : run.tied_start[i + 1]]])
            wrong = [u for u in held if u >= 0 and not mask[u]]
            if wrong:
                label = asked.ids[i] if labels is None else labels[i]
                broken.append(Broken(asked.ids[i], label, pair.study.corpus.units.ids[wrong[0]]))
    return broken


def not_empty(pair: Pair, run: Run, asked: Queries) -> list[Broken]:
    """Rankings that should be empty and hold something."""
    units = pair.study.corpus.units.ids
    return [
        Broken(asked.ids[i], asked.ids[i], units[run.document[i, 0]]) for i in np.flatnonzero(run.document[:, 0] >= 0)
    ]


def findable(pair: Pair, side: Side, groups: frozenset[str]) -> int:
    """How many units these groups can find: allowed, with a readable document that has a vector."""
    corpus = pair.study.corpus
    rows = np.flatnonzero(corpus.readable(groups) & (side.space.documents.row >= 0))
    units = np.unique(corpus.units.of_row[rows])
    return int(may_rank(corpus, groups)[units].sum())


def nearest_row(pair: Pair, space: Space, run: Run) -> int | None:
    """The document that stands at the top of the run's first ranking, or stands for its parent there; None: it is empty."""
    top = int(run.document[0, 0])
    if top < 0:
        return None
    rows = np.flatnonzero((pair.study.corpus.units.of_row == top) & (space.documents.row >= 0))
    asked = space.queries.array[space.queries.row[:1]]
    scores = score(asked, space.documents.array[space.documents.row[rows]], space.contract.metric)[0]
    return int(rows[scores.argmax()])


def same_bits(one: Run, other: Run, query: int) -> bool:
    """True where one query's hits, scores and ties beyond the depth are equal in both runs, bit for bit."""
    mine, theirs = (slice(run.tied_start[query], run.tied_start[query + 1]) for run in (one, other))
    return (
        one.document[query].tobytes() == other.document[query].tobytes()
        and one.score[query].tobytes() == other.score[query].tobytes()
        and np.array_equal(one.tied[mine], other.tied[theirs])
    )
