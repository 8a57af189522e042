"""docs/check.md's outputs, from a run on the demonstration study. `python tests/check_page.py` puts them in anew."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "check.md"
BLOCK = re.compile(r"<!-- ([a-z][^>]*) -->\n```\n(.*?)```\n<!-- /\1 -->", re.DOTALL)


def ran(folder: Path, call: str) -> str:
    """What `tiepoint <call>` prints beside the demonstration study in `demo`; trailing blanks off."""
    if not (folder / "demo").is_dir():
        subprocess.run([sys.executable, "-m", "tiepoint", "demo", "demo"], cwd=folder, capture_output=True, check=True)
    done = subprocess.run(
        [sys.executable, "-m", "tiepoint", *call.split()],
        capture_output=True, cwd=folder, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    return "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


def main() -> None:
    """Rewrite the blocks."""
    with tempfile.TemporaryDirectory() as folder:
        text = BLOCK.sub(
            lambda found: f"<!-- {found[1]} -->\n```\n{ran(Path(folder), found[1])}```\n<!-- /{found[1]} -->",
            PAGE.read_text(encoding="utf-8"),
        )
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
