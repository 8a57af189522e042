"""The command line, called as a person does: in this process (fast) or in one of its own (true)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tiepoint.cli import main


@dataclass(frozen=True)
class Answer:
    """What a call gave back."""

    code: int
    out: str
    err: str


class Command:
    """`command("bench", folder)` in this process: the same main() as on a terminal, with both streams on a pipe."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *given: object) -> Answer:
        self.monkeypatch.delitem(sys.modules, "own", raising=False)  # a process of its own would not have it
        self.monkeypatch.setattr(sys, "argv", ["tiepoint", *map(str, given)])
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        out, err = self.capsys.readouterr()
        return Answer(int(left.value.code or 0), out, err)


def process(
    *given: object, program: tuple[str, ...] = (sys.executable, "-m", "tiepoint"), **environment: str
) -> Answer:
    """The same in a process of its own; `environment` is added to this one's."""
    done = subprocess.run(
        [*program, *map(str, given)],
        capture_output=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def held(folder: Path) -> dict[str, str]:
    """Every file and folder below, by its path, with the hash of its bytes and the moment of its last change."""
    return {
        str(path.relative_to(folder)): (
            f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}" if path.is_file() else "folder"
        )
        for path in sorted(folder.rglob("*"))
        if "__pycache__" not in path.parts
    }
