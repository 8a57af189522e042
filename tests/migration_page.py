"""docs/migration.md's outputs, from running each half of it from its top. `python tests/migration_page.py` puts them in anew."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from picture import demonstration
from tiepoint.cli import main as tiepoint

PAGE = Path(__file__).parents[1] / "docs" / "migration.md"
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$"
    r"|^<!-- (?P<tool>tiepoint|cat) (?P<call>[^>|]*?)(?: \| from (?P<start>[^>|]*?))?(?: \| to (?P<end>[^>|]*?))? -->\n"
    r"```\n(?P<shown>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


REAL = "\n## Real spaces\n"
"""Where the second half begins: what it shows is of the demonstration study, which lies in `demo/` and has been benchmarked."""


def ran(call: str) -> str:
    """What `tiepoint <call>` prints on a pipe, and its exit code where it is not 0."""
    printed = io.StringIO()
    streams = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed)
    code: object = 0
    with streams[0], streams[1], mock.patch.object(sys, "argv", ["tiepoint", *call.split()]):
        try:
            tiepoint()
        except SystemExit as left:
            code = left.code or 0
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    return "\n".join([*lines, *([f"(exit code {code})"] if code else [])]) + "\n"


def part(printed: str, start: str | None, end: str | None) -> str:
    """The lines from `start` on, up to the one before `end`; blank ones at the end left out."""
    lines = printed.splitlines()
    lines = lines[lines.index(start) :] if start else lines
    lines = lines[: lines.index(end)] if end else lines
    return "\n".join(lines).rstrip() + "\n"


def blocks(*, real: bool) -> Iterator[tuple[re.Match[str], str]]:
    """Every output of a half of the page with what a run prints, in order; the Python between them is executed.

    The working directory must be empty, but for `demo/` where the half is the one on real spaces. A call that stands there
    again, with no Python in between, is run once.
    """
    text = PAGE.read_text(encoding="utf-8")
    border = text.index(REAL)
    names: dict[str, object] = {}
    before: dict[str, str] = {}
    for found in BLOCK.finditer(text):
        if (found.start() > border) != real:
            continue
        if found["code"] is not None:
            before.clear()
            exec(found["code"], names)  # noqa: S102  # the page is ours, and running it is the point
            continue
        call = found["call"]
        if found["tool"] == "cat":
            before[call] = Path(call).read_text(encoding="utf-8")
        elif call not in before:
            before[call] = ran(call)
        yield found, part(before[call], found["start"], found["end"])


def main() -> None:
    """Rewrite the outputs."""
    text = PAGE.read_text(encoding="utf-8")
    made = []
    for real in (False, True):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            if real:
                demonstration(Path("demo"))
            made += list(blocks(real=real))
    for found, printed in reversed(made):
        text = text[: found.start("shown")] + printed + text[found.end("shown") :]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ.pop("COLUMNS", None)
    main()
