"""Charts as Vega-Lite documents: rows of intervals, a scatter of quality against cost, and slopes."""

from __future__ import annotations

from collections.abc import Sequence

from tiepoint.report import shapes
from tiepoint.report.marks import LONGEST, Mark, Slope, short
from tiepoint.report.placing import apart, cost_scale, padded, share, spread, ticks, value_at
from tiepoint.report.shapes import Rows, filled

PLOT, ROW = 200, 16
TALL = 190
HEAD = 46
END = 14
WIDE = 150


def intervals(marks: Sequence[Mark], title: str, *, zero: bool = False) -> str:
    """Rows from top to bottom, each with its mean and interval. zero: draw a line at 0."""
    data: Rows = [
        {
            "y": i, "label": short(m.label, HEAD if m.style == "head" else LONGEST), "mean": m.mean, "low": m.low,
            "high": m.high, "style": m.style,
        }
        for i, m in enumerate(marks)
    ]  # fmt: skip
    ends = [v for m in marks for v in (m.mean, m.low, m.high) if v is not None]
    domain = padded([*ends, *([0.0] if zero else [])])
    return filled(
        shapes.intervals(zero=zero),
        {"marks": data, "lines": [{"at": 0.0}]},
        title=title,
        domain=domain,
        ticks=ticks(domain),
        rows=[-0.7, len(data) - 0.3],
        width=PLOT,
        height=ROW * len(data),
    )


def scatter(marks: Sequence[Mark], titles: tuple[str, str], band: tuple[float, float]) -> str:
    """Points with intervals over a cost; band is the gap, from the least mean that is within it to the best mean.

    titles   of the axis of cost, and of quality
    """
    ends = [v for m in marks for v in (m.mean, m.low, m.high) if v is not None]
    tall, (across, kind), width = padded([*ends, *band]), cost_scale([m.x for m in marks]), PLOT + 70
    data: Rows = [{"x": m.x, "mean": m.mean, "low": m.low, "high": m.high, "style": m.style} for m in marks]
    at = [(width * share(m.x, across, kind), TALL * (1 - share(m.mean or 0.0, tall)), short(m.label)) for m in marks]
    names: Rows = [
        {"x": value_at(x / width, across, kind), "mean": value_at(1 - y / TALL, tall), "label": text, "style": m.style}
        for (x, y, text), m in zip(apart(at, width, TALL), marks, strict=True)
    ]
    return filled(
        shapes.scatter(kind),
        {"marks": data, "names": names, "bands": [{"from": band[0], "to": band[1]}]},
        across=across,
        ticks=ticks(across, kind),
        tall=tall,
        steps=ticks(tall),
        cost=titles[0],
        quality=titles[1],
        width=width,
        height=TALL,
    )


def slopes(lines: Sequence[Slope], ends: tuple[str, str]) -> str:
    """Lines from left to right, named at both ends; names that would overlap are moved apart."""
    height = max(TALL, 18 * len(lines))
    domain = padded([v for line in lines for v in (line.left, line.right)])
    data: Rows = [
        {"line": i, "x": place, "mean": mean, "style": line.style}
        for i, line in enumerate(lines)
        for place, mean in enumerate((line.left, line.right))
    ]
    names: Rows = []
    for place, beside in enumerate((-0.12, 1.12)):
        means = [(line.left, line.right)[place] for line in lines]
        at = spread([height * (1 - share(mean, domain)) for mean in means], 13.0, height)
        for line, mean, y in zip(lines, means, at, strict=True):
            label = {"label": short(line.label, END), "style": line.style}
            names.append({"from": place, "at": mean, "x": beside, "mean": value_at(1 - y / height, domain), **label})
    left, right = (f"'{end}'" for end in ends)
    return filled(
        shapes.slopes(),
        {"marks": data, "names": names},
        ends=f"datum.value === 0 ? {left} : {right}",
        domain=domain,
        width=WIDE,
        height=height,
    )
