"""The quality of a move: every measure of every query on both sides, paired, with what is sure about the difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tiepoint.core.audit import Delta, Quality
from tiepoint.measures import parse
from tiepoint.stats.difference import Intervals, Pairs, intervals
from tiepoint.stats.holm import holm
from tiepoint.stats.paired import difference_bounds, least_shown
from tiepoint.stats.randomisation import sign_flip
from tiepoint.stats.resample import Draws, by_cluster, stream
from tiepoint.workflows.audit.lost import lost
from tiepoint.workflows.audit.pair import Pair, Part
from tiepoint.workflows.audit.rows import per_query_rows, ranking_rows
from tiepoint.workflows.evidence import unjudged_in_question, value_range
from tiepoint.workflows.slices import Slice

DEFINITION = (
    "target less source, each query encoded by its own space and searched exactly, paired by query; intervals: BCa bootstrap "
    "of whole clusters; bounds at worst and at best: one-sided, after one imagined query with the worst (best) possible "
    "difference, ties against (for) the target; p: two-sided randomisation test over whole clusters, Holm over the declared "
    "family: the gates' measure on the gates' slice, over all its queries and over each subgroup that is large enough; a query "
    "is better, worse or the same by its values as ranked"
)


@dataclass(frozen=True, slots=True, eq=False)
class QualityFound:
    """The summary, and the owner's tables per_query and rankings of core.audit.Audit."""

    quality: Quality
    per_query: pa.Table
    rankings: pa.Table


def audit_quality(pair: Pair) -> QualityFound:
    """Deltas of every measure on every slice and subgroup, which of them were tested, and the queries that lost most.

    Where the study names splits, deltas are of the test split alone, as the decision is; the tables hold every query.
    Under an acl without readers, subgroups of under 5 queries and single queries are left out.
    """
    deltas = [delta for part in pair.parts for delta in _of_slice(pair, part)]
    family = [i for i, delta in enumerate(deltas) if delta.p is not None]
    corrected = holm(np.array([deltas[i].p for i in family], dtype=np.float64))
    for i, value in zip(family, corrected, strict=True):
        deltas[i] = replace(deltas[i], p_holm=float(value))
    worst = lost(pair)
    return QualityFound(
        quality=Quality(
            deltas=tuple(deltas),
            tests=len(family),
            level=pair.study.rule.level,
            lost=worst.queries,
            source_missing=len(pair.source.space.queries.missing),
            target_missing=len(pair.target.space.queries.missing),
            split=pair.split,
            lost_hidden=worst.hidden,
        ),
        per_query=per_query_rows(pair),
        rankings=ranking_rows(pair),
    )


def _of_slice(pair: Pair, part: Slice) -> Iterator[Delta]:
    """The deltas of the whole slice, then those of its subgroups by name."""
    whole = pair.whole(part)
    sides = [side.measured(part) for side in pair.sides]
    questioned = unjudged_in_question(pair.study, sides, whole.queries)
    for group in (whole, *pair.subgroups(part)):
        yield from _of_group(pair, group, questioned=questioned)


def _of_group(pair: Pair, group: Part, *, questioned: bool) -> list[Delta]:
    """Every measure of one group; all its figures share their resamples, so that they compare."""
    names = pair.study.measures
    pairs = [pair.pairs(group, name) for name in names]
    cluster = pair.study.queries.clusters(group.queries)
    purpose = (group.slice.name, group.subgroup or "")
    found = Intervals(np.full(len(names), np.nan), np.full(len(names), np.nan))
    if any(p.scored.any() for p in pairs):
        draws = Draws(stream(pair.study.seed, "audit interval", *purpose))
        found = intervals(pairs, cluster, level=pair.study.rule.level, draws=draws)
    deltas = [
        _delta(pair, group, name, p, cluster, low=float(found.low[i]), high=float(found.high[i]))
        for i, (name, p) in enumerate(zip(names, pairs, strict=True))
    ]
    return _bounded(pair, group, deltas, cluster, questioned=questioned)


