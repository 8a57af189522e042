"""The figures printed in docs/decision.md are what the code does now: a few cells of each table, simulated anew."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import decision_coverage as coverage
import decision_grid as grid
import decision_tables as tables
from tiepoint.stats.resample import stream
from tiepoint.stats.settle import queries_to_settle

PAGE = Path(__file__).resolve().parents[1] / "docs" / "decision.md"
SAMPLES = 1_000
CELLS = 4
"""Looked at of each table."""
FAR = 4.0
"""Standard errors between two simulations that no chance explains."""


def read() -> dict[str, list[list[str]]]:
    """Caption or heading, to the rows of the tables below it, without their heads."""
    found: dict[str, list[list[str]]] = {}
    at = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith(("**", "#")):
            at = re.sub(r"^#+ |\*\*", "", line)
        elif line.startswith("|") and not line.startswith("|-"):
            found.setdefault(at, []).append([cell.strip() for cell in line.strip()[1:-1].split("|")])
    return {caption: rows[1:] for caption, rows in found.items()}


def numbers(text: str) -> list[float]:
    return [float(of.replace(",", "")) for of in re.findall(r"\d[\d,]*\.?\d*", text)]


def agree(printed: str, samples: float, again: float, more: float) -> bool:
    """A share printed in per cent to one place, of so many samples, and another of `more`."""
    share = float(printed) / 100
    both = max((share * samples + again * more) / (samples + more), 0.003)
    both = min(both, 0.997)
    return abs(share - again) <= FAR * math.sqrt(both * (1 - both) * (1 / samples + 1 / more)) + 0.0005


@pytest.mark.slow
@pytest.mark.parametrize(
    "of",
    [
        lambda: (t for gap in grid.GAPS for t in tables.two(gap)),
        lambda: (t for level in tables.LEVELS for t in tables.two(0.05, level)),
        tables.dense_tables,
        tables.sparse_tables,
        tables.clustered_tables,
    ],
    ids=["two", "levels", "dense", "sparse", "clustered"],
)
def test_the_printed_rates_of_wrong_verdicts_are_the_rules(of: object) -> None:
    page, rng = read(), np.random.default_rng(1)
    for table in of():
        rows = page[table.caption]
        assert [row[0] for row in rows] == [case.label for case in table.cases], table.caption
        for i in rng.choice(len(rows), CELLS, replace=False):
            case, column = table.cases[i], int(rng.integers(1, len(grid.NUMBERS) + 1))
            printed, number = rows[i][column] if len(rows[i]) > column else "", grid.NUMBERS[column - 1]
            if case.found is None:
                assert rows[i][1] == "cannot be reached"
            elif case.inside and not grid.able(case.found, number, case.gap, case.confidence):
                assert printed == "–", (table.caption, case.label, number)
            else:
                again = grid.rate(case.found, number, case.gap, seed=99, samples=SAMPLES, confidence=case.confidence)
                assert agree(printed, table.samples, again, SAMPLES), (table.caption, case.label, number, again)


@pytest.mark.slow
def test_the_printed_rates_of_large_clusters_that_are_not_drawn_are_the_rules() -> None:
    rows = {row[0]: row[1:] for row in read()["Large clusters that the sample does not hold"]}
    for case, _ in tables.rare():
        for number, printed in zip(grid.NUMBERS[1:4], rows[case.label], strict=False):
            again = grid.rate(case.found, number, case.gap, seed=98, samples=SAMPLES)
            assert agree(printed, tables.SAMPLES, again, SAMPLES), (case.label, number, again)


def test_the_printed_enumeration_is_the_rules() -> None:
    rows = read()["Whole losses. The number of lost queries that a bootstrap allows jumps, and where it jumps too far a loss "
                  "of the gap is passed too often. By enumeration over 20"]  # fmt: skip
    for gap, row in zip(grid.GAPS, rows, strict=True):
        for bootstrap, printed in zip((True, False), row[1:], strict=True):
            largest, at = numbers(printed)
            assert 100 * grid.exact_error(int(at), gap, bootstrap=bootstrap) == pytest.approx(largest, abs=0.005)


@pytest.mark.slow
def test_the_printed_numbers_of_queries_to_settle_are_what_is_named() -> None:
    rows = {row[0]: row for row in read()["The number of queries that would settle it"] if len(row) == 4}
    for i, (name, found, gap) in enumerate(grid.settling()):
        if i % 3 == 0:
            named = queries_to_settle(grid.as_units(found), gap=gap, confidence=0.95, rng=stream(i, "settle"))
            assert f"{named:,}" == rows[name][2], name
    assert all(70 <= float(row[3]) <= 90 for row in rows.values()), "the promise of four times in five"
    assert len(rows) == len(list(grid.settling()))


@pytest.mark.slow
def test_the_printed_coverage_is_the_intervals() -> None:
    page = [row for rows in read().values() for row in rows if len(row) >= 6]
    rows = {(row[0], row[1]): row for row in page}
    rng = np.random.default_rng(3)
    seen = [cell for cell in coverage.CELLS if not cell.rare]
    for i in rng.choice(len(seen), 25, replace=False):
        cell = seen[i]
        share, sure = rows[cell.name, f"{cell.units}"][2:4]
        again = coverage.tried(cell, 0.95, seed=97, samples=SAMPLES, resamples=1_500)
        assert abs(float(share) / 100 - again.trusted) <= FAR * math.sqrt(0.25 * (1 / SAMPLES + 1 / 2_000)) + 0.005
        many = float(share) / 100
        if many >= coverage.FAIR:
            assert agree(sure, 2_000 * many, again.sure, SAMPLES * many), (cell.name, cell.units, again)
