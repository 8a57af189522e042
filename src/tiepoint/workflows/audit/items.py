"""The items of two sides under one numbering, so that every comparison is arithmetic on columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.held import Held

WHOLE = r"^-?[0-9]{1,18}$"


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Every item of either side, live or deleted.

    ids         (items,) string; an id may stand once in each role
    documents   (items,) bool: its role on the source side where it is there, else on the target's
    source, target             (rows of the side,) int64: the item of each row
    source_live, target_live   (items,) int64: in how many live rows it stands
    moved       (items,) bool: it is a document on one side and a query on the other, and so one item under two roles
    """

    ids: pa.Array
    documents: NDArray[np.bool_]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    source_live: NDArray[np.int64]
    target_live: NDArray[np.int64]
    moved: NDArray[np.bool_]

    @classmethod
    def of(cls, source: Held, target: Held) -> Items:
        """Number the items of both sides; equal are those of one role and id."""
        keys = pa.chunked_array([*_keys(source).chunks, *_keys(target).chunks], pa.large_string())
        coded = keys.combine_chunks().dictionary_encode() if keys.num_chunks else keys
        number = coded.indices.to_numpy().astype(np.int64)
        names = coded.dictionary
        documents = pc.starts_with(names, "d").to_numpy(zero_copy_only=False)
        ids = pc.utf8_slice_codeunits(names, 1).cast(pa.string())
        in_source, in_target = number[: len(source)], number[len(source) :]
        moved = np.zeros(len(names), dtype=bool)
        live = [
            np.bincount(of[one.live], minlength=len(names)) for of, one in ((in_source, source), (in_target, target))
        ]
        only_source, only_target = (live[0] > 0) & (live[1] == 0), (live[1] > 0) & (live[0] == 0)
        if only_source.any() and only_target.any():
            here, there = np.flatnonzero(only_source), np.flatnonzero(only_target)
            found = pc.index_in(ids.take(pa.array(there)), value_set=ids.take(pa.array(here)))
            pairs = pc.is_valid(found).to_numpy(zero_copy_only=False)
            to = here[pc.drop_null(found).to_numpy().astype(np.int64)]
            renumbered = np.arange(len(names), dtype=np.int64)
            renumbered[there[pairs]] = to
            moved[to] = True
            in_target = renumbered[in_target]
            live[1] = np.bincount(in_target[target.live], minlength=len(names))
        return cls(ids, documents, in_source, in_target, live[0], live[1], moved)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def shared(self) -> NDArray[np.bool_]:
        """(items,) True where both sides hold it, live."""
        return (self.source_live > 0) & (self.target_live > 0)

    def guarded(self, chosen: NDArray[np.bool_]) -> tuple[pa.Array, NDArray[np.bool_]]:
        """Ids of the chosen items, and which of them must be shown as documents are: those that are one on either side."""
        return self.ids.filter(pa.array(chosen)), (self.documents | self.moved)[chosen]


def version_ranks(source: Held, target: Held) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(rows,) of each side: where the row's version stands among all versions of both, -1 where it is not known.

    Versions compare as whole numbers where every one of both sides is written as one (up to 18 digits), else as text in the
    byte order of UTF-8. Equal versions have one rank.
    """
    both = pa.chunked_array(
        [*source.table.column("version").chunks, *target.table.column("version").chunks], pa.string()
    )
    numbers = pc.all(pc.match_substring_regex(both, WHOLE)).as_py()
    values = both.cast(pa.int64()) if numbers else both
    coded = values.combine_chunks().dictionary_encode()
    if not len(coded.dictionary):
        ranks = np.full(len(both), -1, dtype=np.int64)
    else:
        order = pc.array_sort_indices(coded.dictionary).to_numpy()
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        index = pc.fill_null(coded.indices, -1).to_numpy().astype(np.int64)
        ranks = np.append(rank, -1)[index]
    return ranks[: len(source)], ranks[len(source) :]


def greatest(items: NDArray[np.int64], values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """(count,) the greatest value of each item's rows, -1 where it has none."""
    most = np.full(count, -1, dtype=np.int64)
    np.maximum.at(most, items, values)
    return most


def _keys(side: Held) -> pa.ChunkedArray:
    """(rows,) `d` or `q`, then the id."""
    letter = pc.if_else(pa.array(side.documents), "d", "q").cast(pa.large_string())
    ids = side.table.column("id").cast(pa.large_string())
    joined = pc.binary_join_element_wise(letter, ids, pa.scalar("", pa.large_string()))
    return joined if isinstance(joined, pa.ChunkedArray) else pa.chunked_array([joined])
