"""Subgroups and regions of an audit: how many queries they take, what of them is tested, and that no id decides."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from gates_kit import GOOD, ruled
from ranked_spaces import DOCUMENTS, judged_all, lists, ranking, small, whole
from tiepoint.core.audit import GateResult
from tiepoint.core.audit_quality import Delta, Quality
from tiepoint.core.gates import Gates
from tiepoint.core.study import Study
from tiepoint.workflows.audit.agreement import audit_agreement
from tiepoint.workflows.audit.pair import Pair, rank_both
from tiepoint.workflows.audit.quality import QualityFound, audit_quality


def judged(pair: Pair, name: str = "subgroups", found: QualityFound | None = None) -> GateResult:
    """What a quality gate says of a pair. found: what audit_quality makes of it, where that is known."""
    rule = pair.study.rule
    found = found or audit_quality(pair)
    seen = replace(
        GOOD, quality=found.quality, per_query=found.per_query, measure=rule.measure, slice=rule.slice, loss=rule.gap
    )
    result = ruled(name, seen, pair.gates)
    assert result is not None
    return result


def moved(study: Study, before: dict[str, int], after: dict[str, int], gates: Gates) -> Pair:
    """Each query finds so many of ten relevant documents, before and after."""
    sides = (ranking(study, lists({q: (n, 15) for q, n in found.items()})) for found in (before, after))
    return rank_both(study, *sides, gates)


def test_V027_twelve_subgroups_are_corrected_together_and_the_small_ones_are_not_tested() -> None:
    """Of twelve one shows a loss beyond the tolerated one at 5 %: of twelve that lose just what is tolerated, often one does."""
    names = [f"q{i:03d}" for i in range(12 * 62)]
    groups = tuple((f"g{i % 12:02d}", *(("few",) if i < 24 else ())) for i in range(len(names)))
    study = small(DOCUMENTS, names, judged_all(names), subgroups=groups)
    before = dict.fromkeys(names, 5)

    def lost(places: int, documents: int) -> Pair:
        """So many queries of g00 lose so many documents each; elsewhere nothing moves."""
        return moved(
            study, before, {q: 5 - documents * (i % 12 == 0 and i < 12 * places) for i, q in enumerate(names)}, gates
        )

    gates = Gates(loss=0.05)
    one = lost(35, 2)
    found = audit_quality(one)
    quality, gate = found.quality, judged(one, found=found)
    hit, few = (whole(quality, subgroup=name) for name in ("g00", "few"))
    assert hit.difference == pytest.approx(-0.2 * 35 / 62)
    assert hit.best < -0.05
    assert 0.05 / 12 < hit.p_lost < 0.05, "beyond the tolerated loss, were it the only one"
    assert hit.p_holm < 0.001, "and surely not no loss at all, which is no fault"
    assert gate.outcome == "undecided"
    failing = {h.of: h for h in gate.hypotheses if h.speaks_for == "fail"}
    assert list(failing) == [f"g{i:02d}" for i in range(12)], "which are tested follows from their sizes alone"
    assert failing["g00"].p_corrected == pytest.approx(12 * hit.p_lost)
    assert {h.correction for h in failing.values()} == {"Holm over 12"}
    assert (few.n, few.enough, few.least, few.p) == (24, False, 59, None)
    assert few.worst is not None, "too few to decide is a figure too, with what so few could show at best"
    assert quality.randomised == 13
    assert whole(quality).p_holm == pytest.approx(min(1, 13 * min(d.p for d in (whole(quality), hit))))
    clear = judged(lost(62, 3))
    assert clear.outcome == "fail"
    assert clear.evidence.startswith("g00: -0.3000")


def test_a_group_that_surely_lost_a_tolerated_amount_is_not_called_lost() -> None:
    names = [f"q{i:03d}" for i in range(120)]
    study = small(DOCUMENTS, names, judged_all(names), subgroups=(("all",),) * 120)
    pair = moved(study, dict.fromkeys(names, 5), dict.fromkeys(names, 4), Gates(loss=0.1, subgroup_loss=0.2))
    delta = whole(audit_quality(pair).quality, subgroup="all")
    assert delta.p_holm < 0.001
    assert delta.p_lost > 0.999
    assert judged(pair).outcome == "pass"
    assert judged(pair, "mean quality").outcome == "undecided", (
        "a loss of just what is tolerated is neither shown nor ruled out"
    )


@pytest.mark.parametrize(("least", "outcome"), [(0.3, "pass"), (0.5, "undecided"), (0.52, "undecided"), (0.7, "fail")])
def test_the_least_mean_is_tested_on_the_targets_own_values(least: float, outcome: str) -> None:
    names = [f"q{i:03d}" for i in range(100)]
    study = small(DOCUMENTS, names, judged_all(names), subgroups=(("all",),) * 100)
    pair = moved(
        study, dict.fromkeys(names, 5), {q: 3 + i % 5 for i, q in enumerate(names)}, Gates(loss=0.2, least_mean=least)
    )
    found = audit_quality(pair)
    delta, gate = whole(found.quality), judged(pair, "mean quality", found)
    assert delta.target == pytest.approx(0.5)
    assert 0.4 < delta.target_low < 0.5 < delta.target_high < 0.6
    assert gate.outcome == outcome
    assert least > 0.5 or delta.p_below == 1, "a half or more is told as 1"
    assert (delta.p_below <= 0.05) == (delta.target_high <= least)
    assert whole(found.quality, subgroup="all").p_below is None, "it is asked of every query"


@pytest.mark.parametrize(
    ("gates", "least"),
    [
        (Gates(), 59), (Gates(loss=0.02), 149), (Gates(loss=0.02, subgroup_loss=0.1), 29), (Gates(loss=0.3), 20),
        (Gates(loss=0.3, subgroup_queries=25), 25), (Gates(loss=0.3, subgroup_queries=2), 20),
        (Gates(confidence=0.9), 45), (Gates(loss=0.0), 20),
    ],
)  # fmt: skip
def test_too_few_names_the_number_that_it_takes(gates: Gates, least: int) -> None:
    """What is stated, what the tolerated loss takes, and 20: whichever is most. Where no loss is tolerated, no number passes."""
    names = [f"q{i:03d}" for i in range(least + 18)]
    groups = tuple(("few",) if i < least - 1 else ("other",) for i in range(len(names)))
    regions = tuple(("near",) if i < least else () for i in range(len(names)))
    study = small(DOCUMENTS, names, judged_all(names), subgroups=groups, regions=regions)
    pair = moved(study, dict.fromkeys(names, 5), dict.fromkeys(names, 5), gates)
    quality, gate = audit_quality(pair).quality, judged(pair)
    few, near = whole(quality, subgroup="few"), whole(quality, region="near")
    assert (few.clusters, few.enough, few.least) == (least - 1, False, least)
    assert (near.clusters, near.enough, near.least) == (least, True, least)
    assert gate.outcome == "undecided"
    assert f"too few independent queries to decide: few ({least - 1} of {least} needed), other (" in gate.evidence
    near_passes = next(h for h in gate.hypotheses if h.of == "region near" and h.speaks_for == "pass")
    assert near_passes.rejected == (gates.loss != 0)


def test_whole_clusters_are_the_independent_units() -> None:
    names = [f"q{i:03d}" for i in range(60)]
    study = small(DOCUMENTS, names, judged_all(names))
    gain = {q: (5 + (i % 10 < 5), 15) for i, q in enumerate(names)}
    same = dict.fromkeys(names, (5, 15))
    alone = whole(audit_quality(rank_both(study, *(ranking(study, lists(x)) for x in (same, gain)), Gates())).quality)
    grouped = replace(study, queries=replace(study.queries, cluster=tuple(f"c{i // 5}" for i in range(60))))
    pair = rank_both(grouped, *(ranking(study, lists(x)) for x in (same, gain)), Gates())
    together = whole(audit_quality(pair).quality)
    assert (alone.clusters, together.clusters) == (60, 12)
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert together.worst < alone.worst
    assert together.p == pytest.approx(2 / 2**6), "six clusters moved, each as one"


def test_uneven_clusters_take_more_and_the_largest_of_any_split_is_imagined() -> None:
    """A group of single questions in a study that asks some of them five times over."""
    names = [f"q{i:03d}" for i in range(105)]
    cluster = tuple(q if i < 100 else "five" for i, q in enumerate(names))
    split = ("test",) * 100 + ("dev",) * 5
    groups = tuple(("single",) for _ in names)
    study = small(DOCUMENTS, names, judged_all(names), subgroups=groups, cluster=cluster, split=split)
    same = dict.fromkeys(names, 5)
    uneven = whole(audit_quality(moved(study, same, same, Gates())).quality, subgroup="single")
    alone = replace(study, queries=replace(study.queries, cluster=tuple(names)))
    even = whole(audit_quality(moved(alone, same, same, Gates())).quality, subgroup="single")
    assert (even.clusters, even.least, even.enough) == (100, 59, True)
    assert (uneven.clusters, uneven.enough) == (100, False)
    assert uneven.least == pytest.approx(5 * 59, rel=0.05)
    assert uneven.worst < 3 * even.worst
    assert uneven.least_loss > 3 * even.least_loss


def test_regions_stand_beside_subgroups_and_the_small_ones_are_hidden_without_readers() -> None:
    names = [f"q{i:03d}" for i in range(64)]
    documents = {d: ["staff"] for d in DOCUMENTS}
    regions = tuple(("North",) if i < 30 else ("South", "Coast") if i < 60 else ("Islet",) for i in range(64))
    study = small(documents, {q: ["staff"] for q in names}, judged_all(names), regions=regions)
    pair = moved(study, dict.fromkeys(names, 5), {q: 5 - 3 * (i < 30) for i, q in enumerate(names)}, Gates(loss=0.1))
    quality, gate = audit_quality(pair).quality, judged(pair)
    named = [d.region for d in quality.deltas if (d.slice, d.measure) == ("unfiltered", "recall@10")]
    assert named == [None, "Coast", "North", "South"], "groups of under 5 are hidden"
    north = whole(quality, region="North")
    assert (north.subgroup, north.group, north.n) == (None, "region North", 30)
    assert north.difference == pytest.approx(-0.3)
    assert gate.outcome == "fail"
    assert gate.evidence.startswith("region North: -0.3000")
    open_to = replace(pair, study=replace(pair.study, readers=("staff",)))
    assert whole(audit_quality(open_to).quality, region="Islet").least == 29


def test_an_interval_of_few_differences_is_marked() -> None:
    names = [f"q{i:03d}" for i in range(80)]
    study = small(DOCUMENTS, names, judged_all(names), subgroups=(("odd",), ("even",)) * 40)
    pair = moved(study, dict.fromkeys(names, 5), {q: 5 - (i < 18) for i, q in enumerate(names)}, Gates())
    quality = audit_quality(pair).quality
    assert whole(quality).trusted, "18 moved"
    odd = whole(quality, subgroup="odd")
    assert (odd.losses, odd.trusted) == (9, False)
    assert odd.low is not None
    same = moved(study, dict.fromkeys(names, 5), dict.fromkeys(names, 5), Gates())
    none = whole(audit_quality(same).quality)
    assert (none.low, none.trusted) == (None, True), "no interval, nothing to mark"


# Renaming

INTERVALS = ("low", "high", "trusted")
BOUNDS = ("worst", "best", "least_loss", "target_low", "target_high", "p_lost", "p_below")
AS_RANKED = ("source", "target", "difference", "p", "p_holm")
COUNTS = ("n", "clusters", "enough", "least")


def renamed_pair(seed: int, *, strict: bool, pooled: bool, rename: bool) -> Pair:
    """The same study and rankings under two sets of ids. strict: no two documents tie."""
    rng = random.Random(seed)  # noqa: S311
    names = [f"q{i:03d}" for i in range(70)]
    orders = [{q: rng.sample(DOCUMENTS, 30 if strict else rng.randint(3, 12)) for q in names} for _ in range(2)]
    rows = [(q, d, rng.randint(0, 2)) for q in names for d in rng.sample(DOCUMENTS, 14)]
    rows += [(q, d, 1) for q in names for d in DOCUMENTS[:2]]
    columns = {q: (f"g{rng.randrange(2)}", f"r{rng.randrange(3)}", f"c{rng.randrange(60)}") for q in names}
    of, to = dict(zip(names, names, strict=True)), dict(zip(DOCUMENTS, DOCUMENTS, strict=True))
    if rename:
        of = dict(zip(names, rng.sample([f"ask{i:03d}" for i in range(70)], 70), strict=True))
        to = dict(zip(DOCUMENTS, rng.sample([f"page{i:02d}" for i in range(30)], 30), strict=True))
    judgements = sorted({(of[q], to[d]): g for q, d, g in rows}.items())
    ids = sorted(names, key=of.__getitem__)
    study = small(
        sorted(to.values()),
        list(of.values()),
        [(*key, grade) for key, grade in judgements],
        pooled=pooled,
        subgroups=tuple((columns[q][0],) for q in ids),
        regions=tuple((columns[q][1],) for q in ids),
        cluster=tuple(columns[q][2] for q in ids),
    )
    sides = (ranking(study, {of[q]: [to[d] for d in listed] for q, listed in order.items()}) for order in orders)
    return rank_both(study, *sides, Gates(measure="nDCG@5", loss=0.2, least_mean=0.3, confidence=0.9))


@pytest.mark.parametrize(("strict", "pooled"), [(True, False), (False, False), (False, True)])
def test_no_id_of_a_document_or_of_a_query_moves_a_bound_a_p_or_an_outcome(*, strict: bool, pooled: bool) -> None:
    for seed in range(2):
        one, other = (renamed_pair(seed, strict=strict, pooled=pooled, rename=rename) for rename in (False, True))
        both = [audit_quality(pair) for pair in (one, other)]
        first, second = (by_group(found.quality) for found in both)
        assert set(first) == set(second)
        for key, delta in first.items():
            for field in (*BOUNDS, *((*AS_RANKED, *INTERVALS) if strict else ())):
                one_, other_ = getattr(delta, field), getattr(second[key], field)
                assert one_ == other_, (key, field)
            assert all(getattr(delta, field) == getattr(second[key], field) for field in COUNTS)
        for name in ("mean quality", "subgroups"):
            ours, theirs = judged(one, name, both[0]), judged(other, name, both[1])
            assert ours.outcome == theirs.outcome
            assert [(h.of, h.states, h.rejected) for h in ours.hypotheses] == [
                (h.of, h.states, h.rejected) for h in theirs.hypotheses
            ]
            for h, other_h in zip(ours.hypotheses, theirs.hypotheses, strict=True):
                assert near(h.p_corrected, other_h.p_corrected)
        for ours, theirs in zip(audit_agreement(one).slices, audit_agreement(other).slices, strict=True):
            assert near(ours.difference_worst, theirs.difference_worst)
            assert near(ours.difference_best, theirs.difference_best)


def by_group(quality: Quality) -> dict[tuple, Delta]:
    return {(d.slice, d.measure, d.subgroup, d.region): d for d in quality.deltas}


def near(one: float | None, other: float | None) -> bool:
    return one is other is None or (one is not None and other is not None and bool(np.abs(one - other) < 1e-12))
