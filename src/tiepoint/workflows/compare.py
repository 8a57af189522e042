"""What moved between two results, paired by query; refused where they did not measure the same thing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.comparison import Comparison, Direction, Movement, Side
from tiepoint.core.ids import numbered
from tiepoint.core.result import Result
from tiepoint.errors import InputError
from tiepoint.measures import parse
from tiepoint.stats.difference import SAME, Intervals, Pairs, by_values, intervals, overlapping
from tiepoint.stats.direction import Spans, least_for_direction, tested
from tiepoint.stats.holm import holm
from tiepoint.stats.resample import Draws, stream
from tiepoint.workflows.comparable import check_comparable, other_conditions
from tiepoint.workflows.evidence import TEST
from tiepoint.workflows.show import need_rows

COLUMNS = ("value", "weight", "low", "high", "unjudged")
_ByQuery: TypeAlias = Mapping[str, tuple[float, ...]]
"""Query to its COLUMNS, NaN where one is null; unscored queries are not in it."""


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One figure in one result: (queries,) each, see workflows.tables.PER_QUERY; 0 where it is not scored."""

    value: NDArray[np.float64]
    weight: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    unjudged: NDArray[np.float64]

    @classmethod
    def of(cls, asked: Sequence[str], found: _ByQuery) -> _Side:
        rows = np.array([found.get(q, (0.0,) * len(COLUMNS)) for q in asked], dtype=np.float64)
        return cls(*rows.reshape(-1, len(COLUMNS)).T)

    def take(self, order: NDArray[np.int64]) -> _Side:
        """The same queries in this order."""
        return _Side(*(of[order] for of in (self.value, self.weight, self.low, self.high, self.unjudged)))


@dataclass(frozen=True, slots=True, eq=False)
class _Figure:
    """One figure in both results, on the same queries. noisy: one of them measured that encoding again moves scores."""

    named: Movement
    before: _Side
    after: _Side
    noisy: bool

    def take(self, order: NDArray[np.int64]) -> _Figure:
        """The same queries in this order."""
        return _Figure(self.named, self.before.take(order), self.after.take(order), self.noisy)

    @property
    def pairs(self) -> Pairs:
        """The values as ranked, with the weight that the earlier result gives each query that both score."""
        both = (self.before.weight > 0) & (self.after.weight > 0)
        unsure = overlapping(self.before.low, self.before.high, self.after.low, self.after.high) if self.noisy else None
        return Pairs(self.before.value, self.after.value, np.where(both, self.before.weight, 0.0), unsure)

    @property
    def unjudged(self) -> NDArray[np.bool_]:
        """(queries,) True where both score the query and what an unjudged document is could move either value."""
        return self.pairs.scored & ((self.before.unjudged > 0) | (self.after.unjudged > 0))

    @property
    def spanned(self) -> bool:
        """Do both results hold the range of every query over all orders of tied documents?"""
        ends = (self.before.low, self.before.high, self.after.low, self.after.high)
        return all(bool(np.isfinite(end[self.pairs.scored]).all()) for end in ends)

    @property
    def same(self) -> bool:
        """Is every query's value the same in both, whatever the order of tied documents and whatever unjudged ones are?"""
        ends = np.stack([self.before.low, self.before.high, self.after.low, self.after.high])[:, self.pairs.scored]
        return not self.unjudged.any() and bool((np.ptp(ends, axis=0) <= SAME).all())

    @property
    def asked(self) -> bool:
        """Is its direction tested?"""
        return bool(self.pairs.scored.any()) and self.spanned and _may_decide(self.named.measure)

    def spans(self, cluster: NDArray[np.int64]) -> Spans:
        """Every query's difference over all orders of tied documents on both sides, and all that is unjudged."""
        scored, unjudged = self.pairs.scored, self.unjudged
        low = np.where(unjudged, -1.0, self.after.low - self.before.high)
        high = np.where(unjudged, 1.0, self.after.high - self.before.low)
        return Spans(low[scored], high[scored], cluster[scored])


