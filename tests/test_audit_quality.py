"""The quality of a move: pairs of queries, ties, splits, hidden answers and one seed, in the cases that it must not get wrong."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from ranked_spaces import DOCUMENTS, judged_all, lists, ranking, small, whole
from tiepoint.core.audit_quality import Delta
from tiepoint.core.gates import Gates
from tiepoint.errors import InputError
from tiepoint.workflows.audit import agreement, quality
from tiepoint.workflows.audit.pair import rank_both
from tiepoint.workflows.audit.quality import audit_quality
from tiepoint.workflows.show import NO_READERS


def test_V026_a_small_constant_gain_on_shared_queries_is_seen_pair_by_pair() -> None:
    names = [f"q{i:03d}" for i in range(200)]
    study = small(DOCUMENTS, names, judged_all(names))
    found = {q: 1 + (i * 7) % 8 for i, q in enumerate(names)}
    before = ranking(study, lists({q: (n, 15) for q, n in found.items()}))
    after = ranking(study, lists({q: (n + (i % 4 == 0), 15) for i, (q, n) in enumerate(found.items())}))
    result = audit_quality(rank_both(study, before, after, Gates()))
    delta, rows = whole(result.quality), result.per_query.to_pylist()
    assert delta.difference == pytest.approx(0.025)
    assert 0.015 < delta.low < 0.025 < delta.high < 0.035
    assert (delta.wins, delta.losses, delta.ties) == (50, 0, 150)
    assert delta.p < 0.001
    values = np.array([(r["source"], r["target"]) for r in rows if r["measure"] == "recall@10"][:200])
    unpaired = (values.var(axis=0, ddof=1).sum() / 200) ** 0.5
    assert delta.difference / unpaired < 2, "unpaired, nobody would see it"


def test_V028_every_query_stands_in_the_table_and_a_small_group_is_not_decided() -> None:
    names = [f"q{i:03d}" for i in range(30)]
    groups = tuple(("small",) if i < 6 else ("large",) for i in range(30))
    study = small(DOCUMENTS, names, judged_all(names[:-1]), subgroups=groups)
    before, after = (ranking(study, lists({q: (4 + (i * n) % 3, 15) for i, q in enumerate(names)})) for n in (1, 2))
    found = audit_quality(rank_both(study, before, after, Gates(loss=0.2)))
    rows = [r for r in found.per_query.to_pylist() if r["measure"] == "recall@10" and r["slice"] == "unfiltered"]
    assert [r["query"] for r in rows] == names
    assert rows[-1]["source"] is None, "not judged, so not scored; the row is there"
    few, many = (whole(found.quality, subgroup=name) for name in ("small", "large"))
    assert (few.n, few.enough, few.least, few.p) == (6, False, 20, None)
    assert few.low is not None, "counts and intervals stand all the same"
    assert (many.n, many.enough) == (23, True)
    assert many.p is not None


def test_ties_never_decide() -> None:
    """Both sides rank every relevant document level with others: only the ids put it first in one and last in the other."""
    names = [f"q{i:03d}" for i in range(100)]
    study = small(DOCUMENTS, names, [(q, "d000", 1) for q in names])
    study = replace(study, rule=replace(study.rule, measure="nDCG@10"))
    first = ranking(study, {q: ["d000"] for q in names})
    level = ranking(study, {})
    delta = whole(audit_quality(rank_both(study, first, level, Gates(measure="nDCG@10"))).quality, "nDCG@10")
    assert delta.difference == 0
    assert delta.worst < -0.9, "tied behind all others, the target finds nothing"
    assert delta.p_lost == 1, "tied before all others, it loses nothing"
    back = whole(audit_quality(rank_both(study, level, first, Gates(measure="nDCG@10"))).quality, "nDCG@10")
    assert back.worst == pytest.approx(-(1 - 0.05 ** (1 / 100)), abs=0.001)
    assert back.best > 0.9


def test_splits_summarise_the_test_split_and_the_table_holds_all() -> None:
    names = [f"q{i:03d}" for i in range(20)]
    study = small(DOCUMENTS, names, judged_all(names), split=("dev", "test") * 10)
    gain = {q: (5 + (i % 2 == 0), 15) for i, q in enumerate(names)}
    found = audit_quality(
        rank_both(study, *(ranking(study, lists(x)) for x in (dict.fromkeys(names, (5, 15)), gain)), Gates())
    )
    assert found.quality.split == "test"
    assert (whole(found.quality).n, whole(found.quality).difference) == (10, 0)
    rows = [r for r in found.per_query.to_pylist() if r["slice"] == "unfiltered" and r["measure"] == "recall@10"]
    assert sum(r["difference"] > 0 for r in rows) == 10


def test_V114_what_readers_may_not_see_is_a_rank_alone_and_without_readers_no_query_is_shown() -> None:
    names = [f"q{i:03d}" for i in range(8)]
    documents = {d: ["staff"] if i % 2 else ["staff", "planning"] for i, d in enumerate(DOCUMENTS)}
    asked = {q: ["staff"] for q in names}
    columns = {"subgroups": tuple(("few",) if i < 4 else ("many",) for i in range(8))}
    study = small(documents, asked, judged_all(names), **columns)
    sides = [ranking(study, lists(dict.fromkeys(names, (n, 15)))) for n in (6, 5)]
    closed = audit_quality(rank_both(study, *sides, Gates())).quality
    assert (closed.lost, closed.lost_hidden) == ((), NO_READERS)
    assert {d.subgroup for d in closed.deltas} == {None}, "groups of under 5 are hidden"
    found = audit_quality(rank_both(replace(study, readers=("planning",)), *sides, Gates())).quality
    assert found.lost_hidden is not None
    assert "an answer that they may not see" in found.lost_hidden
    assert found.lost == (), "each of them has one"
    few = [(q, d, g) for q, d, g in judged_all(names) if q == "q000" or int(d[1:]) % 2 == 0]
    told = small(documents, asked, few, **columns)
    sides = [ranking(told, lists(dict.fromkeys(names, (n, 15)))) for n in (7, 6)]
    found = audit_quality(rank_both(replace(told, readers=("planning",)), *sides, Gates())).quality
    assert {d.subgroup for d in found.deltas} == {None, "many"}, "one of the few has an answer that they may not see"
    assert [q.query for q in found.lost] == names[1:]
    hits = found.lost[0].source_hits
    assert [h.document for h in hits[:4]] == ["d000", None, "d002", None]
    assert all((h.score, h.grade) == (None, None) for h in hits if h.document is None)


def test_the_definitions_say_that_what_noise_could_move_is_the_same_and_tied() -> None:
    assert "same where noise is known and both sides have a value in common" in quality.DEFINITION
    for text in (quality.DEFINITION, agreement.DEFINITION, " ".join(str(Delta.__doc__).split())):
        assert re.search("documents that tie within tie_tolerance, or that noise of encoding alone tells apart", text)


def test_an_unjudged_hit_has_no_grade() -> None:
    study = small(DOCUMENTS, ["q"], [("q", "d000", 2)])
    one, other = ranking(study, {"q": ["d000", "d001"]}), ranking(study, {"q": ["d001", "d000"]})
    (lost,) = audit_quality(rank_both(study, one, other, Gates(measure="nDCG@10"))).quality.lost
    assert [(h.document, h.grade) for h in lost.target_hits[:2]] == [("d001", None), ("d000", 2)]


def test_one_seed_gives_one_result_and_a_query_without_a_vector_is_a_miss() -> None:
    names = [f"q{i:03d}" for i in range(40)]
    study = small(DOCUMENTS, names, judged_all(names))
    before, after = (ranking(study, lists({q: (4 + (i * n) % 4, 15) for i, q in enumerate(names)})) for n in (1, 3))
    row = after.queries.row.copy()
    row[7] = -1
    after = replace(after, queries=replace(after.queries, row=row))
    first, again = (audit_quality(rank_both(study, before, after, Gates())) for _ in range(2))
    assert first.quality == again.quality
    assert first.per_query.equals(again.per_query)
    assert (first.quality.source_missing, first.quality.target_missing) == (0, 1)
    lost = next(r for r in first.per_query.to_pylist() if (r["query"], r["measure"]) == ("q007", "recall@10"))
    assert (lost["target"], lost["difference"]) == (0, -lost["source"])
    other = audit_quality(rank_both(replace(study, seed=4), before, after, Gates())).quality
    assert whole(other).low != whole(first.quality).low
    assert whole(other).difference == whole(first.quality).difference


@pytest.mark.parametrize(
    ("gates", "words"),
    [
        (Gates(measure="pooled_recall@10"), "pooled_recall@10 cannot stand in a gate"),
        (Gates(measure="Judged@10"), "Judged@10 cannot stand in a gate"),
        (Gates(measure="nDGC@10"), "nDCG"),
        (Gates(slice="filterd"), 'did you mean "filtered"'),
        (Gates(slice="rare"), "rare of the gates has no queries"),
    ],
)
def test_gates_that_can_decide_nothing_are_refused(gates: Gates, words: str) -> None:
    study = small(DOCUMENTS, ["q"], [("q", "d000", 1)])
    with pytest.raises(InputError) as refused:
        rank_both(study, ranking(study, {}), ranking(study, {}), gates)
    assert words in str(refused.value)


def test_a_measure_that_only_the_gates_name_is_added() -> None:
    study = small(DOCUMENTS, ["q"], [("q", "d000", 1)])
    pair = rank_both(study, ranking(study, {}), ranking(study, {}), Gates(measure="RR@20"))
    assert pair.study.measures == ("recall@10", "nDCG@10", "RR@20")
    assert pair.source.arm.views["unfiltered"].run.depth == 20
    assert audit_quality(pair).quality.randomised == 1
