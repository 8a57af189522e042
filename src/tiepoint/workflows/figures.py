"""Arms to figures: every measure of every arm, by slice, subgroup, region and split, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tiepoint.core.figure import Bounds, Figure, Ties
from tiepoint.core.result import ArmFigures
from tiepoint.core.run import Run
from tiepoint.core.study import Study
from tiepoint.measures import parse
from tiepoint.measures.graded import GradedRun, Names
from tiepoint.measures.measure import Column, Measure, TieRange, UnjudgedRange
from tiepoint.measures.ties import TiedRuns
from tiepoint.search.exact import processors
from tiepoint.stats.interval import bca, exact_binomial, trusted
from tiepoint.stats.resample import Draws, by_cluster, on_grid, stream
from tiepoint.workflows.cells import Cell, cells, shown
from tiepoint.workflows.slices import FILTERED, Slice, View, scored

THREADS = 4
"""At most so many groups of queries are looked at at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One arm under one view: its run and every measure of every query.

    columns          measure name to Column, as ranked
    ties             of each measure over all orders of tied documents
    unjudged         of the measures that can decide, over all that unjudged hits could be and all orders of tied documents
    over_readable    the recall measures over all readable gold, what the filter removed included: also of queries that
                     the filter leaves without any, where recall is then 0
    judged           how much of each ranking was judged, at the cut-off of the rule's measure
    judged_ties      the same over all orders of tied documents
    graded           the grade of each hit
    tied             its tie groups at each cut-off; None where the judgements are not pooled: nothing asks for them then
    tied_pairs       (queries,) int64: pairs of a hit within k and a document left out that tie
    tied_at          of every other cut-off of the measures, (queries,) True where one within it and one left out tie
    over_noise       as ties, over all orders that noise of encoding could make besides; None: there is none, or it was not
                     measured
    by_noise         (queries,) True where a hit within k and a document left out do not tie and noise alone tells them apart;
                     None: not measured
    drowned          noise orders the whole space and was not searched for: every value could be any, and `ties` say so
    """

    run: Run
    columns: Mapping[str, Column]
    ties: Mapping[str, TieRange]
    unjudged: Mapping[str, UnjudgedRange]
    over_readable: Mapping[str, Column]
    judged: Column
    judged_ties: TieRange
    graded: GradedRun
    tied: TiedRuns | None
    tied_pairs: NDArray[np.int64]
    tied_at: Mapping[int, NDArray[np.bool_]]
    over_noise: Mapping[str, TieRange] | None = None
    by_noise: NDArray[np.bool_] | None = None
    drowned: bool = False

    @property
    def grade(self) -> NDArray[np.int8]:
        """(queries, depth) the grade of each hit, see GradedRun."""
        return self.graded.grade


@dataclass(frozen=True, slots=True, eq=False)
class ArmRun:
    """A candidate or baseline with what was measured of it, by view name."""

    id: str
    views: Mapping[str, Measured] = field(default_factory=dict)


def measure_views(
    study: Study, by_view: Mapping[str, View], runs: Mapping[str, Run], measures: Sequence[Measure]
) -> dict[str, Measured]:
    """Every measure of one arm's run under each view, see measure_run; views side by side."""
    with ThreadPoolExecutor(min(len(runs), THREADS, processors())) as pool:
        found = pool.map(lambda view: measure_run(study, by_view[view], runs[view], measures), runs)
        return dict(zip(runs, found, strict=True))


def measure_run(study: Study, view: View, run: Run, measures: Sequence[Measure]) -> Measured:
    """Every measure of one run, for every query; queries that are not scored are undefined."""
    graded = GradedRun.of(run, study.qrels, view.counted, Names(study.queries.ids, study.corpus.units.ids))
    tied = TiedRuns(graded, run, study.qrels)
    judged = parse(f"Judged@{parse(study.rule.measure).cutoff}")
    keep = scored(study, view)
    every = {str(m): m for m in (*measures, judged)}
    columns = {name: m(graded).among(keep) for name, m in every.items()}
    ties = {name: m.over_ties(columns[name], tied.at(m.cutoff)).among(keep) for name, m in every.items()}
    over_readable = {}
    if view.name == FILTERED:
        readable = graded.counting(study.qrels, view.readable)
        over_readable = {str(m): m(readable).among(~study.queries.no_answer) for m in measures if m.name == "recall"}
    return Measured(
        run=run,
        columns={str(m): columns[str(m)] for m in measures},
        ties={str(m): ties[str(m)] for m in measures},
        unjudged={
            str(m): m.over_ties_and_unjudged(columns[str(m)], graded, tied.at(m.cutoff)).among(keep)
            for m in measures
            if m.kind.decides
        },
        over_readable=over_readable,
        judged=columns[str(judged)],
        judged_ties=ties[str(judged)],
        graded=graded,
        tied=tied if study.qrels.pooled else None,
        tied_pairs=tied.at(study.k).groups.pairs_at(study.k),
        tied_at={k: tied.at(k).groups.pairs_at(k) > 0 for k in sorted({m.cutoff for m in measures} - {study.k})},
    )


