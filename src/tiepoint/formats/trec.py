"""TREC run files: `query Q0 document rank score tag`, one hit a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc


def spaced(ids: Iterable[str]) -> list[str]:
    """Ids that a TREC file cannot hold, since it parts its columns by white space."""
    return [name for name in ids if any(c.isspace() for c in name)]


def run_lines(rankings: pa.Table, candidate: str, slice_name: str) -> Iterator[str]:
    """The lines of one run, from the rankings table of a result; scores as repr, so that they read back exactly."""
    chosen = rankings.filter((pc.field("candidate") == candidate) & (pc.field("slice") == slice_name))
    columns = (chosen.column(name).to_pylist() for name in ("query", "document", "rank", "score"))
    for query, document, rank, score in zip(*columns, strict=True):
        yield f"{query} Q0 {document} {rank} {score!r} {candidate}\n"
