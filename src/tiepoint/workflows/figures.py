"""Arms to figures: every measure of every arm, by slice, subgroup, region and split, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tiepoint.core.result import ArmFigures, Bounds, Figure, Ties
from tiepoint.core.run import Run
from tiepoint.core.study import Study
from tiepoint.measures import parse
from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, Measure, TieRange, UnjudgedRange
from tiepoint.measures.ties import TiedRun, TieGroups
from tiepoint.search.exact import processors
from tiepoint.stats.interval import bca, exact_binomial, trusted
from tiepoint.stats.resample import by_cluster, stream
from tiepoint.workflows.slices import FILTERED, Slice, View, scored

SMALL_CELL = 5
"""Under an acl without readers, groups of fewer queries are hidden."""
THREADS = 4
"""At most so many groups of queries are looked at at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One arm under one view: its run and every measure of every query.

    columns          measure name to Column, as ranked
    ties             of each measure over all orders of tied documents
    unjudged         of the measures that can decide, over all that unjudged hits could be
    over_readable    the recall measures over all readable gold, what the filter removed included: also of queries that
                     the filter leaves without any, where recall is then 0
    judged           how much of each ranking was judged, at the cut-off of the rule's measure
    judged_ties      the same over all orders of tied documents
    graded           the grade of each hit
    tied             its tie groups; None where the judgements are not pooled: nothing asks for them then
    tied_pairs       (queries,) int64: pairs of a hit within k and a document left out that tie
    """

    run: Run
    columns: Mapping[str, Column]
    ties: Mapping[str, TieRange]
    unjudged: Mapping[str, UnjudgedRange]
    over_readable: Mapping[str, Column]
    judged: Column
    judged_ties: TieRange
    graded: GradedRun
    tied: TiedRun | None
    tied_pairs: NDArray[np.int64]

    @property
    def grade(self) -> NDArray[np.int8]:
        """(queries, depth) the grade of each hit, see GradedRun."""
        return self.graded.grade


@dataclass(frozen=True, slots=True, eq=False)
class ArmRun:
    """A candidate or baseline with what was measured of it, by view name."""

    id: str
    views: Mapping[str, Measured] = field(default_factory=dict)


def measure_run(study: Study, view: View, run: Run, measures: Sequence[Measure]) -> Measured:
    """Every measure of one run, for every query; queries that are not scored are undefined."""
    graded = GradedRun.of(run, study.qrels, view.counted)
    groups = TieGroups.of(run)
    tied = TiedRun.of(graded, groups, run, study.qrels)
    judged = parse(f"Judged@{parse(study.rule.measure).cutoff}")
    keep = scored(study, view)
    columns = {str(m): m(graded).among(keep) for m in measures}
    over_readable = {}
    if view.name == FILTERED:
        readable = graded.counting(study.qrels, view.readable)
        over_readable = {str(m): m(readable).among(~study.queries.no_answer) for m in measures if m.name == "recall"}
    return Measured(
        run=run,
        columns=columns,
        ties={str(m): m.over_ties(columns[str(m)], tied).among(keep) for m in measures},
        unjudged={str(m): m.over_unjudged(graded).among(keep) for m in measures if m.kind.decides},
        over_readable=over_readable,
        judged=judged(graded).among(keep),
        judged_ties=judged.over_ties(judged(graded), tied).among(keep),
        graded=graded,
        tied=tied if study.qrels.pooled else None,
        tied_pairs=groups.pairs_at(study.k),
    )


def figures(study: Study, arms: Sequence[ArmRun], parts: Sequence[Slice]) -> dict[str, ArmFigures]:
    """All figures of all arms, by arm id. Arms of one group of queries share their resamples, so that they compare."""
    measures = [parse(name) for name in study.measures]
    maker = _Maker(study, arms, measures)
    shown = {"subgroups": _names(study.queries.subgroups), "regions": _names(study.queries.regions)}
    members = {
        "subgroups": lambda name: np.array([name in names for names in study.queries.subgroups]),
        "regions": lambda name: np.array([name in names for names in study.queries.regions]),
        "splits": study.queries.in_split,
    }
    shown["splits"] = sorted({split for split in study.queries.split if split})
    groups: list[tuple[Slice, NDArray[np.int64], tuple[str, ...]]] = [
        (part, part.queries, (part.name,)) for part in parts
    ]
    groups += [
        (part, chosen, (part.name, kind, name))
        for kind, names in shown.items()
        for name in names
        for mask in (members[kind](name),)
        for part in parts
        if len(chosen := part.queries[mask[part.queries]]) and not hidden(study, len(chosen))
    ]
    # Each group has its own stream, so that no number of threads changes a bit.
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(min(THREADS, processors())) as pool:
        made = list(pool.map(lambda group: maker.of(group[0], group[1], *group[2]), groups))
    whole = {part.name: found for part, found in zip(parts, made, strict=False)}
    grouped: dict[str, dict[str, dict[str, dict[str, dict[str, Figure]]]]] = {}
    for (_, _, (slice_name, *of)), found in list(zip(groups, made, strict=True))[len(parts) :]:
        kind, name = of
        for arm, values in found.items():
            grouped.setdefault(arm, {}).setdefault(kind, {}).setdefault(name, {})[slice_name] = values
    over_readable = maker.over_readable(parts)
    return {
        arm.id: ArmFigures(
            measures={part.name: whole[part.name][arm.id] for part in parts},
            bounds={part.name: _bounds(arm, part, measures) for part in parts},
            over_readable_gold=over_readable[arm.id],
            judged={part.name: arm.views[part.view.name].judged.take(part.queries).mean for part in parts},
            ties={part.name: _ties(arm, part) for part in parts},
            failed_queries={part.name: _failed(arm, part) for part in parts},
            **grouped.get(arm.id, {}),
        )
        for arm in arms
    }


def hidden(study: Study, queries: int) -> bool:
    """True where a group is too small to be shown to readers who were not named."""
    return not study.corpus.public and study.readers is None and queries < SMALL_CELL


class _Maker:
    """Makes the figures of one group of queries for all arms at once, with one set of resamples."""

    def __init__(self, study: Study, arms: Sequence[ArmRun], measures: Sequence[Measure]) -> None:
        self.study, self.arms, self.measures = study, arms, measures

    def of(self, part: Slice, chosen: NDArray[np.int64], *purpose: str) -> dict[str, dict[str, Figure]]:
        columns = [
            arm.views[part.view.name].columns[str(measure)].take(chosen)
            for arm in self.arms
            for measure in self.measures
        ]
        made = self._figures(columns, [m.kind.binary for _ in self.arms for m in self.measures], chosen, purpose)
        names = [str(m) for m in self.measures]
        return {
            arm.id: dict(zip(names, made[i * len(names) : (i + 1) * len(names)], strict=True))
            for i, arm in enumerate(self.arms)
        }

    def over_readable(self, parts: Sequence[Slice]) -> dict[str, dict[str, dict[str, Figure]]]:
        """By arm, slice and recall measure: the figures over all readable gold."""
        result: dict[str, dict[str, dict[str, Figure]]] = {arm.id: {} for arm in self.arms}
        for part in parts:
            named = [
                (arm.id, name, column.take(part.queries))
                for arm in self.arms
                for name, column in arm.views[part.view.name].over_readable.items()
            ]
            columns = [column for _, _, column in named]
            if columns and len(part.queries):
                made = self._figures(columns, [False] * len(columns), part.queries, (part.name, "over readable gold"))
                for (arm_id, name, _), figure in zip(named, made, strict=True):
                    result[arm_id].setdefault(part.name, {})[name] = figure
        return result

    def _figures(
        self, columns: list[Column], binary: list[bool], chosen: NDArray[np.int64], purpose: tuple[str, ...]
    ) -> list[Figure]:
        if not columns or not len(chosen):
            return [Figure(None, None, None, 0) for _ in columns]
        any_defined = np.any([column.defined for column in columns], axis=0)
        kept = np.flatnonzero(any_defined)
        if not len(kept):
            return [Figure(None, None, None, 0) for _ in columns]
        level = self.study.rule.level
        cluster = self.study.queries.clusters(chosen[kept])
        single = int(cluster.max()) + 1 == len(kept)
        # Without clusters a share of queries has its exact interval, and no bootstrap.
        exact = [single and of_shares and bool(c.defined.any()) for c, of_shares in zip(columns, binary, strict=True)]
        found = [
            _figure(column, math.nan, math.nan, level) for column, known in zip(columns, exact, strict=True) if known
        ]
        rest = [column for column, known in zip(columns, exact, strict=True) if not known]
        if not rest:
            return found
        top = by_cluster(np.stack([np.where(c.defined, c.top, 0.0)[kept] for c in rest], axis=1), cluster)
        bottom = by_cluster(np.stack([np.where(c.defined, c.bottom, 0.0)[kept] for c in rest], axis=1), cluster)
        low, high = bca(top, bottom, level=level, rng=stream(self.study.seed, "interval", *purpose))
        sure = trusted(top, bottom) | np.isnan(low)
        drawn = (
            replace(_figure(column, float(low[i]), float(high[i]), None), trusted=bool(sure[i]))
            for i, column in enumerate(rest)
        )
        told = iter(found)
        return [next(told) if known else next(drawn) for known in exact]


def _figure(column: Column, low: float, high: float, exact: float | None) -> Figure:
    """One figure. exact: the level of the binomial interval that replaces the bootstrap's, None: keep it."""
    n = int(column.defined.sum())
    if exact is not None and n:
        low, high = exact_binomial(int(column.top[column.defined].sum()), n, level=exact)
    known = np.isfinite(low) and np.isfinite(high)
    return Figure(column.mean, low if known else None, high if known else None, n)


def _bounds(arm: ArmRun, part: Slice, measures: Sequence[Measure]) -> dict[str, Bounds]:
    measured, chosen = arm.views[part.view.name], part.queries

    def mean(column: Column | None) -> float | None:
        return None if column is None else column.take(chosen).mean

    return {
        str(m): Bounds(
            tie_low=mean(measured.ties[str(m)].smallest),
            tie_expected=mean(measured.ties[str(m)].expected),
            tie_high=mean(measured.ties[str(m)].largest),
            unjudged_worst=mean(measured.unjudged[str(m)].smallest),
            unjudged_best=mean(measured.unjudged[str(m)].largest),
        )
        for m in measures
        if m.kind.decides
    }


def _ties(arm: ArmRun, part: Slice) -> Ties:
    pairs = arm.views[part.view.name].tied_pairs[part.queries]
    return Ties(queries=int((pairs > 0).sum()), pairs=int(pairs.sum()))


def _failed(arm: ArmRun, part: Slice) -> int:
    failed = arm.views[part.view.name].run.failed
    return sum(int(q) in failed for q in part.queries)


def _names(columns: Sequence[Sequence[str]]) -> list[str]:
    return sorted({name for names in columns for name in names})
