"""What a measure is: a value that prints as it parses, and functions over columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tiepoint.errors import Defect, InputError, did_you_mean, some
from tiepoint.measures.graded import GradedRun
from tiepoint.measures.ties import TiedRun

Option = str | int
Options: TypeAlias = Mapping[str, Option]
Order: TypeAlias = Callable[[int], GradedRun]
"""The hits in the order that stands for documents of a grade or better: of one ranking always the same; over orders of tied
documents the order that is worst, or best, for that grade."""
BLOCK = 40_000
"""Hits that are looked at together."""
ROUNDING = 1e-9
"""How far sums of floats may carry a value out of 0 to 1; further is a defect."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A measure of every query as a ratio, so that a mean over queries and a pooled ratio are the same sum.

    top, bottom   (queries,) float64. The query's value is top / bottom; the mean is sum(top) / sum(bottom)
    defined       (queries,) bool: False where the measure has no value; such a query leaves the mean and is counted

    Every value is within 0 to 1: what a measure computes passes `sound`.
    """

    top: NDArray[np.float64]
    bottom: NDArray[np.float64]
    defined: NDArray[np.bool_]

    @classmethod
    def of(cls, values: NDArray[np.float64], defined: NDArray[np.bool_]) -> Column:
        """Every defined query with the weight 1."""
        return cls(np.where(defined, values, 0.0), defined.astype(np.float64), defined)

    @property
    def values(self) -> NDArray[np.float64]:
        """(queries,) top / bottom, NaN where undefined."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.defined, self.top / self.bottom, np.nan)

    @property
    def mean(self) -> float | None:
        """sum(top) / sum(bottom) over the defined queries; None without one.

        Added up in the order of the values, so that no order of the queries moves a bit; bottoms are counts, whose sums are
        exact in any order.
        """
        top, bottom = (np.where(self.defined, of, 0.0) for of in (self.top, self.bottom))
        top.sort()
        total = float(bottom.sum())
        return float(top.sum()) / total if total > 0 else None

    def take(self, queries: NDArray[np.int64]) -> Column:
        """The same column for some of the queries."""
        return Column(self.top[queries], self.bottom[queries], self.defined[queries])

    @classmethod
    def joined(cls, parts: Sequence[Column]) -> Column:
        """The queries of all of them, one after the other."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("top", "bottom", "defined")))

    def among(self, queries: NDArray[np.bool_]) -> Column:
        """The same column, undefined but for these queries: (queries,) bool."""
        return Column(self.top, self.bottom, self.defined & queries)

    def with_rows(self, rows: NDArray[np.int64], other: Column) -> Column:
        """The same column with some queries' values from another, whose rows are of these queries in turn."""
        top, bottom, defined = self.top.copy(), self.bottom.copy(), self.defined.copy()
        top[rows], bottom[rows], defined[rows] = other.top, other.bottom, other.defined
        return Column(top, bottom, defined)


def sound(column: Column) -> Column:
    """The column itself, values beyond 0 and 1 by rounding alone set to these. Raises Defect where one lies further out."""
    top, bottom = column.top, column.bottom
    if (top >= 0).all() and (top <= bottom).all():
        return column
    slack = ROUNDING * np.maximum(bottom, 1.0)
    broken = ~((top >= -slack) & (top - bottom <= slack))
    if broken.any():
        raise Defect(
            f"{int(broken.sum()):,} values of a measure are not within 0 to 1",
            where=f"at positions {some(np.flatnonzero(broken))}",
            fix="no input may do this; please report it with the study's notes",
        )
    return Column(np.clip(top, 0.0, bottom), bottom, column.defined)


@dataclass(frozen=True, slots=True, eq=False)
class TieRange:
    """A measure of every query over all orders of tied documents.

    expected   the mean over them, each as likely as any other; None: the measure has no closed form
    """

    smallest: Column
    expected: Column | None
    largest: Column

    def among(self, queries: NDArray[np.bool_]) -> TieRange:
        """The same range, undefined but for these queries: (queries,) bool."""
        expected = None if self.expected is None else self.expected.among(queries)
        return TieRange(self.smallest.among(queries), expected, self.largest.among(queries))


