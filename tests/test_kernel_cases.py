"""Field cases of the search, through `tp.bench`: a study whose vectors are given by text."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp
from command import Command
from sample import contract
from studies import DOCUMENTS, PUBLIC, QUERIES, write_study
from tiepoint.search.first_pass import NAME

Vector = Sequence[float]


PLACES = "region,within,aliases\nNorth,,\nSouth,,\nEmpty,,\n"


def study_of(
    folder: Path,
    rows: Mapping[str, Mapping[str, object]],
    asked: Mapping[str, Mapping[str, object]],
    judged: str,
    *,
    k: int = 3,
    **tables: Mapping[str, object] | None,
) -> tp.Study:
    """Texts are ids; a document is in the South, a query asks without a filter, where they do not say otherwise."""
    return tp.load_study(
        write_study(
            folder,
            documents=[
                {"_id": i, "title": "", "text": i, "region": "South", "groups": [], **d} for i, d in rows.items()
            ],
            questions=[{"_id": i, "text": i, "region": None, "groups": [], **q} for i, q in asked.items()],
            judgements="query-id\tcorpus-id\tscore\n" + judged,
            places=PLACES,
            regions={"path": "regions.csv", "id": "region", "parent": "within", "aliases": "aliases"},
            **{
                **PUBLIC,
                "study": {"k": k, "measures": [f"recall@{k}"]},
                "corpus": {"text": "{text}", **PUBLIC["corpus"]},
                "queries": {"rare": None, "subgroups": None, "cluster": None, **PUBLIC["queries"]},
                "decision": {"measure": f"recall@{k}", "slice": "unfiltered"},
                **tables,
            },
        )
    )


def given(vectors: Mapping[str, Vector], metric: str = "cosine") -> tp.Candidate:
    dimension = len(next(iter(vectors.values())))

    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.array([vectors.get(text, [1.0] * dimension) for text in texts], dtype=np.float32)

    return tp.Candidate("given", encode=encode, contract=contract(dimension, metric=metric))


def ranked(result: tp.Result, query: str, part: str = "unfiltered") -> list[tuple[str, float]]:
    rows = [
        r for r in result.rankings.to_pylist() if (r["candidate"], r["query"], r["slice"]) == ("given", query, part)
    ]
    return [(r["document"], r["score"]) for r in sorted(rows, key=lambda r: r["rank"])]


def angle(degrees: float, length: float = 1.0) -> Vector:
    return [length * math.cos(math.radians(degrees)), length * math.sin(math.radians(degrees))]


def test_V001_equal_scores_stand_in_id_order_and_the_range_over_their_orders_beside(tmp_path: Path) -> None:
    documents = {name: {} for name in ("a", "b", "c", "z")}
    study = study_of(tmp_path / "s", documents, {"q": {}}, "q\tz\t1\n", k=2)
    result = tp.bench(
        study, candidates=[given({name: angle(5) for name in ("a", "b", "z")} | {"c": angle(50), "q": angle(5)})]
    )
    hits = ranked(result, "q")
    assert [name for name, _ in hits] == ["a", "b"]
    assert len({score for _, score in hits}) == 1
    figure = result.summary.candidates[0].measures["unfiltered"]["recall@2"]
    assert figure.mean == 0
    bounds = result.summary.candidates[0].bounds["unfiltered"]["recall@2"]
    assert (bounds.tie_low, bounds.tie_high) == (0, 1), "z ties with the last hit, one place beyond the cut"


@pytest.mark.parametrize(("relevant", "mean"), [("a", 1), ("z", 0)])
def test_V001_no_verdict_hangs_on_the_id_of_a_document_that_ties_at_the_cut(
    tmp_path: Path, relevant: str, mean: float
) -> None:
    """By id alone the cheap arm finds all, or nothing. The dear one finds it in any order."""
    names = ("a", "b", "c", "z")
    queries = {f"q{n:03d}": {} for n in range(120)}
    judged = "".join(f"{q}\t{relevant}\t1\n" for q in queries)
    study = study_of(
        tmp_path / "s",
        {name: {} for name in names},
        queries,
        judged,
        k=2,
        decision={"measure": "recall@2", "slice": "unfiltered", "gap": 0.1, "prefer": ["dimension"]},
    )
    asked = dict.fromkeys(queries, angle(5))
    tied = {name: angle(50 if name == "c" else 5) for name in names} | asked
    strict = {name: [*angle(5 if name == relevant else 50 + n), 0.0] for n, name in enumerate(names)}
    dear = dataclasses.replace(given(strict | {q: [*v, 0.0] for q, v in asked.items()}), id="dear")
    summary = tp.bench(study, candidates=[given(tied), dear]).summary
    assert [arm.measures["unfiltered"]["recall@2"].mean for arm in summary.candidates] == [mean, 1]
    assert (summary.decision.verdict, summary.decision.open) == ("undecided", ("given",))


def test_V021_a_document_whose_vector_is_not_finite_is_never_ranked(tmp_path: Path) -> None:
    study = study_of(tmp_path / "s", {"a": {}, "b": {}, "nan": {}}, {"q": {}}, "q\ta\t1\n")
    vectors = {"a": angle(1), "b": angle(80), "nan": [math.nan, 1], "q": angle(0)}
    result = tp.bench(study, candidates=[given(vectors)])
    assert [name for name, _ in ranked(result, "q")] == ["a", "b"]
    assert result.summary.candidates[0].documents_missing == 1


@pytest.mark.parametrize(("metric", "best"), [("cosine", "near"), ("dot", "long")])
def test_V039_norms_three_times_apart_rank_by_the_metric_of_the_contract(
    tmp_path: Path, metric: str, best: str
) -> None:
    study = study_of(tmp_path / "s", {"long": {}, "near": {}}, {"q": {}}, "q\tnear\t1\n", k=1)
    vectors = {"long": angle(40, 3), "near": angle(10), "q": angle(0)}
    hits = ranked(tp.bench(study, candidates=[given(vectors, metric)]), "q")
    assert [name for name, _ in hits] == [best]


@pytest.mark.parametrize(
    ("metric", "same", "square"), [("cosine", 1.0, 0.0), ("dot", 1.0, 0.0), ("euclidean", 0.0, -math.sqrt(2))]
)
def test_V040_a_known_pair_has_the_score_of_its_metric(tmp_path: Path, metric: str, same: float, square: float) -> None:
    study = study_of(tmp_path / "s", {"same": {}, "square": {}}, {"q": {}}, "q\tsame\t1\n", k=2)
    vectors = {"same": [1.0, 0.0], "square": [0.0, 1.0], "q": [1.0, 0.0]}
    assert ranked(tp.bench(study, candidates=[given(vectors, metric)]), "q") == [("same", same), ("square", square)]


def test_V063_a_filter_that_keeps_one_in_a_hundred_far_rows_ranks_all_of_them(tmp_path: Path) -> None:
    documents = {f"d{i:03d}": {"region": "North" if i % 100 == 99 else "South"} for i in range(300)}
    study = study_of(tmp_path / "s", documents, {"q": {"region": "North"}}, "q\td299\t1\n")
    # The nearest are in the South; the three of the North lie behind all of them.
    vectors = {f"d{i:03d}": angle(150 + i / 10 if i % 100 == 99 else i / 300) for i in range(300)} | {"q": angle(0)}
    result = tp.bench(study, candidates=[given(vectors)])
    assert [name for name, _ in ranked(result, "q", "filtered")] == ["d099", "d199", "d299"]
    assert not {"d099", "d199", "d299"} & {name for name, _ in ranked(result, "q")}
    assert result.summary.denominators["filtered"].few_eligible == 1


def test_V067_answers_of_the_region_from_rank_twenty_are_found_and_documents_without_a_region_stay_out(
    tmp_path: Path,
) -> None:
    documents = {f"d{i:02d}": {"region": "South" if i < 20 else None if i % 10 == 0 else "North"} for i in range(40)}
    judged = "".join(f"q\td{i}\t1\n" for i in range(21, 26))
    study = study_of(
        tmp_path / "s",
        documents,
        {"q": {"region": "North"}},
        judged,
        k=5,
        corpus={"unplaced": "out", "text": "{text}", "acl": None},
    )
    result = tp.bench(study, candidates=[given({f"d{i:02d}": angle(i) for i in range(40)} | {"q": angle(0)})])
    assert [name for name, _ in ranked(result, "q", "filtered")] == [f"d{i}" for i in range(21, 26)]
    assert result.summary.candidates[0].measures["filtered"]["recall@5"].mean == 1


def test_V069_a_zero_vector_is_a_miss_and_nothing_that_is_no_number_enters_a_ranking(tmp_path: Path) -> None:
    study = study_of(tmp_path / "s", {"a": {}, "b": {}, "zero": {}}, {"q": {}, "none": {}}, "q\ta\t1\nnone\ta\t1\n")
    vectors = {"a": angle(10), "b": angle(20), "zero": [0.0, 0.0], "q": angle(0), "none": [0.0, 0.0]}
    result = tp.bench(study, candidates=[given(vectors)])
    assert [name for name, _ in ranked(result, "q")] == ["a", "b"]
    assert ranked(result, "none") == []
    assert all(math.isfinite(score) for score in result.rankings.column("score").to_pylist())
    assert (result.summary.candidates[0].documents_missing, result.summary.candidates[0].queries_missing) == (1, 1)


def test_V072_a_filter_that_matches_nothing_returns_nothing(tmp_path: Path) -> None:
    study = study_of(tmp_path / "s", {"a": {}, "b": {}}, {"q": {"region": "Empty"}, "r": {}}, "q\ta\t1\nr\ta\t1\n")
    result = tp.bench(study, candidates=[given({"a": angle(10), "b": angle(20), "q": angle(0), "r": angle(0)})])
    assert {(r["candidate"], r["document"]) for r in result.rankings.to_pylist() if r["slice"] == "filtered"} == set()
    assert [name for name, _ in ranked(result, "q")] == ["a", "b"]


def closed(folder: Path, documents: Mapping[str, Mapping[str, object]], judged: str, **corpus: object) -> tp.Study:
    return study_of(
        folder,
        documents,
        {"q": {"groups": ["planning"]}},
        judged,
        k=5,
        access={"public": False},
        corpus={"text": "{text}", "acl": "groups", "unplaced": "out", **corpus},
        queries={"groups": "groups", "rare": None, "subgroups": None, "cluster": None},
    )


def test_V108_twenty_forbidden_documents_before_the_first_allowed_leave_no_gap(tmp_path: Path) -> None:
    documents = {f"d{i:02d}": {"groups": ["ecology"] if i < 20 else ["ecology", "planning"]} for i in range(30)}
    study = closed(tmp_path / "s", documents, "q\td20\t1\n")
    result = tp.bench(study, candidates=[given({f"d{i:02d}": angle(i) for i in range(30)} | {"q": angle(0)})])
    assert [name for name, _ in ranked(result, "q")] == ["d20", "d21", "d22", "d23", "d24"]
    assert result.summary.candidates[0].measures["unfiltered"]["recall@5"].mean == 1


def test_V109_a_readable_passage_of_a_closed_parent_gives_its_place_to_the_next(tmp_path: Path) -> None:
    both = ["ecology", "planning"]
    documents = {
        "p": {"groups": ["ecology"], "parent": None},
        "p#0": {"groups": both, "parent": "p"},
        "free#0": {"groups": both, "parent": "free"},
        "half#0": {"groups": both, "parent": "half"},
        "half#1": {"groups": ["ecology"], "parent": "half"},
        **{f"e{i}#0": {"groups": both, "parent": f"e{i}"} for i in range(6)},
    }
    study = closed(tmp_path / "s", documents, "q\tfree\t1\n", parent="parent")
    vectors = {name: angle(3 * i) for i, name in enumerate(documents)} | {"q": angle(0)}
    result = tp.bench(study, candidates=[given(vectors)])
    assert [name for name, _ in ranked(result, "q")] == ["free", "e0", "e1", "e2", "e3"]


def test_the_conditions_say_how_a_search_was_proven_and_verbose_what_its_cost_model_chose(
    tmp_path: Path, command: Command
) -> None:
    stated = {k: v for k, v in dataclasses.asdict(contract(2)).items() if v is not None and k != "space_id"}
    made = {
        "id": "made",
        "embedder": "vectors",
        "contract": stated,
        "options": {"documents": "d.npy", "queries": "q.npy"},
    }
    folder = write_study(tmp_path / "s", candidates=[made])
    for name, ids in (("d", [d["_id"] for d in DOCUMENTS]), ("q", [q["_id"] for q in QUERIES])):
        np.save(folder / f"{name}.npy", np.array([angle(i) for i in range(len(ids))], dtype=np.float32))
        (folder / f"{name}.ids.txt").write_text("".join(f"{i}\n" for i in ids), encoding="utf-8")
    answer = command("bench", folder, "--verbose")
    assert answer.code in (0, 4)
    assert "search of made, unfiltered: one product: 4 queries under 1 filters, 1 products" in answer.err
    assert "estimated cost of the other ways, this one being 1: each permission" in answer.err
    (file,) = (folder / "results").glob("*/conditions.json")
    searched = json.loads(file.read_text(encoding="utf-8"))["search"]
    assert set(searched) == {"made, unfiltered", "made, filtered"}
    facts = searched["made, unfiltered"]
    assert facts["first_pass"] == NAME
    assert 0 < facts["epsilon"] < 1e-5
    assert facts["scored_again"] > 0
    assert facts["scored"] is None, "how many pairs there are counts documents that readers may not see"
    assert facts["loops"].partition(";")[0] in ("numpy", "numba")
    assert "one product" not in file.read_text(encoding="utf-8")
