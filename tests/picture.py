"""The README's picture: what `make demo` prints. `python tests/picture.py` puts it in anew."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(r"(?<=<!-- demo -->\n```\n).*?(?=```\n<!-- /demo -->)", re.DOTALL)


@dataclass(frozen=True)
class Demonstration:
    """The demonstration run from the command line: its folder, and what bench printed, trailing blanks off."""

    folder: Path
    printed: str


def demonstration(folder: Path) -> Demonstration:
    """Write and run the demonstration in a new folder."""
    for command in ("demo", "bench"):
        done = subprocess.run(
            [sys.executable, "-m", "tiepoint", command, str(folder)],
            capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
        if done.returncode not in (0, 4):
            raise RuntimeError(done.stderr)
    return Demonstration(folder, "".join(line.rstrip() + "\n" for line in done.stdout.splitlines()))


def without_speed(text: str) -> list[list[str]]:
    """The words of every line but measured speeds, which are another machine's."""
    lines = [line.split() for line in text.splitlines()]
    at = next(i for i, words in enumerate(lines) if "docs/s" in words)
    for words in lines[at + 1 :]:
        if not words or words[0] in ("Scored", "Means"):
            break
        numbers = [i for i, word in enumerate(words) if re.fullmatch(r"[\d.,]+", word)]
        words[numbers[-1]] = "speed" if words[-1] != "baseline" else words[numbers[-1]]
    return lines


def main() -> None:
    """Rewrite the block in README.md."""
    with tempfile.TemporaryDirectory() as folder:
        text = demonstration(Path(folder) / "demo").printed
    README.write_text(BLOCK.sub(lambda _: text, README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
