"""The README says what is true: its picture is what the demonstration prints, its snippet runs; and that run is no easy one.

Tests that need the demonstration's run stand together, so that one process makes it, once.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp
from demo_page import PAGE, Runs, filled
from picture import BLOCK, README, Demonstration, without_speed
from sample import hashing, write_sample


def test_the_picture_is_what_the_demonstration_prints(demo_run: Demonstration) -> None:
    shown = BLOCK.search(README.read_text(encoding="utf-8"))
    assert shown is not None
    assert without_speed(shown[0]) == without_speed(demo_run.printed), "stale: python tests/picture.py"


def test_words_alone_do_not_solve_it_and_chance_stands_below_every_model(demo_run: Demonstration) -> None:
    result = tp.load_result(next((demo_run.folder / "results").iterdir())).summary
    by_name = {arm.id: arm.measures for arm in (*result.candidates, *result.baselines)}
    for name in ("unfiltered", "filtered", "rare"):
        means = {arm: measures[name]["nDCG@10"].mean for arm, measures in by_name.items()}
        assert name == "rare" or means["bm25"] < 0.85, (name, means)  # a rare name is what words alone find best
        assert all(means["random"] < means[arm] - 0.1 for arm in means if arm != "random"), (name, means)
    assert [c.status for c in result.candidates] == ["measured"] * 3


@pytest.mark.slow
def test_the_walk_through_shows_what_runs_of_the_demonstration_give(tmp_path: Path, demo_run: Demonstration) -> None:
    shutil.copytree(demo_run.folder, tmp_path / "demo")
    text = PAGE.read_text(encoding="utf-8")
    assert filled(text, Runs.of(tmp_path / "demo")) == text, "stale: python tests/demo_page.py"


def test_the_python_snippet_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    snippet = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert snippet is not None
    write_sample(tmp_path / "my-study", public=True)
    monkeypatch.chdir(tmp_path)
    encode = hashing(64).encode

    def my_function(texts: list[str]) -> np.ndarray:
        return encode(texts)

    exec(snippet[1], {"my_function": my_function})  # noqa: S102
    assert "No decision" in capsys.readouterr().out
    assert len(list((tmp_path / "my-study" / "results").iterdir())) == 1
