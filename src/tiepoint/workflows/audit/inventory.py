"""What two sides hold: ids both ways from the rows themselves, repeats, deletions, and counts that close or do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tiepoint.core.audit_findings import Holding, Inventory
from tiepoint.core.held import Held, Ledger
from tiepoint.workflows.audit.bounds import Bounds, Seen
from tiepoint.workflows.audit.findings import Side, item_findings, together
from tiepoint.workflows.audit.items import Items, greatest, version_ranks


@dataclass(frozen=True, slots=True, eq=False)
class _Facts:
    """One side over every row. Masks are (items,) bool.

    deleted     items with a tombstone on this side
    returned    live items of which a tombstone says that they were taken out, and no later version brought them back
    watermark   the greatest version of a tombstone, of all; None: not known
    """

    held: Held
    of_row: NDArray[np.int64]
    live: NDArray[np.int64]
    deleted: NDArray[np.bool_]
    returned: NDArray[np.bool_]
    ranks: NDArray[np.int64]


def audit_inventory(source: Held, target: Held, items: Items, bounds: Bounds) -> Seen[Inventory]:
    """Ids both ways, repeats, tombstones and returned deletions of each side, and the ledger against the rows.

    An item is an id in a role; one whose role differs between the sides is shared, and a mismatch of the canon. A deletion has
    come back where the item has a live row on the side of its tombstone, or, for the target, where the source's tombstone
    says so, unless the live row's version is the later one. Under bounds a Holding counts what the readers may see, and
    the ledger, which counts everything, is left out; closed is over every row all the same.
    """
    ranks = version_ranks(source, target)
    count = len(items)
    tombs = [
        _tombs(held, of_row, rank, count)
        for held, of_row, rank in ((source, items.source, ranks[0]), (target, items.target, ranks[1]))
    ]
    facts: dict[Side, _Facts] = {}
    sides: tuple[tuple[Side, Held, NDArray[np.int64], NDArray[np.int64]], ...] = (
        ("source", source, items.source, items.source_live),
        ("target", target, items.target, items.target_live),
    )
    for i, (side, held, of_row, live) in enumerate(sides):
        told = tombs[0] if side == "source" else np.maximum(tombs[0], tombs[1])
        there = held.live
        newest = greatest(of_row[there], ranks[i][there], count)
        returned = (live > 0) & (told >= -1) & ~((newest > told) & (told >= 0))
        facts[side] = _Facts(held, of_row, live, tombs[i] >= -1, returned, ranks[i])
    only = {"source": (items.source_live > 0) & ~items.shared, "target": (items.target_live > 0) & ~items.shared}

    def build(seen: Bounds) -> Inventory:
        shared = items.guarded(items.shared)
        return Inventory(
            source=_holding(facts["source"], items, seen),
            target=_holding(facts["target"], items, seen),
            only_source=seen.offenders(*items.guarded(only["source"])),
            only_target=seen.offenders(*items.guarded(only["target"])),
            shared=int(seen.shown(*shared).sum()),
        )

    return Seen.of(build, bounds, _findings(facts, only, items))


def _tombs(held: Held, of_row: NDArray[np.int64], ranks: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """(items,) the greatest version rank of the item's tombstones, -1 where it is not known, -2 where it has none."""
    most = np.full(count, -2, dtype=np.int64)
    np.maximum.at(most, of_row[~held.live], ranks[~held.live])
    return most


def _holding(facts: _Facts, items: Items, seen: Bounds) -> Holding:
    held = facts.held
    may = seen.shown(held.table.column("id"), held.documents)
    live = held.live
    documents, queries = int((live & held.documents & may).sum()), int((live & ~held.documents & may).sum())
    ledger = held.ledger if seen.whole else Ledger()
    return Holding(
        rows=int(may.sum()),
        documents=documents,
        queries=queries,
        duplicates=seen.offenders(*items.guarded(facts.live > 1)),
        tombstones=seen.offenders(*items.guarded(facts.deleted)),
        returned=seen.offenders(*items.guarded(facts.returned)),
        watermark=_watermark(held, facts.ranks, ~live & may),
        wanted=ledger.wanted,
        encoded=ledger.encoded,
        cached=ledger.cached,
        failed=ledger.failed,
        closed=_closed(held),
        bytes=(documents + queries) * held.vectors.shape[1] * held.vectors.itemsize,
    )


def _watermark(held: Held, ranks: NDArray[np.int64], rows: NDArray[np.bool_]) -> str | None:
    """The greatest known version among these rows, as it is written."""
    found = np.where(rows, ranks, -1)
    if not len(found) or found.max() < 0:
        return None
    return str(held.table.column("version")[int(found.argmax())].as_py())


def _closed(held: Held) -> bool | None:
    """Whether the ledger closes over every row of the side; None: it is not whole."""
    ledger = held.ledger
    if None in (ledger.wanted, ledger.encoded, ledger.cached, ledger.failed):
        return None
    made = (ledger.encoded or 0) + (ledger.cached or 0)
    return ledger.wanted == made + (ledger.failed or 0) and int(held.live.sum()) == made


def _findings(facts: dict[Side, _Facts], only: dict[str, NDArray[np.bool_]], items: Items) -> pa.Table:
    tables = []
    for side, one in facts.items():
        for kind, chosen in (
            (f"only in {side}", only[side]),
            ("repeated", one.live > 1),
            ("tombstone", one.deleted),
            ("deleted and back", one.returned),
        ):
            if chosen.any():
                ids = items.ids.filter(pa.array(chosen))
                tables.append(item_findings("inventory", kind, ids, items.documents[chosen], side=side))
    return together(tables)
