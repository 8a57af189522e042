"""The audit of the bundled fixture: the published figures under the published keys, the same bytes in every run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from command import Command, process
from fixture_kit import BUNDLED, Tree, audited, cases_of, changed, told
from tiepoint.formats.fixture_json import dump_audit
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
