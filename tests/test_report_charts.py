"""Charts: valid Vega-Lite, names that lie over nothing, round ticks, colours that the style turns in the dark."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib.resources import files
from itertools import combinations, pairwise

import altair as alt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiepoint.errors import CannotRun
from tiepoint.report import charts, draw, shapes
from tiepoint.report.marks import Mark, Slope, short
from tiepoint.report.placing import CHARACTER, apart, cost_scale, padded, share, spread, ticks, value_at
from tiepoint.report.table import Drawing

MARKS = [
    Mark("a", "candidate", 0.5, 0.4, 0.6, 64.0),
    Mark("</text><script>", "chosen", 0.7, None, None, 384.0),
    Mark("\u202eturned\n", "few", 0.9, 0.8, 0.95, 1024.0),
]
SPECS: dict[str, Callable[[], str]] = {
    "rows": lambda: charts.intervals([Mark("no filter", "head"), *MARKS], "recall@10"),
    "zero": lambda: charts.intervals(MARKS, 'a "quoted" title', zero=True),
    "log": lambda: charts.scatter(MARKS, ("dimension", "nDCG@10"), (0.88, 0.9)),
    "linear": lambda: charts.scatter(MARKS[1:], ("dimension", "nDCG@10"), (0.88, 0.9)),
    "slopes": lambda: charts.slopes(
        [Slope("a", "candidate", 0.1, 0.9), Slope("b", "baseline", 0.2, 0.1)], ("from", "to")
    ),
}
amounts = st.floats(min_value=1e-6, max_value=1e12)


@pytest.mark.parametrize("name", SPECS)
def test_each_form_is_valid_and_has_no_place_left_unfilled(name: str) -> None:
    document = json.loads(SPECS[name]())
    with alt.utils.schemapi.debug_mode(True):
        alt.Chart.from_dict(document)
    assert '"@' not in json.dumps({k: v for k, v in document.items() if k != "datasets"}).replace('"@"', "")


@pytest.mark.parametrize("name", SPECS)
def test_each_is_drawn_and_no_name_becomes_markup(name: str) -> None:
    drawing = Drawing(name, name, name, SPECS[name])
    drawn = draw.inline_svg(drawing)
    assert drawn.startswith("<svg")
    assert "<script" not in drawn
    assert "style=" not in drawn, "the page's policy allows no style of its own"
    assert "http" not in drawn.replace("http://www.w3.org/", "")
    assert "white" in draw.svg(drawing)


def test_what_cannot_be_drawn_says_so() -> None:
    with pytest.raises(CannotRun, match="a chart cannot be drawn"):
        draw.inline_svg(Drawing("x", "x", "x", lambda: '{"mark": 1}'))


def test_every_colour_has_one_for_the_dark() -> None:
    style = (files("tiepoint.report") / "templates" / "style.css").read_text(encoding="utf-8")
    for colour in (shapes.INK, shapes.MUTED, shapes.GRID, shapes.BLUE, shapes.AMBER, shapes.BAND):
        assert f'="{colour}"]' in style


def test_a_name_is_short_and_on_one_line() -> None:
    assert short("abc") == "abc"
    assert short("a\nb\u202ec") == "a b c"
    assert short("x" * 100_000) == "x" * 19 + "…"


@given(st.lists(st.tuples(st.floats(0, 270), st.floats(0, 190), st.text("abc", min_size=1, max_size=20)), max_size=12))
def test_names_lie_over_nothing(at: list[tuple[float, float, str]]) -> None:
    placed = [(x, y, x + CHARACTER * len(text), y) for x, y, text in apart(at, 270, 190) if text]
    for a, b in combinations(placed, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or abs(a[1] - b[1]) >= 12 - 1e-6


@given(st.lists(st.floats(0, 190), min_size=1, max_size=12))
def test_names_beside_a_slope_keep_their_order_and_distance(at: list[float]) -> None:
    moved = spread(at, 13.0, 190)
    order = sorted(range(len(at)), key=lambda i: at[i])
    assert all(moved[b] - moved[a] >= 13.0 - 1e-6 for a, b in pairwise(order))


@given(st.lists(amounts, min_size=1, max_size=6))
def test_an_axis_holds_its_values_and_few_round_ticks(values: list[float]) -> None:
    domain, kind = cost_scale(values)
    for value in values:
        assert -1e-9 <= share(value, domain, kind) <= 1 + 1e-9
        assert value_at(share(value, domain, kind), domain, kind) == pytest.approx(value)
    found = ticks(domain, kind)
    assert len(found) <= 6
    assert all(domain[0] - 1e-9 * abs(domain[1]) <= tick <= domain[1] * (1 + 1e-9) for tick in found)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_a_range_of_a_measure_is_never_narrower_than_a_tenth(values: list[float]) -> None:
    low, high = padded(values)
    assert high - low >= 0.1 - 1e-9
    assert low <= min(values) <= max(values) <= high
    assert 2 <= len(ticks([low, high])) <= 6
    assert not math.isnan(low)
