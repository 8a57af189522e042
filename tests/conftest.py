"""Where the real corpora lie. Tests read them and skip with a reason where they are absent; the project holds none of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.register_assert_rewrite("recorded", "studies")  # helpers that assert do so under python -O too
SHARED = Path(os.environ.get("TIEPOINT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def corpus_folder(name: str) -> Path:
    folder = SHARED / name
    if not (folder / "corpus.jsonl").is_file():
        pytest.skip(f"not executed: the corpus {name} is not beside the project (TIEPOINT_DATA names its folder)")
    return folder


@pytest.fixture
def scifact() -> Path:
    return corpus_folder("scifact")


@pytest.fixture
def traveldest() -> Path:
    return corpus_folder("traveldest")
