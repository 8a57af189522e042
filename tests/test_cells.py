"""Which groups are shown: off none of their figures can the value of a query with a hidden answer be read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ranked_spaces import DOCUMENTS, ranking, small
from test_audit_groups import judged, moved
from tiepoint.core.gates import Gates
from tiepoint.core.study import Study
from tiepoint.measures import parse
from tiepoint.workflows.audit.pair import rank_both
from tiepoint.workflows.audit.quality import audit_quality
from tiepoint.workflows.audit.sections import _too_small
from tiepoint.workflows.bench.groups import group_sizes
from tiepoint.workflows.bench.suspects import suspects
from tiepoint.workflows.cells import told, withheld
from tiepoint.workflows.figures import ArmRun, figures, measure_views
from tiepoint.workflows.slices import slices, views

SECRET = {d: ["staff"] if i < 20 else ["staff", "planning"] for i, d in enumerate(DOCUMENTS)}
READERS = [None, ("planning",)]


def asked(sizes: dict[str, int], *, unscored: int = 0, open_: int = 0, readers: tuple[str, ...] | None = None) -> Study:
    """So many queries of each region, of which the first have no answer in the corpus' judgements; the last open_ are told."""
    regions = [name for name, size in sizes.items() for _ in range(size)]
    names = [f"q{i:03d}" for i in range(len(regions))]
    gold = [
        (q, d, 1)
        for i, q in enumerate(names)
        if i >= unscored
        for d in (DOCUMENTS[20:] if i >= len(names) - open_ else DOCUMENTS[:10])
    ]
    study = small(SECRET, {q: ["staff"] for q in names}, gold, regions=tuple((name,) for name in regions))
    return replace(study, readers=readers)


def named(study: Study) -> tuple[set[str | None], set[str], set[str]]:
    """The regions that an audit shows, and that a benchmark shows figures and sizes of."""
    space = ranking(study, dict.fromkeys(study.queries.ids, DOCUMENTS[:3]))
    pair = rank_both(study, space, space, Gates())
    audited = {d.region for d in audit_quality(pair).quality.deltas if d.slice == "unfiltered"} - {None}
    by_view = views(study)
    parts = list(slices(study, by_view))
    runs = {name: pair.source.arm.views[name].run for name in by_view}
    arm = ArmRun("one", measure_views(study, by_view, runs, [parse(m) for m in study.measures]))
    regions = figures(study, [arm], parts)["one"].regions
    valued = {r for r, of in regions.items() if "unfiltered" in of and of["unfiltered"]["recall@10"].n}
    sized = {r for r, of in group_sizes(study, "regions", parts).items() if "unfiltered" in of}
    assert valued == sized == audited
    return audited, valued, sized


@pytest.mark.parametrize("readers", READERS)
def test_a_region_of_one_query_with_a_hidden_answer_is_not_shown(readers: tuple[str, ...] | None) -> None:
    study = asked({"one": 1, "two": 12, "three": 13}, readers=readers)
    assert not told(study).any()
    assert named(study)[0] == {"two", "three"}
    pair = moved(study, dict.fromkeys(study.queries.ids, 4), dict.fromkeys(study.queries.ids, 2), Gates())
    assert {d.region for d in audit_quality(pair).quality.deltas if d.n} == {None, "two", "three"}
    assert _too_small(pair) == 1
    assert "region one" not in {h.of for h in judged(pair).hypotheses}


def test_without_readers_scored_queries_are_counted() -> None:
    study = asked({"first": 6, "second": 10}, unscored=5)
    assert named(study)[0] == {"second"}, "six queries of the first, one of them scored"
    assert named(asked({"first": 6, "second": 10}))[0] == {"first", "second"}


def test_to_named_readers_a_group_is_shown_whose_every_answer_they_may_see() -> None:
    study = asked({"hidden": 12, "open": 1}, open_=1, readers=("planning",))
    assert told(study).sum() == 1
    assert named(study)[0] == {"hidden", "open"}
    mixed = asked({"rest": 12, "mixed": 6}, open_=5, readers=("planning",))
    assert named(mixed)[0] == {"rest", "mixed"}


def test_a_group_is_sized_where_the_rule_s_measure_scores_enough_of_it() -> None:
    """How many of its queries decide would tell of single ones, as a figure would."""
    study = asked({"few": 12, "many": 12})
    few = study.qrels.query < 8
    graded = replace(study.qrels, grade=np.where(few, 1, 3).astype(study.qrels.grade.dtype))
    study = replace(study, qrels=graded, rule=replace(study.rule, measure="recall(rel=3)@10"))
    assert set(group_sizes(study, "regions", list(slices(study, views(study))))) == {"many"}
    public = small(
        DOCUMENTS, study.queries.ids, [(q, "d000", 3) for q in study.queries.ids], regions=study.queries.regions
    )
    assert set(group_sizes(public, "regions", list(slices(public, views(public))))) == {"few", "many"}


def test_a_public_study_shows_every_group() -> None:
    study = small(DOCUMENTS, ["q0", "q1"], [("q0", "d000", 1), ("q1", "d001", 1)], regions=(("a",), ("b",)))
    assert named(study)[0] == {"a", "b"}
    assert not withheld(study, np.ones(2, dtype=bool)).any()


def test_to_named_readers_no_query_with_a_hidden_answer_is_in_doubt() -> None:
    """That nothing finds what it is about is its value, which is 0."""
    study = asked({"all": 12}, open_=3, readers=("planning",))
    space = ranking(study, dict.fromkeys(study.queries.ids, DOCUMENTS[10:20]))
    pair = rank_both(study, space, space, Gates())
    blind = pair.source.arm
    assert suspects(study, [blind], blind, pair.parts).queries == study.queries.ids[-3:]
    assert suspects(replace(study, readers=None), [blind], blind, pair.parts).count == 12
