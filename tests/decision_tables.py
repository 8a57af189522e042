"""The tables of wrong confident verdicts in docs/decision.md, as data: the page's script and the tests run the same cells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import decision_grid as grid
from decision_grid import BEYOND, CONFIDENCE, KINDS, Truth


@dataclass(frozen=True, eq=False)
class Case:
    """One row of a table of wrong confident verdicts.

    found   None: no values in [-1, 1] have such a mean
    inside  True: only calling a candidate in can be wrong, so that too few units make no error by construction
    """

    label: str
    found: Truth | None
    gap: float
    inside: bool
    confidence: float = CONFIDENCE


@dataclass(frozen=True, eq=False)
class Table:
    """caption: as the page prints it; samples: of each cell."""

    caption: str
    cases: tuple[Case, ...]
    samples: int


SAMPLES = 3_000
FEWER = 2_000
"""Of several candidates, and of what was tried and rejected."""
LEVELS = (0.9, 0.99)


def two(gap: float, confidence: float = CONFIDENCE) -> Iterator[Table]:
    """Two candidates, just beyond the gap and on it."""
    at = f"Gap {gap:g}" + ("" if confidence == CONFIDENCE else f", confidence {confidence:g}")
    for inside, mean, words in (
        (True, gap + BEYOND, "the cheaper one loses just more: wrongly in, per cent"),
        (False, gap, "it loses the gap itself: wrongly out, per cent"),
    ):
        found = [(name, t) for source in (grid.pairs, grid.clustered) for name, t in source(mean)]
        cases = tuple(Case(name, t, gap, inside, confidence) for name, t in found)
        yield Table(f"{at}, {words}", cases, SAMPLES)


def dense_tables() -> Iterator[Table]:
    """3 to 10 candidates that differ everywhere."""
    cases = tuple(
        Case(f"{arms} candidates, {kind}", grid.several(arms, 0.05, kind=kind), 0.05, "on the gap" not in kind)
        for arms in (3, 5, 10)
        for kind in KINDS
    )
    yield Table("Gap 0.05, all queries differ: wrong, per cent", cases, FEWER)


def sparse_tables() -> Iterator[Table]:
    """2 to 10 candidates that differ on few queries, and there by all."""
    for gap, shares in ((0.01, (0.01, 0.05, 0.10)), (0.02, (0.05,)), (0.05, (0.05, 0.10))):
        cases = tuple(
            Case(
                f"{arms} candidates, {kind}; {differ:.0%} differ",
                grid.several_sparse(arms, gap, kind=kind, differ=differ),
                gap,
                "on the gap" not in kind,
            )
            for differ in shares
            for arms in (2, 3, 5, 10)
            for kind in (KINDS[:3] if arms > 2 else KINDS[1:3])
        )
        yield Table(f"Gap {gap:g}, few queries differ: wrong, per cent", cases, FEWER)


def clustered_tables() -> Iterator[Table]:
    """3 and 5 candidates on clusters."""
    cases = tuple(
        Case(
            f"{arms} candidates, {kind}; {what}, {name}",
            grid.several_clustered(found, sizes),
            0.05,
            "on the gap" not in kind,
        )
        for name, sizes in grid.MIXES.items()
        for arms in (3, 5)
        for kind in KINDS[:3]
        for what, found in (
            ("all differ", grid.several(arms, 0.05, kind=kind)),
            ("10% differ", grid.several_sparse(arms, 0.05, kind=kind, differ=0.10)),
        )
        if found is not None
    )
    yield Table("Gap 0.05, clusters: wrong, per cent", cases, FEWER)


def promised() -> Iterator[Table]:
    """Every table whose cells are held to the error rate."""
    for gap in grid.GAPS:
        yield from two(gap)
    for confidence in LEVELS:
        yield from two(0.05, confidence)
    yield from dense_tables()
    yield from sparse_tables()
    yield from clustered_tables()


def hidden(mean: float, small: float, large: int, share: float) -> Truth:
    """A share of the clusters is large and loses (or gains) what makes the mean; each single query loses `small`."""
    queries = 1 - share + share * large
    each = (mean * queries - small * (1 - share)) / (share * large)
    if abs(each) > 1:
        raise ValueError("such clusters are too few to lose so much")
    whole = abs(each) * share
    rows = [
        (small, 1.0, 1 - share),
        (math.copysign(large, each), float(large), whole),
        (0.0, float(large), share - whole),
    ]
    loss, size, chance = map(np.array, zip(*rows, strict=True))
    return grid.truth(loss[:, None], chance, size)


def rare() -> Iterator[tuple[Case, float]]:
    """Clusters so large and so rare that a sample may hold none, with their share; outside the promise."""
    for large, share, gap in ((30, 0.01, 0.05), (10, 0.03, 0.05), (5, 0.005, 0.02)):
        found = hidden(gap + BEYOND, 0.0, large, share)
        yield Case(f"in: {share:.1%} of size {large} lost, gap {gap:g}", found, gap, True), share
    for large, share, gap in ((30, 0.01, 0.05), (10, 0.03, 0.05)):
        found = hidden(gap, 3 * gap, large, share)
        yield Case(f"out: {share:.1%} of size {large} gain, the others lose, gap {gap:g}", found, gap, False), share
