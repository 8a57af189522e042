"""The small study with a candidate that would run, and how the command line refuses what a test makes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from command import Answer, held
from studies import write_study

CONTRACT = {
    "provider": "test",
    "model": "words",
    "revision": "1",
    "dimension": 4,
    "metric": "cosine",
    "normalized": True,
    "dtype": "float32",
    "query_role": "query",
    "document_role": "document",
}
MINE = {"id": "mine", "embedder": "callable", "contract": CONTRACT, "options": {"function": "own:encode"}}
MODULE = (
    "import numpy as np\n\n\ndef encode(texts):\n    return np.eye(4, dtype='float32')[[len(t) % 4 for t in texts]]\n"
)


def refused(answer: Answer, *named: str) -> None:
    """Exit 2; nothing on stdout; errors alone on stderr, each with its place; everything named."""
    assert answer.code == 2, answer
    assert answer.out == ""
    assert "Traceback" not in answer.err
    lines = answer.err.splitlines()
    assert lines[0].startswith("error: "), answer.err
    assert all(line.startswith(("error: ", "  where: ", "  fix:   ")) for line in lines), answer.err
    assert len(set(lines)) >= sum(line.startswith("error: ") for line in lines), "one problem is said twice"
    for name in named:
        assert name in answer.err, f"{name!r} is not named in\n{answer.err}"


def bench_refuses(command: Callable[..., Answer], folder: Path, *named: str) -> None:
    before = held(folder)
    refused(command("bench", folder), *named)
    assert held(folder) == before


def study(folder: Path, **changes: object) -> Path:
    """The small study with one candidate that would run; the module is there before anything is hashed."""
    written = write_study(folder / "study", **{"candidates": [MINE], **changes})  # type: ignore[arg-type]
    (written / "own.py").write_text(MODULE, encoding="utf-8")
    return written