@dataclass(frozen=True, slots=True, eq=False)
class UnjudgedRange:
    """A measure of every query over all that its unjudged hits could be: each of any grade, the highest grade of these
    judgements at most. One that is relevant counts in R too, so that it can lower a measure over the ideal.

    smallest   defined where the measure is as ranked
    largest    defined where it is as ranked, or would be with a relevant hit
    """

    smallest: Column
    largest: Column

    def among(self, queries: NDArray[np.bool_]) -> UnjudgedRange:
        """The same range, undefined but for these queries: (queries,) bool."""
        return UnjudgedRange(self.smallest.among(queries), self.largest.among(queries))


class UnjudgedEnds(NamedTuple):
    """The two ends of an UnjudgedRange, each made when it is asked for."""

    smallest: Callable[[], Column]
    largest: Callable[[], Column]

    def both(self) -> UnjudgedRange:
        """The whole range."""
        return UnjudgedRange(self.smallest(), self.largest())


@dataclass(frozen=True, slots=True)
class MeasureKind:
    """One file of measures/.

    A better grade further up never lowers a measure, and one that enters the first k neither. So the extremes over orders of
    tied documents are those of the worst and of the best order of every tie group, for any measure.

    compute      (graded run, cut-off, options) to a Column
    definition   one sentence with gain, denominator and what a miss is worth; {rel}: the option's value
    earlier      how older results word that sentence where their figure is computed the same way: they still compare
    range        the values it takes and where it is undefined
    source       who defined it
    expected     (tied rankings, cut-off, options) to the mean over all orders of tied documents; None: no closed form.
                 ties: what it is, in words, for docs/measures.md
    unjudged     (order, cut-off, options) to the range over what unjudged hits could be; None: all of them relevant is the
                 largest, none of them the smallest
    options      names, with their defaults and the values they take
    binary       every value is 0 or 1, so that the exact binomial interval applies
    decides      may stand in [decision]; pooled: only with confidence = "point"
    """

    name: str
    compute: Callable[[GradedRun, int, Options], Column]
    definition: str
    range: str
    source: str
    expected: Callable[[TiedRun, int, Options], Column] | None = None
    ties: str = "none"
    unjudged: Callable[[Order, int, Options], UnjudgedEnds] | None = None
    earlier: tuple[str, ...] = ()
    options: Mapping[str, tuple[Option, ...]] = field(default_factory=dict)
    binary: bool = False
    decides: bool = True
    pooled: bool = False

    def options_from(self, text: str, name: str) -> tuple[tuple[str, Option], ...]:
        """Options that differ from their default, sorted by name. Raises InputError for unknown ones and repeated ones."""
        chosen: dict[str, Option] = {}
        for part in filter(None, text.split(",")):
            key, _, value = part.partition("=")
            if key not in self.options:
                hint = did_you_mean(key, self.options) or f"options: {', '.join(self.options) or 'none'}"
                raise InputError(f"{name!r}: {self.name} has no option {key!r}", fix=hint)
            if key in chosen:
                raise InputError(f"{name!r}: {key} is given twice", fix="give each option once")
            by_text = {str(option): option for option in self.options[key]}
            if value not in by_text:
                raise InputError(f"{name!r}: {key} cannot be {value!r}", fix=f"one of {', '.join(by_text)}")
            chosen[key] = by_text[value]
        return tuple(sorted((k, v) for k, v in chosen.items() if v != self.options[k][0]))


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its cut-off: `nDCG@10`. Hits beyond the cut-off do not exist for it."""

    kind: MeasureKind
    cutoff: int
    options: tuple[tuple[str, Option], ...] = ()

    def __str__(self) -> str:
        options = ",".join(f"{key}={value}" for key, value in self.options)
        return f"{self.kind.name}{f'({options})' if options else ''}@{self.cutoff}"

    @property
    def name(self) -> str:
        """The measure without options and cut-off."""
        return self.kind.name

    @property
    def definition(self) -> str:
        """What the figure is, in one sentence."""
        return self.kind.definition.format(**self._chosen)

    @property
    def definitions(self) -> frozenset[str]:
        """Every sentence that says this figure: as it is worded now, and as it was in older results."""
        return frozenset(text.format(**self._chosen) for text in (self.kind.definition, *self.kind.earlier))

    @property
    def least_grade(self) -> int:
        """The least grade that is relevant for it: where a document of it counts, one that can decide has a value, in any run."""
        return int(self._chosen.get("rel", 1))

    def __call__(self, graded: GradedRun) -> Column:
        """The measure of every query. Raises InputError when the cut-off lies beyond the depth of the run."""
        self._refuse_depth(graded)
        return sound(self.kind.compute(graded, self.cutoff, self._chosen))

    def over_ties(self, as_ranked: Column, tied: TiedRun) -> TieRange:
        """The measure over all orders of tied documents. as_ranked: of the whole run."""
        rows = tied.groups.rows
        if not len(rows):
            return TieRange(as_ranked, as_ranked if self.kind.expected else None, as_ranked)
        self._refuse_depth(tied.graded)
        compute, expected, chosen = self.kind.compute, self.kind.expected, self._chosen
        return TieRange(
            smallest=as_ranked.with_rows(rows, sound(compute(tied.worst, self.cutoff, chosen))),
            expected=as_ranked.with_rows(rows, sound(expected(tied, self.cutoff, chosen))) if expected else None,
            largest=as_ranked.with_rows(rows, sound(compute(tied.best, self.cutoff, chosen))),
        )

    def over_unjudged(self, graded: GradedRun) -> UnjudgedRange:
        """The measure over all that the unjudged ones of the first hits could be, in the order of the ranking."""
        return self._over_unjudged(self(graded), lambda _: graded).both()

    def over_ties_and_unjudged(self, as_ranked: Column, graded: GradedRun, tied: TiedRun) -> UnjudgedRange:
        """Bounds of the measure over all orders of tied documents and all that the unjudged ones of the first hits could be.

        They do not change when documents are renamed. They are reached, but for nDCG with several grades, whose bounds may lie
        beyond: the best order for each grade is taken apart.

        as_ranked       of graded
        graded, tied    of one run; graded may count more documents, see GradedRun.missing
        """
        found, rows = self._over_unjudged(as_ranked, lambda _: graded).both(), tied.groups.rows
        if not len(rows):
            return found
        some = graded.take(rows)
        worst, best = (self(some.ordered(order)) for order in (tied.worst, tied.best))
        low = self._over_unjudged(worst, lambda rel: some.ordered(tied.unjudged_low(rel, self.cutoff)), tied)
        high = self._over_unjudged(best, lambda rel: some.ordered(tied.unjudged_high(rel, self.cutoff)), tied)
        return UnjudgedRange(
            found.smallest.with_rows(rows, low.smallest()), found.largest.with_rows(rows, high.largest())
        )

    def _over_unjudged(self, as_ranked: Column, order: Order, tied: TiedRun | None = None) -> UnjudgedEnds:
        """as_ranked: what queries hold whose first hits, in any order of what ties, are all judged."""
        unjudged = order(1).unjudged(self.cutoff) if tied is None else tied.unjudged[:, : self.cutoff] > 0
        rows = np.flatnonzero(unjudged.any(axis=1))
        if not len(rows):
            return UnjudgedEnds(lambda: as_ranked, lambda: as_ranked)
        # Some queries at a time, so that what is computed stays in a processor's cache.
        blocks = np.array_split(rows, math.ceil(len(rows) * self.cutoff / BLOCK))
        ends = [self._unjudged(_block(order, some, self.cutoff, same=tied is None)) for some in blocks]

        def end(made: Iterable[Column]) -> Column:
            return as_ranked.with_rows(rows, sound(Column.joined(list(made))))

        return UnjudgedEnds(lambda: end(of.smallest() for of in ends), lambda: end(of.largest() for of in ends))

    def _unjudged(self, order: Order) -> UnjudgedEnds:
        compute, k, chosen = self.kind.compute, self.cutoff, self._chosen
        if self.kind.unjudged is not None:
            return self.kind.unjudged(order, k, chosen)
        graded = order(self.least_grade)
        return UnjudgedEnds(lambda: compute(graded, k, chosen), lambda: compute(graded.unjudged_as_best(k), k, chosen))

    @property
    def _chosen(self) -> Options:
        return {key: values[0] for key, values in self.kind.options.items()} | dict(self.options)

    def _refuse_depth(self, graded: GradedRun) -> None:
        if self.cutoff > graded.depth:
            raise InputError(f"{self} needs rankings of depth {self.cutoff}, these have {graded.depth}")


def _block(order: Order, queries: NDArray[np.int64], k: int, *, same: bool) -> Order:
    """The same order for some queries, to the depth k, made once; same: it is one for all grades."""
    made: dict[int, GradedRun] = {}

    def of(rel: int) -> GradedRun:
        key = 1 if same else rel
        if key not in made:
            made[key] = order(key).take(queries, k)
        return made[key]

    return of
