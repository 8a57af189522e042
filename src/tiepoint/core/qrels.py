"""Relevance judgements as compressed rows: for each query its judged documents and their grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.errors import InputError, some

GRADES = (0, 1, 2, 3)


@dataclass(frozen=True, slots=True, eq=False)
class Qrels:
    """Judgements in the order of the queries; within a query in ascending document id.

    start         (queries + 1,) int64: query i owns the judgements start[i] .. start[i + 1]
    document      (judgements,) int64: unit of the corpus (core.corpus.Units), -1 where the corpus lacks it
    document_id   the ids as judged, for reports and for the documents that the corpus lacks
    grade         (judgements,) int8 in 0..3; a document that is not judged has no row and is never stored as 0
    pooled        True: judged from a pool, so that unjudged documents are a question
    repeats       identical rows that were counted once
    stray         judged query ids that the queries lack
    """

    start: NDArray[np.int64]
    document: NDArray[np.int64]
    document_id: tuple[str, ...]
    grade: NDArray[np.int8]
    pooled: bool = False
    repeats: int = 0
    stray: tuple[str, ...] = ()

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[tuple[str, str, int]],
        *,
        query_ids: Sequence[str],
        document_ids: Sequence[str],
        pooled: bool = False,
    ) -> Qrels:
        """Judgements from (query id, document id, grade) rows without conflicts; identical rows count once.

        raises   InputError naming the documents whose grade is no whole number of GRADES (true and 1.0 are none)
        """
        if bad := [f"{d} for {q}: {g!r}" for q, d, g in rows if type(g) is not int or g not in GRADES]:
            raise InputError(
                f"{len(bad):,} of {len(rows):,} grades are not 0, 1, 2 or 3",
                where=some(bad),
                fix="another scale only through an explicit map",
            )
        row_of = {d: i for i, d in enumerate(document_ids)}
        position = {q: i for i, q in enumerate(query_ids)}
        distinct = sorted(set(rows))
        kept = sorted((position[q], d, g) for q, d, g in distinct if q in position)
        counts = np.bincount([q for q, _, _ in kept], minlength=len(query_ids)) if kept else np.zeros(len(query_ids))
        return cls(
            start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            document=np.array([row_of.get(d, -1) for _, d, _ in kept], dtype=np.int64),
            document_id=tuple(d for _, d, _ in kept),
            grade=np.array([g for _, _, g in kept], dtype=np.int8),
            pooled=pooled,
            repeats=len(rows) - len(distinct),
            stray=tuple(sorted({q for q, _, _ in distinct if q not in position})),
        )

    def __len__(self) -> int:
        return len(self.grade)

    @property
    def query(self) -> NDArray[np.int64]:
        """(judgements,) the query of each judgement."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @property
    def judged(self) -> NDArray[np.bool_]:
        """(queries,) True where the query has a judgement of any grade."""
        return np.diff(self.start) > 0
