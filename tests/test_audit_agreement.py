"""How alike two spaces rank, against plain loops over sets, and what unjudged documents can hide."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from measured import groups_of, run_of
from plain_audit import SEEDS, Plain
from ranked_spaces import DOCUMENTS, made_pair, ranking, small, whole
from test_agreement import plain_jaccard, plain_rbo
from test_differential import made_study, near
from tiepoint.core.audit_quality import Agreement
from tiepoint.core.gates import Gates
from tiepoint.measures import parse_agreement
from tiepoint.workflows.audit.agreement import audit_agreement
from tiepoint.workflows.audit.pair import rank_both
from tiepoint.workflows.audit.quality import audit_quality


@pytest.mark.parametrize("seed", SEEDS)
def test_every_slice_equals_a_plain_loop(seed: int, tmp_path: Path) -> None:
    made = made_study(seed)
    plain, k = Plain(made), made["k"]
    study, source, target = made_pair(tmp_path, made)
    found = audit_agreement(rank_both(study, source, target, Gates(measure="nDCG@5", slice="unfiltered")))
    rows = {(r["slice"], r["query"]): r for r in found.table.to_pylist()}
    assert [a.slice for a in found.slices] == list(plain.oracle.slices)
    everyone = {(part, q["_id"]) for part, (_, qs) in plain.oracle.slices.items() for q in qs}
    assert set(rows) == everyone
    for summary in found.slices:
        view, queries = plain.oracle.slices[summary.slice]
        for q in queries:
            row, judged = rows[summary.slice, q["_id"]], plain.oracle.judged[q["_id"]]
            one, other = ([d for d, _ in plain.hits[side][view][q["_id"]][:k]] for side in (0, 1))
            check_agreement(plain, row, [plain.hits[side][view][q["_id"]] for side in (0, 1)], k)
            came, gone = set(other) - set(one), set(one) - set(other)
            assert (row["entered"], row["left"]) == (len(came), len(gone))
            assert (row["entered_judged"], row["left_judged"]) == (len(came & set(judged)), len(gone & set(judged)))
        check_summary(plain, summary, rows)


def check_agreement(plain: Plain, row: dict, hits: list[list[tuple[str, float]]], k: int) -> None:
    """Of one query: the mean and the range over all orders; without ties all three are the plain value.

    test_agreement.py holds the measures themselves to every order.
    """
    place = {d: i for i, d in enumerate(sorted(plain.oracle.documents, key=str.encode))}
    numbered = [[(place[d], score) for d, score in side] for side in hits]
    tolerance = plain.made["tie_tolerance"]
    runs = [run_of([side], max(k, 6), len(place), tolerance=tolerance) for side in numbered]
    strict = all(len(group) == 1 for side in numbered for group in groups_of(side, tolerance))
    one, other = ([d for d, _ in side[:k]] for side in numbered)
    for name, measure, by_hand in (
        ("jaccard", "Jaccard", plain_jaccard(one, other)),
        ("overlap", "RBO", plain_rbo(one, other, 0.9)),
    ):
        found = parse_agreement(f"{measure}@{k}")(*runs)
        for end, column in (("_low", found.smallest), ("", found.expected), ("_high", found.largest)):
            assert near(row[f"{name}{end}"], None if by_hand is None else column.values[0])
            assert not strict or near(row[f"{name}{end}"], by_hand)


def check_summary(plain: Plain, found: Agreement, rows: dict[tuple[str, str], dict]) -> None:
    """Means over the deciding queries, counts of what every reader group may read."""
    view = plain.oracle.slices[found.slice][0]
    chosen = plain.group(found.slice, None)
    mine = [rows[found.slice, q["_id"]] for q in chosen]
    assert (found.k, found.judged_k, found.queries) == (plain.made["k"], 5, len(chosen))
    assert found.split == ("test" if plain.made["split"] else None)
    defined = [r for r in mine if r["jaccard"] is not None]
    assert found.undefined == len(mine) - len(defined)
    for name in (f"{measure}{end}" for measure in ("jaccard", "overlap") for end in ("_low", "", "_high")):
        values = [r[name] for r in defined]
        assert near(getattr(found, name), math.fsum(values) / len(values) if values else None)
    seen = {d for d, row in plain.oracle.documents.items() if plain.made["public"] or len(set(row["groups"])) == 3}
    moved = {"entered": 0, "left": 0, "entered_judged": 0, "left_judged": 0}
    for q in chosen:
        one, other = ({d for d, _ in plain.hits[side][view][q["_id"]][: found.k]} for side in (0, 1))
        judged = set(plain.oracle.judged[q["_id"]])
        for name, some in (("entered", other - one), ("left", one - other)):
            moved[name] += len(some & seen)
            moved[f"{name}_judged"] += len(some & seen & judged)
    assert {name: getattr(found, name) for name in moved} == moved
    for side, ours in enumerate((found.source_judged, found.target_judged)):
        values = [v[0] for q in chosen if (v := plain.value("Judged@5", found.slice, q, side)) is not None]
        assert near(ours, math.fsum(values) / len(values) if values else None)
    assert found.questioned == plain.questioned(found.slice, "nDCG@5")
    away = [t - s for _, s, t, _ in plain.pairs("nDCG@5", found.slice, chosen)]
    assert (found.difference_worst is None) == (found.difference_best is None) == (not away)
    if away:
        assert found.difference_worst - 1e-12 <= math.fsum(away) / len(away) <= found.difference_best + 1e-12


def half_judged(*, pooled: bool) -> tuple:
    """120 queries. The source's ten hits are all judged, five of them relevant; the target keeps two of these and two that
    are not, and brings six that nobody judged."""
    names = [f"q{i:03d}" for i in range(120)]
    judged = [(q, d, int(i < 5)) for q in names for i, d in enumerate(DOCUMENTS[:10])]
    study = small(DOCUMENTS, names, judged, pooled=pooled)
    kept = [*DOCUMENTS[:2], *DOCUMENTS[5:7], *DOCUMENTS[20:26]]
    return study, ranking(study, dict.fromkeys(names, DOCUMENTS[:10])), ranking(study, dict.fromkeys(names, kept))


def test_V025_six_unjudged_in_the_new_top_ten_withhold_the_verdict_on_a_pooled_study() -> None:
    study, source, target = half_judged(pooled=True)
    pair = rank_both(study, source, target, Gates())
    found = audit_agreement(pair).slices[0]
    assert (found.source_judged, found.target_judged) == (1.0, pytest.approx(0.4))
    assert (found.entered, found.entered_judged, found.left, found.left_judged) == (720, 0, 720, 720)
    assert found.questioned
    assert found.difference_worst == pytest.approx(-0.6)
    assert found.difference_best == pytest.approx(8 / 11 - 5 / 11), (
        "six more relevant ones of eleven, missed by the source"
    )
    result = audit_quality(pair)
    delta = whole(result.quality)
    assert delta.difference == pytest.approx(-0.6)
    assert delta.worst < -0.6
    assert delta.best > 3 / 11, "with them as relevant, the target is the better one"
    rows = [r for r in result.per_query.to_pylist() if (r["slice"], r["measure"]) == ("unfiltered", "recall@10")]
    assert found.difference_worst == pytest.approx(np.mean([r["worst"] for r in rows])), "one page carries one range"
    assert found.difference_best == pytest.approx(np.mean([r["best"] for r in rows]))


def test_V025_judgements_that_are_no_pool_are_taken_as_they_are_and_the_bounds_stand_beside() -> None:
    study, source, target = half_judged(pooled=False)
    pair = rank_both(study, source, target, Gates())
    found = audit_agreement(pair).slices[0]
    assert not found.questioned
    assert found.difference_best == pytest.approx(3 / 11), "shown, whether they withhold a verdict or not"
    assert whole(audit_quality(pair).quality).best < -0.5
    alike = rank_both(replace(study, qrels=replace(study.qrels, pooled=True)), source, source, Gates())
    assert not audit_agreement(alike).slices[0].questioned, "pooled, but both sides are judged alike"


@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize("measure", ["nDCG@3", "recall@3", "RR@3", "AP@3"])
def test_every_grade_of_the_unjudged_and_every_order_of_ties_lies_within_the_range(
    measure: str, *, pooled: bool
) -> None:
    """Grades are given to the unjudged hits of both sides together, as one truth: what is relevant is so for both."""
    for seed in range(8):
        rng = random.Random(seed)  # noqa: S311
        documents, queries = DOCUMENTS[:6], ["q0", "q1"]
        judged = {q: {d: rng.randint(0, 2) for d in rng.sample(documents, 3)} | {documents[0]: 1} for q in queries}
        orders = [{q: rng.sample(documents, rng.randint(2, 6)) for q in queries} for _ in range(2)]
        rows = [(q, d, grade) for q in queries for d, grade in judged[q].items()]
        study = small(documents, queries, rows, pooled=pooled)
        pair = rank_both(study, *(ranking(study, order) for order in orders), Gates(measure=measure))
        found = audit_agreement(pair).slices[0]
        most = max(grade for *_, grade in rows)
        least, largest = 0.0, 0.0
        for q in queries:
            sides = [every_order(order[q], documents) for order in orders]
            hits = {d for side in sides for hits in side for d in hits}
            open_ = [d for d in documents if d not in judged[q] and d in hits]
            away = []
            for grades in itertools.product(range(most + 1), repeat=len(open_)):
                truth = judged[q] | dict(zip(open_, grades, strict=True))
                source, target = ([by_hand(measure, order, truth) for order in side] for side in sides)
                away += [min(target) - max(source), max(target) - min(source)]
            least, largest = least + min(away) / len(queries), largest + max(away) / len(queries)
        assert found.difference_worst <= least + 1e-9, seed
        assert found.difference_best >= largest - 1e-9, seed
        assert found.difference_best - largest < 0.5, "a range that is no more than the union of all that could be"


def every_order(listed: list[str], documents: list[str]) -> list[tuple[str, ...]]:
    """A ranking's first three hits: the listed documents, then all others, which tie."""
    rest = [d for d in documents if d not in listed]
    return list({(*listed, *tail)[:3] for tail in itertools.permutations(rest)})


