"""`tiepoint audit` on real spaces, from the command line: exit codes, what is printed and recorded, planted faults."""

from __future__ import annotations

import importlib.resources
import json
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tiepoint as tp
from audit_kit import Columns, write_contract, write_side
from audit_moves import EASY, Done, archive, audited, candidate, exported, planted, write_space
from command import Command
from tiepoint.formats import result_json
from tiepoint.workflows.audit import provenance
from tiepoint.workflows.audit.sections import NO_STUDY
from tiepoint.workflows.audit.summary import ONE

FILES = {"audit.json", "report.md", "report.html", "rows"}
TABLES = {"findings", "per_query", "agreement", "rankings"}
MOVE = ("--source", "words", "--target", "more_words")


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """No packaged model is looked through for the contract of vectors that none of them made."""
    monkeypatch.setattr(provenance, "installed_candidates", list)


# Exit codes


def test_0_when_every_gate_passes_and_the_folder_is_whole(tmp_path: Path, command: Command) -> None:
    done = audited(command, archive(tmp_path / "s", readers=["planning"], questions=40), *MOVE)
    assert done.code == 0, done.answer.out
    assert set(done.outcomes.values()) == {"pass"}
    assert list(done.outcomes) == ["inventory", "canon", "vectors", "provenance", "access", "mean quality", "subgroups"]
    assert {path.name for path in done.folder.iterdir()} == FILES
    assert {path.stem for path in (done.folder / "rows").iterdir()} == TABLES
    assert done.folder.parent == tmp_path / "s" / "results"
    assert "A quality decision is required" in " ".join(done.answer.out.split())
    assert "Every gate that was asked for holds." in done.answer.out
    assert done.summary["quality_decision_required"] is True
    assert {name: len(gate["hypotheses"]) for name, gate in done.gates.items() if gate["hypotheses"]} == {
        "mean quality": 2,
        "subgroups": 4,
    }
    assert done.summary["tests"] == 6
    assert "The gates test 6 hypotheses." in " ".join(done.answer.out.split())
    assert "any of the gates mean quality and subgroups at most 10%" in " ".join(done.answer.out.split())
    again = tp.load_audit(done.folder)
    assert result_json.dump(again.summary) == (done.folder / "audit.json").read_bytes()
    shutil.rmtree(done.folder / "rows")
    bare = tp.load_audit(done.folder)
    assert bare.findings.num_rows == bare.rankings.num_rows == 0
    assert bare.rankings.column_names == again.rankings.column_names


def test_1_when_a_gate_fails_and_everything_is_recorded_all_the_same(tmp_path: Path, command: Command) -> None:
    gates = {**EASY, "critical": ["q03", "subgroup:even"]}
    folder = archive(tmp_path / "s", gates=gates, readers=["planning"])
    done = audited(command, folder, "--source", "words", "--target", "noise")
    assert done.code == 1
    assert done.outcomes["critical queries"] == "fail"
    found = done.gates["critical queries"]
    assert found["threshold"] == "none of 7 critical queries falls in nDCG@3 (unfiltered)"
    assert re.search(r"^\d of 7 falls?: q0\d .*, q03 1\.0000 to 0\.\d{4}", found["evidence"])
    assert done.summary["mechanical_outcome"] == "pass"
    assert {path.name for path in done.folder.iterdir()} == FILES


