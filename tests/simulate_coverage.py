"""The tables of docs/decision.md on intervals: how many are trusted, and how often these cover."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable

import altair as alt
import numpy as np

import decision_coverage as figures
from decision_drawn import Row, save, table

INTERVALS = 2_000
"""Samples of each cell of the coverage."""
RESAMPLES = 2_000
KINDS = {
    "mean": "Means over single queries",
    "difference": "Paired differences over single queries",
    "pooled": "Pooled ratios over single queries",
    "clusters": "Means over the queries of clusters; values of one cluster correlate",
}
HEAD = ("", "units", "trusted, per cent", "coverage where trusted", "where not", "trusted and missing, of all")
LEVELS_AT = (50, 150)


def coverage() -> dict[str, str]:
    """How often a figure's interval covers it, and how many of its samples are trusted."""
    tried = {}
    for found in figures.CELLS:
        tried[found] = figures.tried(found, 0.95, seed=1, samples=INTERVALS, resamples=RESAMPLES)
        print("coverage", *covered(found, tried[found]), file=sys.stderr, flush=True)
    seen = [c for c in figures.CELLS if not c.rare]
    parts = [
        f"**{title}**\n\n{table(HEAD, [covered(c, tried[c]) for c in seen if c.figures.kind == kind])}"
        for kind, title in KINDS.items()
    ]
    head = ("", "units", "none drawn, per cent", *HEAD[2:])
    rows = [
        (*covered(c, tried[c])[:2], f"{100 * c.unseen:.0f}", *covered(c, tried[c])[2:]) for c in figures.CELLS if c.rare
    ]
    fair = [tried[c].sure for c in seen if tried[c].trusted >= figures.FAIR]
    few = [c for c in seen if 0 < tried[c].trusted < figures.FAIR]
    plot_coverage([tried[c] for c in seen])
    low, high = (sum(f < 0.93 for f in fair), sum(f > 0.97 for f in fair))
    summary = (
        f"Of {len(seen)} cells at 95 %, those that no sample can tell (below) apart, at least half of the samples are trusted "
        f"in {len(fair)}. There the coverage "
        f"where trusted "
        f"is {100 * min(fair):.1f} to {100 * max(fair):.1f} %, {100 * float(np.mean(fair)):.1f} % in the mean; below 93 "
        f"% in {low} "
        f"cells and above 97 % in {high} (one standard error is half a point). In {len(few)} more some are, but fewer; "
        f"there at most "
        f"{100 * max(tried[c].missed for c in few):.1f} % of all samples are trusted and miss."
    )
    return {
        "coverage": "\n\n".join(parts),
        "unseen": table(head, rows),
        "covered": summary,
        "levels_covered": levels_covered(),
    }


def covered(cell: figures.Cell, found: figures.Covered) -> Row:
    def share(of: float) -> str:
        return "" if math.isnan(of) else f"{100 * of:.1f}"

    unsure = share(found.unsure) if found.trusted < 1 else ""
    missed = f"{100 * found.missed:.1f}" if found.trusted else ""
    return (cell.name, f"{cell.units}", f"{100 * found.trusted:.0f}", share(found.sure), unsure, missed)


def levels_covered() -> str:
    """The same at other levels, where at least half of the samples are trusted."""
    rows = []
    for level in (0.9, 0.99):
        least = level - figures.ROOM * math.sqrt(level * (1 - level))
        cells = [c for c in figures.CELLS if c.units in LEVELS_AT and not c.rare]
        tried = [figures.tried(c, level, seed=2, samples=INTERVALS, resamples=RESAMPLES) for c in cells]
        sure = [(t.sure, c) for t, c in zip(tried, cells, strict=True) if t.trusted >= figures.FAIR]
        low, at = min(sure, key=lambda pair: pair[0])
        shares = [s for s, _ in sure]
        rows.append(
            (
                f"{level:g}", f"{len(sure)}", f"{100 * float(np.mean(shares)):.1f}", f"{100 * low:.1f} ({at.name}, {at.units})",
                f"{100 * max(shares):.1f}", f"{100 * least:.1f} to {100 * (2 * level - least):.1f}",
                f"{sum(s < least for s in shares)}",
            )
        )  # fmt: skip
        print("levels", *rows[-1], file=sys.stderr, flush=True)
    return table(("level", "cells", "mean", "least", "most", "aimed at", "below that"), rows)


def plot_coverage(cells: Iterable[figures.Covered]) -> None:
    points = [
        {
            "trusted": found.trusted,
            "covers": found.whole,
            "kind": "at least half" if found.trusted >= figures.FAIR else "fewer",
        }
        for found in cells
    ]
    dots = (
        alt.Chart(alt.Data(values=points))
        .mark_point(filled=True, size=40, opacity=0.6)
        .encode(
            x=alt.X("trusted:Q", title="samples whose interval is trusted").axis(format="%"),
            y=alt.Y("covers:Q", title="coverage of all 95 % intervals").scale(zero=False).axis(format="%"),
            color=alt.Color("kind:N", title=None),
        )
    )
    lines = alt.Chart(alt.Data(values=[{"at": 0.93}, {"at": 0.97}])).mark_rule(strokeDash=[4, 3]).encode(y="at:Q")
    save(alt.layer(lines, dots).properties(width=480, height=280), "decision-coverage")
