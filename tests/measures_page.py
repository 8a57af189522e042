"""docs/measures.md's table, from the measures themselves. `python tests/measures_page.py` puts it in anew."""

from __future__ import annotations

import re
from pathlib import Path

from tiepoint.measures import kinds

PAGE = Path(__file__).parents[1] / "docs" / "measures.md"
BLOCK = re.compile(r"<!-- measures -->\n.*?<!-- /measures -->", re.DOTALL)
HEAD = ("measure", "definition", "range", "options (the first is the default)", "expected over ties", "source")


def table() -> str:
    """One row for each measure."""
    rows = [HEAD, ("---",) * len(HEAD)]
    for name, kind in sorted(kinds().items(), key=lambda item: item[0].lower()):
        options = "; ".join(f"{key}: {', '.join(map(str, values))}" for key, values in kind.options.items())
        definition = kind.definition.format(**{key: values[0] for key, values in kind.options.items()})
        rows.append((f"`{name}@k`", definition, kind.range, options or "none", kind.ties, kind.source))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def page() -> str:
    """The page with its table made anew."""
    return BLOCK.sub(lambda _: f"<!-- measures -->\n{table()}<!-- /measures -->", PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
