"""tiepoint init: a study.toml that loads as it is, from the data as they lie."""

from __future__ import annotations

import json
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from studies import DOCUMENTS, JUDGEMENTS, QUERIES, rows_with, rows_without, write_study
from tiepoint.cli.init import init
from tiepoint.core.candidate import Candidate
from tiepoint.errors import InputError, NotInstalled
from tiepoint.workflows.init_study import init_study
from tiepoint.workflows.intake.load import load_study

INSTALLED = [
    Candidate("m", embedder="onnx", contract={"provider": 'a "b"\\', "dimension": 3}, options={"model": "package:é/x"}),
    Candidate("w", embedder="wordllama"),
]


def begin(folder, source=None, *, public=True, acl=None, suggestions=INSTALLED):
    return init_study(folder, source=source, public=public, acl=acl, suggestions=suggestions)


def data(folder, **files):
    write_study(folder, **files)
    (folder / "study.toml").unlink()
    return folder


def written(folder):
    return tomllib.loads((folder / "study.toml").read_text(encoding="utf-8"))


def refused(*args, **kwargs):
    with pytest.raises(InputError) as error:
        begin(*args, **kwargs)
    assert error.value.exit_code == 2
    return str(error.value)


def test_a_public_folder_is_filled_in_and_loads(tmp_path):
    source = data(tmp_path / "data")
    report = begin(tmp_path / "s", source)
    assert report.loads
    said = written(tmp_path / "s")
    assert said["corpus"] == {
        "path": f"{source.as_posix()}/corpus.jsonl",
        "id": "_id",
        "text": "{title} {text}",
        "region": "region",
        "unplaced": "error",
    }
    assert {k: said["queries"][k] for k in ("region", "subgroups", "rare", "cluster", "provenance")} == {
        "region": "region",
        "subgroups": "subgroups",
        "rare": "rare",
        "cluster": "cluster",
        "provenance": "unknown",
    }
    assert said["decision"]["slice"] == "filtered"
    assert said["candidate"][0]["contract"] == dict(INSTALLED[0].claims)
    assert said["candidate"][1] == {"id": "w", "embedder": "wordllama"}
    assert load_study(tmp_path / "s").corpus.public
    assert (tmp_path / "s" / ".gitignore").read_text().splitlines()[1:] == ["spaces/", "cache/"]
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == [".gitignore", "study.toml"]


def test_k_and_measures_stand_on_one_line_each_and_every_key_has_a_comment(tmp_path):
    begin(tmp_path / "s", data(tmp_path / "data"))
    lines = (tmp_path / "s" / "study.toml").read_text().splitlines()
    assert any(line.startswith("k = 10 ") for line in lines)
    assert any(line.startswith('measures = ["recall@10", "RR@10", "nDCG@10"] ') for line in lines)
    tables = "\n".join(lines).split("[[candidate]]")[0].splitlines()
    assert all(" # " in line for line in tables if "=" in line)


def test_an_acl_names_its_column_and_who_asks(tmp_path):
    source = data(tmp_path / "data")
    begin(tmp_path / "s", source, public=False, acl="groups")
    said = written(tmp_path / "s")
    assert (said["corpus"]["acl"], said["queries"]["groups"], said["access"]["public"]) == ("groups", "groups", False)
    assert "readers" not in said["report"]
    assert '# readers = ["planning"]' in (tmp_path / "s" / "study.toml").read_text()
    assert "results/*/rows/" in (tmp_path / "s" / ".gitignore").read_text()
    assert not load_study(tmp_path / "s").corpus.public


def test_the_acl_column_of_the_queries_serves_as_groups(tmp_path):
    def renamed(rows):
        return [{"who" if key == "groups" else key: value for key, value in row.items()} for row in rows]

    source = data(tmp_path / "data", documents=renamed(DOCUMENTS), questions=renamed(QUERIES))
    begin(tmp_path / "s", source, public=False, acl="who")
    assert written(tmp_path / "s")["queries"]["groups"] == "who"


def test_an_acl_that_the_documents_lack_or_nobody_asks(tmp_path):
    source = data(tmp_path / "data", questions=rows_without(QUERIES, "groups"))
    message = refused(tmp_path / "s", source, public=False, acl="group")
    assert 'did you mean "groups"?' in message
    assert "no column that says who asks" in message
    assert not (tmp_path / "s").exists()


def test_without_regions_in_the_queries_nothing_is_filtered(tmp_path):
    rows = [{**row, "region": None} for row in QUERIES]
    begin(tmp_path / "a", data(tmp_path / "data", questions=rows))
    assert written(tmp_path / "a")["decision"]["slice"] == "unfiltered"
    begin(tmp_path / "b", data(tmp_path / "other", documents=rows_without(DOCUMENTS, "region")))
    said = written(tmp_path / "b")
    assert said["decision"]["slice"] == "unfiltered"
    assert "region" not in said["queries"]


def test_unplaced_documents_are_out_and_said(tmp_path):
    report = begin(tmp_path / "s", data(tmp_path / "data", documents=rows_with(DOCUMENTS, d6={"region": None})))
    assert written(tmp_path / "s")["corpus"]["unplaced"] == "out"
    assert any(note.startswith("1 documents have no region") for note in report.notes)


def test_columns_that_do_not_hold_what_their_name_says_are_left_and_said(tmp_path):
    rows = rows_with(QUERIES, q1={"rare": "Ben Nevis", "split": "train"})
    report = begin(tmp_path / "s", data(tmp_path / "data", questions=rows))
    assert {"rare", "split"}.isdisjoint(written(tmp_path / "s")["queries"])
    assert sum("holds something else" in note for note in report.notes) == 2


