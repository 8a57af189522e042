"""docs/measures.md's tables, from the measures themselves. `python tests/measures_page.py` puts them in anew."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tiepoint.measures import agreements, kinds

PAGE = Path(__file__).parents[1] / "docs" / "measures.md"
BLOCK = re.compile(r"<!-- (measures|agreement) -->\n.*?<!-- /\1 -->", re.DOTALL)
HEAD = ("measure", "definition", "range", "options (the first is the default)", "expected over ties", "source")
AGREEMENT_HEAD = ("measure", "definition", "range", "expected over ties", "source")


def table() -> str:
    """One row for each measure against judgements."""
    rows = []
    for name, kind in sorted(kinds().items(), key=lambda item: item[0].lower()):
        options = "; ".join(f"{key}: {', '.join(map(str, values))}" for key, values in kind.options.items())
        definition = kind.definition.format(**{key: values[0] for key, values in kind.options.items()})
        rows.append((f"`{name}@k`", definition, kind.range, options or "none", kind.ties, kind.source))
    return lines(HEAD, rows)


def agreement_table() -> str:
    """One row for each measure of the agreement of two rankings."""
    every = sorted(agreements().values(), key=lambda kind: kind.name.lower())
    return lines(AGREEMENT_HEAD, [(f"`{k.name}@k`", k.definition, k.range, k.ties, k.source) for k in every])


def lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *rows])


def page() -> str:
    """The page with its tables made anew."""
    made = {"measures": table, "agreement": agreement_table}
    text = PAGE.read_text(encoding="utf-8")
    return BLOCK.sub(lambda found: f"<!-- {found[1]} -->\n{made[found[1]]()}<!-- /{found[1]} -->", text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
