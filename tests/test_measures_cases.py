"""Field cases of measures, ties and judgements by the public door, and the property that no verdict hangs on an id."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tiepoint as tp
from sample import contract
from studies import write_study
from tiepoint.core.figure import Bounds
from tiepoint.core.result import ArmFigures, Summary
from tiepoint.errors import InputError

PLAIN = {"queries": dict.fromkeys(("groups", "region", "subgroups", "rare", "cluster"))}
Judged = dict[str, dict[str, int]]
"""Query to document to grade."""


def study(
    folder: Path, documents: Sequence[str], judged: Judged, measures: Sequence[str], **changes: object
) -> tp.Study:
    """A public study whose texts are the ids of its documents and queries."""
    tables = {
        "decision": {"slice": "unfiltered", "measure": measures[0], "gap": 0.1, "prefer": ["dimension"]},
        **changes,
    }
    write_study(
        folder,
        documents=[{"_id": d, "text": d} for d in documents],
        questions=[{"_id": q, "text": q} for q in judged],
        judgements="query-id\tcorpus-id\tscore\n"
        + "".join(f"{q}\t{d}\t{g}\n" for q, of in judged.items() for d, g in of.items()),
        study={"measures": list(measures)},
        corpus={"acl": None, "region": None, "text": "{text}"},
        access={"public": True},
        **PLAIN,
        **tables,  # type: ignore[arg-type]
    )
    return tp.load_study(folder)


def scoring(name: str, scores: dict[str, dict[str, float]], dimension: int | None = None) -> tp.Candidate:
    """A candidate that gives each document these scores for each query; 0 where none is stated."""
    queries = sorted(scores)

    def encode(texts: Sequence[str]) -> np.ndarray:
        vectors = np.zeros((len(texts), dimension or len(queries) + 1), dtype=np.float32)
        for row, text in enumerate(texts):
            for column, query in enumerate(queries):
                vectors[row, column] = float(text == query) if text in scores else scores[query].get(text, 0.0)
            vectors[row, -1] = text not in scores  # no document is the zero vector
        return vectors

    return tp.Candidate(
        name, encode=encode, contract=contract(dimension or len(queries) + 1, space_id=name, metric="dot")
    )


def ranking(name: str, rankings: dict[str, Sequence[str]]) -> tp.Candidate:
    return scoring(name, {q: {d: float(9 - place) for place, d in enumerate(row)} for q, row in rankings.items()})


def mean(summary: Summary, measure: str, arm: int = 0) -> float | None:
    return summary.candidates[arm].measures["unfiltered"][measure].mean


def bounds_of(arm: ArmFigures, measure: str) -> Bounds:
    return arm.bounds["unfiltered"][measure]


def test_V003_the_ideal_comes_from_the_judgements_and_not_from_what_was_found(tmp_path: Path) -> None:
    """Three relevant, one of them at rank 1; the corpus lacks the two others."""
    made = study(tmp_path, ["d1", "x"], {"q": {"d1": 1, "gone": 1, "lost": 1}}, ["nDCG@10", "recall@10", "AP@10"])
    summary = tp.bench(made, candidates=[ranking("arm", {"q": ["d1", "x"]})]).summary
    assert mean(summary, "nDCG@10") == pytest.approx(0.4693, abs=5e-5)
    assert mean(summary, "recall@10") == mean(summary, "AP@10") == pytest.approx(1 / 3)


def test_V004_one_relevant_document_falls_with_its_rank(tmp_path: Path) -> None:
    made = study(tmp_path, ["a", "b", "r"], {"q": {"r": 1}}, ["nDCG@3"])
    arms = [ranking(f"at-{rank}", {"q": [*"ab"[: rank - 1], "r", *"ab"[rank - 1 :]]}) for rank in (1, 2, 3)]
    summary = tp.bench(made, candidates=arms).summary
    found = [mean(summary, "nDCG@3", arm) for arm in range(3)]
    assert found == [pytest.approx(value, abs=5e-5) for value in (1.0, 0.6309, 0.5)]


def test_V005_a_ranking_that_repeats_a_document_is_refused_by_query_and_id(tmp_path: Path) -> None:
    made = study(tmp_path, ["a", "b"], {"q": {"a": 1, "b": 1}}, ["recall@3"])
    (tmp_path / "prod.trec").write_text("q Q0 a 1 3 p\nq Q0 a 2 2 p\nq Q0 a 3 1 p\n", encoding="utf-8")
    with pytest.raises(InputError, match="query q, document a"):
        tp.bench(made, candidates=[tp.Candidate("prod", embedder="run", options={"run": "prod.trec"})])


def test_V013_the_gain_decides_the_winner_and_each_definition_names_it(tmp_path: Path) -> None:
    grades = [("a", 1), ("b", 2), ("c", 1), ("d", 0), ("e", 3)]
    other = [("d", 0), ("e", 3), ("a", 1), ("b", 2), ("c", 1)]
    made = study(tmp_path, "abcde", {"q": dict(grades)}, ["nDCG@5", "nDCG(gain=linear)@5"])
    arms = [ranking(name, {"q": [d for d, _ in row]}) for name, row in (("first", grades), ("second", other))]
    summary = tp.bench(made, candidates=arms).summary
    away = {m: mean(summary, m, 0) - mean(summary, m, 1) for m in made.measures}
    assert away["nDCG(gain=linear)@5"] == pytest.approx(0.054, abs=5e-4)
    assert away["nDCG@5"] == pytest.approx(-0.050, abs=5e-4)
    assert all("gain 2^grade - 1 (with gain=linear: the grade itself)" in summary.definitions[m] for m in away)


def pool(tmp_path: Path, *, pooled: bool, unjudged: int) -> Summary:
    """120 queries of one relevant document, first in both; the new model ranks so many unjudged ones below, the old none."""
    queries = [f"q{n:03d}" for n in range(120)]
    made = study(
        tmp_path,
        ["hit", *(f"j{n}" for n in range(9)), *(f"u{n}" for n in range(9))],
        {q: {"hit": 1, **{f"j{n}": 0 for n in range(9)}} for q in queries},
        ["recall@10", "nDCG@10", "Judged@10"],
        qrels={"pooled": pooled},
        decision={"slice": "unfiltered", "measure": "recall@10", "gap": 0.1, "prefer": ["dimension"]},
    )
    judged = [f"j{n}" for n in range(9)]
    new = [*(f"u{n}" for n in range(unjudged)), *judged][:9]
    old, newer = ({q: ["hit", *row] for q in queries} for row in (judged, new))
    arms = [
        scoring(name, {q: {d: 99.0 - n for n, d in enumerate(row)} for q, row in of.items()}, dimension)
        for name, of, dimension in (("old", old, 121), ("new", newer, 122))
    ]
    return tp.bench(made, candidates=arms).summary


def test_V025_unjudged_hits_of_one_arm_withhold_the_verdict_of_a_pooled_study(tmp_path: Path) -> None:
    """Both find the one known relevant document; if the new model's six unjudged ones were relevant, the old misses six."""
    summary = pool(tmp_path, pooled=True, unjudged=6)
    old, new = summary.candidates
    assert (mean(summary, "recall@10"), mean(summary, "recall@10", 1)) == (1, 1)
    assert (mean(summary, "Judged@10"), mean(summary, "Judged@10", 1)) == (1, pytest.approx(0.4))
    assert (old.judged["unfiltered"], new.judged["unfiltered"]) == (1, pytest.approx(0.4))
    assert bounds_of(old, "nDCG@10").unjudged_worst == bounds_of(old, "nDCG@10").unjudged_best == 1
    lowest = bounds_of(new, "nDCG@10")
    # Those at ranks 6 and 7: (1 + 0.3562 + 0.3333) / (1 + 0.6309 + 0.5); with one, or three, it is more.
    assert lowest.unjudged_worst == pytest.approx(0.7929, abs=5e-5)
    assert lowest.unjudged_best == 1
    assert (summary.decision.verdict, summary.decision.open) == ("undecided", ("old",))