def test_without_a_title_and_with_plain_ids_and_qrels_in_a_folder(tmp_path):
    def plain(rows):
        return [{"id": row["_id"], "text": row["text"]} for row in rows]

    source = data(tmp_path / "data", documents=plain(DOCUMENTS), questions=plain(QUERIES))
    (source / "qrels").mkdir()
    (source / "qrels.tsv").rename(source / "qrels" / "test.tsv")
    begin(tmp_path / "s", source)
    said = written(tmp_path / "s")
    assert (said["corpus"]["id"], said["corpus"]["text"], said["queries"]["id"]) == ("id", "{text}", "id")
    assert said["qrels"]["path"].endswith("data/qrels/test.tsv")


def test_a_relative_source_is_named_as_seen_from_the_study(tmp_path, monkeypatch):
    data(tmp_path / "data" / "county")
    monkeypatch.chdir(tmp_path / "data")
    begin(Path("../studies/one"), Path("county"))
    assert written(tmp_path / "studies" / "one")["corpus"]["path"] == "../../data/county/corpus.jsonl"


def test_a_folder_that_holds_the_data_is_its_own_source(tmp_path):
    report = begin(data(tmp_path / "s"))
    assert report.loads
    assert written(tmp_path / "s")["corpus"]["path"] == "corpus.jsonl"


def test_a_template_study_says_which_files_go_where(tmp_path):
    report = begin(tmp_path / "s", public=False, acl="groups")
    assert not report.loads
    assert any("qrels.tsv" in note for note in report.notes)
    said = written(tmp_path / "s")
    assert (said["corpus"]["path"], said["corpus"]["acl"], said["queries"]["groups"]) == (
        "corpus.jsonl",
        "groups",
        "groups",
    )
    write_data = {"documents": rows_without(DOCUMENTS, "region"), "questions": QUERIES}
    for name, rows in zip(("corpus.jsonl", "queries.jsonl"), write_data.values(), strict=True):
        (tmp_path / "s" / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "s" / "qrels.tsv").write_text(JUDGEMENTS)
    assert len(load_study(tmp_path / "s").queries) == 4


def test_a_study_that_is_there_is_not_touched(tmp_path):
    folder = write_study(tmp_path)
    before = (folder / "study.toml").read_bytes()
    assert "nothing was changed" in refused(folder)
    assert (folder / "study.toml").read_bytes() == before


def test_exactly_one_of_public_and_acl(tmp_path):
    assert "contradict" in refused(tmp_path / "s", public=True, acl="groups")
    assert "nobody has said who may read" in refused(tmp_path / "s", public=False)
    assert not (tmp_path / "s").exists()


def test_without_an_embedder_it_says_what_to_install(tmp_path):
    with pytest.raises(NotInstalled) as error:
        begin(tmp_path / "s", suggestions=[])
    assert error.value.exit_code == 3
    assert "pip install 'tiepoint[demo]'" in str(error.value)
    assert not (tmp_path / "s").exists()


def test_missing_files_of_a_source_are_all_named(tmp_path):
    (tmp_path / "data").mkdir()
    assert "lacks corpus.jsonl, queries.jsonl, qrels.tsv or qrels/test.tsv" in refused(
        tmp_path / "s", tmp_path / "data"
    )


def test_data_that_do_not_load_are_said_after_writing(tmp_path):
    message = refused(tmp_path / "s", data(tmp_path / "data", judgements=JUDGEMENTS + "q1\td1\t0\n"))
    assert "(q1, d1): 0 and 2" in message
    assert "the study was written, but it does not load yet" in message
    assert (tmp_path / "s" / "study.toml").is_file()


def test_lines_of_a_gitignore_stay(tmp_path):
    (tmp_path / ".gitignore").write_text("*.log\ncache/")
    begin(tmp_path, data(tmp_path / "data"))
    assert (tmp_path / ".gitignore").read_text().splitlines() == [
        "*.log",
        "cache/",
        "# what tiepoint writes",
        "spaces/",
    ]


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "s").write_text("")
    assert "a file, not a folder" in refused(tmp_path / "s")


def test_real_folders_run_as_they_are(tmp_path, scifact):
    begin(tmp_path / "s", scifact)
    study = load_study(tmp_path / "s")
    assert (len(study.corpus), len(study.queries), len(study.qrels)) == (5183, 300, 339)
    assert study.rule.slice == "unfiltered"


def test_a_folder_with_regions_and_subgroups_runs_as_it_is(tmp_path, traveldest):
    begin(tmp_path / "s", traveldest)
    study = load_study(tmp_path / "s")
    assert (len(study.corpus), len(study.queries), len(study.qrels)) == (774, 577, 22588)
    assert study.rule.slice == "filtered"
    assert {name for names in study.queries.subgroups for name in names} == {"global", "region"}


def test_the_command_writes_and_prints_what_it_saw(tmp_path, monkeypatch):
    monkeypatch.setattr(import_module("tiepoint.cli.init"), "installed_candidates", lambda: INSTALLED)
    app = typer.Typer()
    app.command()(init)
    source = data(tmp_path / "data")
    ran = CliRunner().invoke(app, [str(tmp_path / "s"), "--from", str(source), "--acl", "groups"])
    assert ran.exit_code == 0
    assert "Found 6 documents and 4 questions" in ran.stdout
    assert "Next: tiepoint bench" in ran.stdout
    assert load_study(tmp_path / "s").candidates[1].id == "w"
    wrong = CliRunner().invoke(app, [str(tmp_path / "t"), "--public", "--acl", "groups"])
    assert isinstance(wrong.exception, InputError)
    assert "Example: tiepoint init" in CliRunner().invoke(app, ["--help"]).stdout
