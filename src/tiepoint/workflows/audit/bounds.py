"""What of an audit its readers may see: built in one place, put on every count and every name that a report gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.audit_findings import Offenders
from tiepoint.core.study import Study
from tiepoint.errors import FIRST

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Which items a report may name or count.

    documents   ids of the documents that it may; None: all. A document that the study does not know has no acl there, so it
                is not among them. Queries are always shown: they are the study's own questions, not its documents
    """

    documents: pa.Array | None = None

    @property
    def whole(self) -> bool:
        """Whether everything may be shown."""
        return self.documents is None

    def shown(self, ids: pa.Array | pa.ChunkedArray, documents: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(ids,) True where the item may be named and counted; documents: which of the ids are of documents."""
        if self.documents is None:
            return np.ones(len(ids), dtype=bool)
        known: NDArray[np.bool_] = pc.is_in(ids, value_set=self.documents).to_numpy(zero_copy_only=False)
        return known | ~documents

    def offenders(self, ids: pa.Array | pa.ChunkedArray, documents: NDArray[np.bool_]) -> Offenders:
        """The items that may be counted, and the first of them in id order.

        ids   one for each item, none twice in one role
        """
        kept = ids if self.whole else ids.filter(pa.array(self.shown(ids, documents)))
        if not len(kept):
            return Offenders()
        first = pc.select_k_unstable(kept, options=pc.SelectKOptions(k=FIRST, sort_keys=[("", "ascending")]))
        return Offenders(len(kept), tuple(kept.take(first).to_pylist()))


EVERYTHING = Bounds()


@dataclass(frozen=True, slots=True, eq=False)
class Seen(Generic[Value]):
    """One section of an audit.

    shown      for audit.json and its report: bounded by what its readers may see
    whole      over every row: gates are judged by it, so that what is hidden cannot pass them; never written into a report
    findings   every offender, by name: the owner's table
    """

    shown: Value
    whole: Value
    findings: pa.Table

    @classmethod
    def of(cls, build: Callable[[Bounds], Value], bounds: Bounds, findings: pa.Table) -> Seen[Value]:
        """Build the value once or twice. build: makes it from what may be seen."""
        whole = build(EVERYTHING)
        return cls(whole if bounds.whole else build(bounds), whole, findings)


def bounds_of(study: Study | None) -> Bounds:
    """The bounds of a report. Without a study, or in a public one: everything.

    Under an acl: the documents of the study that every group of [report] readers may read; no readers: no document.
    """
    if study is None or study.corpus.public:
        return EVERYTHING
    ids = study.corpus.table.column("id").filter(pa.array(study.shown))
    return Bounds(ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids)
