"""A corpus as filters see it: for each value of a list column the rows that carry it, looked up once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.corpus import Corpus

Name = Literal["acl", "regions"]


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """One list column, turned around.

    number   value to its number, in order of first appearance
    start    (values + 1,) int64: value v stands in the rows row[start[v] : start[v + 1]], ascending, each once
    row      int64
    """

    number: dict[str, int]
    start: NDArray[np.int64]
    row: NDArray[np.int64]

    @classmethod
    def of(cls, corpus: Corpus, column: Name) -> Postings:
        """The postings of a column of lists; a list that is null has no values."""
        lists = corpus.table.column(column).combine_chunks()
        if isinstance(lists, pa.ChunkedArray):
            lists = lists.chunk(0) if lists.num_chunks else pa.array([], lists.type)
        coded = pc.dictionary_encode(pc.list_flatten(lists))
        values = coded.dictionary.to_pylist()
        code = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        row = pc.list_parent_indices(lists).to_numpy().astype(np.int64)
        # In ascending value, then row, each pair once.
        pairs = np.unique(code * max(len(corpus), 1) + row)
        code, row = np.divmod(pairs, max(len(corpus), 1))
        start = np.searchsorted(code, np.arange(len(values) + 1)).astype(np.int64)
        return cls({value: i for i, value in enumerate(values)}, start, row)

    def rows(self, value: str) -> NDArray[np.int64]:
        """The rows that carry the value, ascending, each once; none for an unknown one."""
        number = self.number.get(value)
        return self.row[:0] if number is None else self.row[self.start[number] : self.start[number + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The columns that filters ask for, each turned around when it is first asked for.

    corpus     whose columns these are
    """

    corpus: Corpus
    _postings: dict[Name, Postings] = field(default_factory=dict)

    def postings(self, column: Name) -> Postings:
        """The column turned around."""
        if column not in self._postings:
            self._postings[column] = Postings.of(self.corpus, column)
        return self._postings[column]

    def carrying(self, column: Name, values: Iterable[str]) -> NDArray[np.bool_]:
        """(documents,) True where the document carries any of these values."""
        postings = self.postings(column)
        mask = np.zeros(len(self.corpus), dtype=bool)
        for value in values:
            mask[postings.rows(value)] = True
        return mask
