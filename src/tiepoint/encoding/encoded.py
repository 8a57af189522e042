"""What goes into an encoding and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.space import Space


class EncodingFailed(Exception):
    """The candidate cannot load or cannot encode: a result with this reason, never an abort and never a score of 0.

    reason   one sentence; names classes, shapes and counts, never a text
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The documents or the queries of a study: their ids and their texts, without prompts, in one order."""

    ids: Sequence[str]
    texts: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Figures of the encoding that made most of the document vectors, which may be an earlier one. None: not measured.

    load_s            seconds to bring the model into memory
    documents_per_s   distinct texts encoded over the seconds inside the model
    tokens_per_s      tokens that the model took in over the same seconds: what it cuts off does not count
    queries_per_s, query_p50_ms, query_p95_ms   of queries encoded one by one
    encoded_on        UTC date and time of that encoding
    threads           as the study said, 0: all
    documents_cached, queries_cached   items of this study whose vectors were made by an earlier run
    """

    load_s: float | None = None
    documents_per_s: float | None = None
    tokens_per_s: float | None = None
    queries_per_s: float | None = None
    query_p50_ms: float | None = None
    query_p95_ms: float | None = None
    encoded_on: str | None = None
    threads: int | None = None
    processor: str | None = None
    documents_cached: int = 0
    queries_cached: int = 0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Encoded:
    """A space with what its making tells.

    document_lengths, query_lengths   (items,) int64 tokens before any cut; None where they cannot be counted
    failed_documents, failed_queries  id to reason (the name of an exception, or what was wrong with the vector)
    notes                             lines for the report; they count and hold no text
    """

    space: Space
    timing: Timing = field(default_factory=Timing)
    document_lengths: NDArray[np.int64] | None = None
    query_lengths: NDArray[np.int64] | None = None
    failed_documents: Mapping[str, str] = field(default_factory=dict)
    failed_queries: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
