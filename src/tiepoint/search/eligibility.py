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


@dataclass(frozen=True, slots=True, eq=False)
class Eligibility:
    """Every query's filters; queries with equal filters share one entry.

    corpus     what the filters are applied to
    distinct   the distinct sets of filters, permissions first; all of a set must admit a document
    group      (queries,) int64: which entry of distinct is the query's
    """

    corpus: Corpus
    distinct: tuple[tuple[Filter, ...], ...]
    group: NDArray[np.int64]

    @classmethod
    def of(cls, corpus: Corpus, queries: Queries, regions: Regions, *, filtered: bool) -> Eligibility:
        """Permissions for every query; with filtered, also the region filter of those that have one."""
        entry: dict[tuple[Filter, ...], int] = {}
        group = np.empty(len(queries), dtype=np.int64)
        for i in range(len(queries)):
            # Under public, groups are not consulted: one entry serves everybody.
            filters: tuple[Filter, ...] = (ReadableBy(frozenset() if corpus.public else queries.groups[i]),)
            if filtered and queries.regions[i]:
                filters += (InRegion(regions.under(queries.regions[i])),)
            group[i] = entry.setdefault(filters, len(entry))
        return cls(corpus, tuple(entry), group)

    def mask(self, entry: int) -> NDArray[np.bool_]:
        """(documents,) True where the entry's filters admit the document."""
        mask = np.ones(len(self.corpus), dtype=bool)
        for condition in self.distinct[entry]:
            mask &= condition.mask(self.corpus)
        return mask

    def parts(self) -> Iterator[Part]:
        """The queries of each entry with the documents that they may be answered with."""
        for entry, filters in enumerate(self.distinct):
            yield Part(np.flatnonzero(self.group == entry), np.flatnonzero(self.mask(entry)), filters)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Queries that share their filters.

    queries   positions, ascending
    rows      eligible rows of the corpus, ascending, and so in ascending document id
    filters   what made them eligible
    """

    queries: NDArray[np.int64]
    rows: NDArray[np.int64]
    filters: tuple[Filter, ...]