def by_hand(measure: str, hits: tuple[str, ...], truth: dict[str, int]) -> float:
    """The measure at 3 from its definition, every document judged."""
    relevant = sorted((grade for grade in truth.values() if grade >= 1), reverse=True)
    grades = [truth[d] for d in hits]
    found = [int(grade >= 1) for grade in grades]
    match measure.partition("@")[0]:
        case "nDCG":
            dcg, ideal = (sum((2**g - 1) / math.log2(i + 2) for i, g in enumerate(of)) for of in (grades, relevant[:3]))
            return dcg / ideal
        case "recall":
            return sum(found) / len(relevant)
        case "RR":
            return next((1 / (i + 1) for i, one in enumerate(found) if one), 0.0)
        case _:
            return sum(sum(found[: i + 1]) / (i + 1) for i, one in enumerate(found) if one) / len(relevant)


def test_V114_without_readers_nothing_is_counted_and_with_them_only_what_they_may_see() -> None:
    documents = {d: ["staff"] if i % 2 else ["staff", "planning"] for i, d in enumerate(DOCUMENTS)}
    study = small(documents, {"q": ["staff"]}, [("q", d, 1) for d in DOCUMENTS[:12]])
    sides = [ranking(study, {"q": DOCUMENTS[n : n + 10]}) for n in (0, 4)]
    closed = audit_agreement(rank_both(study, *sides, Gates()))
    counts = ("entered", "left", "entered_judged", "left_judged")
    assert [getattr(closed.slices[0], name) for name in counts] == [None] * 4
    assert closed.slices[0].jaccard == pytest.approx(6 / 14), "a mean names and counts no document"
    open_to = audit_agreement(rank_both(replace(study, readers=("planning",)), *sides, Gates()))
    assert [getattr(open_to.slices[0], name) for name in counts] == [2, 2, 1, 2]
    assert [open_to.table.to_pylist()[0][name] for name in counts] == [4, 4, 2, 4], "the owner's table counts all"