def test_2_when_the_call_is_wrong(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s")
    toml = write_contract(tmp_path / "c.toml")
    for words, said in (
        ((folder, "--source", "words"), "--target missing"),
        ((folder,), "--source and --target missing"),
        ((folder, "--source", "wrods", "--target", "words"), 'did you mean "words"?'),
        ((folder, *MOVE, "--source-contract", toml), "brings its own contract"),
        ((folder, *MOVE, "--k", "3"), "--k goes with --fixture"),
        (("--fixture", "bundled", "--source", "words"), "--fixture is audited alone"),
        ((tmp_path / "nowhere", *MOVE), "nowhere"),
        ((*MOVE,), "there is no space 'words'"),
        ((folder, *MOVE, "--tagret", "words"), "No such option"),
    ):
        answer = command("audit", *words)
        assert (answer.code, answer.out) == (2, ""), words
        assert said in answer.err, words
        assert "Traceback" not in answer.err
    assert not (folder / "spaces").exists()
    assert not (folder / "results").exists()


def test_3_when_a_side_cannot_be_encoded_or_nothing_can_be_written(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s")
    answer = command("audit", folder, "--source", "words", "--target", "broken")
    assert (answer.code, answer.out) == (3, "")
    assert "candidate broken could not be encoded" in answer.err
    assert "no weights" not in answer.out
    assert not (folder / "results").exists()
    (folder / "results").write_text("a file in the way", encoding="utf-8")
    answer = command("audit", folder, *MOVE)
    assert (answer.code, answer.out) == (3, "")
    assert "no half result was left" in answer.err


def test_4_when_a_dozen_questions_cannot_settle_it(tmp_path: Path, command: Command) -> None:
    done = audited(command, archive(tmp_path / "s", gates={}), *MOVE)
    assert done.code == 4
    undecided = [name for name, outcome in done.outcomes.items() if outcome == "undecided"]
    assert undecided == ["mean quality", "subgroups"]
    assert "12 independent queries, and so few rule out no loss under 0.2210" in done.gates["mean quality"]["evidence"]
    assert "difference +0.0000" in done.gates["mean quality"]["evidence"], "no drop at all, and still no pass"
    assert "even (6 of 59 needed), odd (6 of 59)" in done.gates["subgroups"]["evidence"]
    assert done.gates["mean quality"]["evidence"].endswith("too few to decide, 20 needed")
    assert done.summary["tests"] == 0, "what is too few is not tested"
    assert "The gates test no hypothesis." in " ".join(done.answer.out.split())


def test_the_same_space_on_both_sides_is_comparable_and_passes_everything(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", readers=["planning"], questions=40)
    done = audited(command, folder, "--source", "words", "--target", "words")
    assert (done.code, set(done.outcomes.values())) == (0, {"pass"})
    assert done.summary["contracts"]["comparable"] is True
    assert done.summary["agreement"][0]["jaccard"] == 1
    assert ONE in done.summary["notes"]


# Streams


def test_json_is_the_recorded_document_and_fits_the_published_schema(tmp_path: Path, command: Command) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="not executed: jsonschema is not installed")
    done = audited(command, archive(tmp_path / "s"), *MOVE, "--json")
    assert done.answer.out.encode() == (done.folder / "audit.json").read_bytes()
    text = (importlib.resources.files("tiepoint") / "schemas" / "audit.schema.json").read_text(encoding="utf-8")
    checker = jsonschema.Draft202012Validator(json.loads(text))
    checker.check_schema(json.loads(text))
    checker.validate(done.summary)
    for broken in ({**done.summary, "unknown": 1}, {**done.summary, "schema_version": 99}):
        assert list(checker.iter_errors(broken))
    quiet = command("audit", tmp_path / "s", *MOVE, "--quiet")
    assert (quiet.code, quiet.err) == (done.code, "")


def test_an_audit_that_is_killed_leaves_no_half_folder(tmp_path: Path) -> None:
    one, other = write_side(tmp_path, "source"), write_side(tmp_path, "target")
    script = """
        import os, sys
        import pyarrow.parquet as pq
        import tiepoint as tp
        from tiepoint.workflows.audit import provenance
        provenance.installed_candidates = list
        source, target, one, other, results = sys.argv[1:]
        found = tp.audit(None, source, target, source_contract=one, target_contract=other)
        write, written = pq.write_table, []
        def dying(*args, **kwargs):
            written.append(write(*args, **kwargs))
            if len(written) == 2:
                os._exit(9)
        pq.write_table = dying
        tp.record(found, results)
    """
    words = [one.name, other.name, str(one.contract), str(other.contract), str(tmp_path / "results")]
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(script), *words], check=False)
    assert killed.returncode == 9
    assert [p.name for p in (tmp_path / "results").iterdir() if not p.name.startswith(".writing-")] == []


# Without a study


def test_files_alone_are_held_against_each_other_and_the_rest_is_not_executed(
    tmp_path: Path, command: Command, no_models: None
) -> None:
    done = planted(command, tmp_path)
    assert done.code == 4, "vectors that nobody made again are no pass: a label is a claim"
    assert {n: o for n, o in done.outcomes.items() if o != "pass"} == dict.fromkeys(
        ("provenance", "access", "mean quality", "subgroups"), "not executed"
    )
    told = done.summary["not_executed"]
    assert {told[name] for name in ("quality", "agreement", "access")} == {NO_STUDY}
    assert "nothing here can embed its texts again" in told["provenance of the target"]
    assert done.summary["study"] is None
    assert done.summary["contracts"]["comparable"] is True
    assert done.rows("rankings") == done.rows("per_query") == []
    assert f"quality, agreement, access: {NO_STUDY}" in " ".join(done.answer.out.split()), "one line a reason"
    assert "source: source.parquet: Parquet, 3,000 x 16 float32" in done.summary["notes"]


def test_one_file_twice_is_said(tmp_path: Path, command: Command, no_models: None) -> None:
    one = write_side(tmp_path, "source")
    words = (
        "--source",
        one.name,
        "--target",
        one.name,
        "--source-contract",
        one.contract,
        "--target-contract",
        one.contract,
    )
    done = audited(command, *words, "--results", tmp_path / "results")
    assert done.code == 4
    assert ONE in done.summary["notes"]
    assert ONE in done.shared["report.md"]
    printed = command("audit", *words)
    assert (printed.code, printed.err) == (4, ""), "without a study and --results nothing is recorded"


