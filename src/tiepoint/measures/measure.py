"""What a measure is: a value that prints as it parses, and a function over columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tiepoint.errors import InputError, did_you_mean
from tiepoint.measures.graded import GradedRun

Option = str | int


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A measure of every query as a ratio, so that a mean over queries and a pooled ratio are the same sum.

    top, bottom   (queries,) float64. The query's value is top / bottom; the mean is sum(top) / sum(bottom)
    defined       (queries,) bool: False where the measure has no value; such a query leaves the mean and is counted
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
        """sum(top) / sum(bottom) over the defined queries; None without one."""
        bottom = float(self.bottom[self.defined].sum())
        return float(self.top[self.defined].sum()) / bottom if bottom > 0 else None

    def take(self, queries: NDArray[np.int64]) -> Column:
        """The same column for some of the queries."""
        return Column(self.top[queries], self.bottom[queries], self.defined[queries])


@dataclass(frozen=True, slots=True)
class MeasureKind:
    """One file of measures/.

    compute      (graded run, cut-off, options) to a Column
    definition   one sentence with gain, denominator and what a miss is worth
    options      names, with their defaults and the values they take
    binary       every value is 0 or 1, so that the exact binomial interval applies
    decides      may stand in [decision]; pooled: only with confidence = "point"
    """

    name: str
    compute: Callable[[GradedRun, int, Mapping[str, Option]], Column]
    definition: str
    options: Mapping[str, tuple[Option, ...]] = field(default_factory=dict)
    binary: bool = False
    decides: bool = True
    pooled: bool = False

    def options_from(self, text: str, name: str) -> tuple[tuple[str, Option], ...]:
        """Options that differ from their default, sorted by name. Raises InputError for unknown ones."""
        chosen: dict[str, Option] = {}
        for part in filter(None, text.split(",")):
            key, _, value = part.partition("=")
            if key not in self.options:
                hint = did_you_mean(key, self.options) or f"options: {', '.join(self.options) or 'none'}"
                raise InputError(f"{name!r}: {self.name} has no option {key!r}", fix=hint)
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
        return self.kind.definition

    def __call__(self, graded: GradedRun) -> Column:
        """The measure of every query. Raises InputError when the cut-off lies beyond the depth of the run."""
        if self.cutoff > graded.depth:
            raise InputError(f"{self} needs rankings of depth {self.cutoff}, these have {graded.depth}")
        chosen = {key: values[0] for key, values in self.kind.options.items()} | dict(self.options)
        return self.kind.compute(graded, self.cutoff, chosen)
