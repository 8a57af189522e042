"""The queries: who asks what, where, and which part of the study each belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.ids import numbered

PROVENANCES = ("traffic", "blind_author", "document_author", "chooser", "synthetic", "unknown")
SPLITS = ("dev", "test")


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Questions in ascending id order; every column has one entry for each.

    groups      who asks; under an acl an empty set finds nothing, under public it is not consulted
    regions     canonical region names of the query's own filter; empty: the query has none
    subgroups   the names under which its figures are also reported
    rare        asks for a rare place name
    no_answer   flagged as having no answer: counted, never scored
    split       "dev" or "test", None where the study names no split for it
    cluster     queries made from one seed question share one name and are resampled together; alone: its own id
    provenance  one of PROVENANCES
    exclude     the document that a query was made from: never an answer to it, in no slice; empty: the study names none
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    groups: tuple[frozenset[str], ...]
    regions: tuple[tuple[str, ...], ...]
    subgroups: tuple[tuple[str, ...], ...]
    rare: NDArray[np.bool_]
    no_answer: NDArray[np.bool_]
    split: tuple[str | None, ...]
    cluster: tuple[str, ...]
    provenance: tuple[str, ...]
    exclude: tuple[str | None, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def has_region(self) -> NDArray[np.bool_]:
        """(queries,) True where the query carries a region filter."""
        return np.array([bool(regions) for regions in self.regions], dtype=bool)

    def in_split(self, name: str) -> NDArray[np.bool_]:
        """(queries,) True where the query belongs to the split."""
        return np.array([split == name for split in self.split], dtype=bool)

    def clusters(self, positions: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """The cluster of each of these queries as a number from 0, numbered in order of first appearance."""
        return numbered(self.cluster[i] for i in positions)
