"""docs/migration.md: what it shows is what a run prints."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from migration_page import blocks
from picture import Demonstration
from tiepoint.embedders import installed_candidates


def shows_what_runs_print(*, real: bool, least: int) -> None:
    compared = [(found["call"], found["shown"], printed) for found, printed in blocks(real=real)]
    assert len(compared) >= least
    for call, shown, printed in compared:
        assert shown == printed, f"{call}: stale: python tests/migration_page.py"


def test_the_page_shows_what_a_run_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    shows_what_runs_print(real=False, least=10)


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("onnxruntime") is None or not any(c.id == "paraphrase-l3" for c in installed_candidates()),
    reason="not executed: paraphrase-MiniLM-L3 is not installed",
)
def test_real_spaces_and_a_silent_mix_of_two_models_are_shown_as_a_run_prints_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, demo_run: Demonstration
) -> None:
    """WordLlama to MiniLM, files of one's own, and paraphrase-L3 among MiniLM's vectors under MiniLM's label."""
    shutil.copytree(demo_run.folder, tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    shows_what_runs_print(real=True, least=5)
