"""The corpus: documents in columns, always in id order, so that no result depends on the order of a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.ids import content_hash, id_order


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What a ranking holds: documents, or the parents that passages collapse to.

    ids      ascending in the byte order of UTF-8
    of_row   (documents,) int64: the unit of each document
    own      (units,) int64: the document that is the unit itself, -1 where a parent is no document
    plain    True: every document is its own unit, in the same order
    """

    ids: tuple[str, ...]
    of_row: NDArray[np.int64]
    own: NDArray[np.int64]
    plain: bool

    @classmethod
    def of(cls, ids: Sequence[str], parents: Sequence[str | None] | None) -> Units:
        """Ids and parents in id order; parents None: not declared."""
        if parents is None:
            every = np.arange(len(ids))
            return cls(tuple(ids), every, every, plain=True)
        named = [own if parent is None else parent for own, parent in zip(ids, parents, strict=True)]
        units = sorted(set(named))
        number = {name: i for i, name in enumerate(units)}
        row = {name: i for i, name in enumerate(ids)}
        return cls(
            tuple(units),
            np.array([number[name] for name in named], dtype=np.int64),
            np.array([row.get(name, -1) for name in units], dtype=np.int64),
            plain=False,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Documents in ascending id order, over Arrow.

    table    columns id (string), text (large_string: the embedding text, built once), content_hash (binary, 32 bytes),
             acl (list of strings: who may read), regions (list of strings), source_revision (string, null unknown)
    public   True: everybody may read everything and acl is not consulted
    units    what rankings hold and judgements name: the documents themselves, or their parents where parents are declared
    Build it with from_columns.
    """

    table: pa.Table
    public: bool
    units: Units

    @classmethod
    def from_columns(
        cls,
        ids: Sequence[str],
        texts: Sequence[str],
        *,
        acl: Sequence[Sequence[str]] | None = None,
        regions: Sequence[Sequence[str]] | None = None,
        source_revision: Sequence[str | None] | None = None,
        parents: Sequence[str | None] | None = None,
    ) -> Corpus:
        """Documents from columns of one length.

        acl       None: public
        regions   None: no document has a region
        parents   None: passages are not declared; a document without a parent stands for itself
        """
        order = id_order(ids)
        nothing: list[Sequence[str]] = [()] * len(ids)
        revisions = source_revision if source_revision is not None else [None] * len(ids)
        strings = pa.list_(pa.string())
        table = pa.table(
            {
                "id": pa.array([ids[i] for i in order], pa.string()),
                "text": pa.array([texts[i] for i in order], pa.large_string()),
                "content_hash": pa.array([content_hash(texts[i]) for i in order], pa.binary(32)),
                "acl": pa.array([list((nothing if acl is None else acl)[i]) for i in order], strings),
                "regions": pa.array([list((nothing if regions is None else regions)[i]) for i in order], strings),
                "source_revision": pa.array([revisions[i] for i in order], pa.string()),
            }
        )
        ordered = None if parents is None else [parents[i] for i in order]
        return cls(table.combine_chunks(), public=acl is None, units=Units.of([ids[i] for i in order], ordered))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def ids(self) -> list[str]:
        """Document ids, ascending in the byte order of UTF-8."""
        return list(self.table.column("id").to_pylist())

    @property
    def texts(self) -> list[str]:
        """Embedding texts, in the order of ids."""
        return list(self.table.column("text").to_pylist())

    def readable(self, groups: Iterable[str]) -> NDArray[np.bool_]:
        """(documents,) True where a principal with these groups may read. No groups: nothing, unless public."""
        if self.public:
            return np.ones(len(self), dtype=bool)
        return self._any("acl", groups)

    def readable_by_all(self, groups: Iterable[str]) -> NDArray[np.bool_]:
        """(documents,) True where every one of these groups may read. No groups: nothing, unless public."""
        wanted = sorted(set(groups))
        if self.public:
            return np.ones(len(self), dtype=bool)
        mask = np.full(len(self), bool(wanted))
        for group in wanted:
            mask &= self._any("acl", [group])
        return mask

    def units_readable(self, readable: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(units,) True where a unit itself may be read by whom these documents are readable for.

        A unit that is a document is guarded by its own acl. A parent that is no document has none: it is readable only
        where every one of its passages is, since whoever opens it sees them all.
        """
        own = self.units.own
        whole = np.ones(len(self.units.ids), dtype=bool)
        np.logical_and.at(whole, self.units.of_row, readable)
        whole[own >= 0] = readable[own[own >= 0]]
        return whole

    def within(self, regions: Iterable[str]) -> NDArray[np.bool_]:
        """(documents,) True where a document's region is one of these names (already resolved)."""
        return self._any("regions", regions)

    def region_names(self) -> list[str]:
        """The distinct regions that documents name, sorted."""
        flat = pc.list_flatten(self.table.column("regions"))
        return sorted(pc.unique(flat).to_pylist())

    def _any(self, column: str, values: Iterable[str]) -> NDArray[np.bool_]:
        lists = self.table.column(column).combine_chunks()
        if isinstance(lists, pa.ChunkedArray):
            lists = lists.chunk(0) if lists.num_chunks else pa.array([], lists.type)
        hit = pc.is_in(pc.list_flatten(lists), value_set=pa.array(sorted(set(values)), pa.string()))
        rows = pc.list_parent_indices(lists).to_numpy()
        mask = np.zeros(len(self), dtype=bool)
        mask[rows[hit.to_numpy(zero_copy_only=False)]] = True
        return mask
