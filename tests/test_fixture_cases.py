"""Field cases that a fixture shows. Each enters by the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from command import Command
from fixture_kit import Tree, case, changed, item, of_file, toy


def test_V013_the_gain_decides_the_winner_and_is_named(command: Command, tmp_path: Path) -> None:
    """Grades (1,2,1,-,3) in one space and (-,3,1,2,1) in the other: linear gain prefers the first, ours the second."""
    spaces = {
        name: {d: [5.0 - i] for i, d in enumerate(order)} for name, order in {"s1": "abcde", "s2": "decba"}.items()
    }
    gold = {"a": 1, "b": 2, "c": 1, "e": 3}
    tree = toy(spaces, {name: {"q": [1.0]} for name in spaces}, [{"query_item_id": "q", "relevance": gold}])
    answer = of_file(command, tmp_path, tree, "--k", "5", "--json")
    found = json.loads(answer.out)
    ranked = [found["spaces"][s]["evaluation"]["details"][0]["result_ids"] for s in ("s1", "s2")]
    assert [[gold.get(d, 0) for d in ids] for ids in ranked] == [[1, 2, 1, 0, 3], [0, 3, 1, 2, 1]]
    assert found["migrations"][0]["quality_delta_new_minus_old"]["mean_ndcg_at_k"] == pytest.approx(0.050, abs=5e-4)
    for said in (answer.out, of_file(command, tmp_path, tree, "--k", "5").out):
        assert "gain 2^grade - 1" in " ".join(said.split())


def test_V016_copies_are_named_and_never_merged(command: Command, tmp_path: Path) -> None:
    """doc-noise becomes a copy of doc-retry, but for its line ends, with the same vector; only doc-retry is judged."""

    def change(tree: Tree) -> None:
        for space in ("toy-v1", "toy-v2"):
            judged = item(tree, "doc-retry", space)
            judged["text"] = "One line.\nAnother."
            item(tree, "doc-noise", space).update(text="One line.\r\nAnother.", vector=judged["vector"])

    answer = of_file(command, tmp_path, changed(change))
    assert answer.code == 0
    assert answer.out.count("documents of one text: doc-noise = doc-retry") == 2
    found = json.loads(of_file(command, tmp_path, changed(change), "--json").out)
    retry = next(c for c in found["spaces"]["toy-v2"]["evaluation"]["details"] if c["case_id"] == "retry-policy")
    assert retry["result_ids"][:2] == ["doc-noise", "doc-retry"]  # a tie stands in the order of ids
    assert retry["scores"][0] == retry["scores"][1]
    assert retry["reciprocal_rank"] == 0.5  # the copy is unjudged: it gains nothing, and takes its place


@pytest.mark.parametrize("space", ["toy-v1", "toy-v2"])
def test_V017_one_id_twice_with_two_texts_names_both_places(command: Command, tmp_path: Path, space: str) -> None:
    def change(tree: Tree) -> None:
        tree["items"].append({**item(tree, "doc-retry", space), "text": "Something else."})

    answer = of_file(command, tmp_path, changed(change), "--json")
    index = 4 if space == "toy-v1" else 14
    assert (answer.code, answer.out) == (2, "")
    assert "error: item: an item stands more than once" in answer.err
    assert f"items[{index}] (doc-retry in {space}) and items[20] (doc-retry in {space})" in answer.err
    assert "the last does not win" in answer.err


def test_V024_one_set_of_judgements_serves_both_spaces_or_nothing_is_compared(command: Command, tmp_path: Path) -> None:
    """A relevant document that one space lacks would make another pool of it."""

    def change(tree: Tree) -> None:
        tree["items"].remove(item(tree, "doc-credentials"))

    answer = of_file(command, tmp_path, changed(change))
    assert (answer.code, answer.out) == (2, "")
    assert "error: query: a relevant document is missing in a space" in answer.err
    assert "queries[2] (retry-policy): doc-credentials in toy-v2" in answer.err


def test_V025_unjudged_hits_are_counted_on_each_side_and_no_gate_decides_on_quality(
    command: Command, tmp_path: Path
) -> None:
    def change(tree: Tree) -> None:
        item(tree, "q-timeout")["vector"] = [0, 0, 0, 1, 0]

    def judged(answer: str) -> list[str]:
        lines = [line for line in answer.splitlines() if line.startswith(("toy-v1 ", "toy-v2 ")) and " of 10" in line]
        return [" ".join(line.split()[-3:]) for line in lines]

    assert judged(command("audit", "--fixture", "bundled").out) == ["6 of 10", "6 of 10"]
    answer = of_file(command, tmp_path, changed(change))
    assert judged(answer.out) == ["6 of 10", "4 of 10"]
    assert "a person's decision" in " ".join(answer.out.split())
    found = json.loads(of_file(command, tmp_path, changed(change), "--json").out)
    assert found["migrations"][0]["quality_decision_required"] is True


@pytest.mark.parametrize("name", ["doc-noise", "q-retry"])
@pytest.mark.parametrize("vector", [[0, 0, 0, 0], [-0.0, 0.0, 1e-200, 0]])
def test_V069_a_zero_vector_is_refused_by_name(
    command: Command, tmp_path: Path, name: str, vector: list[float]
) -> None:
    answer = of_file(command, tmp_path, changed(lambda tree: item(tree, name, "toy-v1").update(vector=vector)))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: item: the vector is zero")
    assert f"({name} in toy-v1)" in answer.err


def test_V077_ids_that_one_side_lacks_are_named_both_ways_though_the_counts_are_equal(
    command: Command, tmp_path: Path
) -> None:
    def lacking(tree: Tree) -> None:
        spare = item(tree, "doc-noise", "toy-v1")
        tree["items"].append({**spare, "item_id": "doc-spare"})
        item(tree, "doc-noise")["item_id"] = "doc-added"
        tree["items"].append({**item(tree, "doc-added"), "item_id": "doc-another"})

    answer = of_file(command, tmp_path, changed(lacking), "--json")
    assert answer.code == 1
    found = json.loads(answer.out)
    (move,) = found["migrations"]
    assert [space["inventory"]["item_count"] for space in found["spaces"].values()] == [11, 11]
    assert (move["only_old"], move["only_new"]) == (["doc-noise", "doc-spare"], ["doc-added", "doc-another"])
    assert (move["inventory_match"], move["canonical_match"], move["mechanical_gates_pass"]) == (False, True, False)
    said = of_file(command, tmp_path, changed(lacking)).out
    assert "inventory: FAIL" in said
    assert "only in toy-v1: doc-noise, doc-spare; only in toy-v2: doc-added, doc-another" in " ".join(said.split())


def test_V109_what_is_forbidden_stands_nowhere_in_the_answer_of_a_case(command: Command, tmp_path: Path) -> None:
    """The forbidden neighbour has the very vector of the question; in the other space it may be read, which is drift."""

    def change(tree: Tree) -> None:
        item(tree, "doc-noise").update(acl=["board"], vector=item(tree, "q-retry")["vector"])

    answer = of_file(command, tmp_path, changed(change), "--json")
    found = json.loads(answer.out)
    assert answer.code == 1
    assert found["migrations"][0]["canonical_mismatches"] == ["doc-noise"]
    for one in found["spaces"]["toy-v2"]["evaluation"]["details"]:
        assert "doc-noise" not in one["result_ids"]
        assert len(one["scores"]) == len(one["result_ids"])


def put(key: str, value: object) -> Callable[[Tree], object]:
    return lambda entry: entry.update({key: value})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda entry: entry.pop("acl"), "shape: the field acl is missing"),
        (put("acl", None), "shape: acl must be a list"),
        (put("acl", "employees"), "shape: acl must be a list"),
        (put("acl", [None]), "shape: each of acl must be a text"),
        (lambda entry: entry.update(Acl=entry.pop("acl")), "shape: unknown field Acl"),
        (put("acl", []), "item: acl is empty: nobody could read it"),
        (put("acl", [""]), "item: a name in acl is empty"),
        (put("public", True), "shape: unknown field public"),
    ],
    ids=["missing", "null", "a text", "null inside", "misspelt", "empty", "an empty name", "public"],
)
def test_V112_an_acl_that_says_nothing_fails_closed(
    command: Command, tmp_path: Path, change: Callable[[Tree], object], words: str
) -> None:
    answer = of_file(command, tmp_path, changed(lambda tree: [change(i) for i in tree["items"][:3]]), "--json")
    assert (answer.code, answer.out) == (2, "")
    assert f"error: {words} (3 times)" in answer.err
    assert "items[0] (doc-credentials in toy-v1)" in answer.err.replace(".acl[0]", "").replace(".acl", "")


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([], "query: subject_groups is empty"),
        ([""], "query: a name in subject_groups is empty"),
        (None, "shape: subject_groups must be a list"),
    ],
)
def test_V113_who_asks_without_groups_is_refused_and_never_everybody(
    command: Command, tmp_path: Path, groups: object, words: str
) -> None:
    answer = of_file(
        command, tmp_path, changed(lambda tree: case(tree, "retry-policy").update(subject_groups=groups)), "--json"
    )
    assert (answer.code, answer.out) == (2, "")
    assert f"error: {words}" in answer.err


def test_V113_two_principals_find_what_each_may_read(command: Command, tmp_path: Path) -> None:
    """One question by two groups: the rankings share no document."""

    def change(tree: Tree) -> None:
        tree["queries"].append(
            {
                **case(tree, "retry-policy"),
                "case_id": "retry-by-platform",
                "subject_groups": ["platform"],
                "relevance": {"doc-deploy": 1},
            }
        )

    found = json.loads(of_file(command, tmp_path, changed(change), "--json").out)
    for space in found["spaces"].values():
        ranked = {c["case_id"]: set(c["result_ids"]) for c in space["evaluation"]["details"]}
        assert ranked["retry-by-platform"] == {"doc-deploy"}
        assert not ranked["retry-by-platform"] & ranked["retry-policy"]
