"""Field cases of an audit, from the command line: each test is named after its case and fails when its rule is removed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from audit_kit import Columns, write_side
from audit_moves import EASY, Done, archive, audited, candidate, encoded, exported, ordered, planted, write_space
from command import Command
from studies import write_study
from test_audit_access import asking_as, everybody
from tiepoint.workflows import slices
from tiepoint.workflows.audit import asked, provenance


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """No packaged model is looked through for the contract of vectors that none of them made."""
    monkeypatch.setattr(provenance, "installed_candidates", list)


def deltas(done: Done, **where: object) -> dict[str, dict]:
    """The deltas of the unfiltered slice by measure."""
    found = done.summary["quality"]["deltas"]
    return {d["measure"]: d for d in found if (d["slice"], d["subgroup"]) == ("unfiltered", None)}


def kinds(done: Done, section: str) -> set[tuple[str, str | None]]:
    return {(row["kind"], row["id"]) for row in done.findings if row["section"] == section}


# Measures, ids, judgements


def test_V013_the_gain_decides_the_winner_of_a_move_and_every_report_names_it(
    tmp_path: Path, command: Command, no_models: None
) -> None:
    grades = {"one": 1, "two": 2, "uno": 1, "zero": 0, "three": 3}
    orders = ["one", "two", "uno", "zero", "three"], ["zero", "three", "one", "two", "uno"]
    study = {"k": 5, "measures": ["nDCG@5", "nDCG(gain=linear)@5"]}
    done = ordered(command, tmp_path, orders, grades, study=study)
    found = deltas(done)
    assert found["nDCG@5"]["difference"] == pytest.approx(0.050, abs=0.001)
    assert found["nDCG(gain=linear)@5"]["difference"] == pytest.approx(-0.054, abs=0.001)
    for name in ("audit.json", "report.md", "report.html"):
        text = done.shared[name].replace("\\", "")
        assert "2^grade" in text, name
        assert "gain=linear" in text, name


def test_V016_copies_of_one_text_that_have_two_vectors_are_named_and_never_merged(
    tmp_path: Path, command: Command, no_models: None
) -> None:
    def copies(columns: Columns) -> None:
        columns.text[4] = columns.text[3]  # two vectors
        columns.text[6], columns.vectors[6] = columns.text[5], columns.vectors[5]  # one

    done = planted(command, tmp_path, copies, copies)
    assert done.summary["target_vectors"]["split_text"] == {"count": 2, "first": ["d00003", "d00004"]}
    assert done.summary["target_vectors"]["shared_vector"]["count"] == 0
    assert done.summary["inventory"]["shared"] == 3_000, "none is dropped"


def test_V017_one_id_twice_with_two_texts_fails_and_no_row_wins(
    tmp_path: Path, command: Command, no_models: None
) -> None:
    def twice(columns: Columns) -> None:
        columns.add(3, text="another text", vector=columns.vectors[9])

    done = planted(command, tmp_path, twice)
    assert done.code == 1
    assert done.outcomes["inventory"] == done.outcomes["canon"] == "fail"
    assert "1 repeated id: d00003" in done.gates["inventory"]["evidence"]
    assert "text differs under 1 id: d00003" in done.gates["canon"]["evidence"]
    (row,) = [r for r in done.findings if r["section"] == "canon"]
    assert len(row["target"].split(" | ")) == 2, "both texts' hashes stand there"


def test_V024_both_sides_are_judged_by_one_set_and_its_hash_stands_in_the_record(
    tmp_path: Path, command: Command, no_models: None
) -> None:
    orders = ["a", "b", "c", "d", "e"], ["e", "d", "c", "b", "a"]
    made = []
    for name, judged in (("one", {"a": 1, "b": 1}), ("other", {"a": 1, "b": 1, "e": 1, "d": 1})):
        (tmp_path / name).mkdir()
        made.append(ordered(command, tmp_path / name, orders, judged))
    first, second = (done.summary["conditions"] for done in made)
    assert first["SHA-256 of corpus"] == second["SHA-256 of corpus"]
    assert first["SHA-256 of qrels"] != second["SHA-256 of qrels"]
    assert first["SHA-256 of qrels"] in made[0].shared["report.md"]
    assert deltas(made[0])["nDCG@5"]["difference"] < 0
    assert deltas(made[1])["nDCG@5"]["difference"] == pytest.approx(0)
    answer = command("compare", made[0].folder, made[1].folder)
    assert (answer.code, answer.out) == (2, ""), "two audits are no two results"


def test_V025_unjudged_hits_of_the_new_side_withhold_the_verdict_where_judgements_are_pooled(
    tmp_path: Path, command: Command, no_models: None
) -> None:
    old, new = [f"r{i}" for i in range(5)], [f"u{i}" for i in range(5)]
    orders = [*old, *new], [*new, *old]
    outcomes = {}
    for pooled in (False, True):
        folder = tmp_path / str(pooled)
        folder.mkdir()
        done = ordered(
            command, folder, orders, dict.fromkeys(old, 1), queries=20, gates={"loss": 0.4},
            qrels={"path": "qrels.tsv", "pooled": pooled},
        )  # fmt: skip
        (found,) = [a for a in done.summary["agreement"] if a["slice"] == "unfiltered"]
        assert (found["source_judged"], found["target_judged"], found["questioned"]) == (1, 0, pooled)
        assert found["difference_worst"] == -1
        assert found["difference_best"] >= 0
        assert (found["entered"], found["entered_judged"], found["left_judged"]) == (100, 0, 100)
        outcomes[pooled] = done.outcomes["mean quality"]
    assert outcomes == {False: "fail", True: "undecided"}


def test_V069_a_zero_document_and_a_zero_query_are_named_and_no_nan_is_ranked(
    tmp_path: Path, command: Command, no_models: None
) -> None:
    orders = ["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "e"]
    wrong = {"a": 0.0, "b": float("nan"), "q01": 0.0}
    done = ordered(command, tmp_path, orders, {"a": 1, "c": 1}, queries=3, vectors=wrong)
    assert (done.code, done.outcomes["vectors"]) == (1, "fail")
    assert kinds(done, "vectors") >= {("zero", "a"), ("zero", "q01"), ("not finite", "b")}
    rows = [row for row in done.rows("rankings") if row["side"] == "target"]
    assert {row["document"] for row in rows} == {"c", "d", "e"}
    assert {row["query"] for row in rows} == {"q00", "q02"}
    assert np.isfinite([row["score"] for row in rows]).all()
    assert done.summary["quality"]["target_missing"] == 1
    assert deltas(done)["nDCG@5"]["n"] == 3, "the query without a vector is a miss, and stays in the mean"


# What the vectors are


def labelled(command: Command, folder: Path, vectors: list, **contract: object) -> Done:
    """An archive, and a file of its items whose contract says that the candidate `words` made its vectors."""
    study = archive(folder / "s", readers=["planning"])
    path, toml = write_space(folder, "target", {**exported(study), "vector": vectors}, **contract)
    return audited(command, study, "--source", "words", "--target", path, "--target-contract", toml)


def test_V073_two_models_of_one_dimension_in_one_space_are_found_though_every_label_says_one(
    tmp_path: Path, command: Command
) -> None:
    items = exported(archive(tmp_path / "t"))
    mixed = [
        t if i % 5 < 2 else w
        for i, (w, t) in enumerate(zip(items["vector"], encoded(items["text"], "turned"), strict=True))
    ]
    done = labelled(command, tmp_path, mixed)
    assert done.summary["contracts"]["comparable"] is True, "the labels say that nothing moved"
    assert (done.code, done.outcomes["provenance"]) == (1, "fail")
    found = done.summary["target_provenance"]
    named = {row["id"] for row in done.findings if row["section"] == "provenance"}
    assert found["elsewhere"] == found["offenders"]["count"] == sum(not name.startswith("closed") for name in named)
    assert named == {name for i, name in enumerate(items["id"]) if i % 5 < 2}
    assert done.summary["source_provenance"]["elsewhere"] == 0


def test_V074_a_stamp_that_says_b_on_vectors_of_a_fails_with_an_interval_for_the_share(
    tmp_path: Path, command: Command
) -> None:
    items = exported(archive(tmp_path / "t"))
    done = labelled(command, tmp_path, list(encoded(items["text"], "turned")))
    found = done.summary["target_provenance"]
    assert (done.code, done.outcomes["provenance"]) == (1, "fail")
    assert found["low"] > 0.9
    assert re.search(r"target: (\d+) of \1 sampled rows elsewhere", done.gates["provenance"]["evidence"])
    assert all(part["elsewhere"] == part["sampled"] for part in found["strata"]), "each stratum by itself"


def test_V075_revisions_that_can_move_are_all_refused_at_once_before_anything_is_read(
    tmp_path: Path, command: Command
) -> None:
    one = write_side(tmp_path, "source", revision="main")
    other = write_side(tmp_path, "target", revision="latest", tokenizer_revision="HEAD")
    answer = command(
        "audit", "--source", one.name, "--target", other.name, "--source-contract", one.contract,
        "--target-contract", other.contract, "--results", tmp_path / "results",
    )  # fmt: skip
    assert (answer.code, answer.out) == (2, "")
    for part in ("revision = 'main'", "revision = 'latest'", "tokenizer_revision = 'HEAD'", "--source", "--target"):
        assert part in answer.err
    assert "sha256:... of the model's file" in answer.err
    assert not (tmp_path / "results").exists()


def test_V077_a_target_that_lacks_two_ids_is_named_both_ways_though_the_counts_are_equal(
    tmp_path: Path, command: Command, no_models: None
) -> None:
    def swapped(columns: Columns) -> None:
        columns.ids[3], columns.ids[4] = "new-1", "new-2"

    done = planted(command, tmp_path, swapped)
    held = done.summary["inventory"]
    assert held["source"]["documents"] == held["target"]["documents"]
    assert (done.code, done.outcomes["inventory"]) == (1, "fail")
    evidence = done.gates["inventory"]["evidence"]
    assert "the target lacks 2 items: d00003, d00004" in evidence
    assert "the source lacks 2 items: new-1, new-2" in evidence


def test_V078_an_update_and_a_deletion_during_the_backfill_are_found(
    tmp_path: Path, command: Command, no_models: None
) -> None:
    def later(columns: Columns) -> None:
        columns.text[1], columns.version[1] = "text 1, amended", "13"
        columns.deleted[2], columns.version[2] = True, "14"
        columns.add(3, ids="d99999")

    def backfill(columns: Columns) -> None:
        columns.add(3, ids="d99999")
        columns.drop(5)

    done = planted(command, tmp_path, backfill, later)
    held = done.summary["inventory"]
    assert held["source"]["documents"] == held["target"]["documents"], "equal counts prove nothing"
    assert held["source"]["watermark"] == "14"
    evidence = done.gates["inventory"]["evidence"]
    assert "the target lacks 1 item: d00005" in evidence
    assert "the target has 1 deleted item that came back: d00002" in evidence
    assert "text differs under 1 id: d00001" in done.gates["canon"]["evidence"]
    assert "version differs under 1 id: d00001" in done.gates["canon"]["evidence"]


def test_V081_vectors_that_predate_a_changed_prefix_fail_though_every_text_is_the_same(
    tmp_path: Path, command: Command
) -> None:
    prefixed = {"document_prompt": "passage: "}
    study = archive(tmp_path / "s", readers=["planning"])
    text = (study / "study.toml").read_text(encoding="utf-8")
    after = candidate("words", **prefixed)["contract"]
    (study / "study.toml").write_text(
        text
        + f'[[candidate]]\nid = "prefixed"\nembedder = "callable"\ncache = true\noptions = {{ function = "own:words" }}\n'
        f"contract = {{ {', '.join(f'{k} = {json.dumps(v)}' for k, v in after.items())} }}\n",  # type: ignore[attr-defined]
        encoding="utf-8",
    )
    stale, toml = write_space(tmp_path, "target", exported(study), **prefixed)
    done = audited(command, study, "--source", "words", "--target", stale, "--target-contract", toml)
    assert done.outcomes["canon"] == "pass"
    assert done.outcomes["provenance"] == "fail"
    assert done.summary["contracts"]["comparable"] is False
    assert [d["field"] for d in done.summary["contracts"]["differences"]] == ["document_prompt"]
    assert {row["role"] for row in done.findings if row["section"] == "provenance"} == {"document"}
    anew = audited(command, study, "--source", "words", "--target", "prefixed")
    assert anew.outcomes["provenance"] == "pass"


# Who may find what


def test_V109_a_parent_that_is_forbidden_stands_in_no_ranking_of_an_audit(tmp_path: Path, command: Command) -> None:
    documents = [
        {"_id": f"p{i}{parent[0]}", "text": f"number{i} common", "parent": parent, "groups": ["planning", "ecology"]}
        for parent in ("yard", "shut") for i in range(3)
    ]  # fmt: skip
    documents += [
        {"_id": "yard", "text": "whole of it", "parent": None, "groups": ["planning", "ecology"]},
        {"_id": "shut", "text": "whole of it", "parent": None, "groups": ["ecology"]},
    ]
    questions = [{"_id": f"q{g}", "text": "common number1", "groups": [g]} for g in ("planning", "ecology")]
    queries = {"region": None, "rare": None, "cluster": None, "subgroups": None}
    tables = {
        "study": {"k": 3, "measures": ["nDCG@3"]},
        "corpus": {"region": None, "text": "{text}", "parent": "parent"},
        "report": {"readers": ["planning"]},
    }
    folder = archive(tmp_path / "s")
    module = (folder / "own.py").read_text(encoding="utf-8")
    write_study(
        folder, documents=documents, questions=questions, judgements="qplanning\tyard\t1\nqecology\tshut\t1\n",
        candidates=[candidate("words"), candidate("turned")], queries=queries, decision={"slice": "unfiltered"}, **tables,
    )  # fmt: skip
    (folder / "own.py").write_text(module, encoding="utf-8")
    done = audited(command, folder, "--source", "words", "--target", "turned")
    assert done.outcomes["access"] == "pass"
    ranked = {(row["query"], row["document"]) for row in done.rows("rankings")}
    assert ("qecology", "shut") in ranked
    assert ("qplanning", "yard") in ranked
    assert ("qplanning", "shut") not in ranked
    tests = {t["name"]: t for t in done.summary["access"]["tests"] if t["side"] == "target"}
    assert tests["no ranking holds a parent whose own acl forbids it"]["looked_at"] > 0
    for name, text in done.shared.items():
        assert not re.search(r"\bshut\b", text), name


def test_V111_one_search_without_the_read_filter_fails_the_release(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking_as(everybody, monkeypatch, asked, slices)
    done = audited(
        command, archive(tmp_path / "s", readers=["planning", "ecology"]), *("--source", "words", "--target", "turned")
    )
    assert (done.code, done.outcomes["access"]) == (1, "fail")
    assert done.summary["mechanical_outcome"] == "fail"
    assert "source, a principal without groups finds nothing: broken 24 times (q00" in done.gates["access"]["evidence"]
    broken = {row["kind"] for row in done.findings if row["section"] == "access"}
    assert "a principal without groups finds nothing" in broken
    assert "a principal whose group nobody knows finds nothing" in broken
    assert all(row["id"] for row in done.findings if row["section"] == "access")


def test_V112_an_acl_that_says_nothing_stops_an_audit_and_is_named(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s")
    lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    rows[3]["groups"] = None
    del rows[4]["groups"]
    rows[5]["gruops"] = rows[5].pop("groups")
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    answer = command("audit", folder, "--source", "words", "--target", "turned")
    assert (answer.code, answer.out) == (2, "")
    for name in ("open-03", "open-04", "open-05"):
        assert name in answer.err
    assert "public = true" in answer.err
    assert not (folder / "spaces").exists()


def test_V113_a_question_without_groups_finds_nothing_on_either_side(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", gates=EASY)
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    rows[2]["groups"] = []
    judged = (folder / "qrels.tsv").read_text(encoding="utf-8")
    (folder / "qrels.tsv").write_text(judged.replace("q02\topen-02\t2\n", ""), encoding="utf-8")
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = audited(command, folder, "--source", "words", "--target", "turned")
    assert "q02" not in {row["query"] for row in done.rows("rankings")}
    assert {row["query"] for row in done.rows("rankings")} == {f"q{i:02}" for i in range(12)} - {"q02"}
    (found,) = [a for a in done.summary["agreement"] if a["slice"] == "unfiltered"]
    assert (found["queries"], found["undefined"]) == (12, 1), "two empty rankings agree in nothing and are counted"
    assert deltas(done)["nDCG@3"]["n"] == 11
    assert done.outcomes["access"] == "pass"


def test_V115_two_principals_with_one_question_get_what_each_may_read(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s")
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows:
        row["text"] = "zanzibar closed number1 place1"
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = audited(command, folder, "--source", "words", "--target", "more_words")
    by_query: dict[str, set[str]] = {}
    for row in done.rows("rankings"):
        by_query.setdefault(row["query"], set()).add(row["document"])
    for i in range(12):
        assert any(d.startswith("closed") for d in by_query[f"q{i:02}"]) == bool(i % 2), i
    assert done.outcomes["access"] == "pass"
    rows[0]["groups"] = [""]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    answer = command("audit", folder, "--source", "words", "--target", "more_words")
    assert answer.code == 2, "an empty scope is no scope"
