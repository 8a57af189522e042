"""The rankings of a fixture's audit are those of the definitions in plain loops, over what may be read, with sound grades."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixture_kit import BUNDLED, Tree, audited, cases_of, changed, item, told, toy
from tiepoint.core.fixture import Case, Fixture, plain_norm
from tiepoint.core.qrels import Qrels
from tiepoint.core.run import Run
from tiepoint.errors import InputError
from tiepoint.formats.fixture_json import dump_audit
from tiepoint.measures.graded import GradedRun
from tiepoint.workflows.fixture.file import load_fixture
from tiepoint.workflows.fixture.run import audit_fixture

# Against the definitions in plain loops


NUMBER = st.integers(-3, 3).map(float)


@st.composite
def fixtures(draw: st.DrawFn) -> tuple[Tree, int]:
    metric = draw(st.sampled_from(["cosine", "dot", "euclidean"]))
    documents = [f"d{i}" for i in range(draw(st.integers(1, 7)))]
    vectors = st.lists(NUMBER, min_size=3, max_size=3).filter(any)
    groups = {name: draw(st.lists(st.sampled_from("ab"), min_size=1, unique=True)) for name in documents}
    spaces = {s: {name: draw(vectors) for name in documents} for s in ("s1", "s2")}
    asked = {"q1": draw(st.lists(st.sampled_from("ab"), min_size=1, unique=True)), "q2": ["a", "b"]}
    queries = {s: {name: draw(vectors) for name in asked} for s in spaces}
    cases = []
    for name, subjects in asked.items():
        readable = [d for d in documents if set(groups[d]) & set(subjects)]
        if readable:
            gold = draw(st.dictionaries(st.sampled_from(readable), st.integers(1, 3), min_size=1))
            cases.append({"query_item_id": name, "subject_groups": subjects, "relevance": gold})
    return toy(spaces, queries, cases, metric=metric, acl=groups), draw(st.integers(1, 9))


def by_hand(tree: Tree, space: str, one: Tree, k: int) -> tuple[list[tuple[str, float]], float, float, float]:
    """The ranking of one case and its recall, RR, nDCG, by the definitions."""
    metric = tree["contracts"][0]["metric"]
    query = item(tree, one["query_item_id"], space)["vector"]
    hits = []
    for document in tree["items"]:
        readable = set(document["acl"]) & set(one["subject_groups"])
        if document["space_id"] == space and document["role"] == "document" and readable:
            pairs = list(zip(query, document["vector"], strict=True))
            dot = sum(a * b for a, b in pairs)
            score = {
                "dot": dot,
                "cosine": dot / (math.sqrt(sum(a * a for a, _ in pairs)) * math.sqrt(sum(b * b for _, b in pairs))),
                "euclidean": -math.sqrt(sum((a - b) ** 2 for a, b in pairs)),
            }[metric]
            hits.append((document["item_id"], score))
    hits = sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]
    grades = [one["relevance"].get(name, 0) for name, _ in hits]
    first = next((1 / (i + 1) for i, g in enumerate(grades) if g), 0.0)
    gain = [sum((2**g - 1) / math.log2(i + 2) for i, g in enumerate(gs))
            for gs in (grades, sorted(one["relevance"].values(), reverse=True)[:k])]  # fmt: skip
    return hits, sum(map(bool, grades)) / len(one["relevance"]), first, gain[0] / gain[1]


@settings(max_examples=60, deadline=None)
@given(fixtures())
def test_rankings_scores_measures_and_agreement_are_those_of_a_plain_loop(made: tuple[Tree, int]) -> None:
    tree, k = made
    found = told(tree, k)
    ranked: dict[str, list[set[str]]] = {}
    for space in ("s1", "s2"):
        for one, shown in zip(tree["queries"], found["spaces"][space]["evaluation"]["details"], strict=True):
            hits, recall, rr, ndcg = by_hand(tree, space, one, k)
            assert list(zip(shown["result_ids"], shown["scores"], strict=True)) == hits
            measured = (shown["recall_at_k"], shown["reciprocal_rank"], shown["ndcg_at_k"])
            assert measured == pytest.approx((recall, rr, ndcg), abs=1e-12)
            ranked.setdefault(space, []).append({name for name, _ in hits})
    pairs = list(zip(ranked["s1"], ranked["s2"], strict=True))
    assert [a["top_k_jaccard"] for a in found["migrations"][0]["per_query_agreement"]] == [
        len(a & b) / len(a | b) for a, b in pairs
    ]


def test_a_k_beyond_every_document_changes_no_figure() -> None:
    few, many = told(BUNDLED, 6), told(BUNDLED, 10**40)
    assert many.pop("k") == 10**40
    del few["k"]
    assert few == many


def test_vectors_near_the_ends_of_float64_are_ranked_and_an_overflow_is_refused() -> None:
    far = {"a": [1e154, 0.0], "b": [1e-150, 0.0], "c": [-1e154, 0.0]}
    tree = toy({"s": far}, {"s": {"q": [1e154, 0.0]}}, [{"query_item_id": "q", "relevance": {"a": 1}}])
    assert cases_of(told(tree), "s")["case-q"]["scores"] == [1e154 * 1e154, 1e154 * 1e-150, -1e154 * 1e154]
    tree["contracts"][0]["metric"] = "cosine"
    assert cases_of(told(tree), "s")["case-q"]["result_ids"] == ["a", "b", "c"]
    tree["contracts"][0]["metric"] = "euclidean"
    with pytest.raises(InputError, match="item: the scores of 1 cases overflow float64") as caught:
        audited(tree)
    assert "case-q" in caught.value.problems[0].where


def test_the_norm_is_the_root_of_the_plain_sum() -> None:
    numbers = [0.1] * 10 + [1e8, 0.3]
    total = 0.0
    for number in numbers:
        total += number * number
    assert plain_norm(numbers) == math.sqrt(total)


# Permissions


def test_what_may_not_be_read_is_never_ranked_though_its_vector_is_the_query() -> None:
    def change(tree: Tree) -> None:
        for space in ("toy-v1", "toy-v2"):
            item(tree, "doc-noise", space).update(acl=["board"], vector=item(tree, "q-timeout", space)["vector"])

    found = told(changed(change))
    for space in ("toy-v1", "toy-v2"):
        for one in cases_of(found, space).values():
            assert "doc-noise" not in one["result_ids"]
        assert cases_of(found, space)["deploy-approval"]["result_ids"] == [
            "doc-deploy"
        ]  # one readable document: one hit


def test_no_groups_find_nothing_and_two_empty_rankings_are_undefined() -> None:
    fixture = load_fixture("bundled")
    nobody = replace(fixture.cases[0], subject_groups=frozenset())
    audit = audit_fixture(Fixture(fixture.spaces, (nobody, *fixture.cases[1:])))
    assert audit.spaces[0].cases[0].result_ids == ()
    assert audit.spaces[0].cases[0].recall is None
    (move,) = audit.migrations
    assert [a.jaccard for a in move.agreement] == [None, 0.5, 1.0, 1.0]
    assert move.jaccard == pytest.approx(2.5 / 3)
    alone = audit_fixture(Fixture(fixture.spaces, (nobody,)))
    (only,) = json.loads(dump_audit(alone))["migrations"]
    assert only["mean_top_k_jaccard"] is None
    assert only["quality_delta_new_minus_old"] == {"mean_recall_at_k": None, "mrr": None, "mean_ndcg_at_k": None}


def test_an_item_of_another_space_or_role_is_never_ranked() -> None:
    """The bundled queries score highest against their own twins; only documents of the space stand in a ranking."""
    for space in told(BUNDLED, 100)["spaces"].values():
        for one in space["evaluation"]["details"]:
            assert all(name.startswith("doc-") for name in one["result_ids"])
            assert len(one["result_ids"]) == len(set(one["result_ids"])) <= 5


# The one entry of the measures


@pytest.mark.parametrize("grade", [4, -1, True, 1.0, "1", None])
def test_measures_refuse_a_bad_grade(grade: object) -> None:
    fixture = load_fixture("bundled")
    bad = Case("c", "q-retry", frozenset({"employees"}), {"doc-retry": grade}, ())  # type: ignore[dict-item]
    with pytest.raises(InputError, match="grades are not 0, 1, 2 or 3"):
        audit_fixture(Fixture(fixture.spaces, (bad,)))


@pytest.mark.parametrize("grade", [np.array([7], np.int8), np.array([1.0]), np.array([-1], np.int8)])
def test_measures_refuse_bad_columns_of_grades_and_repeated_ids(grade: np.ndarray) -> None:
    def run(*documents: int) -> Run:
        hits = np.array([documents], np.int32)
        zero = np.zeros(2, np.int64)
        return Run(hits, np.zeros(hits.shape), np.array([2]), zero, np.empty(0, np.int32), 0.0, {})

    every = np.ones(1, dtype=bool)
    sound = Qrels.from_rows([("q", "a", 1)], query_ids=["q"], document_ids=["a", "b"])
    assert GradedRun.of(run(0, 1), sound, every).grade.tolist() == [[1, -1]]
    with pytest.raises(InputError, match="grades are not"):
        GradedRun.of(run(0, 1), replace(sound, grade=grade), every)
    with pytest.raises(InputError, match="hold a document twice"):
        GradedRun.of(run(0, 0), sound, every)