def compare(before: Result, after: Result) -> Comparison:
    """What moved from one result to another, per candidate, slice and measure, for the candidates that both measured.

    Each difference is taken query by query, so what is hard or easy for both falls out of it. A direction comes from a bound
    without draws, over all orders of tied documents, corrected for the directions of its table: see Movement.

    before, after   results with their rows, as load_result or bench give them
    raises          InputError naming all in which they differ and may not: definitions, k, corpus, queries, judgements
                    (the pool), regions; CannotRun for a result without rows/
    """
    for result in (before, after):
        need_rows(result, "queries")
    check_comparable(before, after)
    level = 0.95 if isinstance(before.summary.decision.confidence, str) else before.summary.decision.confidence
    one, other = _measured(before), _measured(after)
    shared = [name for name in one if name in other]
    moved = [m for t in _tables(before, after, shared) for m in _movements(t, level, after.summary.seed)]
    return Comparison(
        study=after.summary.study,
        level=level,
        before=_side(before),
        after=_side(after),
        movements=tuple(moved),
        other_space=tuple(name for name in shared if one[name] != other[name]),
        only_before=_only(one, other, before, after),
        only_after=_only(other, one, after, before),
        notes=other_conditions(before, after),
        tests=sum(m.p_holm is not None for m in moved),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Every figure of one slice and split, on the same queries; cluster: (queries,) int64 from 0. At least one figure.

    largest   queries of the slice's largest cluster, of whatever split, that are scored; at least 1
    """

    slice: str
    split: str | None
    figures: Sequence[_Figure]
    cluster: NDArray[np.int64]
    largest: int

    @classmethod
    def of(
        cls, name: str, split: str | None, figures: Sequence[_Figure], cluster: Sequence[str], largest: int
    ) -> _Table:
        """Queries in the order of their values."""
        order = by_values([figure.pairs for figure in figures], numbered(cluster))
        turned = numbered(cluster[i] for i in order)
        return cls(name, split, [figure.take(order) for figure in figures], turned, largest)


def _tables(before: Result, after: Result, candidates: Sequence[str]) -> Iterator[_Table]:
    measures = [m for m in before.summary.measures if m in after.summary.measures]
    rows = before.queries.to_pylist()
    splits: dict[str | None, list[str]] = {None: [row["query"] for row in rows]}
    if any(row["split"] for row in rows):
        splits[TEST] = [row["query"] for row in rows if row["split"] == TEST]
    cluster = {row["query"]: row["cluster"] for row in rows}
    noisy = {c.id for result in (before, after) for c in result.summary.candidates if c.noise}
    for name, counts in before.summary.denominators.items():
        if not counts.queries or not candidates or not measures:
            continue
        old = {c: _values(before.per_query, c, name) for c in candidates}
        new = {c: _values(after.per_query, c, name) for c in candidates}
        largest = max(Counter(cluster[q] for q in _scored(before.per_query, name)).values(), default=1)
        for split, asked in splits.items():
            figures = [
                _Figure(
                    Movement(candidate=c, slice=name, split=split, measure=m),
                    _Side.of(asked, old[c].get(m, {})),
                    _Side.of(asked, new[c].get(m, {})),
                    c in noisy,
                )
                for c in candidates
                for m in measures
            ]
            yield _Table.of(name, split, figures, [cluster[q] for q in asked], largest)


def _scored(rows: pa.Table, name: str) -> list[str]:
    """The queries of a slice, of whatever split, that are scored."""
    chosen = rows.filter((pc.field("slice") == name) & pc.field("value").is_valid())
    return list(chosen.column("query").unique().to_pylist())


def _movements(table: _Table, level: float, seed: int) -> list[Movement]:
    """The movements of one table. Its directions are one family."""
    draws = Draws(stream(seed, "compare", table.slice, table.split or ""))
    drawn = intervals([figure.pairs for figure in table.figures], table.cluster, level=level, draws=draws)
    moved = [_described(figure, table, drawn, i) for i, figure in enumerate(table.figures)]
    asked = [i for i, figure in enumerate(table.figures) if figure.asked]
    spans = [table.figures[i].spans(table.cluster) for i in asked]
    found = [tested(span, level=level, largest=table.largest) for span in spans]
    sides = np.array([[one.p_up, one.p_down] for one in found], dtype=np.float64)
    corrected = holm(sides.ravel()).reshape(-1, 2)
    for i, span, one, (up, down) in zip(asked, spans, found, corrected.tolist(), strict=True):
        least = least_for_direction(span, len(asked), level=level, largest=table.largest)
        moved[i] = replace(
            moved[i],
            direction=_direction(table.figures[i], up, down, level=level, enough=one.units >= least),
            at_least=one.at_least,
            at_most=one.at_most,
            p_holm=min(up, down),
            least=least,
            largest=table.largest,
        )
    return moved


def _direction(figure: _Figure, up: float, down: float, *, level: float, enough: bool) -> Direction:
    """up, down: what speaks against a mean of at most 0, and of at least 0, corrected."""
    if figure.same:
        return "equal"
    if min(up, down) <= 1 - level:
        return "higher" if up < down else "lower"
    return "not shown" if enough else "too few"


def _described(figure: _Figure, table: _Table, drawn: Intervals, i: int) -> Movement:
    """The movement with its means and interval, as ranked; as it was named where no query is scored in both."""
    pairs, named = figure.pairs, figure.named
    found = pairs.moved()
    if found is None:
        return named
    known = bool(np.isfinite(drawn.low[i]) and np.isfinite(drawn.high[i]))
    without: Direction = "no tie ranges" if not figure.spanned else "equal" if figure.same else "not tested"
    return replace(
        named,
        n=found.n,
        clusters=len(np.unique(table.cluster[pairs.scored])),
        before=found.first,
        after=found.second,
        difference=found.difference,
        low=float(drawn.low[i]) if known else None,
        high=float(drawn.high[i]) if known else None,
        trusted=bool(drawn.trusted[i]),
        up=found.up,
        down=found.down,
        same=found.same,
        direction=without,
        unjudged=int(figure.unjudged.sum()),
    )


def _may_decide(name: str) -> bool:
    """May a decision rest on this measure, at a confidence? Not on one that this tiepoint no longer has."""
    try:
        kind = parse(name).kind
    except InputError:
        return False
    return kind.decides and not kind.pooled


def _values(rows: pa.Table, candidate: str, name: str) -> dict[str, _ByQuery]:
    """Measure, then query, to its COLUMNS; queries that are not scored are not in it."""
    chosen = rows.filter(
        (pc.field("candidate") == candidate) & (pc.field("slice") == name) & pc.field("value").is_valid()
    )
    numbers = (chosen.column(c).cast(pa.float64()).fill_null(math.nan).to_pylist() for c in COLUMNS)
    found: dict[str, dict[str, tuple[float, ...]]] = {}
    for query, measure, *of in zip(
        chosen.column("query").to_pylist(), chosen.column("measure").to_pylist(), *numbers, strict=True
    ):
        found.setdefault(measure, {})[query] = tuple(of)
    return dict(found)


def _measured(result: Result) -> dict[str, str | None]:
    """Measured candidates and their signatures."""
    return {c.id: c.signature for c in result.summary.candidates if c.status == "measured"}


def _only(mine: Iterable[str], others: Iterable[str], here: Result, there: Result) -> tuple[str, ...]:
    taken = set(others)
    return (
        *(f"candidate {name}" for name in mine if name not in taken),
        *(f"measure {m}" for m in here.summary.measures if m not in there.summary.measures),
    )


def _side(result: Result) -> Side:
    decision = result.summary.decision
    return Side(
        created=result.conditions.created,
        verdict=decision.verdict,
        choice=decision.choice,
        sentence=decision.sentence,
    )
