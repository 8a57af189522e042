"""What is sure about the loss of a group of queries: how many it takes, one-sided bounds, and the p that gates test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.audit_quality import Delta
from tiepoint.measures import parse
from tiepoint.stats.direction import in_order_of_values
from tiepoint.stats.enough import FEWEST, fewest
from tiepoint.stats.paired import chance_beyond, difference_bounds, least_shown
from tiepoint.stats.resample import by_cluster
from tiepoint.workflows.audit.pair import Pair, Part
from tiepoint.workflows.evidence import unjudged_in_question, value_range
from tiepoint.workflows.slices import Slice

SAME = 1e-12
"""Values nearer than this to the least mean are at it."""


def gates_look_at(pair: Pair, group: Part, name: str) -> bool:
    """True for the gates' measure on the gates' slice."""
    return (name, group.slice.name) == (pair.study.rule.measure, pair.study.rule.slice)


def tolerated(pair: Pair, group: Part) -> float:
    """How much of its mean the target may lose on this group."""
    own = pair.gates.subgroup_loss
    return pair.study.rule.gap if group.kind is None or own is None else own


def least(pair: Pair, group: Part, sizes: NDArray[np.float64]) -> int:
    """The independent queries that a group must have to decide anything, see core.audit_quality.Delta.

    sizes   scored queries of each of its clusters
    """
    if group.kind is None:
        return FEWEST
    known = sizes if len(sizes) else None
    takes = fewest(tolerated(pair, group), pair.study.rule.level, known, pair.largest(group.slice))
    return max(pair.gates.subgroup_queries, FEWEST if takes is None else takes)


def questioned(pair: Pair, part: Slice) -> bool:
    """Whether unjudged hits are in question on a slice, and so in each of its groups."""
    sides = [side.measured(part) for side in pair.sides]
    return unjudged_in_question(pair.study, sides, pair.whole(part).queries)


@dataclass(frozen=True, slots=True, eq=False)
class Between:
    """One measure of each query of the study over all that is in question: (queries,) float64, 0 where it is not scored.

    low, high           the difference, target less source: the least and the most that it may be
    own_low, own_high   the target's own value likewise
    scored              (queries,) bool: both sides score it
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    own_low: NDArray[np.float64]
    own_high: NDArray[np.float64]
    scored: NDArray[np.bool_]


def between(pair: Pair, part: Slice) -> dict[str, Between]:
    """By measure, of the queries that summaries of a slice are over; of the measures that can decide, but for pooled ones."""
    sides = [side.measured(part) for side in pair.sides]
    unjudged = sides if questioned(pair, part) else ()
    found = {}
    for name in pair.study.measures:
        kind = parse(name).kind
        if kind.decides and not kind.pooled:
            chosen = pair.whole(part).queries
            scored = np.zeros(len(pair.study.queries), dtype=bool)
            scored[chosen] = np.all([side.columns[name].defined[chosen] for side in sides], axis=0)
            at = np.flatnonzero(scored)
            source, target = (value_range(side, name, at, questioned=unjudged) for side in sides)
            values = np.zeros((4, len(scored)))
            values[:, at] = target.low - source.high, target.high - source.low, target.low, target.high
            low, high, own_low, own_high = values
            found[name] = Between(low, high, own_low, own_high, scored)
    return found


def bounded(pair: Pair, group: Part, deltas: Sequence[Delta], over: Mapping[str, Between]) -> list[Delta]:
    """The deltas of a group with their bounds and p; measures that score the same queries are bounded together.

    over   of the group's slice
    """
    result = list(deltas)
    batches: dict[bytes, list[int]] = {}
    for i, delta in enumerate(deltas):
        if delta.measure in over and delta.n:
            batches.setdefault(over[delta.measure].scored[group.queries].tobytes(), []).append(i)
    for key, members in batches.items():
        chosen = group.queries[np.frombuffer(key, dtype=bool)]
        for i, delta in zip(members, _of_batch(pair, group, [deltas[i] for i in members], chosen, over), strict=True):
            result[i] = delta
    return result


def _of_batch(
    pair: Pair, group: Part, deltas: Sequence[Delta], chosen: NDArray[np.int64], over: Mapping[str, Between]
) -> list[Delta]:
    """chosen: the positions that all of these deltas are over. They are summed in the order of their values, as no id tells."""
    ranges = [over[delta.measure] for delta in deltas]
    spans = [of[chosen] for r in ranges for of in (r.low, r.high, r.own_low, r.own_high)]
    chosen = chosen[in_order_of_values(np.column_stack(spans), pair.study.queries.clusters(chosen))]
    units = Sampled(pair.study.queries.clusters(chosen), pair.largest(group.slice))
    level = pair.study.rule.level
    own = [at for at, delta in enumerate(deltas) if gates_look_at(pair, group, delta.measure)]
    # Beside each difference, of the gates' own measure the target's mean: its distance from 1 at the smallest, from 0
    # at the largest.
    low = [r.low for r in ranges] + [ranges[at].own_low - 1 for at in own]
    high = [r.high for r in ranges] + [ranges[at].own_high for at in own]
    bounds = difference_bounds(
        np.stack(low, axis=1)[chosen],
        np.stack(high, axis=1)[chosen],
        units.cluster,
        confidence=level,
        largest=units.largest,
    )
    sizes = np.sort(np.bincount(units.cluster)).astype(np.float64)
    result = [
        replace(
            delta,
            worst=float(max(bounds.lower[at], -1.0)),
            best=float(min(bounds.upper[at], 1.0)),
            least_loss=least_shown(len(sizes), level, sizes, units.largest),
        )
        for at, delta in enumerate(deltas)
    ]
    for column, at in enumerate(own, len(deltas)):
        asked = pair.gates.least_mean if group.kind is None else None
        result[at] = replace(
            result[at],
            target_low=float(max(1 + bounds.lower[column], 0.0)),
            target_high=float(min(bounds.upper[column], 1.0)),
            p_lost=units.p_below(high[at][chosen], -tolerated(pair, group)),
            p_below=None if asked is None else units.p_below(high[column][chosen], asked),
        )
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """Which queries were drawn together.

    cluster   (queries,) int64 from 0
    largest   queries of the imagined cluster
    """

    cluster: NDArray[np.int64]
    largest: float

    def p_below(self, values: NDArray[np.float64], least: float) -> float:
        """One-sided p of the hypothesis that the mean lies at `least` or above: it is small where the mean lies below.

        The chance that the mean reaches `least` under random weights over whole clusters and one imagined cluster in which
        every query is worth 1, the counterpart of stats.paired.upper_bound.

        values   (queries,) float64 in [-1, 1], each at its largest over all that is in question
        """
        ones = np.ones(len(values))
        sums, size = by_cluster(np.stack([values, ones], axis=1), self.cluster).T
        if least >= 1:  # no mean lies above 1: any query below it shows that this one lies below, and nothing else does
            return float(not (values < 1 - SAME).any())
        return float(chance_beyond(sums, size, least, largest=self.largest)[0])
