"""How alike two spaces rank, against plain loops over sets, and what unjudged documents can hide."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from plain_audit import SEEDS, Plain
from ranked_spaces import DOCUMENTS, made_pair, ranking, small
from test_agreement import plain_jaccard, plain_rbo
from test_audit_quality import whole
from test_differential import made_study, near
from tiepoint.core.audit import Agreement
from tiepoint.core.gates import Gates
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
            assert near(row["jaccard"], plain_jaccard(one, other))
            assert near(row["overlap"], plain_rbo(one, other, 0.9))
            came, gone = set(other) - set(one), set(one) - set(other)
            assert (row["entered"], row["left"]) == (len(came), len(gone))
            assert (row["entered_judged"], row["left_judged"]) == (len(came & set(judged)), len(gone & set(judged)))
        check_summary(plain, summary, rows)


def check_summary(plain: Plain, found: Agreement, rows: dict[tuple[str, str], dict]) -> None:
    """Means over the deciding queries, counts of what every reader group may read."""
    view = plain.oracle.slices[found.slice][0]
    chosen = plain.group(found.slice, None)
    mine = [rows[found.slice, q["_id"]] for q in chosen]
    assert (found.k, found.judged_k, found.queries) == (plain.made["k"], 5, len(chosen))
    assert found.split == ("test" if plain.made["split"] else None)
    defined = [r for r in mine if r["jaccard"] is not None]
    assert found.undefined == len(mine) - len(defined)
    for name in ("jaccard", "overlap"):
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
    scored = [q for q, *_ in plain.pairs("nDCG@5", found.slice, chosen)]

    def mean(side: int, order: str) -> float:
        return math.fsum(plain.value("nDCG@5", found.slice, q, side, order)[0] for q in scored) / len(scored)

    assert near(found.difference_worst, mean(1, "mid") - mean(0, "unjudged") if scored else None)
    assert near(found.difference_best, mean(1, "unjudged") - mean(0, "mid") if scored else None)


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
    assert found.difference_best == pytest.approx(8 / 11 - 1), "six more relevant ones, found, of eleven"
    delta = whole(audit_quality(pair).quality)
    assert delta.difference == pytest.approx(-0.6)
    assert delta.worst < -0.6
    assert delta.best > -0.3, "with them as relevant, the loss is half of what was measured"


def test_V025_judgements_that_are_no_pool_are_taken_as_they_are_and_the_bounds_stand_beside() -> None:
    study, source, target = half_judged(pooled=False)
    pair = rank_both(study, source, target, Gates())
    found = audit_agreement(pair).slices[0]
    assert not found.questioned
    assert found.difference_best == pytest.approx(8 / 11 - 1), "shown, whether they withhold a verdict or not"
    assert whole(audit_quality(pair).quality).best < -0.5
    alike = rank_both(replace(study, qrels=replace(study.qrels, pooled=True)), source, source, Gates())
    assert not audit_agreement(alike).slices[0].questioned, "pooled, but both sides are judged alike"


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


def test_two_empty_rankings_are_counted_and_in_no_mean() -> None:
    study = small({d: ["staff"] for d in DOCUMENTS}, {"a": ["staff"], "b": []}, [("a", "d000", 1)])
    found = audit_agreement(rank_both(study, ranking(study, {}), ranking(study, {}), Gates())).slices[0]
    assert (found.queries, found.undefined, found.jaccard, found.overlap) == (2, 1, 1.0, pytest.approx(1.0))
    filtered = audit_agreement(rank_both(study, ranking(study, {}), ranking(study, {}), Gates())).slices[1]
    assert (filtered.queries, filtered.jaccard, filtered.difference_worst) == (0, None, None)
