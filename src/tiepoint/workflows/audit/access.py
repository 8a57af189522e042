"""The same permission tests on both spaces: real searches, checked against the acl itself and not against the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from tiepoint.core.audit_findings import NONE, Access, AccessTest, Offenders
from tiepoint.core.space import Vectors
from tiepoint.stats.resample import stream
from tiepoint.workflows.audit.asked import (
    Broken,
    asked_by,
    every_group,
    findable,
    may_rank,
    nearest_row,
    not_empty,
    of_queries,
    outside,
    same_bits,
    search_as,
    told_groups,
)
from tiepoint.workflows.audit.findings import FINDINGS
from tiepoint.workflows.audit.pair import Pair, Side

ASKED = 10
"""Queries with which each group asks by itself; drawn by the study's seed where there are more."""
PLANTED = 50
"""Principals for whom a forbidden neighbour is planted; drawn by the study's seed where there are more."""
FIRST = 10
"""Offenders that a test names; the findings name all."""
READABLE = "no ranking holds what its principal may not read"
CLOSED = "no ranking holds a parent whose own acl forbids it"
NOBODY = "a principal without groups finds nothing"
STRANGER = "a principal whose group nobody knows finds nothing"
ALONE = "each group alone, and all groups together, find all that they may read and nothing else"
PLANT = "a forbidden document as near as the nearest changes no bit of the ranking"
NOWHERE = "a region without documents finds nothing"
PUBLIC = "the study is public: everybody may read every document"
NO_PASSAGES = "passages are not declared: no ranking holds a parent"
NO_QUERY = "no query has a vector"
NONE_FORBIDDEN = "every principal of the queries may read every document that has a vector"


@dataclass(frozen=True, slots=True, eq=False)
class AccessFound:
    """The summary, and its rows of the owner's table findings of core.audit.Audit: one for each broken ranking.

    findings   section "access", side, kind (the test), role "query", id (the query), field "document", and under the side's
               own name the first document that should not have been there (null: one is missing, or a bit changed)
    """

    access: Access
    findings: pa.Table


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """What one test saw: rankings looked at, and those that broke it; or why it was not executed."""

    rankings: int = 0
    broken: tuple[Broken, ...] = ()
    reason: str | None = None


_Test: TypeAlias = Callable[[Pair, Side], _Looked]


def audit_access(pair: Pair) -> AccessFound:
    """Every permission test on both sides. Under public those that need an acl are not executed, with that reason.

    A broken test is a finding, never an error; the tests search with the pair's depth.
    """
    tests: list[AccessTest] = []
    rows: list[tuple[str, str, Broken]] = []
    for name, test in TESTS.items():
        for side in pair.sides:
            looked = _Looked(reason=PUBLIC) if pair.study.corpus.public and name != NOWHERE else test(pair, side)
            labels = tuple(sorted({b.label for b in looked.broken})[:FIRST])
            broken = Offenders(len(looked.broken), labels) if looked.broken else NONE
            tests.append(
                AccessTest(name=name, side=side.name, looked_at=looked.rankings, broken=broken, reason=looked.reason)
            )
            rows += [(side.name, name, b) for b in looked.broken]
    columns = {
        "section": ["access"] * len(rows),
        "side": [side for side, _, _ in rows],
        "kind": [name for _, name, _ in rows],
        "role": ["query"] * len(rows),
        "id": [b.query for _, _, b in rows],
        "field": ["document"] * len(rows),
        "source": [b.document if side == "source" else None for side, _, b in rows],
        "target": [b.document if side == "target" else None for side, _, b in rows],
    }
    return AccessFound(Access(tests=tuple(tests)), pa.table(columns, schema=FINDINGS))


def _readable(pair: Pair, side: Side) -> _Looked:
    """The rankings that every figure of the audit is made from, under every view."""
    looked = 0
    broken: list[Broken] = []
    for measured in side.arm.views.values():
        looked += len(measured.run)
        broken += outside(pair, measured.run, pair.study.queries, lambda groups: may_rank(pair.study.corpus, groups))
    return _Looked(looked, tuple(broken))


def _closed(pair: Pair, side: Side) -> _Looked:
    """Only parents that are documents have an acl of their own; the others are readable where all their passages are."""
    corpus = pair.study.corpus
    if corpus.units.plain:
        return _Looked(reason=NO_PASSAGES)
    looked = 0
    broken: list[Broken] = []
    for measured in side.arm.views.values():
        looked += len(measured.run)
        broken += outside(
            pair, measured.run, pair.study.queries, lambda groups: corpus.units_readable(corpus.readable(groups))
        )
    return _Looked(looked, tuple(broken))


def _nobody(pair: Pair, side: Side) -> _Looked:
    return _finds_nothing(pair, side, frozenset())


def _stranger(pair: Pair, side: Side) -> _Looked:
    name = "stranger"
    while name in every_group(pair):
        name += "-"
    return _finds_nothing(pair, side, frozenset([name]))


def _finds_nothing(pair: Pair, side: Side, groups: frozenset[str]) -> _Looked:
    """Every query, asked by this principal, without and with its own filter."""
    every = np.arange(len(pair.study.queries))
    asked = asked_by(pair.study.queries, every, [groups] * len(every))
    broken: list[Broken] = []
    for filtered in (False, True):
        broken += not_empty(pair, search_as(pair, of_queries(side.space, every), asked, filtered=filtered), asked)
    return _Looked(2 * len(every), tuple(broken))