def drowned(measured: Measured) -> Measured:
    """The same where noise orders the whole space, so that its own orders were not searched: any value could be any."""
    return replace(
        measured,
        ties={name: any_value(column) for name, column in measured.columns.items()},
        judged_ties=any_value(measured.judged),
        drowned=True,
    )


def any_value(column: Column) -> TieRange:
    """From 0 to 1 where it is defined; no mean over such orders is known."""
    least, most = (replace(column, top=top) for top in (np.zeros(len(column.top)), column.bottom))
    return TieRange(least, None, most)


def figures(study: Study, arms: Sequence[ArmRun], parts: Sequence[Slice]) -> dict[str, ArmFigures]:
    """All figures of all arms, by arm id. What they are follows from the values of the queries, whatever order these stand in."""
    measures = [parse(name) for name in study.measures]
    maker = _Maker(study, arms, measures)
    every = tuple(cells(study, parts))
    may = _Shown(study, every)
    groups: list[tuple[Slice, NDArray[np.int64], tuple[str, ...]]] = [
        (part, part.queries, (part.name,)) for part in parts
    ]
    asked = {part.view.name: scored(study, part.view) for part in parts}
    listed = [cell for cell in every if cell in may.of(cell.slice.view.name, asked[cell.slice.view.name])]
    groups += [(cell.slice, cell.queries, (cell.slice.name, cell.kind, cell.name)) for cell in listed]
    # Slices often hold the same queries under the same view. Groups of one size stand together: they share their resamples.
    keys = [(part.view.name, chosen.tobytes()) for part, chosen, _ in groups]
    once = sorted(dict(zip(keys, groups, strict=True)).items(), key=lambda entry: -len(entry[1][1]))
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(min(THREADS, processors())) as pool:
        found = pool.map(lambda entry: maker.of(entry[1][0].view.name, entry[1][1]), once)
        by_key = dict(zip((key for key, _ in once), found, strict=True))
    made = [by_key[key] for key in keys]
    whole = {part.name: figures for part, figures in zip(parts, made, strict=False)}
    grouped: dict[str, dict[str, dict[str, dict[str, dict[str, Figure]]]]] = {}
    for cell, by_arm in zip(listed, made[len(parts) :], strict=True):
        for arm in arms:
            values = may.among(cell, arm, by_arm[arm.id])
            of_kind = grouped.setdefault(arm.id, {}).setdefault(cell.kind, {})
            of_kind.setdefault(cell.name, {})[cell.slice.name] = values
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


class _Shown:
    """Which groups may be shown, by the queries that a figure has values of; looked up once for each such set of queries."""

    def __init__(self, study: Study, every: Sequence[Cell]) -> None:
        self.study, self.every = study, every
        self.found: dict[tuple[str, bytes], frozenset[Cell]] = {}

    def of(self, view: str, defined: NDArray[np.bool_]) -> frozenset[Cell]:
        """The groups of the slices under a view."""
        key = (view, defined.tobytes())
        if key not in self.found:
            beside = [cell for cell in self.every if cell.slice.view.name == view]
            may = shown(self.study, [cell.queries for cell in beside], defined)
            self.found[key] = frozenset(cell for cell, one in zip(beside, may, strict=True) if one)
        return self.found[key]

    def among(self, cell: Cell, arm: ArmRun, values: Mapping[str, Figure]) -> dict[str, Figure]:
        """The figures of a group; without mean and count where a measure has values of too few of its queries."""
        view = cell.slice.view.name
        columns = arm.views[view].columns
        return {
            name: figure if cell in self.of(view, columns[name].defined) else Figure(None, None, None, 0)
            for name, figure in values.items()
        }


