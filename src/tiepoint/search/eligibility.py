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
from tiepoint.search.masks import Masks


@dataclass(frozen=True, slots=True, eq=False)
class Eligibility:
    """Every query's filters; queries with equal filters share one entry.

    masks      what each filter admits of the corpus; eligibilities of one corpus may share them
    distinct   the distinct admissions
    group      (queries,) int64: which entry of distinct is the query's
    eligible   (queries,) int64: how many units each query may be answered with
    """

    masks: Masks
    distinct: tuple[Admission, ...]
    group: NDArray[np.int64]
    eligible: NDArray[np.int64]

    @classmethod
    def of(
        cls, corpus: Corpus, queries: Queries, regions: Regions, *, filtered: bool, masks: Masks | None = None
    ) -> Eligibility:
        """Permissions and the document to leave out for every query; with filtered, also the region filter of those with one.

        masks   of this corpus, to share those already made; None: they are made anew
        """
        entry: dict[Admission, int] = {}
        group = np.empty(len(queries), dtype=np.int64)
        under: dict[tuple[str, ...], InRegion] = {}
        for i in range(len(queries)):
            # Under public, groups are not consulted: one entry serves everybody.
            permission = ReadableBy(frozenset() if corpus.public else queries.groups[i])
            filters: tuple[Filter, ...] = ()
            if filtered and (named := queries.regions[i]):
                if named not in under:
                    under[named] = InRegion(regions.under(named))
                filters = (under[named],)
            source = queries.exclude[i] if queries.exclude else None
            admission = Admission(permission, filters, None if source is None else Without(source))
            group[i] = entry.setdefault(admission, len(entry))
        shared = Masks.of(corpus) if masks is None else masks
        return cls(shared, tuple(entry), group, _counts(shared, tuple(entry))[group])

    @property
    def corpus(self) -> Corpus:
        """What the filters are applied to."""
        return self.masks.corpus

    def part(self, entry: int) -> Part:
        """The queries of one entry with what they may be answered with."""
        corpus, admission = self.corpus, self.distinct[entry]
        readable = self.masks.mask(admission.permission)
        rows = np.flatnonzero(_admitted(self.masks, admission, readable))
        asking = np.flatnonzero(self.group == entry)
        if corpus.units.plain:
            return Part(asking, rows, rows, np.arange(len(rows)), readable)
        rows = rows[np.argsort(corpus.units.of_row[rows], kind="stable")]
        units, starts = np.unique(corpus.units.of_row[rows], return_index=True)
        return Part(asking, rows, units, starts, readable)

    def parts(self) -> Iterator[Part]:
        """Every entry in turn."""
        return (self.part(entry) for entry in range(len(self.distinct)))


@dataclass(frozen=True, slots=True)
class Admission:
    """What a document must pass for one principal under one filter.

    permission   what the principal may read
    filters      what the query asks for besides; every one must admit
    without      the one unit that is never an answer; None: there is none
    """

    permission: ReadableBy
    filters: tuple[Filter, ...] = ()
    without: Without | None = None

    @property
    def conditions(self) -> tuple[Filter, ...]:
        """Everything but the permission."""
        return self.filters if self.without is None else (*self.filters, self.without)


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


def _admitted(masks: Masks, admission: Admission, readable: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(documents,) True where the admission holds, the parent's own permission included. readable: what the permission admits."""
    units = masks.corpus.units
    admitted = readable & masks.every(admission.conditions)
    if not units.plain:
        admitted &= masks.corpus.units_readable(readable)[units.of_row]
    return admitted


def _counts(masks: Masks, distinct: tuple[Admission, ...]) -> NDArray[np.int64]:
    """(entries,) how many units each admission leaves. Those that differ in what they leave out alone are counted together."""
    units = masks.corpus.units
    alike: dict[Admission, list[int]] = {}
    for i, admission in enumerate(distinct):
        alike.setdefault(Admission(admission.permission, admission.filters), []).append(i)
    counts = np.empty(len(distinct), dtype=np.int64)
    for wide, entries in alike.items():
        found = _admitted(masks, wide, masks.mask(wide.permission))
        if not units.plain:
            found = np.bincount(units.of_row[found], minlength=len(units.ids)) > 0
        counts[entries] = np.count_nonzero(found)
        for i in entries:
            without = distinct[i].without
            left_out = -1 if without is None else without.unit(units)
            counts[i] -= left_out >= 0 and found[left_out]
    return counts