def _nowhere(pair: Pair, side: Side) -> _Looked:
    """Every query by its own principal, under a region that no document and no table of regions knows."""
    corpus, regions = pair.study.corpus, pair.study.regions
    name = "nowhere"
    while name in {*corpus.region_names(), *regions.names, *regions.aliases}:
        name += "-"
    every = np.arange(len(pair.study.queries))
    asked = replace(asked_by(pair.study.queries, every, pair.study.queries.groups), regions=((name,),) * len(every))
    found = search_as(pair, of_queries(side.space, every), asked, filtered=True)
    return _Looked(len(every), tuple(not_empty(pair, found, asked)))


def _alone(pair: Pair, side: Side) -> _Looked:
    """Member, stranger to the other groups, and owner of all: some queries with each group by itself and with all at once.

    Without a filter a ranking must also hold as many hits as there are, so that finding nothing at all breaks the test.
    """
    corpus, names = pair.study.corpus, every_group(pair)
    principals = {f"group {name}": frozenset([name]) for name in names} | {"all groups": frozenset(names)}
    able = np.flatnonzero(side.space.queries.row >= 0)
    if not len(able):
        return _Looked(reason=NO_QUERY)
    drawn = stream(pair.study.seed, "audit access", "alone").permutation(len(able))[:ASKED]
    chosen = np.sort(able[drawn])
    positions = np.tile(chosen, len(principals))
    told = told_groups(pair)
    tellable = {
        who: who if groups <= told or len(groups) > 1 else "another group" for who, groups in principals.items()
    }
    labels = [f"{tellable[who]}, query {pair.study.queries.ids[q]}" for who in principals for q in chosen]
    asked = asked_by(pair.study.queries, positions, [groups for groups in principals.values() for _ in chosen])
    space = of_queries(side.space, positions)
    allowed = {groups: may_rank(corpus, groups) for groups in principals.values()}
    plain, narrow = (search_as(pair, space, asked, filtered=filtered) for filtered in (False, True))
    broken = [b for run in (plain, narrow) for b in outside(pair, run, asked, lambda groups: allowed[groups], labels)]
    there = {groups: findable(pair, side, groups) for groups in principals.values()}
    for i, groups in enumerate(asked.groups):
        if int((plain.document[i] >= 0).sum()) < min(there[groups], plain.depth):
            broken.append(Broken(asked.ids[i], labels[i], None))
    return _Looked(2 * len(chosen) * sum(who == shown for who, shown in tellable.items()), tuple(broken))


def _plant(pair: Pair, side: Side) -> _Looked:
    """A forbidden document becomes as near as the nearest hit, and the ranking must stay what it is without that document.

    It takes the vector of the query's best hit, so that it ties with that at the top whatever the metric, and no vectors are
    copied. The ranking is compared bit for bit, ties beyond the depth included, with that of a space in which nothing
    forbidden has a vector. Where passages are declared, a readable passage of a closed parent is planted too. All groups
    together ask as well, for whom a document that nobody may read is planted.
    """
    corpus, vectors = pair.study.corpus, side.space.documents
    able = np.flatnonzero(side.space.queries.row >= 0)
    if not len(able):
        return _Looked(reason=NO_QUERY)
    rng = stream(pair.study.seed, "audit access", "planted")
    first: dict[frozenset[str], int] = {}
    for i in able:
        first.setdefault(pair.study.queries.groups[i], int(i))
    principals = list(first)
    chosen = [principals[p] for p in np.sort(rng.permutation(len(principals))[:PLANTED])]
    all_groups = frozenset(every_group(pair))
    looked = 0
    broken: list[Broken] = []
    for groups in dict.fromkeys([*chosen, all_groups]):
        readable = corpus.readable(groups)
        allowed = readable & may_rank(corpus, groups)[corpus.units.of_row]
        has = vectors.row >= 0
        position = np.array([first.get(groups, int(able[0]))])
        asked, space = asked_by(pair.study.queries, position, [groups]), of_queries(side.space, position)
        bare = replace(space, documents=Vectors(vectors.array, np.where(allowed, vectors.row, -1)))
        expected = search_as(pair, bare, asked, filtered=False)
        near = nearest_row(pair, bare, expected)
        for closed in (has & ~readable, has & readable & ~allowed):
            if not closed.any():
                continue
            plant = int(rng.choice(np.flatnonzero(closed)))
            row = vectors.row.copy()
            row[plant] = row[plant if near is None else near]
            found = search_as(pair, replace(space, documents=Vectors(vectors.array, row)), asked, filtered=False)
            looked += 1
            if not same_bits(found, expected, 0):
                label = asked.ids[0] if groups in first else f"all groups, query {asked.ids[0]}"
                broken.append(Broken(asked.ids[0], label, corpus.table.column("id")[plant].as_py()))
    return _Looked(looked, tuple(broken)) if looked else _Looked(reason=NONE_FORBIDDEN)


TESTS: dict[str, _Test] = {
    READABLE: _readable,
    CLOSED: _closed,
    NOBODY: _nobody,
    STRANGER: _stranger,
    ALONE: _alone,
    PLANT: _plant,
    NOWHERE: _nowhere,
}
"""Name to test, in the order of the report."""
