"""The quality of a move against plain loops on made studies, and the cases that it must not get wrong."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plain_audit import SEEDS, Plain, cluster, plain_chance, plain_holm, plain_p
from ranked_spaces import DOCUMENTS, made_pair, ranking, small
from test_differential import MEASURES, made_study, near
from tiepoint.core.audit_quality import Delta, Quality
from tiepoint.core.gates import Gates
from tiepoint.errors import InputError
from tiepoint.stats.paired import difference_bounds
from tiepoint.workflows import cells
from tiepoint.workflows.audit import agreement, quality
from tiepoint.workflows.audit.pair import Pair, rank_both
from tiepoint.workflows.audit.quality import QualityFound, audit_quality
from tiepoint.workflows.show import NO_READERS


@pytest.mark.parametrize("seed", SEEDS)
def test_every_delta_equals_a_plain_loop(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "withheld", lambda _, scored: np.zeros_like(scored))  # every group, see test_cells
    made = made_study(seed)
    plain, rng = Plain(made), random.Random(seed)  # noqa: S311
    gates = Gates(
        measure=rng.choice(["nDCG@5", "recall@3", "RR@3"]),
        slice=rng.choice([s for s in ("unfiltered", "filtered", "rare") if plain.oracle.slices[s][1]]),
        loss=0.1,
        confidence=rng.choice([0.8, 0.9]),
        subgroup_loss=rng.choice([None, 0.3]),
        subgroup_queries=rng.choice([2, 9, 22]),
    )
    study, source, target = made_pair(tmp_path, made)
    pair = rank_both(study, source, target, gates)
    found = audit_quality(pair)
    quality = found.quality
    assert (quality.level, quality.split) == (gates.confidence, "test" if made["split"] else None)
    assert [quality.source_missing, quality.target_missing] == [
        sum(arm["vectors"][q["text"]] is None for q in made["queries"]) for arm in made["arms"][:2]
    ]
    expected = [
        (part, *group, measure)
        for part in plain.oracle.slices
        for group in ((None, None), ("early", None), ("late", None), *((None, r) for r in sorted(plain.regions(part))))
        for measure in MEASURES
        if group == (None, None) or plain.group(part, *group)
    ]
    assert [(d.slice, d.subgroup, d.region, d.measure) for d in quality.deltas] == expected
    for delta in quality.deltas:
        check_delta(plain, gates, delta)
    check_family(plain, gates, quality)
    check_bounds(plain, gates, quality)
    check_tables(plain, pair, found)
    check_lost(plain, gates, found)


def check_delta(plain: Plain, gates: Gates, found: Delta) -> None:
    pairs = plain.pairs(found.measure, found.slice, plain.group(found.slice, found.subgroup, found.region))
    assert found.n == len(pairs)
    sizes = Counter(cluster(q) for q, *_ in pairs)
    assert found.clusters == len(sizes)
    assert found.least == (20 if found.whole else needed(gates, sizes, plain.largest(found.slice)))
    assert found.enough == (found.clusters >= found.least)
    total = math.fsum(w for *_, w in pairs)
    for ours, expected in (
        (found.source, [s * w for _, s, _, w in pairs]),
        (found.target, [t * w for _, _, t, w in pairs]),
        (found.difference, [(t - s) * w for _, s, t, w in pairs]),
    ):
        assert near(ours, math.fsum(expected) / total if pairs else None), found
    away = [t - s for _, s, t, _ in pairs]
    assert (found.wins, found.losses, found.ties) == (
        sum(a > 1e-12 for a in away),
        sum(a < -1e-12 for a in away),
        sum(abs(a) <= 1e-12 for a in away),
    )
    assert found.low is None or found.low <= found.difference + 1e-9 <= found.high + 2e-9
    decides = not found.measure.startswith(("Judged", "pooled"))
    assert (found.worst is not None) == (found.best is not None) == bool(decides and pairs)
    if found.worst is not None:
        alike, largest = 1 - (1 - gates.confidence) ** (1 / found.clusters), plain.largest(found.slice)
        assert (
            found.least_loss == pytest.approx(alike)
            if set(sizes.values()) == {largest}
            else found.least_loss >= alike - 1e-9
        )
        assert found.worst <= min(-found.least_loss, found.difference) + 1e-12
    looked_at = (found.measure, found.slice) == (gates.measure, gates.slice) and bool(pairs)
    assert (found.target_low is not None) == (found.target_high is not None) == looked_at
    assert not looked_at or found.target_low <= found.target <= found.target_high
    assert (found.p_lost is not None) == looked_at
    assert found.trusted or found.low is not None
    assert found.p_below is None, "no least mean was asked for"
    tolerated = gates.loss if found.whole or gates.subgroup_loss is None else gates.subgroup_loss
    if looked_at and abs(found.p_lost - (1 - gates.confidence)) > 1e-5:
        assert (found.best < -tolerated) == (found.p_lost < 1 - gates.confidence), "the bound and the p say the same"


def needed(gates: Gates, sizes: Counter, largest: int) -> int:
    """The independent queries with which a group decides: the stated number, 20, and what rules out its tolerated loss."""
    tolerated = gates.loss if gates.subgroup_loss is None else gates.subgroup_loss
    each = [math.log(1 + tolerated * n / (largest * (1 - tolerated))) for n in sizes.values()]
    sure = math.fsum(each) / len(each) if each else -math.log(1 - tolerated)
    takes = math.ceil(-math.log(1 - gates.confidence) / sure - 1e-9)
    return max(gates.subgroup_queries, 20, takes)


def check_family(plain: Plain, gates: Gates, quality: Quality) -> None:
    """The randomisation tests: the gates' measure and slice, over all queries and every group that is large enough."""
    family = [
        d
        for d in quality.deltas
        if (d.measure, d.slice) == (gates.measure, gates.slice) and d.n and (d.enough or d.whole)
    ]
    tested = [d for d in quality.deltas if d.p is not None]
    assert tested == family
    assert quality.randomised == len(family)
    assert [d.p_holm for d in tested] == pytest.approx(plain_holm([d.p for d in tested]))
    assert all(d.p_holm is None for d in quality.deltas if d.p is None)
    for d in tested:
        away: dict[str, float] = {}
        for q, s, t, w in plain.pairs(d.measure, d.slice, plain.group(d.slice, d.subgroup, d.region)):
            away[cluster(q)] = away.get(cluster(q), 0.0) + (t - s) * w
        assert d.p == pytest.approx(plain_p(away), abs=1e-12 if len(away) <= 12 else 0.035)


