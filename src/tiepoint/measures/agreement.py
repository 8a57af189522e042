"""How alike two runs rank the same queries: what a measure of agreement is. No judgement is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.run import Run
from tiepoint.measures.measure import TieRange
from tiepoint.measures.overlap import CELLS, same_queries


@dataclass(frozen=True, slots=True)
class AgreementKind:
    """One file of measures/ that compares two rankings.

    compute      (run, other run, k) to the range over all orders of tied documents; its expected value is the measure's
    definition   one sentence with denominator, what an end before k and what a tie is worth
    range        the values it takes and where it is undefined
    ties         what the mean over all orders of tied documents is, in words, for docs/measures.md
    source       who defined it
    """

    name: str
    compute: Callable[[Run, Run, int], TieRange]
    definition: str
    range: str
    ties: str
    source: str


@dataclass(frozen=True, slots=True)
class AgreementMeasure:
    """A measure of agreement with its cut-off: `RBO@10`. Hits beyond the cut-off do not exist for it, but for ties with it."""

    kind: AgreementKind
    cutoff: int

    def __str__(self) -> str:
        return f"{self.kind.name}@{self.cutoff}"

    def __call__(self, one: Run, other: Run) -> TieRange:
        """The agreement of every query. Raises InputError when the cut-off lies beyond the depth of either run."""
        return self.kind.compute(one, other, self.cutoff)


def entered(one: Run, other: Run, *, k: int) -> NDArray[np.bool_]:
    """(queries, k) True where a hit of the other run's first k does not stand in the first k of this one, both as ranked."""
    same_queries(one, other, k)
    documents, among = other.document[:, :k], one.document[:, :k]
    result, step = np.zeros(documents.shape, dtype=bool), max(1, CELLS // (k * k))
    for rows in (slice(start, start + step) for start in range(0, len(documents), step)):
        found = (documents[rows][:, :, None] == among[rows][:, None, :]).any(axis=2)
        result[rows] = (documents[rows] >= 0) & ~found
    return result
