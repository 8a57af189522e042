"""The columns of a space beside its vectors: each to the form that core.held.SCHEMA has, every bad row named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.contract import Contract
from tiepoint.core.ids import content_hash
from tiepoint.errors import Problems, some

HASH = r"^(?i:sha256:)?[0-9a-fA-F]{64}$"
BLOCK_ROWS = 65_536


@dataclass(slots=True)
class Columns:
    """The columns of one file as they are read. Each method gives one array, (rows,), and notes what is wrong with it.

    table   the columns that stand in the file, without vector
    where   the file, for messages
    """

    table: pa.Table
    where: str
    contract: Contract
    problems: Problems = field(default_factory=Problems)
    notes: list[str] = field(default_factory=list)

    def ids(self) -> pa.Array:
        """Ids as text; integers are read as their decimal text, and that is noted."""
        return self._text("id")

    def labels(self, name: str) -> pa.Array:
        """source_revision or version as text, whole numbers and times too; null: not known; all null where it is absent."""
        return self._text(name) if self._has(name) else pa.nulls(len(self.table), pa.string())

    def texts(self) -> pa.ChunkedArray | None:
        """The texts as they stand; None where there is no such column."""
        if not self._has("text"):
            return None
        column = _plain(self.table.column("text"))
        if not _is_text(column.type, empty=True):
            self._refuse("text", column.type, "text")
            return None
        return column.cast(pa.large_string())

    def roles(self) -> pa.Array:
        """`document` or `query`; the contract's own names for the two are read as well. Absent: every row is a document."""
        if not self._has("role"):
            self.notes.append("no column role: every row is taken as a document")
            return pa.array(["document"]).take(pa.array(np.zeros(len(self.table), dtype=np.int64)))
        given = self._text("role")
        document = pc.is_in(given, value_set=pa.array(["document", self.contract.document_role]))
        query = pc.is_in(given, value_set=pa.array(["query", self.contract.query_role]))
        names = (
            f"document or query (the contract calls them {self.contract.document_role} and {self.contract.query_role})"
        )
        self._bad(~mask(pc.or_(document, query)), f"have a role that is not {names}", "correct the role")
        return pc.if_else(document, "document", "query")

    def deleted(self) -> pa.Array:
        """Tombstones; null and an absent column: none."""
        if not self._has("deleted"):
            return pa.array(np.zeros(len(self.table), dtype=bool))
        column = _plain(self.table.column("deleted"))
        if not pa.types.is_boolean(column.type):
            self._refuse("deleted", column.type, "true or false")
            return pa.array(np.zeros(len(self.table), dtype=bool))
        return one_chunk(pc.fill_null(column, fill_value=False))

    def hashes(self, texts: pa.ChunkedArray | None) -> pa.Array:
        """(rows,) binary(32): of the text where there is one, else as stated; null where neither is.

        A stated hash must be SHA-256 of the text after LF and NFC, in hexadecimal or as 32 bytes; where the row has a text
        too, the two must agree.
        """
        stated = self._stated_hashes()
        if texts is None:
            return stated
        made = _text_hashes(texts)
        self._bad(
            mask(pc.not_equal(stated, made)),
            "state a hash that is not their text's",
            "state SHA-256 of the text after LF and NFC, or leave the column out",
        )
        return pc.coalesce(made, stated)

    def acl(self) -> pa.Array:
        """(rows,) lists of groups; one text is one group; null: not known."""
        strings = pa.list_(pa.string())
        if not self._has("acl"):
            return pa.nulls(len(self.table), strings)
        column = one_chunk(_plain(self.table.column("acl")))
        if _is_text(column.type):
            known = pc.cast(pc.is_valid(column), pa.int32()).to_numpy(zero_copy_only=False)
            offsets = pa.array(np.append(0, np.cumsum(known)).astype(np.int32), mask=np.append(known == 0, False))
            column = pa.ListArray.from_arrays(offsets, column.drop_null().cast(pa.string()))
        kind = column.type
        if pa.types.is_null(kind):
            return pa.nulls(len(self.table), strings)
        lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        if not lists or not _is_text(kind.value_type, empty=True):
            self._refuse("acl", kind, "lists of text")
            return pa.nulls(len(self.table), strings)
        column = column.cast(strings)
        flat, rows = pc.list_flatten(column), pc.list_parent_indices(column).to_numpy()
        wrong = mask(pc.or_kleene(pc.is_null(flat), pc.equal(flat, "")))
        wrong |= mask(pc.not_equal(pc.utf8_trim_whitespace(flat), flat)) | mask(
            pc.match_substring_regex(flat, r"\p{Cc}")
        )
        broken = np.zeros(len(self.table), dtype=bool)
        broken[rows[wrong]] = True
        self._bad(
            broken, "have a group in acl that is null, empty, padded or has control characters", "correct the acl"
        )
        return column

    def names(self, rows: NDArray[np.int64]) -> Iterator[str]:
        """`d12 (row 13)`: rows by id and number, from 1."""
        ids = self.table.column("id")
        return (f"{ids[int(row)].as_py()!s} (row {int(row) + 1:,})" for row in rows)

    def _bad(self, bad: NDArray[np.bool_], sentence: str, fix: str) -> None:
        rows = np.flatnonzero(bad)
        if len(rows):
            where = f"{self.where}, ids {some(self.names(rows))}"
            self.problems.add(f"{len(rows):,} of {len(self.table):,} rows {sentence}", where=where, fix=fix)

    def _refuse(self, name: str, kind: pa.DataType, wanted: str) -> None:
        self.problems.add(
            f"the column {name} holds {kind}, not {wanted}", where=self.where, fix=f"write {wanted} into {name}"
        )

    def _has(self, name: str) -> bool:
        return name in self.table.column_names

    def _text(self, name: str) -> pa.Array:
        column = _plain(self.table.column(name))
        kind = column.type
        if pa.types.is_integer(kind):
            self.notes.append(f"{name}: integers are read as their decimal text")
        elif pa.types.is_null(kind):
            return pa.nulls(len(column), pa.string())
        elif not (_is_text(kind) or (pa.types.is_temporal(kind) and name != "id")):
            self._refuse(name, kind, "text")
            return pa.nulls(len(column), pa.string())
        return one_chunk(column.cast(pa.string()))

    def _stated_hashes(self) -> pa.Array:
        nothing = pa.nulls(len(self.table), pa.binary(32))
        name = next((n for n in ("content_hash", "hash") if self._has(n)), None)
        if name is None:
            return nothing
        column = one_chunk(_plain(self.table.column(name)))
        kind = column.type
        fix = "state SHA-256 of the text after LF and NFC, as 64 hexadecimal digits or 32 bytes"
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
            wrong = mask(pc.not_equal(pc.binary_length(column.cast(pa.binary())), 32))
            self._bad(wrong, f"have a {name} that is not 32 bytes", fix)
            return nothing if wrong.any() else column.cast(pa.binary(32))
        if pa.types.is_null(kind):
            return nothing
        if not _is_text(kind):
            self._refuse(name, kind, "hashes")
            return nothing
        wrong = mask(pc.invert(pc.match_substring_regex(column, HASH)))
        self._bad(wrong, f"have a {name} that is no SHA-256", fix)
        if wrong.any():
            return nothing
        return pa.array([None if h is None else bytes.fromhex(h[-64:]) for h in column.to_pylist()], pa.binary(32))


def one_chunk(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The same values in one array."""
    if isinstance(column, pa.Array):
        return column
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def mask(found: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
    """A truth column as numpy has it; null is False."""
    values: NDArray[np.bool_] = np.asarray(pc.fill_null(found, fill_value=False).to_numpy(zero_copy_only=False), bool)
    return values


def _is_text(kind: pa.DataType, *, empty: bool = False) -> bool:
    """Whether a type is text; empty: also that of a column in which everything is null."""
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(is_kind(kind) for is_kind in texts) or (empty and bool(pa.types.is_null(kind)))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _text_hashes(texts: pa.ChunkedArray) -> pa.Array:
    """(rows,) the content hash of each text; null where there is none. Python holds one block of texts at a time."""
    hashed: Callable[[str | None], bytes | None] = lambda text: None if text is None else content_hash(text)  # noqa: E731
    blocks = (texts.slice(start, BLOCK_ROWS).to_pylist() for start in range(0, len(texts), BLOCK_ROWS))
    arrays = [pa.array([hashed(text) for text in block], pa.binary(32)) for block in blocks]
    return pa.concat_arrays(arrays) if arrays else pa.array([], pa.binary(32))
