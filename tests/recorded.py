"""Studies that run from the command line with candidates of their own, for tests of what is recorded of them."""

from __future__ import annotations

from pathlib import Path

from command import Answer, Command
from sample import write_sample

MODULE = """
import zlib
import numpy as np

def encode(texts):
    vectors = np.zeros((len(texts), 64), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            vectors[row, zlib.crc32(word.strip(".,").encode()) % 64] += 1
    return vectors

def encode_letters(texts):
    vectors = np.full((len(texts), 64), 1e-3, dtype=np.float32)
    for row, text in enumerate(texts):
        for letter in text.lower():
            vectors[row, ord(letter) % 64] += 1
    return vectors
"""
CANDIDATE = """
[[candidate]]
id = "{id}"
embedder = "callable"
cache = true
options = {{ function = "{module}:{function}" }}
contract = {{ provider = "test", model = "{function}", revision = "1", dimension = 64, metric = "{metric}", normalized = false, \
dtype = "float32", query_role = "query", document_role = "document" }}
"""
WORDS = {"words": "encode", "letters": "encode_letters"}


def runnable(folder: Path, *, candidates: dict[str, str] | None = None, **how: object) -> Path:
    """The sample study with candidates that the command line can run, by id and function."""
    write_sample(folder, **how)  # type: ignore[arg-type]
    (folder / "own.py").write_text(MODULE, encoding="utf-8")
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.writelines(
            CANDIDATE.format(id=name, function=function, module="own", metric="cosine")
            for name, function in (candidates or WORDS).items()
        )
    return folder


def change(folder: Path, *pairs: tuple[str, str], file: str = "study.toml") -> Path:
    """Replace text in a file of the study; every old text must stand there."""
    text = (folder / file).read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    (folder / file).write_text(text, encoding="utf-8")
    return folder


def benched(command: Command, folder: Path) -> Path:
    """`tiepoint bench`; the new result folder."""
    results = folder / "results"
    before = set(results.iterdir()) if results.exists() else set()
    answer: Answer = command("bench", folder, "--quiet")
    assert answer.code in (0, 4), answer.err
    (new,) = set(results.iterdir()) - before
    return new