class _Maker:
    """Makes the figures of one group of queries for all arms at once, with one set of resamples."""

    def __init__(self, study: Study, arms: Sequence[ArmRun], measures: Sequence[Measure]) -> None:
        self.study, self.arms, self.names = study, arms, [str(m) for m in measures]
        self.binary = np.tile([m.kind.binary for m in measures], len(arms))
        self.draws = Draws(stream(study.seed, "interval"))
        self.stacks = {
            view: _Stack.of([arm.views[view].columns[name] for arm in arms for name in self.names])
            for view in (arms[0].views if arms else ())
        }

    def of(self, view: str, chosen: NDArray[np.int64]) -> dict[str, dict[str, Figure]]:
        """By arm and measure, of these queries."""
        if not self.arms:
            return {}
        made = iter(self._figures(self.stacks[view], self.binary, chosen))
        return {arm.id: dict(zip(self.names, made, strict=False)) for arm in self.arms}

    def over_readable(self, parts: Sequence[Slice]) -> dict[str, dict[str, dict[str, Figure]]]:
        """By arm, slice and recall measure: the figures over all readable gold."""
        result: dict[str, dict[str, dict[str, Figure]]] = {arm.id: {} for arm in self.arms}
        for part in parts:
            named = [
                (arm.id, name, column)
                for arm in self.arms
                for name, column in arm.views[part.view.name].over_readable.items()
            ]
            if named and len(part.queries):
                stack = _Stack.of([column for _, _, column in named])
                made = self._figures(stack, np.zeros(len(named), dtype=bool), part.queries)
                for (arm_id, name, _), figure in zip(named, made, strict=True):
                    result[arm_id].setdefault(part.name, {})[name] = figure
        return result

    def _figures(self, stack: _Stack, binary: NDArray[np.bool_], chosen: NDArray[np.int64]) -> list[Figure]:
        """One for each column. Without clusters a share of queries has its exact interval, and no bootstrap."""
        stack, level = stack.take(chosen), self.study.rule.level
        n, low, high = stack.defined.sum(axis=1), np.full(len(binary), np.nan), np.full(len(binary), np.nan)
        sure = np.ones(len(binary), dtype=bool)
        kept = np.flatnonzero(stack.defined.any(axis=0))
        cluster = self.study.queries.clusters(chosen[kept])
        alone = int(cluster.max(initial=-1)) + 1 == len(kept)
        exact = binary & (n > 0) & alone
        for i in np.flatnonzero(exact):
            low[i], high[i] = exact_binomial(int(stack.top[i].sum()), int(n[i]), level=level)
        drawn = np.flatnonzero(~exact)
        if len(kept) and len(drawn):
            top, bottom = (of[drawn][:, kept] for of in (stack.top, stack.bottom))
            # On the grid sums are exact, as those of bottoms are, so that no order of a cluster's queries moves a bit.
            top, bottom = (by_cluster(of.T, cluster) for of in (top if alone else on_grid(top), bottom))
            low[drawn], high[drawn] = bca(top, bottom, level=level, draws=self.draws)
            sure[drawn] = trusted(top, bottom) | np.isnan(low[drawn])
        known = np.isfinite(low) & np.isfinite(high)
        return [
            Figure(
                mean,
                float(low[i]) if known[i] else None,
                float(high[i]) if known[i] else None,
                int(n[i]),
                bool(sure[i]),
            )
            for i, mean in enumerate(stack.means)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class _Stack:
    """Measures of arms side by side, see Column: (columns, queries) each; top and bottom are 0 where undefined."""

    top: NDArray[np.float64]
    bottom: NDArray[np.float64]
    defined: NDArray[np.bool_]

    @classmethod
    def of(cls, columns: Sequence[Column]) -> _Stack:
        defined = np.stack([column.defined for column in columns])
        top = np.where(defined, np.stack([column.top for column in columns]), 0.0)
        bottom = np.where(defined, np.stack([column.bottom for column in columns]), 0.0)
        return cls(top, bottom, defined)

    def take(self, queries: NDArray[np.int64]) -> _Stack:
        """The same columns for some of the queries."""
        top, bottom = (np.take(of, queries, axis=1) for of in (self.top, self.bottom))
        return _Stack(top, bottom, np.take(self.defined, queries, axis=1))

    @property
    def means(self) -> list[float | None]:
        """As Column.mean, to the bit."""
        top, bottom = np.sort(self.top, axis=1).sum(axis=1).tolist(), self.bottom.sum(axis=1).tolist()
        return [over / under if under > 0 else None for over, under in zip(top, bottom, strict=True)]


def _bounds(arm: ArmRun, part: Slice, measures: Sequence[Measure]) -> dict[str, Bounds]:
    """Of a measure that cannot decide, over ties alone: how much is judged is no question of what the unjudged could be."""
    measured, chosen = arm.views[part.view.name], part.queries

    def mean(column: Column | None) -> float | None:
        return None if column is None else column.take(chosen).mean

    found = {}
    for name in map(str, measures):
        ties, unjudged = measured.ties[name], measured.unjudged.get(name)
        found[name] = Bounds(
            tie_low=mean(ties.smallest),
            tie_expected=mean(ties.expected),
            tie_high=mean(ties.largest),
            unjudged_worst=None if unjudged is None else mean(unjudged.smallest),
            unjudged_best=None if unjudged is None else mean(unjudged.largest),
        )
    return found


def _ties(arm: ArmRun, part: Slice) -> Ties:
    measured = arm.views[part.view.name]
    pairs, noise = measured.tied_pairs[part.queries], measured.by_noise
    return Ties(
        queries=int((pairs > 0).sum()),
        pairs=int(pairs.sum()),
        by_noise=None if noise is None else int(noise[part.queries].sum()),
        at={str(k): int(tied[part.queries].sum()) for k, tied in measured.tied_at.items()},
    )


def _failed(arm: ArmRun, part: Slice) -> int:
    failed = arm.views[part.view.name].run.failed
    return sum(q in failed for q in part.queries.tolist()) if failed else 0
