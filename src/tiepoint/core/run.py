"""A run: all rankings of one space (or baseline) under one filter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DEEPEST = 10_000
"""The deepest cut-off: a ranking is held in memory for every query, and nobody reads further."""


@dataclass(frozen=True, slots=True)
class Proof:
    """How an exact search proved its rankings. It belongs to the conditions of a run: no ranking depends on it.

    first_pass     what made the approximate scores
    epsilon        half the widest interval that the certificate gave a pair that was scored again, in units of the score
    scored         pairs that the first pass scored
    rescored       pairs of them that were scored again, in the fixed order
    kernels        which inner loops ran: numpy, or numba (the same bits)
    numba          whether numba is installed
    threads        how many worked at once
    memory_bytes   what the search was to hold at most, above vectors, masks and result
    explained      what the cost model chose and why; it counts documents of every principal, so it is the owner's alone
    """

    first_pass: str
    epsilon: float
    scored: int
    rescored: int
    kernels: str
    numba: bool
    threads: int
    memory_bytes: int
    explained: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Rankings of the queries in columns, best first; equal scores stand in ascending document id.

    document    (queries, depth) int32 units of the corpus (core.corpus.Units): documents, or the parents that passages
                collapse to; -1 after the last hit
    score       (queries, depth) float64, higher is better; -inf after the last hit
    eligible    (queries,) int64: documents that the principal may read and the filter admits
    tied_start  (queries + 1,) int64, and
    tied        int32: for each query the eligible documents beyond depth whose score ties with the last hit
    tolerance   scores within it of the best of their tie count as tied
    noise       so do neighbours within it, however many stand between the first and the last of them; beyond the depth, only
                what lies within it of the last hit: nothing else could take a hit's place. 0: nothing is tied by noise
    tied_score  (as tied) float64; None: not kept
    failed      query position to the reason why it could not be searched; such a query is a miss
    proof       of an exact search; None: the rankings were made in another way
    """

    document: NDArray[np.int32]
    score: NDArray[np.float64]
    eligible: NDArray[np.int64]
    tied_start: NDArray[np.int64]
    tied: NDArray[np.int32]
    tolerance: float
    failed: dict[int, str]
    proof: Proof | None = None
    noise: float = 0.0
    tied_score: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.document)

    @property
    def depth(self) -> int:
        """How many hits a ranking holds at most."""
        return int(self.document.shape[1])
