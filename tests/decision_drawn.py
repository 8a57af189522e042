"""What the tables and plots of docs/decision.md are written with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import altair as alt
import vl_convert

DOCS = Path(__file__).resolve().parents[1] / "docs"
Row: TypeAlias = tuple[str, ...]


def table(head: Sequence[str], rows: Iterable[Row]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def save(chart: alt.TopLevelMixin, name: str) -> None:
    spec = chart.to_dict()
    spec.setdefault("config", {})["aria"] = False  # or each point of a line is described in words
    (DOCS / f"{name}.svg").write_text(vl_convert.vegalite_to_svg(spec) + "\n", encoding="utf-8", newline="\n")
