"""The strict fixture: each layer after the file's refuses by name and place, all faults at once, none twice, no text told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import Command
from fixture_kit import Tree, changed, item, of_file, refused, written
from tiepoint.formats.fixture_json import parse_fixture
from tiepoint.workflows.fixture.file import load_fixture


def at(path: str, value: object) -> Callable[[Tree], object]:
    """Put a value at `items.3.vector.0`; a name that is not there is added."""

    def change(tree: Tree) -> None:
        *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
        place: Any = tree
        for step in steps:
            place = place[step]
        place[last] = value

    return change


def without(path: str) -> Callable[[Tree], object]:
    def change(tree: Tree) -> None:
        *steps, last = path.split(".")
        place: object = tree
        for step in steps:
            place = place[int(step) if step.isdigit() else step]  # type: ignore[index]
        del place[int(last) if last.isdigit() else last]  # type: ignore[attr-defined]

    return change


def rename(old: str, new: str, space: str | None = None) -> Callable[[Tree], object]:
    """One item id in every item (of a space) and in every case."""

    def change(tree: Tree) -> None:
        for one in tree["items"]:
            if one["item_id"] == old and space in (None, one["space_id"]):
                one["item_id"] = new

    return change


def also(*changes: Callable[[Tree], object]) -> Callable[[Tree], object]:
    return lambda tree: [change(tree) for change in changes]


def copied(part: str, index: int) -> Callable[[Tree], object]:
    return lambda tree: tree[part].append(dict(tree[part][index]))


def emptied(role: str) -> Callable[[Tree], object]:
    """toy-v2 without its items of a role."""
    return lambda tree: tree.update(items=[i for i in tree["items"] if (i["role"], i["space_id"]) != (role, "toy-v2")])


def space_renamed(name: str) -> Callable[[Tree], object]:
    """toy-v1 under another name, in its contract and its items."""

    def change(tree: Tree) -> None:
        for one in [*tree["contracts"], *tree["items"]]:
            if one["space_id"] == "toy-v1":
                one["space_id"] = name

    return change


BAD: list[tuple[str, Callable[[Tree], object], str, str, str]] = [
    # name, change, layer, what, place
    ("no queries field", without("queries"), "shape", "the field queries is missing", "the top level"),
    ("extra top field", at("notes", []), "shape", "unknown field notes", "the top level"),
    ("contracts an object", at("contracts", {}), "shape", "contracts must be a list", "is an object"),
    ("items null", at("items", None), "shape", "items must be a list", "items, is null"),
    ("an item a text", at("items.3", "x"), "shape", "items must be an object", "items[3], is a text"),
    ("contract lacks dtype", without("contracts.0.dtype"), "shape", "dtype is missing", "contracts[0] (toy-v1)"),
    ("contract extra", at("contracts.0.dim", 4), "shape", "unknown field dim", "contracts[0] (toy-v1)"),
    ("item lacks acl", without("items.4.acl"), "shape", "acl is missing", "items[4] (doc-retry in toy-v1)"),
    ("item extra", at("items.4.hash", ""), "shape", "unknown field hash", "items[4] (doc-retry in toy-v1)"),
    ("case lacks subgroups", without("queries.2.subgroups"), "shape", "subgroups is missing", "queries[2] (retry-policy)"),
    ("case extra", at("queries.2.k", 3), "shape", "unknown field k", "queries[2] (retry-policy)"),
    ("normalized 1", at("contracts.1.normalized", 1), "shape", "normalized must be true or false", "is 1"),
    ("normalized text", at("contracts.1.normalized", "true"), "shape", "normalized must be true", "is a text"),
    ("normalized null", at("contracts.1.normalized", None), "shape", "normalized must be true", "is null"),
    ("dimension 4.0", at("contracts.0.dimension", 4.0), "shape", "dimension must be a whole number", "is 4.0"),
    ("dimension true", at("contracts.0.dimension", True), "shape", "dimension must be a whole number", "is true"),
    ("dimension text", at("contracts.0.dimension", "4"), "shape", "dimension must be a whole number", "is a text"),
    ("true in a vector", at("items.0.vector.1", True), "shape", "each of vector must be a number", "items[0].vector[1]"),
    ("text in a vector", at("items.0.vector.1", "1"), "shape", "each of vector must be a number", "items[0].vector[1]"),
    ("null in a vector", at("items.0.vector.1", None), "shape", "each of vector must be a number", "items[0].vector[1]"),
    ("vector an object", at("items.0.vector", {"0": 1}), "shape", "vector must be a list", "is an object"),
    ("text a number", at("items.0.text", 7), "shape", "text must be a text", "items[0].text (doc-credentials"),
    ("acl a text", at("items.0.acl", "employees"), "shape", "acl must be a list", "items[0].acl"),
    ("acl null", at("items.0.acl", None), "shape", "acl must be a list", "is null"),
    ("acl of numbers", at("items.0.acl", [1]), "shape", "each of acl must be a text", "items[0].acl[0]"),
    ("revision a number", at("items.0.source_revision", 3), "shape", "source_revision must be a text", "is 3"),
    ("revision null", at("items.0.source_revision", None), "shape", "source_revision must be a text", "is null"),
    ("id a number", at("items.0.item_id", 7), "shape", "item_id must be a text", "is 7"),
    ("groups a text", at("queries.0.subject_groups", "a"), "shape", "subject_groups must be a list", "queries[0]"),
    ("relevance a list", at("queries.0.relevance", []), "shape", "relevance must be an object", "queries[0].relevance"),
    ("grade 1.0", at("queries.0.relevance.doc-deploy", 1.0), "shape", "each of relevance must be a whole", "is 1.0"),
    ("grade text", at("queries.0.relevance.doc-deploy", "1"), "shape", "each of relevance must be a whole", "[doc-deploy]"),
    ("grade true", at("queries.0.relevance.doc-deploy", True), "shape", "each of relevance must be a whole", "is true"),
    ("optional null", at("contracts.0.pooling", None), "shape", "pooling must be a text", "is null"),
    ("no contracts", at("contracts", []), "contract", "contracts is empty", "contracts"),
    ("one space twice", copied("contracts", 0), "contract", "a space stands more than once", "contracts[0] (toy-v1) and"),
    ("equal roles", at("contracts.0.query_role", "document"), "contract", "are equal", "contracts[0] (toy-v1): document"),
    ("metric", at("contracts.0.metric", "Cosine"), "contract", "metric is not supported", "contracts[0] (toy-v1): Cosine"),
    ("dtype", at("contracts.0.dtype", "float16"), "contract", "dtype is not supported", "contracts[0] (toy-v1): float16"),
    ("dimension 0", at("contracts.0.dimension", 0), "contract", "dimension lies out of bounds", "contracts[0] (toy-v1): 0"),
    ("dimension -1", at("contracts.0.dimension", -1), "contract", "dimension lies out of bounds", "contracts[0]"),
    ("dimension 100001", at("contracts.0.dimension", 100_001), "contract", "dimension lies out of bounds", ": 100001"),
    ("provider empty", at("contracts.0.provider", ""), "contract", "provider is empty", "contracts[0]"),
    ("model padded", at("contracts.0.model", " m"), "contract", "model is padded", "contracts[0]"),
    ("revision tab", at("contracts.0.revision", "a\tb"), "contract", "revision holds a control", r"'a\tb'"),
    ("space_id empty", space_renamed(""), "contract", "space_id is empty", "contracts[0]"),
    ("space_id padded", space_renamed("toy "), "contract", "space_id is padded", "contracts[0]"),
    ("pooling empty", at("contracts.0.pooling", ""), "contract", "pooling is empty", "contracts[0]"),
    ("prompt empty", at("contracts.0.query_prompt", ""), "contract", "query_prompt is empty", "contracts[0]"),
    ("no room for tokens", at("contracts.0.max_input_tokens", 0), "contract", "max_input_tokens", ": 0"),
    ("tolerance 1", at("contracts.0.norm_tolerance", 1), "contract", "norm_tolerance must lie between", ": 1"),
    ("no items", at("items", []), "item", "items is empty", "items"),
    ("one item twice", copied("items", 4), "item", "an item stands more than once",
     "items[4] (doc-retry in toy-v1) and items[20]"),
    ("unknown space", at("items.3.space_id", "toy-v3"), "item", "not among the contracts", "items[3] (doc-noise in toy-v3)"),
    ("unknown role", at("items.3.role", "passage"), "item", "the role is not in the contract", "toy-v1): passage"),
    ("short vector", at("items.3.vector", [1, 0]), "item", "another length", "items[3] (doc-noise in toy-v1): 2, not 4"),
    ("empty vector", at("items.3.vector", []), "item", "another length", "0, not 4"),
    ("zero vector", at("items.3.vector", [0, 0, 0, -0.0]), "item", "the vector is zero", "items[3] (doc-noise in toy-v1)"),
    ("underflow", at("items.3.vector", [1e-170, 0, 0, 1e-200]), "item", "the vector is zero", "items[3]"),
    ("overflow", at("items.3.vector", [1e160, 0, 0, 1]), "item", "the vector is too long", "items[3]"),
    ("norm 2", at("items.13.vector", [0, 0, 0, 0, 2]), "item", "the norm is off 1", "doc-noise in toy-v2): norm 2.0"),
    ("norm a little off", at("items.13.vector", [0, 0, 0, 0, 1.0000011]), "item", "the norm is off 1", "items[13]"),
    ("text empty", at("items.3.text", ""), "item", "text is empty", "items[3]"),
    ("text blank", at("items.3.text", " \n"), "item", "text is empty", "items[3]"),
    ("acl empty", at("items.3.acl", []), "item", "acl is empty", "items[3]"),
    ("group empty", at("items.3.acl", [""]), "item", "a name in acl is empty", "items[3]"),
    ("group padded", at("items.3.acl", ["a "]), "item", "a name in acl is padded", "'a '"),
    ("group twice", at("items.3.acl", ["a", "a"]), "item", "a name in acl is repeated", "toy-v1): a"),
    ("group control", at("items.3.acl", ["a\x7f"]), "item", "a name in acl holds a control", "items[3]"),
    ("item id empty", rename("doc-noise", ""), "item", "item_id is empty", "items[3]"),
    ("item id padded", rename("doc-noise", "\u00a0d"), "item", "item_id is padded", r"'\xa0d'"),
    ("item id control", rename("doc-noise", "d\nd"), "item", "item_id holds a control", "items[3]"),
    ("two forms", also(rename("doc-noise", "é", "toy-v1"), rename("doc-noise", "e\u0301", "toy-v2")),
     "item", "an item_id is spelt in 2 Unicode forms", "é"),
    ("source revision empty", at("items.3.source_revision", ""), "item", "source_revision is empty", "items[3]"),
    ("source revision padded", at("items.3.source_revision", "r "), "item", "source_revision is padded", "items[3]"),
    ("space without items", lambda tree: tree["contracts"].append({**tree["contracts"][0], "space_id": "toy-v0"}),
     "item", "a space has no item of its", "toy-v0"),
    ("space without queries", emptied("query"),
     "item", "a space has no item of its query role", "toy-v2"),
    ("space without documents", emptied("document"),
     "item", "a space has no item of its document role", "toy-v2"),
    ("no cases", at("queries", []), "query", "queries is empty", "queries"),
    ("one case twice", copied("queries", 2), "query", "a case stands more than once", "queries[2] (retry-policy) and queries[4]"),
    ("case id padded", at("queries.2.case_id", "x "), "query", "case_id is padded", "queries[2]"),
    ("case id control", at("queries.2.case_id", "x\ty"), "query", "case_id holds a control", "queries[2]"),
    ("query unknown", at("queries.2.query_item_id", "q-x"), "query", "the item that is asked is missing in a space (2 times)",
     "queries[2] (retry-policy): q-x in toy-v1, queries[2] (retry-policy): q-x in toy-v2"),
    ("query in one space", without("items.18"), "query", "the item that is asked is missing", "q-retry in toy-v2"),
    ("query a document", at("queries.2.query_item_id", "doc-noise"), "query", "another role than query", "doc-noise in toy-v1"),
    ("query id empty", at("queries.2.query_item_id", ""), "query", "query_item_id is empty", "queries[2]"),
    ("no groups", at("queries.2.subject_groups", []), "query", "subject_groups is empty", "queries[2]"),
    ("group of who asks padded", at("queries.2.subject_groups", ["employees", " x"]), "query", "is padded", "queries[2]"),
    ("group of who asks twice", at("queries.2.subject_groups", ["employees"] * 2), "query", "is repeated", "queries[2]"),
    ("no relevance", at("queries.2.relevance", {}), "query", "relevance is empty", "queries[2]"),
    ("gold unknown", at("queries.2.relevance", {"doc-x": 3}), "query", "a relevant document is missing", "doc-x in toy-v1"),
    ("gold in one space", without("items.10"), "query", "a relevant document is missing", "doc-credentials in toy-v2"),
    ("gold a query", at("queries.2.relevance", {"q-retry": 3}), "query", "another role than document", "q-retry in toy-v1"),
    ("gold padded", at("queries.2.relevance", {" doc-retry": 3}), "query", "a document in relevance is padded", "queries[2]"),
    ("grade 0", at("queries.2.relevance.doc-retry", 0), "query", "a grade lies out of 1 to 3", "doc-retry 0"),
    ("grade 4", at("queries.2.relevance.doc-retry", 4), "query", "a grade lies out of 1 to 3", "doc-retry 4"),
    ("grade -1", at("queries.2.relevance.doc-retry", -1), "query", "a grade lies out of 1 to 3", "doc-retry -1"),
    ("subgroup padded", at("queries.2.subgroups", ["a "]), "query", "a name in subgroups is padded", "queries[2]"),
    ("subgroup empty", at("queries.2.subgroups", [""]), "query", "a name in subgroups is empty", "queries[2]"),
    ("subgroup twice", at("queries.2.subgroups", ["a", "a"]), "query", "a name in subgroups is repeated", "queries[2]"),
    ("gold not readable", at("queries.0.subject_groups", ["employees"]), "access", "may not be read",
     "queries[0] (deploy-approval): doc-deploy in toy-v1"),
    ("gold not readable in one space", at("items.11.acl", ["staff"]), "access", "may not be read", "doc-deploy in toy-v2"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "layer", "what", "place"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_each_layer_refuses(change: Callable[[Tree], object], layer: str, what: str, place: str) -> None:
    found = refused(changed(change))
    assert {one[0] for one in found} == {layer}, found
    assert any(what in said and place in where for _, said, where in found), found
    assert len(found) == (2 if what == "a space has no item of its" else 1), found


@pytest.mark.parametrize("value", [[], 3, "x", None, True])
def test_a_top_level_that_is_no_object_is_refused(value: object) -> None:
    ((layer, what, _),) = refused(json.dumps(value).encode())
    assert (layer, what.startswith("the top level must be an object, is ")) == ("shape", True)


def test_what_is_allowed() -> None:
    def change(tree: Tree) -> None:
        tree["queries"][0]["subgroups"] = []
        tree["contracts"][0] |= {
            "query_prompt": "query: ",
            "max_input_tokens": 512,
            "sdk": "toy 1.0",
            "norm_tolerance": 0.5,
        }
        item(tree, "doc-noise")["vector"] = [0, 0, 0, 0, 1.0000009]
        item(tree, "doc-noise", "toy-v1")["vector"] = [1e150, -1e-150, 3, 0]
        item(tree, "doc-noise")["text"] = "Two\r\nlines\tand a tab"

    space = parse_fixture(written(changed(change)), name="x").spaces[0]
    assert space.contract.query_prompt == "query: "
    assert space.contract.signature() != load_fixture("bundled").spaces[0].contract.signature()


def test_a_contract_may_narrow_the_tolerance_and_never_widen_it() -> None:
    def off(tolerance: float) -> Tree:
        return changed(
            also(at("contracts.1.norm_tolerance", tolerance), at("items.13.vector", [0, 0, 0, 0, 1.0000005]))
        )

    assert parse_fixture(written(off(0.5)), name="x")
    assert [what for _, what, _ in refused(off(1e-7))] == ["the norm is off 1, while the contract says normalized"]


def test_everything_that_can_be_found_is_said_together_in_the_order_of_the_layers() -> None:
    def change(tree: Tree) -> None:
        tree["queries"][0]["subject_groups"] = ["employees"]
        tree["queries"][1]["relevance"]["doc-image"] = 9
        tree["items"][3]["text"] = ""
        tree["items"][13]["text"] = ""
        tree["contracts"][0]["metric"] = "l2"
        tree["items"][5]["acl"] = None
        del tree["queries"][2]["relevance"]

    found = refused(changed(change))
    assert [layer for layer, _, _ in found] == ["shape", "shape", "contract", "item", "query", "access"]
    assert found[3][1:] == (
        "text is empty (2 times)",
        "fixture.json, items[3] (doc-noise in toy-v1), items[13] (doc-noise in toy-v2)",
    )


def test_one_fault_is_not_blamed_on_what_depends_on_it() -> None:
    """A broken item is not called missing, and a space whose contract cannot be read is not called unknown."""
    assert [layer for layer, _, _ in refused(changed(at("items.4.vector.0", "x")))] == ["shape"]
    assert [layer for layer, _, _ in refused(changed(at("items.4.item_id", 7)))] == ["shape"]
    assert [layer for layer, _, _ in refused(changed(at("contracts.1.space_id", None)))] == ["shape"]
    assert [layer for layer, _, _ in refused(changed(without("items")))] == ["shape"]


@pytest.mark.parametrize("path", ["items.3.text", "items.3.vector", "queries.0.relevance", "contracts.0.dimension"])
@pytest.mark.parametrize("wrap", [lambda text: [text], lambda text: {"a": text}, lambda text: [[text]]])
def test_no_text_stands_in_an_error(path: str, wrap: Callable[[str], object]) -> None:
    text = "the spare key lies under the third stone"
    assert all(text not in what + where for _, what, where in refused(changed(at(path, wrap(text)))))


# By the command line


def test_what_is_refused_leaves_with_2_in_utf8_without_a_traceback(command: Command, tmp_path: Path) -> None:
    answer = of_file(command, tmp_path, changed(rename("doc-noise", "Übung ")), "--json")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: item: item_id is padded (2 times)\n  where: ")
    answer = of_file(command, tmp_path, changed(at("contracts.0.metric", "Äquator")))
    assert "Äquator" in answer.err
