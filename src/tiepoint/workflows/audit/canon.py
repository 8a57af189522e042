"""Whether two sides hold the same thing under each id: every field, every item."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.audit_findings import Canon, CanonField
from tiepoint.core.held import Held
from tiepoint.workflows.audit.bounds import Bounds, Seen
from tiepoint.workflows.audit.findings import item_findings, together
from tiepoint.workflows.audit.items import Items, greatest, version_ranks

SEPARATOR = "\x1f"
"""Between the groups of an acl while lists are compared; no group holds a control character."""


@dataclass(frozen=True, slots=True, eq=False)
class _Coded:
    """One field of both sides as numbers: equal values have equal numbers, -1 is not known.

    written   rows of a side to what stands there, for the owner's table
    """

    field: str
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    written: Callable[[Held, NDArray[np.int64]], list[str | None]]


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """One field over all items: masks (items,) bool of where both sides state it, where they differ, where the target lost it."""

    coded: _Coded
    compared: NDArray[np.bool_]
    differs: NDArray[np.bool_]
    lost: NDArray[np.bool_]


def audit_canon(source: Held, target: Held, items: Items, bounds: Bounds) -> Seen[Canon]:
    """Role, content hash, acl (as a set), source revision and version of every shared item.

    An item that stands in several rows of one side agrees only where every one of them that states the field says the same:
    no row wins over another. match is over every row, also under bounds; counts are of what the readers may see.
    """
    found = [_compare(coded, source, target, items) for coded in _fields(source, target)]

    def build(seen: Bounds) -> Canon:
        may = seen.shown(*items.guarded(np.ones(len(items), dtype=bool)))
        return Canon(
            fields=tuple(
                CanonField(
                    field=one.coded.field,
                    compared=int((one.compared & may).sum()),
                    unknown=int((items.shared & ~one.compared & may).sum()),
                    mismatches=seen.offenders(*items.guarded(one.differs)),
                    lost=seen.offenders(*items.guarded(one.lost)),
                )
                for one in found
            ),
            match=not any(one.differs.any() for one in found),
        )

    return Seen.of(build, bounds, together([_rows(one, source, target, items) for one in found if one.differs.any()]))


def _fields(source: Held, target: Held) -> list[_Coded]:
    ranks = version_ranks(source, target)
    return [
        _Coded("role", *_codes(source, target, "role"), _plain("role")),
        _Coded("content_hash", *_codes(source, target, "content_hash"), _hexadecimal),
        _Coded("acl", *_acl_codes(source, target), _groups),
        _Coded("source_revision", *_codes(source, target, "source_revision"), _plain("source_revision")),
        _Coded("version", *ranks, _plain("version")),
    ]


def _compare(coded: _Coded, source: Held, target: Held, items: Items) -> _Compared:
    spans = []
    for held, of_row, codes in ((source, items.source, coded.source), (target, items.target, coded.target)):
        rows = held.live & (codes >= 0)
        most = greatest(of_row[rows], codes[rows], len(items))
        least = -greatest(of_row[rows], codes.max(initial=0) - codes[rows], len(items)) + codes.max(initial=0)
        spans.append((least, most))
    (low, high), (other_low, other_high) = spans
    compared = items.shared & (high >= 0) & (other_high >= 0)
    equal = (low == high) & (other_low == other_high) & (high == other_high)
    return _Compared(coded, compared, compared & ~equal, items.shared & (high >= 0) & (other_high < 0))


def _rows(one: _Compared, source: Held, target: Held, items: Items) -> pa.Table:
    """A finding for each item that differs, with what its rows on each side say."""
    chosen = np.flatnonzero(one.differs)
    said = [
        _said(one.coded, held, of_row, codes, chosen, len(items))
        for held, of_row, codes in (
            (source, items.source, one.coded.source),
            (target, items.target, one.coded.target),
        )
    ]
    return item_findings(
        "canon",
        "differs",
        items.ids.take(pa.array(chosen)),
        items.documents[chosen],
        field=one.coded.field,
        source=said[0],
        target=said[1],
    )


def _said(
    coded: _Coded,
    held: Held,
    of_row: NDArray[np.int64],
    codes: NDArray[np.int64],
    chosen: NDArray[np.int64],
    count: int,
) -> list[str | None]:
    """What a side's live rows say of each chosen item; several values stand with a bar between them."""
    place = np.full(count, -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    rows = np.flatnonzero(held.live & (codes >= 0) & (place[of_row] >= 0))
    said: list[str | None] = [None] * len(chosen)
    for at, text in zip(place[of_row[rows]].tolist(), coded.written(held, rows), strict=True):
        before = said[at]
        if before is None:
            said[at] = text
        elif text is not None and text not in before.split(" | "):
            said[at] = f"{before} | {text}"
    return said


def _codes(source: Held, target: Held, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    columns = [held.table.column(name) for held in (source, target)]
    if pa.types.is_fixed_size_binary(columns[0].type):
        columns = [column.cast(pa.binary()) for column in columns]
    return _split(columns, len(source))


def _acl_codes(source: Held, target: Held) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lists as sets: the order of groups and a repeated group say nothing."""
    columns = [pc.binary_join(held.table.column("acl"), SEPARATOR) for held in (source, target)]
    coded = _together(columns).dictionary_encode()
    sets = pa.array(
        [SEPARATOR.join(sorted(set(text.split(SEPARATOR)))) for text in coded.dictionary.to_pylist()], pa.string()
    )
    return _split([sets.take(coded.indices)], len(source))


def _split(columns: list[pa.Array | pa.ChunkedArray], first: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    codes = pc.fill_null(_together(columns).dictionary_encode().indices, -1).to_numpy().astype(np.int64)
    return codes[:first], codes[first:]


def _together(columns: list[pa.Array | pa.ChunkedArray]) -> pa.Array:
    chunks = [c for column in columns for c in (column.chunks if isinstance(column, pa.ChunkedArray) else [column])]
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.string())


def _plain(name: str) -> Callable[[Held, NDArray[np.int64]], list[str | None]]:
    def written(held: Held, rows: NDArray[np.int64]) -> list[str | None]:
        return list(held.table.column(name).take(pa.array(rows)).to_pylist())

    return written


def _hexadecimal(held: Held, rows: NDArray[np.int64]) -> list[str | None]:
    taken = held.table.column("content_hash").take(pa.array(rows)).to_pylist()
    return [None if value is None else value.hex() for value in taken]


def _groups(held: Held, rows: NDArray[np.int64]) -> list[str | None]:
    taken = held.table.column("acl").take(pa.array(rows)).to_pylist()
    return [None if groups is None else json.dumps(sorted(set(groups)), ensure_ascii=False) for groups in taken]
