"""Eligibility: which documents each query may be answered with. It follows from corpus and filter alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.corpus import Corpus
from tiepoint.core.queries import Queries
from tiepoint.core.regions import Regions
from tiepoint.filters import Filter
from tiepoint.filters.readable import ReadableBy
from tiepoint.filters.region import InRegion
from tiepoint.filters.without import Without


@dataclass(frozen=True, slots=True, eq=False)
class Eligibility:
    """Every query's filters; queries with equal filters share one entry.

    corpus     what the filters are applied to
    distinct   the distinct admissions
    group      (queries,) int64: which entry of distinct is the query's
    """

    corpus: Corpus
    distinct: tuple[Admission, ...]
    group: NDArray[np.int64]

    @classmethod
    def of(cls, corpus: Corpus, queries: Queries, regions: Regions, *, filtered: bool) -> Eligibility:
        """Permissions and the document to leave out for every query; with filtered, also the region filter of those with one."""
        entry: dict[Admission, int] = {}
        group = np.empty(len(queries), dtype=np.int64)
        for i in range(len(queries)):
            # Under public, groups are not consulted: one entry serves everybody.
            permission = ReadableBy(frozenset() if corpus.public else queries.groups[i])
            narrowed = filtered and bool(queries.regions[i])
            filters: tuple[Filter, ...] = (InRegion(regions.under(queries.regions[i])),) if narrowed else ()
            if queries.exclude and (source := queries.exclude[i]) is not None:
                filters = (*filters, Without(source))
            group[i] = entry.setdefault(Admission(permission, filters), len(entry))
        return cls(corpus, tuple(entry), group)

    def part(self, entry: int) -> Part:
        """The queries of one entry with what they may be answered with."""
        corpus, admission = self.corpus, self.distinct[entry]
        readable = admission.permission.mask(corpus)
        admitted = readable.copy()
        for condition in admission.filters:
            admitted &= condition.mask(corpus)
        asking = np.flatnonzero(self.group == entry)
        if corpus.units.plain:
            rows = np.flatnonzero(admitted)
            return Part(asking, rows, rows, np.arange(len(rows)), readable)
        rows = np.flatnonzero(admitted & corpus.units_readable(readable)[corpus.units.of_row])
        rows = rows[np.argsort(corpus.units.of_row[rows], kind="stable")]
        units, starts = np.unique(corpus.units.of_row[rows], return_index=True)
        return Part(asking, rows, units, starts, readable)

    def parts(self) -> Iterator[Part]:
        """Every entry in turn."""
        return (self.part(entry) for entry in range(len(self.distinct)))


@dataclass(frozen=True, slots=True)
class Admission:
    """What a document must pass for one principal under one filter."""

    permission: ReadableBy
    filters: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Queries that share their admission.

    queries    positions, ascending
    rows       eligible rows of the corpus, ordered by their unit, then by id
    units      (units,) the units of these rows, ascending: what the rankings hold
    starts     (units,) where each unit's rows begin in rows
    readable   (documents,) bool: what the principal may read, whatever the filter admits
    """

    queries: NDArray[np.int64]
    rows: NDArray[np.int64]
    units: NDArray[np.int64]
    starts: NDArray[np.int64]
    readable: NDArray[np.bool_]
