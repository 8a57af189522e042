"""Bad input of `tiepoint init` and `demo`: exit 2, what is wrong by its name, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import Command, held
from refusals import refused, study
from studies import write_study

INIT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "nobody says who may read": (("--from", "data"), ("--public", "--acl")),
    "two say": (("--from", "data", "--public", "--acl", "groups"), ("contradict",)),
    "an empty acl": (("--from", "data", "--acl", " "), ("--acl",)),
    "a misspelt acl": (("--from", "data", "--acl", "gruops"), ("'gruops'", 'did you mean "groups"?')),
    "a source that is not there": (("--from", "nowhere", "--public"), ("corpus.jsonl", "queries.jsonl", "nowhere")),
    "a source that is a file": (("--from", "data/corpus.jsonl", "--public"), ("corpus.jsonl",)),
}


@pytest.mark.parametrize("case", INIT)
def test_init_refuses_and_writes_nothing(
    case: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, named = INIT[case]
    write_study(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    before = held(tmp_path)
    refused(command("init", "new", *given), *named)
    assert held(tmp_path) == before


def test_init_refuses_broken_lines_and_writes_nothing(tmp_path: Path, command: Command) -> None:
    data = write_study(tmp_path / "data", documents='{"_id": 1}\n{\n', questions=b'{"_id": "\xff"}\n')
    before = held(tmp_path)
    refused(command("init", tmp_path / "new", "--from", data, "--public"), "lines 2", "byte offset 9")
    assert held(tmp_path) == before


def test_init_leaves_a_study_that_is_there(tmp_path: Path, command: Command) -> None:
    folder = study(tmp_path)
    before = held(folder)
    refused(command("init", folder, "--public"), "there is a study here already", "study.toml")
    refused(command("demo", folder), "study already", "study.toml", "corpus.jsonl")
    assert held(folder) == before