@pytest.mark.parametrize(("pooled", "unjudged"), [(False, 6), (True, 0)])
def test_V025_unjudged_hits_withhold_nothing_where_no_pool_or_no_difference_is_said(
    tmp_path: Path, pooled: bool, unjudged: int
) -> None:
    decision = pool(tmp_path, pooled=pooled, unjudged=unjudged).decision
    assert (decision.verdict, decision.choice) == ("decided", "old")


# Ties and ids


@pytest.mark.parametrize("name", ["a", "z"])
def test_V001_whether_an_unjudged_hit_withholds_the_verdict_does_not_hang_on_its_id(tmp_path: Path, name: str) -> None:
    """In one arm it ties at the cut with a judged one, and comes first or last by its id."""
    queries = [f"q{n:03d}" for n in range(60)]
    made = study(
        tmp_path,
        ["hit", "judged", name],
        {q: {"hit": 1, "judged": 0} for q in queries},
        ["recall@2", "Judged@2"],
        qrels={"pooled": True},
        decision={"slice": "unfiltered", "measure": "recall@2", "gap": 0.1, "prefer": ["dimension"]},
    )
    arms = [
        scoring("old", {q: {"hit": 3.0, "judged": 2.0, name: 1.0} for q in queries}, 61),
        scoring("new", {q: {"hit": 3.0, "judged": 2.0, name: 2.0} for q in queries}, 62),
    ]
    summary = tp.bench(made, candidates=arms).summary
    assert mean(summary, "Judged@2", 1) == (0.5 if name == "a" else 1)
    assert (summary.decision.verdict, summary.decision.open) == ("undecided", ("old",))