def check_bounds(plain: Plain, gates: Gates, quality: Quality) -> None:
    """Ties against the target, and where pooled rankings were judged unalike, the source's unjudged hits too."""
    questioned = plain.questioned(gates.slice, gates.measure)
    for d in quality.deltas:
        if (d.measure, d.slice) != (gates.measure, gates.slice) or not d.n:
            continue
        pairs = plain.pairs(d.measure, d.slice, plain.group(d.slice, d.subgroup, d.region))
        sides = []
        for side in (0, 1):
            orders = {
                o: [plain.value(d.measure, d.slice, q, side, o)[0] for q, *_ in pairs]
                for o in ("low", "high", "unjudged")
            }
            high = [max(*both) for both in zip(orders["high"], orders["unjudged"], strict=True)]
            sides.append([orders["low"], high if questioned else orders["high"]])
        (s_low, s_high), (t_low, t_high) = np.array(sides)
        number = {name: i for i, name in enumerate(dict.fromkeys(cluster(q) for q, *_ in pairs))}
        units = np.array([number[cluster(q)] for q, *_ in pairs])
        # Beside the difference, the target's own mean: how far below 1 at its smallest, and above 0 at its largest.
        low, high = np.stack([t_low - s_high, t_low - 1], axis=1), np.stack([t_high - s_low, t_high], axis=1)
        largest = plain.largest(d.slice)
        bounds = difference_bounds(low, high, units, confidence=gates.confidence, largest=largest)
        ours = [d.worst, d.target_low, d.best, d.target_high]
        expected = [bounds.lower[0], 1 + bounds.lower[1], bounds.upper[0], bounds.upper[1]]
        if questioned:  # and at its smallest the target also misses what only the source brought, unjudged
            assert ours[0] <= expected[0] + 1e-6, d
            assert ours[2] >= expected[2] - 1e-6, d
        else:
            assert ours == pytest.approx(expected, abs=1e-6), d
            tolerated = gates.loss if d.whole or gates.subgroup_loss is None else gates.subgroup_loss
            sums: dict[str, list[float]] = {}
            for (q, *_), value in zip(pairs, high[:, 0].tolist(), strict=True):
                sums.setdefault(cluster(q), []).append(value)
            p = plain_chance([(math.fsum(of), len(of)) for of in sums.values()], -tolerated, largest)
            assert d.p_lost == (1 if d.p_lost == 1 and p > 0.4 else pytest.approx(p, abs=0.02)), (
                "a half or more is told as 1"
            )


