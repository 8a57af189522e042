"""The audit of a fixture: the published figures, the definitions in plain loops, permissions, what each fault moves."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command import Command, process
from fixture_kit import BUNDLED, Tree, audited, case, changed, item, of_file, toy, written
from tiepoint.core.fixture import Case, Fixture, plain_norm
from tiepoint.core.qrels import Qrels
from tiepoint.core.run import Run
from tiepoint.errors import InputError
from tiepoint.formats.fixture_json import dump_audit, parse_fixture
from tiepoint.measures.graded import GradedRun
from tiepoint.workflows.fixture.file import bundled_bytes, load_fixture
from tiepoint.workflows.fixture.run import audit_fixture

KEYS = {
    "": {"fixture_notice", "k", "spaces", "migrations"},
    "space": {"contract", "inventory", "evaluation"},
    "contract": {
        "space_id", "provider", "model", "revision", "dimension", "metric", "normalized", "query_role", "document_role", "dtype",
    },
    "inventory": {
        "contract_signature", "item_count", "document_count", "query_item_count", "dimension", "metric", "normalized",
        "dtype", "estimated_raw_vector_bytes", "norm_min", "norm_median", "norm_max",
    },
    "evaluation": {"query_count", "mean_recall_at_k", "mrr", "mean_ndcg_at_k", "subgroups", "details"},
    "subgroup": {"query_count", "recall_at_k", "reciprocal_rank", "ndcg_at_k"},
    "case": {
        "case_id", "query_item_id", "result_ids", "scores", "recall_at_k", "reciprocal_rank", "ndcg_at_k", "subgroups",
    },
    "migration": {
        "old_space_id", "new_space_id", "vectors_directly_comparable", "inventory_match", "canonical_match", "only_old",
        "only_new", "canonical_mismatches", "mechanical_gates_pass", "quality_delta_new_minus_old", "mean_top_k_jaccard",
        "per_query_agreement", "quality_decision_required",
    },
    "delta": {"mean_recall_at_k", "mrr", "mean_ndcg_at_k"},
    "agreement": {"case_id", "top_k_jaccard"},
}  # fmt: skip


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def told(tree: Tree, k: int = 3) -> Tree:
    """What --json prints of a fixture."""
    return json.loads(dump_audit(audited(tree, k)))


def cases_of(answer: Tree, space: str) -> Tree:
    return {one["case_id"]: one for one in answer["spaces"][space]["evaluation"]["details"]}


# The bundled fixture


def test_the_figures_of_the_bundled_fixture(command: Command) -> None:
    answer = command("audit", "--fixture", "bundled", "--k", "3", "--json")
    assert (answer.code, answer.err) == (0, "")
    found = json.loads(answer.out)
    old, new = found["spaces"]["toy-v1"], found["spaces"]["toy-v2"]
    assert old["inventory"] == {
        "contract_signature": "6caf5993ead75a462182d9de55bbf4dc98160c9efe4ae743ae8ed71e6645b524",
        "item_count": 10, "document_count": 6, "query_item_count": 4, "dimension": 4, "metric": "cosine",
        "normalized": False, "dtype": "float32", "estimated_raw_vector_bytes": 160,
        "norm_min": 1.0, "norm_median": 1.0, "norm_max": 2.0,
    }  # fmt: skip
    assert new["inventory"] == {
        "contract_signature": "4adf538fe48068b1918e09bb16794418b75bef90420bb22313fd14bb652c2866",
        "item_count": 10, "document_count": 6, "query_item_count": 4, "dimension": 5, "metric": "dot",
        "normalized": True, "dtype": "float32", "estimated_raw_vector_bytes": 200,
        "norm_min": 1.0, "norm_median": 1.0, "norm_max": 1.0,
    }  # fmt: skip
    for space in (old, new):
        measured = {
            name: space["evaluation"][name] for name in ("query_count", "mean_recall_at_k", "mrr", "mean_ndcg_at_k")
        }
        assert measured == {"query_count": 4, "mean_recall_at_k": 1.0, "mrr": 1.0, "mean_ndcg_at_k": 1.0}
        counts = {name: of["query_count"] for name, of in space["evaluation"]["subgroups"].items()}
        assert counts == {"cross-domain": 1, "fact": 2, "multi-evidence": 2, "policy": 1}
    assert cases_of(found, "toy-v1")["image-example"]["result_ids"] == ["doc-image", "doc-credentials", "doc-retry"]
    assert cases_of(found, "toy-v2")["image-example"]["result_ids"] == ["doc-image", "doc-credentials", "doc-noise"]
    assert [cases_of(found, name)["retry-policy"]["scores"] for name in ("toy-v1", "toy-v2")] == [[0.96, 0.8, 0.6]] * 2
    (move,) = found["migrations"]
    agreement = {one["case_id"]: one["top_k_jaccard"] for one in move.pop("per_query_agreement")}
    assert agreement == {"deploy-approval": 1.0, "image-example": 0.5, "retry-policy": 1.0, "timeout-values": 1.0}
    assert move == {
        "old_space_id": "toy-v1", "new_space_id": "toy-v2", "vectors_directly_comparable": False,
        "inventory_match": True, "canonical_match": True, "only_old": [], "only_new": [], "canonical_mismatches": [],
        "mechanical_gates_pass": True, "quality_decision_required": True, "mean_top_k_jaccard": 0.875,
        "quality_delta_new_minus_old": {"mean_recall_at_k": 0.0, "mrr": 0.0, "mean_ndcg_at_k": 0.0},
    }  # fmt: skip


def test_at_k_2_every_question_agrees(command: Command) -> None:
    (move,) = json.loads(command("audit", "--fixture", "bundled", "--k", "2", "--json").out)["migrations"]
    assert move["mean_top_k_jaccard"] == 1.0


def test_the_json_has_exactly_the_published_keys_and_neither_text_nor_vector() -> None:
    found = told(BUNDLED)
    space = found["spaces"]["toy-v1"]
    (move,) = found["migrations"]
    held = {
        "": found, "space": space, "contract": space["contract"], "inventory": space["inventory"],
        "evaluation": space["evaluation"], "subgroup": space["evaluation"]["subgroups"]["fact"],
        "case": space["evaluation"]["details"][0], "migration": move, "delta": move["quality_delta_new_minus_old"],
        "agreement": move["per_query_agreement"][0],
    }  # fmt: skip
    assert {name: set(value) for name, value in held.items()} == KEYS
    printed = dump_audit(audited(BUNDLED)).decode()
    assert not [i["text"] for i in BUNDLED["items"] if i["text"] in printed]
    assert "not a model" in found["fixture_notice"]
    assert "gain 2^grade - 1" in found["fixture_notice"]


def test_the_terminal_says_the_same_in_short(command: Command) -> None:
    answer = command("audit", "--fixture", "bundled")
    assert (answer.code, answer.err) == (0, "")
    said = " ".join(answer.out.split())
    for words in (
        "not a model", "inventory: pass", "canon: pass", "vectors directly comparable: no", "0.8750",
        "image-example 0.5000", "Mechanical gates pass. That authorises nothing", "a person's decision",
    ):  # fmt: skip
        assert words in said, words
    assert max(map(len, answer.out.splitlines())) <= 100


def test_the_bytes_are_the_same_under_python_O_and_in_every_run(command: Command) -> None:
    call = ("audit", "--fixture", "bundled", "--json")
    optimised = process(*call, program=(sys.executable, "-O", "-m", "tiepoint"), PYTHONHASHSEED="7")
    assert optimised.code == 0
    assert optimised.out == command(*call).out == dump_audit(audit_fixture(load_fixture("bundled"))).decode()


def test_the_order_of_the_file_changes_no_byte() -> None:
    def change(tree: Tree) -> None:
        for name in ("contracts", "items", "queries"):
            tree[name].reverse()
        for one in tree["queries"]:
            one["subgroups"].reverse()
            one["relevance"] = dict(reversed(one["relevance"].items()))

    assert dump_audit(audited(changed(change))) == dump_audit(audited(BUNDLED))


# tiepoint fixture


def test_fixture_writes_the_bundled_one_and_nothing_over_another_file(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "new" / "fixture.json"
    assert command("fixture", path).code == 0
    assert path.read_bytes() == bundled_bytes()
    assert [p.name for p in path.parent.iterdir()] == ["fixture.json"]
    assert command("audit", "--fixture", path, "--json").out == command("audit", "--fixture", "bundled", "--json").out
    path.write_text("mine", encoding="utf-8")
    answer = command("fixture", path)
    assert (answer.code, answer.out, path.read_text(encoding="utf-8")) == (2, "", "mine")


# Spaces and moves


def test_one_space_alone_has_no_move(command: Command, tmp_path: Path) -> None:
    def change(tree: Tree) -> None:
        del tree["contracts"][1]
        tree["items"] = [i for i in tree["items"] if i["space_id"] == "toy-v1"]

    answer = of_file(command, tmp_path, changed(change), "--json")
    assert (answer.code, json.loads(answer.out)["migrations"]) == (0, [])
    assert "no move" in of_file(command, tmp_path, changed(change)).out


def test_the_first_space_is_held_against_each_other_one() -> None:
    def change(tree: Tree) -> None:
        for name in ("toy-v0", "toy-v3"):
            tree["contracts"].append({**tree["contracts"][0], "space_id": name})
            tree["items"] += [{**i, "space_id": name} for i in BUNDLED["items"] if i["space_id"] == "toy-v1"]
        item(tree, "doc-noise", "toy-v3")["source_revision"] = "corpus-r4"

    moves = told(changed(change))["migrations"]
    assert [(m["old_space_id"], m["new_space_id"]) for m in moves] == [
        ("toy-v0", "toy-v1"), ("toy-v0", "toy-v2"), ("toy-v0", "toy-v3"),
    ]  # fmt: skip
    assert [m["vectors_directly_comparable"] for m in moves] == [
        True,
        False,
        True,
    ]  # space_id is no part of the signature
    assert [m["mechanical_gates_pass"] for m in moves] == [True, True, False]
    assert all(m["quality_decision_required"] for m in moves)


def test_roles_may_be_called_otherwise_in_another_space() -> None:
    def change(tree: Tree) -> None:
        tree["contracts"][1] |= {"query_role": "search_query", "document_role": "search_document"}
        for one in tree["items"]:
            if one["space_id"] == "toy-v2":
                one["role"] = f"search_{one['role']}"

    (move,) = told(changed(change))["migrations"]
    assert move["canonical_match"]


@pytest.mark.parametrize(
    "change",
    [
        lambda i: i.update(text="Another body."),
        lambda i: i.update(acl=["employees", "guests"]),
        lambda i: i.update(source_revision="corpus-r4"),
        lambda i: i.update(role="query"),
    ],
    ids=["text", "acl", "source_revision", "role"],
)
def test_each_field_of_the_canon_is_compared(change: Callable[[Tree], None], command: Command, tmp_path: Path) -> None:
    answer = of_file(command, tmp_path, changed(lambda tree: change(item(tree, "doc-noise"))), "--json")
    assert answer.code == 1
    (move,) = json.loads(answer.out)["migrations"]
    assert (move["inventory_match"], move["canonical_match"], move["canonical_mismatches"]) == (
        True,
        False,
        ["doc-noise"],
    )
    said = of_file(command, tmp_path, changed(lambda tree: change(item(tree, "doc-noise"))))
    assert said.code == 1
    assert "canon: FAIL, differ: doc-noise" in said.out
    assert "Mechanical gates FAIL" in said.out


def test_line_ends_unicode_form_and_the_order_of_an_acl_are_no_drift() -> None:
    def change(tree: Tree) -> None:
        item(tree, "doc-noise", "toy-v1").update({"text": "caf\u00e9\r\nbar\rend", "acl": ["a", "employees"]})
        item(tree, "doc-noise").update(text="cafe\u0301\nbar\nend", acl=["employees", "a"])

    (move,) = told(changed(change))["migrations"]
    assert move["canonical_match"]


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


# What is practised on the fixture


@pytest.mark.parametrize(
    ("query", "vector", "seen"),
    [
        ("q-timeout", [0.6, -0.8, 0, 0, 0], {"recall", "nDCG"}),  # the second document falls behind k
        ("q-retry", [1, 0, 0, 0, 0], {"RR", "nDCG"}),  # both are there, the first of them second
        ("q-timeout", [0.8, 0.6, 0, 0, 0], {"nDCG"}),  # the better document stands second
        ("q-timeout", [0, 0, 0, 1, 0], {"recall", "RR", "nDCG"}),  # nothing relevant within k
        ("q-timeout", [0.8, 0, 0, 0.6, 0], set()),  # another third document, unjudged
    ],
)
def test_a_moved_query_and_the_measures_that_see_it(query: str, vector: list[float], seen: set[str]) -> None:
    (move,) = audited(changed(lambda tree: item(tree, query).update(vector=vector))).migrations
    assert {n for n, d in (("recall", move.recall), ("RR", move.rr), ("nDCG", move.ndcg)) if d} == seen
    assert all(d is not None and d <= 0 for d in (move.recall, move.rr, move.ndcg))
    assert move.gates_pass  # content and contracts say nothing of it


def test_a_changed_body_under_the_same_id_is_drift_that_no_measure_sees() -> None:
    (move,) = audited(changed(lambda tree: item(tree, "doc-retry").update(text="Calls are never repeated."))).migrations
    assert (move.mismatched, move.recall, move.rr, move.ndcg, move.jaccard) == (("doc-retry",), 0, 0, 0, 0.875)
    assert not move.gates_pass


@pytest.mark.parametrize(
    ("change", "layer"),
    [
        (lambda i: i.update(role="passage"), "item: the role is not in the contract"),
        (lambda i: i.update(vector=[2, 0, 0, 0, 0]), "item: the norm is off 1"),
        (lambda i: i.update(vector=[True, 0, 0, 0, 0]), "shape: each of vector must be a number"),
    ],
    ids=["wrong role", "norm 2", "a boolean in a vector"],
)
def test_the_layer_that_stops_it(change: Callable[[Tree], None], layer: str, command: Command, tmp_path: Path) -> None:
    answer = of_file(command, tmp_path, changed(lambda tree: change(item(tree, "doc-timeout"))), "--json")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {layer}")


def test_what_norm_2_would_have_poisoned() -> None:
    def change(tree: Tree) -> None:
        tree["contracts"][1]["normalized"] = False
        item(tree, "doc-timeout")["vector"] = [2, 0, 0, 0, 0]

    found = told(changed(change))
    retry = cases_of(found, "toy-v2")["retry-policy"]
    assert (retry["result_ids"][0], retry["reciprocal_rank"]) == ("doc-timeout", 0.5)
    assert found["migrations"][0]["mechanical_gates_pass"]


def test_a_new_subgroup_shows_what_the_mean_hides() -> None:
    def change(tree: Tree) -> None:
        case(tree, "timeout-values")["subgroups"].append("critical")
        item(tree, "q-timeout")["vector"] = [0, 0, 0, 1, 0]

    evaluation = told(changed(change))["spaces"]["toy-v2"]["evaluation"]
    assert evaluation["mean_recall_at_k"] == 0.75
    assert evaluation["subgroups"]["critical"] == {
        "query_count": 1, "recall_at_k": 0.0, "reciprocal_rank": 0.0, "ndcg_at_k": 0.0,
    }  # fmt: skip
    assert parse_fixture(written(changed(change)), name="x").cases[3].subgroups == (
        "critical",
        "fact",
        "multi-evidence",
    )
