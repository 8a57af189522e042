"""Hits and rows as a report may show them: what the readers may not see keeps its place in a ranking and tells nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from tiepoint.core.report import OpenedHit

Row: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts that the readers may see: of documents by id, of queries by id."""

    documents: Mapping[str, str]
    queries: Mapping[str, str]


MOST_DIFFERING = 200
"""So many queries are held where all of them would make the page too large."""
ROOM = 2_800_000
"""Bytes that the explorer may take of a page of 4 MB."""
MOST_HITS = 20
HIT_BYTES, VALUE_BYTES, QUERY_BYTES = 13, 19, 60


def opened_hits(rows: Sequence[Row], kept: frozenset[str] | None = None) -> tuple[OpenedHit, ...]:
    """Hits in order of rank. A hit that the readers may not see keeps its place and tells nothing else, not even a tie.

    kept   the documents of the ranking under the filter; None: there is no other ranking to compare with
    """
    scores = Counter(row["score"] for row in rows if row["shown"])
    return tuple(
        OpenedHit(
            document=str(row["document"]),
            score=float(str(row["score"])),
            grade=None if row["grade"] is None else int(str(row["grade"])),
            tied=scores[row["score"]] > 1,
            gone=kept is not None and row["document"] not in kept,
        )
        if row["shown"]
        else OpenedHit(document=None)
        for row in rows
    )


def by_key(table: pa.Table, keys: Iterable[str]) -> dict[tuple[str, ...], list[Row]]:
    """Rows by the values of these columns, in order of rank where there is one."""
    rows = table.sort_by("rank") if "rank" in table.column_names else table
    columns = [rows.column(key).to_pylist() for key in keys]
    found: dict[tuple[str, ...], list[Row]] = {}
    for key, row in zip(zip(*columns, strict=True), rows.to_pylist(), strict=True):
        found.setdefault(key, []).append(row)
    return found


def fits(*, hits: int, values: int, queries: int) -> bool:
    """Would so much stay within ROOM?"""
    return hits * HIT_BYTES + values * VALUE_BYTES + queries * QUERY_BYTES <= ROOM
