"""Write docs/decision.md and its plots: the decision rule tried on populations whose truth is known.

python tests/simulate_decision.py            the whole grid, a quarter of an hour
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

import altair as alt
import numpy as np
from scipy import stats

import decision_grid as grid
import decision_tables as tables
from decision_drawn import DOCS, Row, save, table
from decision_tables import FEWER, SAMPLES, Case, Table
from simulate_coverage import INTERVALS, RESAMPLES, coverage
from tiepoint.stats.enough import FEWEST
from tiepoint.stats.interval import EFFECTIVE
from tiepoint.stats.power import Supposed
from tiepoint.stats.resample import stream
from tiepoint.stats.settle import queries_to_settle, walked
from tiepoint.stats.stated import Stated
from tiepoint.stats.units import Units
from tiepoint.stats.walk import IN, OPEN, walk
from tiepoint.workflows.spreads import ASSUMED

STUDIES = 40
SIZES = (50, 100, 300, 1_000)
"""Queries of the studies whose promise is looked at."""
IDLE, BEYOND_REACH = "–", "cannot be reached"


def main() -> None:
    """Compute every table and plot, and write the page."""
    text = Path(__file__).with_name("decision_page.md").read_text(encoding="utf-8")
    parts = {
        "two": sheets(t for gap in grid.GAPS for t in tables.two(gap)),
        "levels": sheets(t for level in tables.LEVELS for t in tables.two(0.05, level)),
        "dense": sheets(tables.dense_tables()),
        "sparse": sheets(tables.sparse_tables()),
        "clustered": sheets(tables.clustered_tables()),
        "others": others(),
        "rare": rare(),
        "exact": exact(),
        "uneven": uneven(),
        "cost": cost(),
        "settle": settle(),
        "studies": studies(),
        "power": power(),
    }
    plot_errors()
    parts |= coverage()
    parts |= {
        "samples": f"{SAMPLES:,}", "fewer": f"{FEWER:,}", "intervals": f"{INTERVALS:,}", "resamples": f"{RESAMPLES:,}",
        "effective": f"{EFFECTIVE}", "fewest": f"{FEWEST}", "worst": worst(),
    }  # fmt: skip
    for name, found in parts.items():
        text = text.replace("{{" + name + "}}", found)
    (DOCS / "decision.md").write_text(text, encoding="utf-8", newline="\n")


ERRORS: list[dict[str, object]] = []
"""Cells that are simulated."""
APART = {IDLE: 0, BEYOND_REACH: 0}
"""Cells that are not."""
NUMBERS = tuple(f"{n:,}" for n in grid.NUMBERS)


def sheets(some: Iterable[Table]) -> str:
    """Tables of error rates by number of units; kept for the plot and the summary."""
    return "\n\n".join(
        f"**{t.caption}**\n\n{table(('', *NUMBERS), [errors(case, t) for case in t.cases])}" for t in some
    )


def errors(case: Case, of: Table) -> Row:
    cells = [cell(case, of, number) for number in grid.NUMBERS]
    print(of.caption, case.label, *cells, file=sys.stderr, flush=True)
    return (case.label, *cells)


def cell(case: Case, of: Table, number: int) -> str:
    """The share of samples that are wrong, in per cent."""
    if case.found is None:
        APART[BEYOND_REACH] += number == grid.NUMBERS[0]
        return BEYOND_REACH if number == grid.NUMBERS[0] else ""
    if case.inside and not grid.able(case.found, number, case.gap, case.confidence):
        APART[IDLE] += 1
        return IDLE
    seed = zlib.crc32(f"{of.caption}{case.label}".encode())
    wrong = grid.rate(case.found, number, case.gap, seed=seed, samples=of.samples, confidence=case.confidence)
    note(case.label, of.caption, number, wrong, of.samples, round(1 - case.confidence, 9))
    return f"{100 * wrong:.1f}"


def note(kind: str, where: str, units: int, wrong: float, samples: int, allowed: float = grid.ALLOWED) -> None:
    beyond = (wrong - allowed) / math.sqrt(allowed * (1 - allowed) / samples)
    ERRORS.append({"kind": kind, "where": where, "units": units, "wrong": wrong, "allowed": allowed, "beyond": beyond})


def others() -> str:
    """Ties, and a cost order made by timing."""
    rows = []
    for label, tried in (
        ("ties, at their worst just beyond", grid.tied_rate),
        ("order by timing, 3 candidates", grid.timed_rate),
    ):
        cells = []
        for number in grid.NUMBERS:
            if number < grid.least(0.05):
                APART[IDLE] += 1
                cells.append(IDLE)
                continue
            share = tried(0.05, number, seed=4, samples=FEWER)
            note(label, "ties and timing", number, share, FEWER)
            cells.append(f"{100 * share:.1f}")
        rows.append((label, *cells))
    return table(("", *NUMBERS), rows)


def worst() -> str:
    """How many cells there are, the largest rates, and how many lie above what chance makes of the error that is allowed."""
    plain = [row for row in ERRORS if row["allowed"] == grid.ALLOWED]
    top, far = max(plain, key=lambda row: row["wrong"]), max(ERRORS, key=lambda row: row["beyond"])
    above, high = (sum(row["beyond"] > z for row in ERRORS) for z in (2.0, 3.5))
    return (
        f"Over all tables of wrong verdicts on this page, those of rare large clusters apart, {len(ERRORS):,} cells are "
        f"simulated. {APART[IDLE]:,} more (printed {IDLE}) are never wrong, by construction: so few units show nothing inside "
        f"the gap. {APART[BEYOND_REACH]:,} rows cannot be simulated: values in [-1, 1] on so few queries do not lose so much.\n\n"
        f"At confidence 0.95 the largest share is {100 * top['wrong']:.1f} % ({placed(top)}). Furthest above the error allowed, "
        f"by {far['beyond']:.1f} standard errors, lies {100 * far['wrong']:.1f} % where {100 * far['allowed']:.0f} % is allowed "
        f"({placed(far)}). "
        f"{above} cells lie above it by more than two standard errors (of cells exactly at it one in forty would), {high} by "
        "more than three and a half."
    )


def placed(row: dict[str, object]) -> str:
    return f"{str(row['where']).split(':')[0]}: {row['kind']}, {row['units']:,} units"


def rare() -> str:
    """Large clusters that a sample may not hold: beside the share that is wrong, that among samples which hold one."""
    rows = []
    for case, share in tables.rare():
        whole, held = [], []
        for number in grid.NUMBERS[1:]:
            rng = np.random.default_rng([13, number, len(case.label)])
            counts = grid.drawn(case.found, number, rng=rng, samples=SAMPLES)
            wrong = case.found.wrong(grid.states(case.found, counts, case.gap), case.gap)
            large = counts[:, case.found.units.size > 1].sum(axis=1) > 0
            whole.append(f"{100 * wrong.mean():.1f}")
            held.append(f"{100 * (wrong & large).mean():.1f}")
        rows += [
            (case.label, *whole),
            ("none of the large is drawn", *(f"{100 * (1 - share) ** n:.1f}" for n in grid.NUMBERS[1:])),
            ("wrong, and one is drawn", *held),
        ]
    return table(("", *NUMBERS[1:]), rows)


def exact() -> str:
    """Whole losses on a share of just the gap, enumerated."""
    rows = []
    for gap in grid.GAPS:
        numbers = range(20, 2001)
        cells = {way: [grid.exact_error(n, gap, bootstrap=way) for n in numbers] for way in (True, False)}
        at = {way: numbers[int(np.argmax(c))] for way, c in cells.items()}
        rows.append((f"{gap:g}", *(f"{100 * max(cells[w]):.2f} ({at[w]:,})" for w in (True, False))))
    return table(("gap", "bootstrap, per cent (at n)", "the rule"), rows)


def cost() -> str:
    """What the rule costs: the chance that equal candidates, or a few whole losses, are called inside."""
    rows = []
    for gap, number in ((0.02, 200), (0.02, 500), (0.02, 1000), (0.05, 100), (0.05, 300), (0.10, 100)):
        few = gap / 4
        allowed = [grid.losses_allowed(number, gap, bootstrap=way) for way in (True, False)]
        chance = [float(stats.binom.cdf(k, number, few)) for k in allowed]
        dense = [copied_inside(number, gap), inside(number, gap)]
        rows.append(
            (
                f"{gap:g}", f"{number:,}", *(f"{k}" for k in allowed), *(f"{100 * c:.0f}" for c in chance),
                *(f"{100 * c:.0f}" for c in dense),
            )
        )  # fmt: skip
    names = ("lost queries allowed", "a quarter of the gap lost", "equal means")
    head = ("gap", "queries", *(f"{n}, {way}" for n in names for way in ("bootstrap", "the rule")))
    return table(head, rows)


def drawn(number: int, samples: int) -> np.ndarray:
    return np.random.default_rng([8, number]).normal(0, 0.2, (samples, number)).clip(-1, 1)


def copied_inside(number: int, gap: float, samples: int = 600, resamples: int = 2_000) -> float:
    """By a paired bootstrap with an imagined query, and the floor, on dense differences."""
    if number < math.log(0.05) / math.log(1 - gap):
        return 0.0
    weights = np.random.default_rng(9).multinomial(number + 1, np.full(number + 1, 1 / (number + 1)), resamples)
    means = (drawn(number, samples) @ weights[:, :number].T + weights[:, number]) / (number + 1)
    return float((np.quantile(means, 0.95, axis=1) <= gap).mean())


def inside(number: int, gap: float, samples: int = 600) -> float:
    values = drawn(number, samples)
    ones = np.ones(number)
    zero = np.zeros((number, 1))
    inside = 0
    for row in values:
        sums = np.concatenate([zero, row[:, None]], axis=1)
        inside += int(walk(Units(ones, sums, sums, sums), gap=gap, confidence=0.95)[0, 0] == IN)
    return inside / samples


def uneven() -> str:
    """Uneven clusters by a bootstrap whose imagined cluster is of mean size."""
    rows, numbers = [], (60, 150, 400)
    for name, found in grid.clustered(0.05 + grid.BEYOND):
        cells = [f"{100 * copied_clusters(found, n, 0.05):.1f}" for n in numbers]
        now = [f"{100 * grid.rate(found, n, 0.05, seed=1, samples=FEWER):.1f}" for n in numbers]
        rows.append((name, *cells, *now))
    return table(("", *(f"bootstrap: {n}" for n in numbers), *(f"the rule: {n}" for n in numbers)), rows)


def copied_clusters(found: grid.Truth, number: int, gap: float, samples: int = 1_000, resamples: int = 1_000) -> float:
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
    """The named number of queries where the whole population is known, and the power at it."""
    rows = []
    for i, (name, found, gap) in enumerate(grid.settling()):
        units = grid.as_units(found)
        queries = queries_to_settle(units, gap=gap, confidence=0.95, rng=stream(i, "settle"))
        number = round((queries or 0) / units.size.mean())
        states = walked(units, number, gap=gap, confidence=0.95, rng=stream(i, "power"), samples=FEWER)
        rows.append((name, f"{gap:g}", f"{queries:,}", f"{100 * (states == IN).any(axis=1).mean():.1f}"))
    return table(("population", "gap", "queries named", "decides, per cent"), rows)


def studies() -> str:
    """The power that the number named by an undecided study really has."""
    rows = []
    for name, found, gap in grid.settling():
        for number in SIZES:
            real = promised(found, number, gap)
            if len(real) < STUDIES:
                continue
            told = real[~np.isnan(real)]
            quartiles = np.quantile(told, (0, 0.25, 0.5, 0.75, 1)) if len(told) else np.full(5, np.nan)
            none = f"{100 * np.isnan(real).mean():.0f}"
            rows.append((name, f"{gap:g}", f"{number:,}", none, *(f"{100 * q:.0f}" for q in quartiles)))
            print("studies", *rows[-1], file=sys.stderr, flush=True)
    head = (
        "population",
        "gap",
        "queries of the study",
        "names none",
        "least",
        "quarter",
        "half",
        "three quarters",
        "most",
    )
    return table(head, rows)


def promised(found: grid.Truth, number: int, gap: float) -> np.ndarray:
    """(studies,) the chance to decide at the number that each study of so many units names; NaN: it names none.

    Only studies that are undecided name one: STUDIES of them, or fewer where three times as many draws hold fewer.
    """
    real: list[float] = []
    for i in range(3 * STUDIES):
        rng = stream(i, "study", str(number))
        units = grid.study(found, number, rng)
        if len(real) == STUDIES or not (walk(units, gap=gap, confidence=0.95) == OPEN).any():
            continue
        queries = queries_to_settle(units, gap=gap, confidence=0.95, rng=rng)
        if queries is None:
            real.append(math.nan)
            continue
        needed = round(queries / float(found.share @ found.units.size))
        states = grid.states(found, grid.drawn(found, needed, rng=rng, samples=400), gap)
        real.append(float((states == IN).any(axis=1).mean()))
    return np.array(real)


def power() -> str:
    """The chance to decide by spread and number of queries; a plot."""
    rows, points = [], []
    numbers = (50, 100, 150, 200, 300, 500, 750, 1_000, 1_500, 2_000)
    for gap in (0.02, 0.05):
        for sd, unequal in ASSUMED:
            for arms in (2, 5):
                supposed = Supposed(Stated(sd, unequal, arms, 1), gap, 0.95)
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
    plain = [
        {
            **row,
            "gap": str(row["where"]).split(",")[0].removeprefix("Gap "),
            "true loss": "beyond" if "just more" in str(row["where"]) else "on",
        }
        for row in ERRORS
        if "loses" in str(row["where"]) and row["allowed"] == grid.ALLOWED
    ]
    chart = (
        alt.Chart(alt.Data(values=plain))
        .mark_line(opacity=0.6)
        .encode(
            x=alt.X("units:Q", title="independent queries or clusters").scale(type="log", domain=[15, 2500]),
            y=alt.Y("wrong:Q", title="wrong confident verdicts").axis(format="%").scale(domain=[0, 0.07]),
            detail="kind:N",
            color=alt.Color("true loss:N", title="true loss").scale(domain=["beyond", "on"]),
        )
        .properties(width=190, height=220)
    )
    line = alt.Chart(alt.Data(values=[{"at": 0.05}])).mark_rule(strokeDash=[4, 3]).encode(y="at:Q")
    panels = [
        alt.layer(chart.transform_filter(alt.datum.gap == f"{gap:g}"), line).properties(title=f"gap {gap:g}")
        for gap in grid.GAPS
    ]
    save(alt.hconcat(*panels), "decision-errors")


if __name__ == "__main__":
    main()
