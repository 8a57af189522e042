"""Write docs/decision.md and its plots: the decision rule tried on populations whose truth is known.

python tests/simulate_decision.py            the whole grid, some minutes
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import altair as alt
import numpy as np
import vl_convert
from scipy import special, stats

import decision_grid as grid
from tiepoint.stats.interval import AWAY, bca, trusted
from tiepoint.stats.power import Population, Supposed
from tiepoint.stats.resample import stream
from tiepoint.stats.settle import queries_to_settle, walked
from tiepoint.stats.units import Units
from tiepoint.stats.walk import IN, walk
from tiepoint.workflows.spreads import ASSUMED

DOCS = Path(__file__).resolve().parents[1] / "docs"
SAMPLES = 4_000
FEWER = 2_000
"""Of several candidates, and of what was changed."""
INTERVALS = 1_000
"""Samples of each cell of the coverage, all of whose intervals are made from a few sets of resamples."""
Row = tuple[str, ...]


def main() -> None:
    """Compute every table and plot, and write the page."""
    text = Path(__file__).with_name("decision_page.md").read_text(encoding="utf-8")
    parts = {
        "errors": errors(), "several": several(), "others": others(), "exact": exact(), "cost": cost(), "uneven": uneven(),
        "settle": settle(), "power": power(), "coverage": coverage(), "samples": f"{SAMPLES:,}",
        "fewer": f"{FEWER:,}", "intervals": f"{INTERVALS:,}", "worst": worst(),
    }  # fmt: skip
    for name, found in parts.items():
        text = text.replace("{{" + name + "}}", found)
    (DOCS / "decision.md").write_text(text, encoding="utf-8", newline="\n")


ERRORS: list[dict[str, object]] = []


def noted(found: grid.Truth, label: str, where: str, gap: float, samples: int = SAMPLES) -> Row:
    """One row of error rates by number of queries; kept for the plot and the summary."""
    cells = []
    for number in grid.NUMBERS:
        share = grid.rate(found, number, gap, seed=len(ERRORS), samples=samples)
        ERRORS.append({"kind": label, "where": where, "gap": gap, "units": number, "wrong": share, "samples": samples})
        cells.append(f"{100 * share:.1f}")
    print(where, gap, label, *cells, file=sys.stderr, flush=True)
    return (label, *cells)


def errors() -> str:
    """Two candidates, just beyond the gap and on it."""
    parts = []
    for gap in grid.GAPS:
        beyond = [
            noted(found, name, "beyond", gap)
            for source in (grid.pairs, grid.clustered)
            for name, found in source(gap + grid.BEYOND)
        ]
        on = [noted(found, name, "on", gap) for source in (grid.pairs, grid.clustered) for name, found in source(gap)]
        head = ("", *(f"{n:,}" for n in grid.NUMBERS))
        parts.append(f"**Gap {gap:g}, the cheaper one loses just more: wrongly in, per cent**\n\n{table(head, beyond)}")
        parts.append(f"**Gap {gap:g}, it loses the gap itself: wrongly out, per cent**\n\n{table(head, on)}")
    plot_errors()
    return "\n\n".join(parts)


def several() -> str:
    """3 to 10 candidates."""
    rows = [
        noted(
            grid.several(arms, 0.05, kind=kind, differ=differ),
            f"{arms} candidates, {kind}; {differ:.0%} differ",
            "several",
            0.05,
            FEWER,
        )
        for arms in (3, 10)
        for kind in grid.KINDS
        for differ in (1.0, 0.1)
        if not (arms == 3 and kind == "all but one on the gap")
    ]
    return table(("", *(f"{n:,}" for n in grid.NUMBERS)), rows)


def others() -> str:
    """Ties, and a cost order made by timing."""
    rows = []
    for label, tried in (
        ("ties, at their worst just beyond", grid.tied_rate),
        ("order by timing, 3 candidates", grid.timed_rate),
    ):
        shares = [tried(0.05, n, seed=4, samples=FEWER) for n in grid.NUMBERS]
        ERRORS.extend(
            {"kind": label, "where": "several", "gap": 0.05, "units": n, "wrong": s, "samples": FEWER}
            for n, s in zip(grid.NUMBERS, shares, strict=True)
        )
        rows.append((label, *(f"{100 * s:.1f}" for s in shares)))
    return table(("", *(f"{n:,}" for n in grid.NUMBERS)), rows)


def worst() -> str:
    """The largest rate of all, and how many lie above what chance makes of 5 %."""
    top = max(ERRORS, key=lambda row: row["wrong"])
    above = [row for row in ERRORS if row["wrong"] > grid.ALLOWED + 2 * error(row)]
    far = [row for row in ERRORS if row["wrong"] > grid.ALLOWED + 3.5 * error(row)]
    return (
        f"Over all tables of this page there are {len(ERRORS):,} cells. The largest share is {100 * top['wrong']:.1f} % "
        f"({top['where']}: {top['kind']}, gap {top['gap']:g}, {top['units']:,} units; one standard error is "
        f"{100 * error(top):.2f} points). {len(above)} cells lie above 5 % by more than two standard errors (of cells at exactly "
        f"5 % one in forty would), {len(far)} by more than three and a half."
    )


def error(row: dict[str, object]) -> float:
    """The standard error of a cell whose true share is 5 %."""
    return math.sqrt(grid.ALLOWED * (1 - grid.ALLOWED) / float(str(row["samples"])))


def exact() -> str:
    """Whole losses on a share of just the gap, enumerated."""
    rows = []
    for gap in grid.GAPS:
        numbers = range(20, 2001)
        cells = {first: [grid.exact_error(n, gap, first=first) for n in numbers] for first in (True, False)}
        at = {first: numbers[int(np.argmax(c))] for first, c in cells.items()}
        rows.append((f"{gap:g}", *(f"{100 * max(cells[f]):.2f} ({at[f]:,})" for f in (True, False))))
    return table(("gap", "version 0.1, per cent (at n)", "now"), rows)


def cost() -> str:
    """What the change costs: the chance that equal candidates, or a few whole losses, are called inside."""
    rows = []
    for gap, number in ((0.02, 200), (0.02, 500), (0.02, 1000), (0.05, 100), (0.05, 300), (0.10, 100)):
        few = gap / 4
        allowed = [grid.losses_allowed(number, gap, first=first) for first in (True, False)]
        chance = [float(stats.binom.cdf(k, number, few)) for k in allowed]
        dense = [old_inside(number, gap), new_inside(number, gap)]
        rows.append(
            (
                f"{gap:g}", f"{number:,}", *(f"{k}" for k in allowed), *(f"{100 * c:.0f}" for c in chance),
                *(f"{100 * c:.0f}" for c in dense),
            )
        )  # fmt: skip
    head = (
        "gap",
        "queries",
        "allowed, version 0.1",
        "now",
        "a quarter lost, version 0.1",
        "now",
        "equal means, version 0.1",
        "now",
    )
    return table(head, rows)


def drawn(number: int, samples: int) -> np.ndarray:
    return np.random.default_rng([8, number]).normal(0, 0.2, (samples, number)).clip(-1, 1)


def old_inside(number: int, gap: float, samples: int = 600, resamples: int = 2_000) -> float:
    """The rule of version 0.1 on dense differences: a paired bootstrap with an imagined query, and the floor."""
    if number < math.log(0.05) / math.log(1 - gap):
        return 0.0
    weights = np.random.default_rng(9).multinomial(number + 1, np.full(number + 1, 1 / (number + 1)), resamples)
    means = (drawn(number, samples) @ weights[:, :number].T + weights[:, number]) / (number + 1)
    return float((np.quantile(means, 0.95, axis=1) <= gap).mean())


def new_inside(number: int, gap: float, samples: int = 600) -> float:
    values = drawn(number, samples)
    ones = np.ones(number)
    zero = np.zeros((number, 1))
    inside = 0
    for row in values:
        sums = np.concatenate([zero, row[:, None]], axis=1)
        inside += int(walk(Units(ones, sums, sums, sums), gap=gap, confidence=0.95)[0, 0] == IN)
    return inside / samples


def uneven() -> str:
    """Uneven clusters by the rule of version 0.1, whose imagined cluster was of mean size."""
    rows = []
    for name, found in grid.clustered(0.05 + grid.BEYOND):
        cells = [f"{100 * old_clusters(found, n, 0.05):.1f}" for n in (60, 150, 400)]
        now = [f"{100 * grid.rate(found, n, 0.05, seed=1, samples=FEWER):.1f}" for n in (60, 150, 400)]
        rows.append((name, *cells, *now))
    return table(("", *(f"0.1: {n}" for n in (60, 150, 400)), *(f"now: {n}" for n in (60, 150, 400))), rows)


def old_clusters(found: grid.Truth, number: int, gap: float, samples: int = 1_000, resamples: int = 1_000) -> float:
    if number < math.log(0.05) / math.log(1 - gap):
        return 0.0
    rng = np.random.default_rng([10, number])
    pick = rng.choice(len(found.share), size=(samples, number), p=found.share)
    size, loss = found.units.size[pick], found.units.mid[pick, 1]
    weights = rng.multinomial(number + 1, np.full(number + 1, 1 / (number + 1)), resamples).astype(float)
    imagined = weights[:, number] * size.mean(axis=1)[:, None]
    means = (loss @ weights[:, :number].T + imagined) / (size @ weights[:, :number].T + imagined)
    return float((np.quantile(means, 0.95, axis=1) <= gap).mean())


def settle() -> str:
    """The named number of queries, and the power at it."""
    rows = []
    for i, (name, found, gap) in enumerate(grid.settling()):
        units = grid.as_units(found)
        queries = queries_to_settle(units, gap=gap, confidence=0.95, rng=stream(i, "settle"))
        number = round((queries or 0) / units.size.mean())
        states = walked(units, number, gap=gap, confidence=0.95, rng=stream(i, "power"), samples=FEWER)
        rows.append((name, f"{gap:g}", f"{queries:,}", f"{100 * (states == IN).any(axis=1).mean():.1f}"))
    return table(("population", "gap", "queries named", "decides, per cent"), rows)


def power() -> str:
    """The chance to decide by spread and number of queries; a plot."""
    rows, points = [], []
    numbers = (50, 100, 150, 200, 300, 500, 750, 1_000, 1_500, 2_000)
    for gap in (0.02, 0.05):
        for sd, unequal in ASSUMED:
            for arms in (2, 5):
                population = Population.stated(sd, unequal, arms, rng=stream(1, "population"))
                supposed = Supposed(population, gap, 0.95)
                cells = []
                for number in numbers:
                    chance = supposed.chance(number, 0.0, rng=stream(2, str(number)), samples=1_000)
                    share = 0.0 if chance is None else chance.decides
                    cells.append(f"{100 * share:.0f}")
                    points.append(
                        {
                            "gap": f"gap {gap:g}",
                            "spread": f"sd {sd:g}, {arms} candidates",
                            "units": number,
                            "decides": share,
                        }
                    )
                rows.append((f"{gap:g}", f"{sd:g}, {unequal:.0%} differ", str(arms), *cells))
    chart = (
        alt.Chart(alt.Data(values=points))
        .mark_line(point=True)
        .encode(
            x=alt.X("units:Q", title="independent queries").scale(type="log"),
            y=alt.Y("decides:Q", title="chance that the rule decides").axis(format="%"),
            color=alt.Color("spread:N", title=None),
        )
        .properties(width=330, height=260)
        .facet(column=alt.Column("gap:N", title=None))
    )
    save(chart, "decision-power")
    return table(("gap", "spread", "candidates", *(f"{n:,}" for n in numbers)), rows)


def plot_errors() -> None:
    chart = (
        alt.Chart(alt.Data(values=[row for row in ERRORS if row["where"] != "several"]))
        .mark_line(opacity=0.6)
        .encode(
            x=alt.X("units:Q", title="independent queries or clusters").scale(type="log", domain=[15, 2500]),
            y=alt.Y("wrong:Q", title="wrong confident verdicts").axis(format="%").scale(domain=[0, 0.07]),
            detail="kind:N",
            color=alt.Color("where:N", title="true loss").scale(domain=["beyond", "on"]),
        )
        .properties(width=210, height=220)
    )
    line = alt.Chart(alt.Data(values=[{"at": 0.05}])).mark_rule(strokeDash=[4, 3]).encode(y="at:Q")
    panels = [
        alt.layer(chart.transform_filter(alt.datum.gap == gap), line).properties(title=f"gap {gap:g}")
        for gap in grid.GAPS
    ]
    save(alt.hconcat(*panels), "decision-errors")


def coverage() -> str:
    """How often a figure's interval covers the mean, and how many of its samples are trusted."""
    rows, points = [], []
    for name, values, share in figures_of():
        mean = float(share @ values)
        apart = 1 - share.max()
        for number in (20, 50, 150, 500):
            rng = np.random.default_rng([12, number, round(1000 * apart)])
            pick = rng.choice(len(values), size=(number, INTERVALS), p=share)
            columns = values[pick]
            low, high = np.empty(INTERVALS), np.empty(INTERVALS)
            for part in range(4):
                some = slice(part * INTERVALS // 4, (part + 1) * INTERVALS // 4)
                top = columns[:, some]
                low[some], high[some] = bca(top, np.ones_like(top), level=0.95, rng=stream(part, "coverage"))
            sure = trusted(columns, np.ones_like(columns))
            covers = (low <= mean + 1e-12) & (mean <= high + 1e-12)
            inside, outside = covers[sure], covers[~sure]
            rows.append(
                (
                    name, f"{number}", f"{number * apart:.0f}", f"{100 * sure.mean():.0f}",
                    f"{100 * inside.mean():.1f}" if len(inside) >= INTERVALS // 2 else "",
                    f"{100 * outside.mean():.1f}" if len(outside) >= INTERVALS // 2 else "",
                )
            )  # fmt: skip
            points.append({"away": number * apart, "covers": float(covers.mean()), "kind": name})
            print("coverage", *rows[-1], file=sys.stderr, flush=True)
    dots = (
        alt.Chart(alt.Data(values=points))
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("away:Q", title="queries away from the commonest value, expected").scale(type="log"),
            y=alt.Y("covers:Q", title="coverage of a 95 % interval").scale(zero=False).axis(format="%"),
            color=alt.Color("kind:N", title=None),
        )
    )
    lines = alt.Chart(alt.Data(values=[{"at": 0.93}, {"at": 0.97}])).mark_rule(strokeDash=[4, 3]).encode(y="at:Q")
    edge = alt.Chart(alt.Data(values=[{"at": AWAY}])).mark_rule(strokeDash=[1, 3]).encode(x="at:Q")
    save(alt.layer(lines, edge, dots).properties(width=480, height=280), "decision-coverage")
    head = (
        "values",
        "queries",
        "away from the commonest, expected",
        "trusted, per cent",
        "coverage where trusted",
        "where not",
    )
    return table(head, rows)


