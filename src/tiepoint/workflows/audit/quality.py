"""The quality of a move: every measure of every query on both sides, paired, with what is sure about the difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tiepoint.core.audit_quality import Delta, Quality
from tiepoint.stats.difference import Intervals, Pairs, by_values, intervals
from tiepoint.stats.holm import holm
from tiepoint.stats.randomisation import sign_flip
from tiepoint.stats.resample import Draws, by_cluster, stream
from tiepoint.workflows.audit.loss import Between, between, bounded, gates_look_at, least
from tiepoint.workflows.audit.lost import lost
from tiepoint.workflows.audit.pair import Pair, Part
from tiepoint.workflows.audit.rows import per_query_rows, ranking_rows
from tiepoint.workflows.slices import Slice

DEFINITION = (
    "target less source, each query encoded by its own space and searched exactly, paired by query; intervals: BCa bootstrap "
    "of whole clusters, not corrected; bounds at worst and at best: one-sided, after one imagined query with the worst (best) "
    "possible difference, in a cluster as large as the slice's largest, ties against (for) the target; what the gates test, at "
    "which level and how it is corrected stands under Hypotheses; p of no difference: two-sided randomisation test over whole "
    "clusters, of the values as ranked, Holm over the gates' measure on the gates' slice, over all its queries and over each "
    "subgroup and region that is large enough: it describes, and no gate looks at it; ties: documents that tie within "
    "tie_tolerance, or that noise of encoding alone tells apart (see changed); a query is better, worse or the same by its "
    "values as ranked, and the same where noise is known and both sides have a value in common over all orders of ties"
)


@dataclass(frozen=True, slots=True, eq=False)
class QualityFound:
    """The summary, and the owner's tables per_query and rankings of core.audit.Audit.

    quality   as far as the readers may see it
    whole     of every group: gates are judged by it, so that what is hidden cannot pass them; never written into a report
    """

    quality: Quality
    whole: Quality
    per_query: pa.Table
    rankings: pa.Table


def audit_quality(pair: Pair) -> QualityFound:
    """Deltas of every measure on every slice, subgroup and region, and the queries that lost most.

    Where the study names splits, deltas are of the test split alone, as the decision is; the tables hold every query.
    A group off whose figures the value of a query with a hidden answer could be read is not shown, see workflows.cells.
    """
    shown = pair.shown(pair.study.measures)
    deltas = [delta for part in pair.parts for delta in _of_slice(pair, part)]
    worst = lost(pair)

    def told(chosen: list[Delta]) -> Quality:
        """Holm runs over what is told alone: no p of another group moves it."""
        family = [i for i, delta in enumerate(chosen) if delta.p is not None]
        corrected = holm(np.array([chosen[i].p for i in family], dtype=np.float64))
        for i, value in zip(family, corrected, strict=True):
            chosen[i] = replace(chosen[i], p_holm=float(value))
        return Quality(
            deltas=tuple(chosen),
            randomised=len(family),
            level=pair.study.rule.level,
            lost=worst.queries,
            source_missing=len(pair.source.space.queries.missing),
            target_missing=len(pair.target.space.queries.missing),
            split=pair.split,
            lost_hidden=worst.hidden,
        )

    return QualityFound(
        quality=told([d for d in deltas if d.whole or _key(d) in shown[d.measure]]),
        whole=told(list(deltas)),
        per_query=per_query_rows(pair),
        rankings=ranking_rows(pair),
    )


def _key(delta: Delta) -> tuple[str, str]:
    """As Part.key."""
    return delta.slice, f"subgroup {delta.subgroup}" if delta.region is None else f"region {delta.region}"


def _of_slice(pair: Pair, part: Slice) -> Iterator[Delta]:
    """The deltas of the whole slice, then those of its subgroups and of its regions by name."""
    over = between(pair, part)
    for group in (pair.whole(part), *pair.groups(part)):
        yield from _of_group(pair, group, over)


def _of_group(pair: Pair, group: Part, over: Mapping[str, Between]) -> list[Delta]:
    """Every measure of one group."""
    names = pair.study.measures
    found_pairs = [pair.pairs(group, name) for name in names]
    order = by_values(found_pairs, pair.study.queries.clusters(group.queries))
    group, pairs = replace(group, queries=group.queries[order]), [p.take(order) for p in found_pairs]
    cluster = pair.study.queries.clusters(group.queries)
    purpose = (group.slice.name, *(("region",) if group.region else ()), group.name or "")
    found = Intervals.unknown(len(names))
    if any(p.scored.any() for p in pairs):
        draws = Draws(stream(pair.study.seed, "audit interval", *purpose))
        found = intervals(pairs, cluster, level=pair.study.rule.level, draws=draws)
    deltas = []
    for i, (name, p) in enumerate(zip(names, pairs, strict=True)):
        delta = _delta(pair, group, name, p, cluster)
        if np.isfinite(found.low[i]) and np.isfinite(found.high[i]):
            low, high = float(found.low[i]), float(found.high[i])
            delta = replace(delta, low=low, high=high, trusted=bool(found.trusted[i]))
        deltas.append(delta)
    return bounded(pair, group, deltas, over)


def _delta(pair: Pair, group: Part, name: str, pairs: Pairs, cluster: NDArray[np.int64]) -> Delta:
    """One delta without its interval and bounds; with a randomisation test where it belongs to the family of these."""
    sizes = np.sort(np.unique(cluster[pairs.scored], return_counts=True)[1]).astype(np.float64)
    takes = least(pair, group, sizes)
    enough = len(sizes) >= takes
    moved = pairs.moved()
    p = None
    if gates_look_at(pair, group, name) and (enough or group.kind is None) and moved is not None:
        rng = stream(pair.study.seed, "audit randomisation", *(("region",) if group.region else ()), group.name or "")
        away = by_cluster((pairs.away * pairs.weight)[:, None], cluster)[:, 0]
        p = sign_flip(np.sort(away), rng=rng)  # in ascending order, so that no id says whose sign is drawn
    return Delta(
        measure=name,
        slice=group.slice.name,
        subgroup=group.subgroup,
        region=group.region,
        n=0 if moved is None else moved.n,
        clusters=len(sizes),
        source=None if moved is None else moved.first,
        target=None if moved is None else moved.second,
        difference=None if moved is None else moved.difference,
        low=None,
        high=None,
        worst=None,
        p=p,
        p_holm=None,
        wins=0 if moved is None else moved.up,
        losses=0 if moved is None else moved.down,
        ties=0 if moved is None else moved.same,
        enough=enough,
        least=takes,
    )
