"""The forms of a report's charts, made by Altair once in a process: without data, and with a place for every title and range.

Narrow on purpose: a chart is read at its own size on a phone, and stands beside another on a desk.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import altair as alt

from tiepoint.report.marks import Style

INK, MUTED, GRID, BLUE, AMBER, BAND = "#1b1b1b", "#6b6b6b", "#d8d8d8", "#0b5cad", "#a84300", "#f2dfc4"
"""Each stands once in style.css, with what takes its place in the dark."""
LABELS = 128
COLOURS: Mapping[Style, str] = {"candidate": BLUE, "chosen": AMBER, "baseline": MUTED, "few": MUTED, "head": INK}
SHAPES: Mapping[Style, str] = {"candidate": "circle", "chosen": "diamond", "baseline": "square", "few": "triangle-up"}
Rows = list[dict[str, Any]]


def filled(form: str, data: Mapping[str, Rows], **values: object) -> str:
    """A form with its data, and with a value in each place `@name`: a Vega-Lite document."""
    for name, value in values.items():
        form = form.replace(f'"@{name}"', json.dumps(value))
    return f'{form[:-1]}, "datasets": {json.dumps(data)}}}'


@cache
def intervals(*, zero: bool) -> str:
    """Rows, each with a label, a mean and an interval. Places: title, domain, ticks, rows, height, width. zero: a line at 0."""
    with alt.utils.schemapi.debug_mode(False):
        marks = _of("marks")
        y = alt.Y("y:Q", axis=None, scale=_scale("rows", reverse=True))
        x = alt.X("mean:Q", title="@title", scale=_scale("domain"), axis=_axis("ticks"))
        line = _of("lines").mark_rule(color=INK).encode(x=alt.X("at:Q", title="@title", scale=_scale("domain")))
        names = marks.transform_filter("datum.style !== 'head'").mark_text(align="left", fontSize=11)
        heads = marks.transform_filter("datum.style === 'head'").mark_text(
            align="left", fontSize=11, fontWeight="bold", color=INK
        )
        valued = marks.transform_filter("datum.mean !== null")
        whole = alt.layer(
            *([line] if zero else []),
            _interval(marks).encode(
                y=y, x=alt.X("low:Q", title="@title", scale=_scale("domain")), x2="high:Q", color=_colour()
            ),
            _point(valued).encode(y=y, x=x, color=_colour(), shape=_shape()),
            heads.encode(y=y, x=alt.value(-LABELS), text="label:N"),
            names.encode(y=y, x=alt.value(8 - LABELS), text="label:N", color=_colour()),
        )
        return _form(whole)


@cache
def scatter(kind: Literal["linear", "log"]) -> str:
    """Points with intervals over a cost, and a band. Places: across, ticks, tall, steps, cost, quality, height, width."""
    with alt.utils.schemapi.debug_mode(False):
        x = alt.X("x:Q", title="@cost", scale=_scale("across", type=kind), axis=_axis("ticks"))
        y = alt.Y("mean:Q", title="@quality", scale=_scale("tall"), axis=_axis("steps"))
        begins = alt.Y("from:Q", title="@quality", scale=_scale("tall"))
        whole = alt.layer(
            _of("bands").mark_rect(color=BAND, opacity=1).encode(y=begins, y2="to:Q"),
            _of("bands").mark_rule(color=AMBER, strokeDash=[4, 3]).encode(y=begins),
            _interval(_of("marks")).encode(
                x=x, y=alt.Y("low:Q", title="@quality", scale=_scale("tall")), y2="high:Q", color=_colour()
            ),
            _point(_of("marks")).encode(x=x, y=y, color=_colour(), shape=_shape()),
            _of("names").mark_text(align="left", fontSize=11).encode(x=x, y=y, text="label:N", color=_colour()),
        )
        return _form(whole)


@cache
def slopes() -> str:
    """Lines named at both ends, with a thin line from each name to its point. Places: ends, domain, height, width."""
    with alt.utils.schemapi.debug_mode(False):
        axis = alt.Axis(
            values=[0, 1], labelExpr="@ends", grid=False, domain=False, ticks=False, labelPadding=6, labelColor=INK
        )
        wide = alt.Scale(domain=[-0.2, 1.2], nice=False)
        x, begins = (alt.X(f"{name}:Q", title=None, scale=wide, axis=axis) for name in ("x", "from"))
        mean, there = (alt.Y(f"{name}:Q", scale=_scale("domain"), axis=None) for name in ("mean", "at"))
        dash = alt.StrokeDash("style:N", scale=alt.Scale(domain=["baseline"], range=[[4, 3]]), legend=None)
        names = _of("names").encode(x=x, y=mean, text="label:N", color=_colour())
        whole = alt.layer(
            _of("names").mark_rule(color=GRID).encode(x=begins, x2="x:Q", y=there, y2="mean:Q"),
            _of("marks")
            .mark_line(strokeWidth=2)
            .encode(x=x, y=mean, color=_colour(), detail="line:N", strokeDash=dash),
            _point(_of("marks")).encode(x=x, y=mean, color=_colour(), shape=_shape()),
            names.transform_filter("datum.from === 0").mark_text(align="right", dx=-3, fontSize=11),
            names.transform_filter("datum.from === 1").mark_text(align="left", dx=3, fontSize=11),
        )
        return _form(whole)


def _of(name: str) -> alt.Chart:
    return alt.Chart(alt.NamedData(name=name))


def _interval(marks: alt.Chart) -> alt.Chart:
    made: alt.Chart = marks.transform_filter("datum.low !== null").mark_rule(strokeWidth=2)
    return made


def _point(marks: alt.Chart) -> alt.Chart:
    made: alt.Chart = marks.mark_point(filled=True, opacity=1, size=60)
    return made


def _scale(place: str, **options: Any) -> alt.Scale:  # noqa: ANN401 what Altair takes
    domain: Any = f"@{place}"
    return alt.Scale(domain=domain, nice=False, **options)


def _axis(place: str) -> alt.Axis:
    values: Any = f"@{place}"
    return alt.Axis(
        values=values, grid=True, gridColor=GRID, domain=False, tickColor=GRID, labelColor=MUTED, titleColor=INK,
        titleFontWeight="normal",
    )  # fmt: skip


def _colour() -> alt.Color:
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    return alt.Color("style:N", scale=scale, legend=None)


def _shape() -> alt.Shape:
    return alt.Shape("style:N", scale=alt.Scale(domain=list(SHAPES), range=list(SHAPES.values())), legend=None)


def _form(drawn: alt.LayerChart | alt.FacetChart) -> str:
    whole = drawn.configure(aria=False, background="transparent", font="DejaVu Sans, Verdana, sans-serif")
    form = whole.configure_view(stroke=None).to_dict(validate=False)
    return json.dumps({**form, "width": "@width", "height": "@height"})