def check_tables(plain: Plain, pair: Pair, found: QualityFound) -> None:
    rows = {(r["slice"], r["query"], r["measure"]): r for r in found.per_query.to_pylist()}
    expected = {(part, q["_id"], m) for part, (_, qs) in plain.oracle.slices.items() for q in qs for m in MEASURES}
    assert set(rows) == expected
    assert found.per_query.num_rows == len(expected)
    for (part, _, measure), row in rows.items():
        query = next(q for q in plain.oracle.queries if q["_id"] == row["query"])
        pairs = plain.pairs(measure, part, [query])
        fields = ("source", "target", "difference", "weight")
        if not pairs:
            assert [row[f] for f in (*fields, "worst", "best")] == [None] * 6
            continue
        _, s, t, w = pairs[0]
        assert [row[f] for f in fields] == pytest.approx([s, t, t - s, w], abs=1e-12)
        if measure.startswith(("Judged", "pooled")):
            assert (row["worst"], row["best"]) == (None, None)
        elif not plain.made["pooled"]:
            s_low, s_high, t_low, t_high = (
                plain.value(measure, part, query, side, order)[0] for side in (0, 1) for order in ("low", "high")
            )
            assert (row["worst"], row["best"]) == pytest.approx((t_low - s_high, t_high - s_low), abs=1e-12)
    ranked: dict[tuple[str, str, str], list[tuple]] = {}
    for r in found.rankings.to_pylist():
        ranked.setdefault((r["side"], r["slice"], r["query"]), []).append((r["document"], r["score"], r["grade"]))
        assert r["rank"] == len(ranked[r["side"], r["slice"], r["query"]])
    for side, name in enumerate(("source", "target")):
        for part, (view, queries) in plain.oracle.slices.items():
            for q in queries:
                hits = plain.hits[side][view][q["_id"]][: plain.oracle.depth]
                grades = plain.oracle.grades(q, hits)
                assert [d for d, _, _ in ranked.get((name, part, q["_id"]), [])] == [d for d, _ in hits]
                assert [g for _, _, g in ranked.get((name, part, q["_id"]), [])] == grades
    assert pair.source.arm.id == "source"


def check_lost(plain: Plain, gates: Gates, found: QualityFound) -> None:
    pairs = plain.pairs(gates.measure, gates.slice, plain.group(gates.slice, None))
    expected = sorted((t - s, q["_id"]) for q, s, t, _ in pairs if t - s < -1e-12)
    closed = {
        q
        for q, grades in plain.oracle.judged.items()
        for d, grade in grades.items()
        if grade >= 1 and not shown_in(plain, d)
    }
    assert (found.quality.lost_hidden is not None) == bool(closed & {q["_id"] for q in plain.group(gates.slice, None)})
    expected = [(a, q) for a, q in expected if q not in closed]
    got = [(q.target - q.source, q.query) for q in found.quality.lost]
    assert [a for a, _ in got] == pytest.approx([a for a, _ in expected[:10]], abs=1e-12)
    assert {q for _, q in got} <= {q for _, q in expected}
    view = plain.oracle.slices[gates.slice][0]
    for query in found.quality.lost:
        for side, hits in enumerate((query.source_hits, query.target_hits)):
            full = plain.hits[side][view][query.query][: plain.made["k"]]
            assert [h.rank for h in hits] == list(range(1, len(full) + 1))
            for hit, (document, _) in zip(hits, full, strict=True):
                shown = shown_in(plain, document)
                grade = plain.oracle.judged[query.query].get(document)
                assert (hit.document, hit.grade) == ((document, grade) if shown else (None, None))
                assert (hit.score is None) == (not shown)


def shown_in(plain: Plain, document: str) -> bool:
    if plain.made["public"]:
        return True
    return document in plain.oracle.documents and len(set(plain.oracle.documents[document]["groups"])) == 3


# Cases


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
