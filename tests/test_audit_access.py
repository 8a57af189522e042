"""The permission tests of an audit: they hold on the exact search, and each is broken by a search without its rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from ranked_spaces import DOCUMENTS, ranking, small
from tiepoint.core.audit_findings import AccessTest
from tiepoint.core.corpus import Corpus
from tiepoint.core.gates import Gates
from tiepoint.core.queries import Queries
from tiepoint.core.regions import Regions
from tiepoint.core.run import Run
from tiepoint.core.space import Space
from tiepoint.core.study import Study
from tiepoint.search.eligibility import Eligibility
from tiepoint.search.exact import search
from tiepoint.workflows import slices
from tiepoint.workflows.audit import asked as audit_asked
from tiepoint.workflows.audit import pair as audit_pair
from tiepoint.workflows.audit.access import (
    ALONE,
    CLOSED,
    NO_PASSAGES,
    NO_QUERY,
    NOBODY,
    NONE_FORBIDDEN,
    NOWHERE,
    PLANT,
    PUBLIC,
    READABLE,
    STRANGER,
    AccessFound,
    audit_access,
)
from tiepoint.workflows.audit.asked import may_rank
from tiepoint.workflows.audit.pair import rank_both

EVERYBODY = frozenset({"owner", "member", "planning"})
Asked = Callable[[Queries], Queries]


@pytest.fixture
def study() -> Study:
    """30 documents: a third for the owner alone, a third for members too, two for nobody; four principals."""
    acl = {d: [["owner"], ["owner", "member"], ["owner", "member", "planning"]][i % 3] for i, d in enumerate(DOCUMENTS)}
    acl |= {"d028": [], "d029": []}
    asked = {"q1": ["owner"], "q2": ["member"], "q3": ["planning"], "q4": []}
    made = small(acl, asked, [("q1", "d000", 1), ("q2", "d001", 1)], parents=None)
    regions = [["North"] if i % 2 else ["South"] for i in range(30)]
    strings = pa.list_(pa.string())
    table = made.corpus.table.set_column(4, "regions", pa.array(regions, strings))
    return replace(
        made,
        corpus=replace(made.corpus, table=table),
        regions=Regions(frozenset({"North", "South"})),
        queries=replace(made.queries, regions=(("North",), ("South",), (), ("North",))),
    )


@pytest.fixture
def passages() -> Study:
    """Passages that members may read, of a report that they may not; and of another that they may."""
    acl = {"a": ["owner"], "a#1": ["owner", "member"], "a#2": ["owner", "member"], "b#1": ["owner", "member"]}
    return small(
        acl,
        {"q1": ["member"], "q2": ["owner"]},
        [("q1", "b", 1), ("q2", "a", 1)],
        parents={"a#1": "a", "a#2": "a", "b#1": "b"},
    )


def audited(study: Study) -> AccessFound:
    """The same space on both sides, in which every query ranks what is closed to it before all others."""
    order = dict.fromkeys(study.queries.ids, sorted(study.corpus.ids, key=lambda d: (d[-1] in "147", d)))
    space = ranking(study, order)
    return audit_access(rank_both(study, space, space, Gates(slice="unfiltered")))


def by_name(found: AccessFound, side: str = "target") -> dict[str, AccessTest]:
    return {t.name: t for t in found.access.tests if t.side == side}


def broken(found: AccessFound) -> set[str]:
    names = {t.name for t in found.access.tests if t.broken.count}
    assert names == set(found.findings.column("kind").to_pylist())
    assert found.findings.num_rows == sum(t.broken.count for t in found.access.tests)
    return names


def asking_as(change: Asked, monkeypatch: pytest.MonkeyPatch, *where: object) -> None:
    """Every search asks as `change` says, whoever asks: an adapter that lost its read filter."""

    class Leaking:
        @staticmethod
        def of(corpus: Corpus, queries: Queries, regions: Regions, **kept: object) -> Eligibility:
            return Eligibility.of(corpus, change(queries), regions, **kept)

    for module in where:
        monkeypatch.setattr(module, "Eligibility", Leaking)


def everybody(queries: Queries) -> Queries:
    return replace(queries, groups=(EVERYBODY,) * len(queries))


def test_the_exact_search_holds_on_both_sides_and_every_ranking_was_looked_at(study: Study) -> None:
    found = audited(study)
    assert broken(found) == set()
    for side in ("source", "target"):
        tests = by_name(found, side)
        assert list(tests) == [READABLE, CLOSED, NOBODY, STRANGER, ALONE, PLANT, NOWHERE]
        looked = {name: t.looked_at for name, t in tests.items()}
        # Two views of four queries; three groups and all of them with four queries each, twice; a plant for each principal
        # and for all groups.
        assert looked == {READABLE: 8, CLOSED: 0, NOBODY: 8, STRANGER: 8, ALONE: 32, PLANT: 5, NOWHERE: 4}
        assert {name: t.reason for name, t in tests.items() if t.reason} == {CLOSED: NO_PASSAGES}


def test_V111_a_search_without_the_read_filter_is_found_by_owner_member_and_stranger(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking_as(everybody, monkeypatch, audit_asked, slices)
    found = audited(study)
    assert broken(found) == {READABLE, NOBODY, STRANGER, ALONE, PLANT}
    tests = by_name(found)
    assert tests[READABLE].broken.first == ("q2", "q3", "q4"), "the owner may read all that anybody may"
    assert "group member, query q1" in tests[ALONE].broken.first
    assert not any(name.startswith("group owner") for name in tests[ALONE].broken.first)
    rows = [r for r in found.findings.to_pylist() if r["kind"] == READABLE and r["side"] == "source"]
    assert [(r["section"], r["role"], r["id"], r["field"]) for r in rows[:1]] == [("access", "query", "q2", "document")]
    acl = dict(zip(study.corpus.ids, study.corpus.table.column("acl").to_pylist(), strict=True))
    for row in rows:
        asker = next(g for q, g in zip(study.queries.ids, study.queries.groups, strict=True) if q == row["id"])
        assert not asker & set(acl[row["source"]])
        assert row["target"] is None


def test_V111_one_side_alone_is_named(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = rank_both(study, ranking(study, {}), ranking(study, {}), Gates())
    asking_as(everybody, monkeypatch, slices)
    leaking = rank_both(study, ranking(study, {}), ranking(study, {}), Gates())
    found = audit_access(replace(pair, target=leaking.target))
    assert {(t.name, t.side) for t in found.access.tests if t.broken.count} == {(READABLE, "target")}


def test_a_search_that_finds_nothing_at_all_does_not_pass(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    asking_as(lambda q: replace(q, groups=(frozenset(),) * len(q)), monkeypatch, audit_asked)
    assert broken(audited(study)) == {ALONE}


def test_V112_a_document_that_nobody_may_read_is_found_by_nobody(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = may_rank(study.corpus, EVERYBODY)
    assert [d for d, may in zip(study.corpus.ids, allowed, strict=True) if not may] == ["d028", "d029"]

    class Opened:
        @staticmethod
        def of(corpus: Corpus, queries: Queries, regions: Regions, **kept: object) -> Eligibility:
            """An empty acl taken for a missing one, and that for everybody's."""
            kept.pop("masks", None)  # of the corpus as it is
            acl = [groups or sorted(EVERYBODY) for groups in corpus.table.column("acl").to_pylist()]
            table = corpus.table.set_column(3, "acl", pa.array(acl, pa.list_(pa.string())))
            return Eligibility.of(replace(corpus, table=table), queries, regions, **kept)

    monkeypatch.setattr(audit_asked, "Eligibility", Opened)
    found = audited(study)
    assert PLANT in broken(found)
    assert "all groups, query q1" in by_name(found)[PLANT].broken.first
    rows = [r for r in found.findings.to_pylist() if r["kind"] == PLANT and r["side"] == "source"]
    assert {"d028", "d029"} & {r["source"] for r in rows}


