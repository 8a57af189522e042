"""docs/migration.md's outputs, from running the page from its top. `python tests/migration_page.py` puts them in anew."""

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

from tiepoint.cli import main as tiepoint

PAGE = Path(__file__).parents[1] / "docs" / "migration.md"
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$"
    r"|^<!-- tiepoint (?P<call>[^>|]*?)(?: \| from (?P<start>[^>]*?))? -->\n```\n(?P<shown>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


def ran(call: str, start: str | None = None) -> str:
    """What `tiepoint <call>` prints on a pipe, from the line `start` on, and its exit code where it is not 0."""
    printed = io.StringIO()
    streams = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed)
    code: object = 0
    with streams[0], streams[1], mock.patch.object(sys, "argv", ["tiepoint", *call.split()]):
        try:
            tiepoint()
        except SystemExit as left:
            code = left.code or 0
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    lines = lines[lines.index(start) :] if start else lines
    return "\n".join([*lines, *([f"(exit code {code})"] if code else [])]) + "\n"


def blocks() -> Iterator[tuple[re.Match[str], str]]:
    """Every output of the page with what a run prints, in the order of the page; the Python between them is executed.

    The working directory must be an empty one.
    """
    names: dict[str, object] = {}
    for found in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        if found["code"] is not None:
            exec(found["code"], names)  # noqa: S102  # the page is ours, and running it is the point
        else:
            yield found, ran(found["call"], found["start"])


def main() -> None:
    """Rewrite the outputs."""
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for found, printed in reversed(list(blocks())):
            text = text[: found.start("shown")] + printed + text[found.end("shown") :]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ.pop("COLUMNS", None)
    main()
