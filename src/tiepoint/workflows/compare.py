"""What moved between two results, paired by query; refused where they did not measure the same thing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.comparison import Comparison, Direction, Movement, Side
from tiepoint.core.result import Result
from tiepoint.stats.difference import Pairs, intervals
from tiepoint.stats.resample import Draws, stream
from tiepoint.workflows.comparable import check_comparable, other_conditions
from tiepoint.workflows.evidence import TEST
from tiepoint.workflows.show import need_rows

_ByQuery: TypeAlias = Mapping[str, tuple[float, float]]
"""Query to its value and weight; unscored queries are not in it."""


def compare(before: Result, after: Result) -> Comparison:
    """What moved from one result to another, per candidate, slice and measure, for the candidates that both measured.

    Each difference is taken query by query, so what is hard or easy for both falls out of its interval.

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
    measures = [m for m in before.summary.measures if m in after.summary.measures]
    return Comparison(
        study=after.summary.study,
        level=level,
        before=_side(before),
        after=_side(after),
        movements=tuple(_movements(before, after, shared, measures, level)),
        other_space=tuple(name for name in shared if one[name] != other[name]),
        only_before=_only(one, other, before, after),
        only_after=_only(other, one, after, before),
        notes=other_conditions(before, after),
    )


def _movements(
    before: Result, after: Result, candidates: list[str], measures: list[str], level: float
) -> Iterable[Movement]:
    """Slice by slice, split by split; all figures of one share their resamples, so that they compare."""
    rows = before.queries.to_pylist()
    cluster = {row["query"]: row["cluster"] for row in rows}
    splits: dict[str | None, list[str]] = {None: sorted(cluster)}
    if any(row["split"] for row in rows):
        splits[TEST] = sorted(row["query"] for row in rows if row["split"] == TEST)
    for name, counts in before.summary.denominators.items():
        if not counts.queries or not candidates or not measures:
            continue
        old = {c: _values(before.per_query, c, name) for c in candidates}
        new = {c: _values(after.per_query, c, name) for c in candidates}
        for split, asked in splits.items():
            pairs = [_pairs(asked, old[c].get(m, {}), new[c].get(m, {})) for c in candidates for m in measures]
            number: dict[str, int] = {}
            unit = np.array([number.setdefault(cluster[q], len(number)) for q in asked], dtype=np.int64)
            draws = Draws(stream(after.summary.seed, "compare", name, split or ""))
            found = intervals(pairs, unit, level=level, draws=draws)
            for i, (candidate, measure) in enumerate((c, m) for c in candidates for m in measures):
                named = Movement(candidate=candidate, slice=name, split=split, measure=measure)
                yield _moved(named, pairs[i], float(found.low[i]), float(found.high[i]))


def _pairs(asked: list[str], old: _ByQuery, new: _ByQuery) -> Pairs:
    """Both results' values of these queries, with the weight that the earlier one gives each."""
    nothing = (0.0, 0.0)
    both = np.array([q in old and q in new for q in asked], dtype=bool)
    mine = np.array([old.get(q, nothing) for q in asked]).reshape(-1, 2)
    theirs = np.array([new.get(q, nothing) for q in asked]).reshape(-1, 2)
    return Pairs(mine[:, 0], theirs[:, 0], np.where(both, mine[:, 1], 0.0))


def _moved(named: Movement, pairs: Pairs, low: float, high: float) -> Movement:
    """The movement with its means and interval; as it was named where no query is scored in both."""
    found = pairs.moved()
    if found is None:
        return named
    known = bool(np.isfinite(low) and np.isfinite(high))
    return replace(
        named,
        n=found.n,
        before=found.first,
        after=found.second,
        difference=found.difference,
        low=low if known else None,
        high=high if known else None,
        up=found.up,
        down=found.down,
        same=found.same,
        direction=_direction(pairs.away, low, high),
    )


def _direction(away: NDArray[np.float64], low: float, high: float) -> Direction:
    if not away.any():
        return "equal"
    if not (np.isfinite(low) and np.isfinite(high)):
        return "no interval"
    return "higher" if low > 0 else "lower" if high < 0 else "not shown"


def _values(rows: pa.Table, candidate: str, name: str) -> dict[str, _ByQuery]:
    """Measure, then query, to value and weight; queries that are not scored are not in it."""
    chosen = rows.filter(
        (pc.field("candidate") == candidate) & (pc.field("slice") == name) & pc.field("value").is_valid()
    )
    columns = (chosen.column(c).to_pylist() for c in ("query", "measure", "value", "weight"))
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for query, measure, value, weight in zip(*columns, strict=True):
        found.setdefault(measure, {})[query] = (value, weight)
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