def test_texts_that_nobody_states_are_no_pass(tmp_path: Path, command: Command, no_models: None) -> None:
    def silent(columns: Columns) -> None:
        columns.text = [None] * len(columns.ids)

    done = planted(command, tmp_path, silent)
    assert (done.code, done.outcomes["canon"]) == (4, "not executed")

    def one_is_silent(columns: Columns) -> None:
        columns.text[7] = None

    done = planted(command, tmp_path, one_is_silent)
    assert (done.code, done.outcomes["canon"]) == (4, "undecided")
    assert "text (1 id)" in done.gates["canon"]["evidence"]


def test_without_a_contract_it_is_2_and_both_sides_are_told(tmp_path: Path, command: Command) -> None:
    one, other = write_side(tmp_path, "source"), write_side(tmp_path, "target", revision="main")
    answer = command("audit", "--source", one.name, "--target", other.name, "--target-contract", other.contract)
    assert (answer.code, answer.out) == (2, "")
    assert "source.parquet has no contract" in answer.err
    assert "revision = 'main' is not pinned" in answer.err


# [gates]


def test_keys_of_gates_that_are_wrong_are_2_with_hints_and_nothing_is_encoded(tmp_path: Path, command: Command) -> None:
    for gates, *said in (
        ({"sampel": 3}, "sampel", 'did you mean "sample"?'),
        ({"loss": 1.0, "confidence": 0.5, "subgroup_queries": 1}, "loss", "confidence", "subgroup_queries"),
        ({"slice": "filterd"}, "slice"),
        ({"measure": "nDGC@3"}, "nDGC", 'did you mean "nDCG"?'),
        (
            {"critical": ["q99", "subgroup:od"]},
            "1 critical query is not in the study: q99",
            "1 critical subgroup has no query with an answer: od",
            'did you mean "odd"? subgroups with an answered query: even, odd',
        ),
        ({"measure": "pooled_recall@3"}, "pooled_recall@3 cannot stand in a gate", "[gates] measure"),
        ({"measure": "Judged@3"}, "Judged@3 cannot stand in a gate"),
    ):
        folder = archive(tmp_path / "s", gates=gates)
        answer = command("audit", folder, *MOVE)
        assert (answer.code, answer.out) == (2, ""), gates
        for part in said:
            assert part in answer.err, gates
        assert not (folder / "spaces").exists(), gates


def test_gates_of_their_own_decide_and_stand_in_the_report(tmp_path: Path, command: Command) -> None:
    gates = {"measure": "Success@1", "loss": 0.5, "least_mean": 0.2, "subgroup_loss": 0.6, "subgroup_queries": 4}
    folder = archive(tmp_path / "s", readers=["planning"], questions=40, gates={**gates, "elsewhere": 0.1})
    done = audited(command, folder, *MOVE)
    assert done.code == 0, done.answer.out
    asked = {name: gate["threshold"] for name, gate in done.gates.items()}
    assert asked["mean quality"] == "Success@1 (unfiltered) loses at most 0.5 at 95%, and has a mean of at least 0.2"
    assert asked["subgroups"] == "each subgroup and region loses at most 0.6 of Success@1 (unfiltered) at 95%"
    assert asked["provenance"].startswith("at most 10% of rows")


def test_critical_queries_pass_where_none_of_them_falls(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", readers=["planning"], gates={**EASY, "critical": ["subgroup:odd"]})
    done = audited(command, folder, *MOVE)
    assert done.gates["critical queries"]["evidence"] == "none falls"
    assert done.gates["critical queries"]["threshold"].startswith("none of 6 critical queries")


def test_a_side_that_cannot_be_searched_leaves_quality_not_executed(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", readers=["planning"])
    columns = exported(folder)
    columns["vector"] = [vector[:32] for vector in columns["vector"]]
    path, contract = write_space(tmp_path, "target", columns)
    done = audited(command, folder, "--source", "words", "--target", path, "--target-contract", contract)
    assert done.outcomes["vectors"] == "fail"
    assert done.outcomes["mean quality"] == done.outcomes["access"] == "not executed"
    assert "32 numbers a vector where the contract says 64" in done.gates["vectors"]["evidence"]
    assert done.gates["mean quality"]["threshold"].startswith("nDCG@3 (unfiltered) loses at most 0.4")
    assert done.summary["quality"] is None
    assert candidate("words")["id"] == done.summary["source"]["name"]


def shown_gates(done: Done) -> list[str]:
    """The names of the gates as the terminal shows them."""
    return re.findall(r"(?m)^([a-z ]+): (?:pass|fail|undecided|not executed)\.", done.answer.out)


def test_the_terminal_shows_gates_quality_and_what_was_not_executed(tmp_path: Path, command: Command) -> None:
    done = audited(command, archive(tmp_path / "s", readers=["planning"]), *MOVE)
    assert shown_gates(done) == list(done.outcomes)
    assert done.answer.out.startswith("Moving from words to more_words\n")
    for heading in ("Gates", "Quality, query by query", "Agreement of the rankings", "Not executed"):
        assert f"\n{heading}\n" in done.answer.out
    assert max(map(len, done.answer.out.splitlines())) <= 100