@example(seed=27, pooled=False, confidence="point")
@example(seed=37, pooled=False, confidence="point")
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), pooled=st.booleans(), confidence=st.sampled_from([0.8, "point"]))
def test_V001_renaming_documents_changes_no_verdict_and_no_bound(
    tmp_path_factory: pytest.TempPathFactory, seed: int, pooled: bool, confidence: float | str
) -> None:
    """Rankings full of ties, at the cut too; the documents' ids shuffled among them."""
    rng = random.Random(seed)  # noqa: S311
    documents, queries = [f"d{n:02d}" for n in range(14)], [f"q{n:02d}" for n in range(20)]
    judged = {q: {d: rng.choice([0, 1, 1, 3]) for d in rng.sample(documents, 5)} for q in queries}
    levels = rng.choice([4, 12, 30])
    scores = [{q: {d: float(rng.randint(1, levels)) for d in documents} for q in queries} for _ in range(2)]
    # The second arm is the first, but for some of its queries: so that verdicts are close.
    scores[1] = {q: scores[rng.random() < 0.3][q] for q in queries}
    measure, gap = rng.choice(["nDCG@3", "AP@3", "RR@3", "recall@3"]), rng.choice([0.01, 0.03, 0.1, 0.3])
    names = dict(zip(documents, rng.sample(documents, len(documents)), strict=True))
    found = []
    for to in ({d: d for d in documents}, names):
        renamed = {q: {to[d]: g for d, g in of.items()} for q, of in judged.items()}
        made = study(
            tmp_path_factory.mktemp("renamed"),
            documents,
            renamed,
            [measure],
            qrels={"pooled": pooled},
            decision={
                "slice": "unfiltered",
                "measure": measure,
                "gap": gap,
                "prefer": ["dimension"],
                "confidence": confidence,
            },
        )
        arms = [
            scoring(f"arm-{n}", {q: {to[d]: s for d, s in of.items()} for q, of in by.items()}, 21 + n)
            for n, by in enumerate(scores)
        ]
        found.append(tp.bench(made, candidates=arms).summary)
    one, other = found
    assert one.decision.verdict == other.decision.verdict
    assert one.decision.choice == other.decision.choice
    assert [s.state for s in one.decision.standings] == [s.state for s in other.decision.standings]
    for a, b in zip(one.candidates, other.candidates, strict=True):
        for part in ("tie_low", "tie_expected", "tie_high", "unjudged_worst", "unjudged_best"):
            assert getattr(bounds_of(a, measure), part) == pytest.approx(
                getattr(bounds_of(b, measure), part), abs=1e-12
            )