@pytest.mark.parametrize("relevant", ["d000", "d029"])
def test_V001_documents_that_tie_agree_by_chance_and_not_by_id(relevant: str) -> None:
    """A target that tells no document from another, beside a strict source of the first ten ids, or the last ten."""
    study = small(DOCUMENTS, ["q"], [("q", relevant, 1)])
    wanted = DOCUMENTS[:10] if relevant == "d000" else DOCUMENTS[:-11:-1]
    found = audit_agreement(rank_both(study, ranking(study, {"q": wanted}), ranking(study, {}), Gates())).slices[0]
    # Ten of thirty are drawn; d / 30 of the first d are expected in them.
    shared = math.fsum(math.comb(10, x) * math.comb(20, 10 - x) * x / (20 - x) for x in range(11)) / math.comb(30, 10)
    overlap = math.fsum(0.9**d * d / 30 for d in range(1, 11)) / 9 + 0.9**10 / 3
    assert (found.jaccard, found.overlap) == (pytest.approx(shared), pytest.approx(overlap))
    assert (found.jaccard_low, found.jaccard_high) == (0, 1)
    assert (found.overlap_low, found.overlap_high) == (0, pytest.approx(1))


def test_a_target_of_one_hit_does_not_count_as_full_agreement() -> None:
    documents = {d: ["staff"] for d in DOCUMENTS}
    study = small(documents, {"q": ["staff"]}, [("q", "d000", 1)])
    source = ranking(study, {"q": DOCUMENTS})
    items = np.where(np.arange(len(DOCUMENTS)) == 0, 0, -1)
    target = replace(source, documents=replace(source.documents, row=items))
    found = audit_agreement(rank_both(study, source, target, Gates())).slices[0]
    assert found.jaccard == pytest.approx(1 / 10)
    assert found.overlap == pytest.approx(0.2703, abs=5e-5), "equation 32 would say 1"


def test_two_empty_rankings_are_counted_and_in_no_mean() -> None:
    study = small({d: ["staff"] for d in DOCUMENTS}, {"a": ["staff"], "b": []}, [("a", "d000", 1)])
    strict = ranking(study, {"a": DOCUMENTS})
    found = audit_agreement(rank_both(study, strict, strict, Gates())).slices[0]
    assert (found.queries, found.undefined, found.jaccard, found.overlap) == (2, 1, 1.0, pytest.approx(1.0))
    filtered = audit_agreement(rank_both(study, strict, strict, Gates())).slices[1]
    assert (filtered.queries, filtered.jaccard, filtered.difference_worst) == (0, None, None)
