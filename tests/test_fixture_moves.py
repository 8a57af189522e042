"""The moves of a fixture's audit: which spaces are held against which, what counts as drift, and what each fault moves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from command import Command
from fixture_kit import BUNDLED, Tree, audited, case, cases_of, changed, item, of_file, told, written
from tiepoint.formats.fixture_json import parse_fixture

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
