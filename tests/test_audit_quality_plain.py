"""The quality of a move on made studies: every delta, test, bound, row and lost query is that of a plain loop."""

from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from plain_audit import SEEDS, Plain, cluster, plain_chance, plain_holm, plain_p
from ranked_spaces import made_pair
from test_differential import MEASURES, made_study, near
from tiepoint.core.audit_quality import Delta, Quality
from tiepoint.core.gates import Gates
from tiepoint.stats.paired import difference_bounds
from tiepoint.workflows import cells
from tiepoint.workflows.audit.pair import Pair, rank_both
from tiepoint.workflows.audit.quality import QualityFound, audit_quality


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
