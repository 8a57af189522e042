"""`tiepoint init` finds data of every form where they lie, says what it does not read, and declares parents that are judged."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import tiepoint as tp
from forms import FORMS, full, write_form, write_rows
from studies import DOCUMENTS, JUDGEMENTS, write_study
from test_init import INSTALLED
from tiepoint.workflows.init_study import init_study


def begin(folder: Path, source: Path, **how: object) -> tuple[dict[str, object], str]:
    """What study.toml says and what init printed."""
    asked = {"public": True, "acl": None, **how}
    report = init_study(folder, source=source, suggestions=INSTALLED, **asked)  # type: ignore[arg-type]
    return tomllib.loads((folder / "study.toml").read_text(encoding="utf-8")), "\n".join(report.notes)


@pytest.mark.parametrize("form", FORMS)
def test_init_finds_every_form_and_references_it_where_it_lies(tmp_path: Path, form: str) -> None:
    source = write_form(tmp_path / "data", form)
    (source / "study.toml").unlink()
    said, _ = begin(tmp_path / "s", source, public=False, acl="groups")
    assert said["corpus"]["path"] == f"{source.as_posix()}/corpus.{form}"
    assert said["queries"]["path"] == f"{source.as_posix()}/queries.{form}"
    assert (said["queries"]["rare"], said["queries"]["no_answer"]) == ("has_rare_name", "no_answer")
    assert tp.load_study(tmp_path / "s").queries.rare.sum() == 6


def test_init_names_the_splits_that_it_does_not_read(tmp_path: Path) -> None:
    source = write_study(tmp_path / "data", judgements=None)
    (source / "study.toml").unlink()
    (source / "qrels").mkdir()
    for name in ("dev", "test", "train"):
        (source / "qrels" / f"{name}.tsv").write_text(JUDGEMENTS, encoding="utf-8")
    said, notes = begin(tmp_path / "a", source)
    assert said["qrels"]["path"].endswith("qrels/test.tsv")
    assert "Judgements of other splits: qrels/dev.tsv, qrels/train.tsv" in notes
    said, _ = begin(tmp_path / "b", source, split="dev")
    assert said["qrels"]["path"].endswith("qrels/dev.tsv")
    with pytest.raises(tp.InputError, match=r"the folder lacks qrels/tset\.tsv"):
        begin(tmp_path / "c", source, split="tset")


def test_a_folder_without_qrels_is_one_message(tmp_path: Path) -> None:
    source = write_study(tmp_path / "data", judgements=None)
    (source / "study.toml").unlink()
    (source / "qrels").mkdir()
    (source / "qrels" / "dev.tsv").write_text(JUDGEMENTS, encoding="utf-8")
    with pytest.raises(tp.InputError) as refused:
        begin(tmp_path / "s", source)
    (problem,) = refused.value.problems
    assert problem.what.startswith("the folder lacks qrels.tsv or qrels/test.tsv (judgements of other splits")
    assert "qrels/dev.tsv; name one with --split" in problem.what


@pytest.mark.parametrize("form", FORMS)
def test_init_declares_parents_where_the_judgements_name_them(tmp_path: Path, form: str) -> None:
    passages = [{"_id": f"{p}#{n}", "text": f"part {n}", "region": "N", "parent": p} for p in "ab" for n in range(3)]
    for name, judged, expected in (("parents", "a", "parent"), ("passages", "a#1", None)):
        source = tmp_path / name
        source.mkdir()
        write_rows(source / f"corpus.{form}", passages)
        write_rows(source / f"queries.{form}", [{"_id": "q", "text": "which part", "region": "N"}])
        (source / "qrels.tsv").write_text(f"q\t{judged}\t1\n", encoding="utf-8")
        said, notes = begin(tmp_path / f"{name}-s", source)
        assert said["corpus"].get("parent") == expected
        assert ("hits collapse to their parent" in notes) == (expected is not None)


def test_a_second_corpus_is_said(tmp_path: Path) -> None:
    source = write_study(tmp_path / "data")
    (source / "study.toml").unlink()
    write_rows(source / "corpus.csv", full(DOCUMENTS))
    _, notes = begin(tmp_path / "s", source)
    assert "corpus.csv in the folder: not read, since corpus.jsonl is" in notes