def figures_of() -> Iterable[tuple[str, np.ndarray, np.ndarray]]:
    """(values, shares) of one query's measure."""
    even = np.full(200, 1 / 200)
    at = (np.arange(200) + 0.5) / 200
    yield "nDCG, spread over 0 to 1", at, even
    yield "nDCG, most near 1", special.betaincinv(2.0, 0.4, at), even
    yield (
        "RR, half at 1",
        np.array([1, 0.5, 1 / 3, 0.25, 0.2, 0.1, 0]),
        np.array([0.5, 0.2, 0.1, 0.05, 0.05, 0.05, 0.05]),
    )
    yield "recall of 3, 70 % at 1", np.array([0, 1 / 3, 2 / 3, 1]), np.array([0.05, 0.1, 0.15, 0.7])
    inner = (np.arange(50) + 0.5) / 50
    for share in (0.10, 0.03):
        yield (
            f"{1 - share:.0%} at 1, the rest spread",
            np.append(inner, 1.0),
            np.append(np.full(50, share / 50), 1 - share),
        )


def table(head: Sequence[str], rows: Iterable[Row]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def save(chart: alt.TopLevelMixin, name: str) -> None:
    spec = chart.to_dict()
    spec.setdefault("config", {})["aria"] = False  # or each point of a line is described in words
    (DOCS / f"{name}.svg").write_text(vl_convert.vegalite_to_svg(spec) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
