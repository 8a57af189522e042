"""docs/migration.md: what it shows is what a run prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from migration_page import blocks


def test_the_page_shows_what_a_run_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    compared = [(found["call"], found["shown"], printed) for found, printed in blocks()]
    assert len(compared) >= 10
    for call, shown, printed in compared:
        assert shown == printed, f"{call}: stale: python tests/migration_page.py"