def test_V113_no_groups_that_mean_everybody_are_found(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    asking_as(lambda q: replace(q, groups=tuple(g or EVERYBODY for g in q.groups)), monkeypatch, audit_asked, slices)
    found = audited(study)
    assert broken(found) == {READABLE, NOBODY, PLANT}
    assert by_name(found)[NOBODY].broken.count == 8
    assert by_name(found)[READABLE].broken.first == ("q4",)


def test_V113_an_unknown_group_that_means_everybody_is_found(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    named = replace(study, queries=replace(study.queries, groups=(*study.queries.groups[:3], frozenset({"stranger"}))))

    def change(q: Queries) -> Queries:
        return replace(q, groups=tuple(g if not g or g & EVERYBODY else EVERYBODY for g in q.groups))

    asking_as(change, monkeypatch, audit_asked)
    found = audited(named)
    assert {STRANGER} <= broken(found), "also where a group is really called so"
    assert by_name(found)[NOBODY].broken.count == 0


def test_V072_a_search_that_drops_the_region_filter_is_found(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    asking_as(lambda q: replace(q, regions=((),) * len(q)), monkeypatch, audit_asked)
    found = audited(study)
    assert broken(found) == {NOWHERE}
    assert by_name(found)[NOWHERE].broken.first == ("q1", "q2", "q3"), "q4 has no groups, and finds nothing anyway"
    monkeypatch.undo()
    odd = replace(study, regions=Regions(frozenset({"North", "South", "nowhere"}), aliases={"nowhere-": "North"}))
    assert broken(audited(odd)) == set(), "the region without documents is no name that the study knows"


def test_V108_a_forbidden_nearest_neighbour_moves_nothing_not_even_the_last_bit(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trace(space: Space, eligibility: Eligibility, **how: object) -> Run:
        """Scores that carry how many documents there are, what is forbidden included."""
        run = search(space, eligibility, **how)
        there = float((space.documents.row >= 0).sum())
        return replace(run, score=np.where(run.document >= 0, run.score * (1 + there * 2**-50), run.score))

    monkeypatch.setattr(audit_asked, "search", trace)
    found = audited(study)
    assert broken(found) == {PLANT}
    named = by_name(found)[PLANT]
    assert (named.broken.count, named.broken.first) == (4, ("all groups, query q1", "q1", "q2", "q3"))
    acl = dict(zip(study.corpus.ids, study.corpus.table.column("acl").to_pylist(), strict=True))
    for row in found.findings.to_pylist():
        planted = acl[row[row["side"]]]
        groups = study.queries.groups[study.queries.ids.index(row["id"])]
        assert not groups & set(planted) or not planted, "the planted document is named"


def test_V109_a_parent_whose_own_acl_forbids_it_is_found_in_a_ranking(
    passages: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = audited(passages)
    assert broken(found) == set()
    assert by_name(found)[CLOSED].looked_at == 4
    assert by_name(found)[PLANT].looked_at == 2, (
        "the closed report itself, and a readable passage of it; the owner reads all"
    )

    class Opened:
        @staticmethod
        def of(corpus: Corpus, queries: Queries, regions: Regions, **kept: object) -> Eligibility:
            """As if the report carried the groups of its passages."""
            kept.pop("masks", None)  # of the corpus as it is
            acl = pa.array([["owner", "member"]] * 4, pa.list_(pa.string()))
            return Eligibility.of(
                replace(corpus, table=corpus.table.set_column(3, "acl", acl)), queries, regions, **kept
            )

    monkeypatch.setattr(slices, "Eligibility", Opened)
    monkeypatch.setattr(audit_asked, "Eligibility", Opened)
    leaking = audited(passages)
    assert broken(leaking) == {READABLE, CLOSED, ALONE, PLANT}
    rows = [r for r in leaking.findings.to_pylist() if (r["kind"], r["side"]) == (CLOSED, "target")]
    assert {(r["id"], r["target"]) for r in rows} == {("q1", "a")}


def test_V114_the_summary_names_queries_and_no_document(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    asking_as(everybody, monkeypatch, audit_asked, slices)
    found = audited(study)
    for test in found.access.tests:
        assert not set(DOCUMENTS) & set(" ".join(test.broken.first).split())
        assert len(test.broken.first) <= 10


def test_V115_a_ranking_kept_without_its_principal_is_found(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """One question by two principals; rankings cached by the question's vector alone."""
    same = replace(study, queries=replace(study.queries, regions=((),) * 4))
    order = {q: sorted(DOCUMENTS) for q in ("q1", "q2", "q3", "q4")}
    space = ranking(same, order)
    space = replace(space, queries=replace(space.queries, row=np.zeros(4, dtype=np.int64)))
    assert broken(audit_access(rank_both(same, space, space, Gates()))) == set()

    def cached(space: Space, eligibility: Eligibility, **how: object) -> Run:
        run = search(space, eligibility, **how)
        first = {int(r): i for i, r in reversed(list(enumerate(space.queries.row)))}
        take = np.array([first[int(r)] for r in space.queries.row])
        return replace(
            run,
            document=run.document[take],
            score=run.score[take],
            tied_start=np.zeros(len(take) + 1, dtype=np.int64),
            tied=run.tied[:0],
        )

    monkeypatch.setattr(audit_pair, "search", cached)
    found = audit_access(rank_both(same, space, space, Gates()))
    assert broken(found) == {READABLE}
    assert by_name(found)[READABLE].broken.first == ("q2", "q3", "q4"), "they were answered with q1's ranking"


def test_under_public_what_needs_an_acl_is_not_executed_and_says_so(study: Study) -> None:
    public = replace(study, corpus=replace(study.corpus, public=True))
    tests = by_name(audited(public))
    assert {name for name, t in tests.items() if t.reason == PUBLIC} == set(tests) - {NOWHERE}
    assert all(t.looked_at == 0 for t in tests.values() if t.reason)
    assert (tests[NOWHERE].looked_at, tests[NOWHERE].reason, tests[NOWHERE].broken.count) == (4, None, 0)


def test_without_a_vector_of_any_query_what_must_find_is_not_executed(study: Study) -> None:
    space = ranking(study, {})
    space = replace(space, queries=replace(space.queries, row=np.full(4, -1)))
    tests = by_name(audit_access(rank_both(study, space, space, Gates())))
    assert {name for name, t in tests.items() if t.reason == NO_QUERY} == {ALONE, PLANT}


def test_without_anything_forbidden_the_plant_is_not_executed(study: Study) -> None:
    own = replace(study, queries=replace(study.queries, groups=(frozenset({"owner"}),) * 4))
    found = audit_access(rank_both(own, *(without(own, "d028", "d029") for _ in range(2)), Gates()))
    assert by_name(found)[PLANT].reason == NONE_FORBIDDEN
    assert by_name(found)[PLANT].looked_at == 0


def without(study: Study, *documents: str) -> Space:
    """A space in which these documents have no vector."""
    space = ranking(study, {})
    gone = np.isin(study.corpus.ids, documents)
    return replace(space, documents=replace(space.documents, row=np.where(gone, -1, space.documents.row)))