def _delta(
    pair: Pair, group: Part, name: str, pairs: Pairs, cluster: NDArray[np.int64], *, low: float, high: float
) -> Delta:
    """One delta without its bounds. Tested where it belongs to the declared family."""
    clusters = len(set(cluster[pairs.scored].tolist()))
    enough = clusters >= pair.gates.subgroup_queries
    moved = pairs.moved()
    declared = _gates_look_at(pair, group, name) and (group.subgroup is None or enough)
    p = None
    if declared and moved is not None:
        rng = stream(pair.study.seed, "audit randomisation", group.subgroup or "")
        p = sign_flip(by_cluster((pairs.away * pairs.weight)[:, None], cluster)[:, 0], rng=rng)
    known = bool(np.isfinite(low) and np.isfinite(high))
    return Delta(
        measure=name,
        slice=group.slice.name,
        subgroup=group.subgroup,
        n=0 if moved is None else moved.n,
        clusters=clusters,
        source=None if moved is None else moved.first,
        target=None if moved is None else moved.second,
        difference=None if moved is None else moved.difference,
        low=low if known else None,
        high=high if known else None,
        worst=None,
        p=p,
        p_holm=None,
        wins=0 if moved is None else moved.up,
        losses=0 if moved is None else moved.down,
        ties=0 if moved is None else moved.same,
        enough=enough,
    )


def _bounded(
    pair: Pair, group: Part, deltas: Sequence[Delta], cluster: NDArray[np.int64], *, questioned: bool
) -> list[Delta]:
    """The deltas with their one-sided bounds; measures that score the same queries are bounded together."""
    result = list(deltas)
    batches: dict[bytes, list[int]] = {}
    for i, delta in enumerate(deltas):
        kind = parse(delta.measure).kind
        if kind.decides and not kind.pooled and delta.n:
            scored = pair.source.measured(group.slice).columns[delta.measure].defined[group.queries]
            batches.setdefault(scored.tobytes(), []).append(i)
    for key, members in batches.items():
        scored = np.frombuffer(key, dtype=bool)
        chosen, kept = group.queries[scored], np.unique(cluster[scored], return_inverse=True)[1]
        sides = [side.measured(group.slice) for side in pair.sides]
        unjudged = sides if questioned else ()
        ranges = [
            [value_range(side, deltas[i].measure, chosen, questioned=unjudged) for i in members] for side in sides
        ]
        # Beside each difference, of the gates' own measure the target's mean: its distance from 1 at the smallest, from 0
        # at the largest.
        own = [at for at, i in enumerate(members) if _gates_look_at(pair, group, deltas[i].measure)]
        low = [t.low - s.high for s, t in zip(*ranges, strict=True)] + [ranges[1][at].low - 1 for at in own]
        high = [t.high - s.low for s, t in zip(*ranges, strict=True)] + [ranges[1][at].high for at in own]
        bounds = difference_bounds(
            np.stack(low, axis=1), np.stack(high, axis=1), kept, confidence=pair.study.rule.level
        )
        sizes = np.bincount(kept).astype(np.float64)
        for at, i in enumerate(members):
            result[i] = replace(
                deltas[i],
                worst=float(max(bounds.lower[at], -1.0)),
                best=float(min(bounds.upper[at], 1.0)),
                least_loss=least_shown(len(sizes), pair.study.rule.level, sizes),
            )
        for column, at in enumerate(own, len(members)):
            result[members[at]] = replace(
                result[members[at]],
                target_low=float(max(1 + bounds.lower[column], 0.0)),
                target_high=float(min(bounds.upper[column], 1.0)),
            )
    return result


def _gates_look_at(pair: Pair, group: Part, name: str) -> bool:
    """True for the gates' measure on the gates' slice."""
    return (name, group.slice.name) == (pair.study.rule.measure, pair.study.rule.slice)
