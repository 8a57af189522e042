"""The queries of an audit that a reader of its report may open: both sides' rankings, documents in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pyarrow.compute as pc

from tiepoint.core.audit import Audit
from tiepoint.core.report import Explorer, NotOpen, OpenedHit, OpenedQuery, OpenedView
from tiepoint.workflows.report.hits import MOST_DIFFERING, MOST_HITS, by_key, fits, opened_hits
from tiepoint.workflows.show import NO_READERS

VIEWS = ("unfiltered", "filtered")
SIDES = ("source", "target")
NO_ROWS = (
    "the folder of this audit holds no rows/, which names every id and is the owner's: no query can be opened here"
)
NOT_RANKED = "the audit ranked nothing: without questions there is no query to open"


def audit_explorer(audit: Audit, *, most: int | None = None) -> Explorer | NotOpen:
    """The queries of an audit, the ones that the move changes most first.

    most     so many queries at most; None: all, or MOST_DIFFERING where all would make the page too large
    returns  NotOpen where nothing was ranked, the rows are missing, or an acl has no readers named
    """
    found = audit.summary
    if found.quality is None:
        return NotOpen(NOT_RANKED)
    if found.quality.lost_hidden == NO_READERS:
        return NotOpen(NO_READERS)
    if audit.per_query.num_rows == 0 or audit.rankings.num_rows == 0:
        return NotOpen(NO_ROWS)
    measures = tuple(dict.fromkeys(audit.per_query.column("measure").to_pylist()))[:3]
    judged = next((a.measure for a in found.agreement), measures[0])
    measures = (judged, *(m for m in measures if m != judged))[:3]
    told = frozenset(audit.per_query.filter(pc.field("shown")).column("query").to_pylist())
    differing = _differing(audit, judged, told)
    depth = min(found.k, MOST_HITS)
    if most is None:
        inside = audit.rankings.filter(pc.field("slice").isin(VIEWS) & (pc.field("rank") <= depth)).num_rows
        whole = fits(hits=inside, values=4 * len(measures) * len(differing), queries=len(differing))
        most = len(differing) if whole else MOST_DIFFERING
    chosen = differing[:most]
    views = [v for v in VIEWS if v in set(audit.per_query.column("slice").to_pylist())]
    return Explorer(
        arms=SIDES,
        beside=SIDES,
        measures=measures,
        views=tuple(views),
        first=views[-1],
        k=found.k,
        depth=depth,
        ranked=int(pc.max(audit.rankings.column("rank")).as_py()),
        total=len(differing),
        queries=tuple(_queries(audit, chosen, views, measures, depth, told)),
    )


def _differing(audit: Audit, measure: str, told: frozenset[str]) -> list[str]:
    """Every query, the largest change of the measure in any slice first, then by id; those whose values may not be told last."""
    away = dict.fromkeys(sorted(set(audit.per_query.column("query").to_pylist())), -1.0)
    rows = audit.per_query.filter((pc.field("measure") == measure) & pc.field("difference").is_valid())
    for query, value in zip(rows.column("query").to_pylist(), rows.column("difference").to_pylist(), strict=True):
        if query in told:
            away[query] = max(away[query], abs(value))
    return sorted(away, key=lambda q: (-away[q], q))


def _queries(
    audit: Audit,
    chosen: Sequence[str],
    views: Sequence[str],
    measures: Sequence[str],
    depth: int,
    told: frozenset[str],
) -> list[OpenedQuery]:
    mine = pc.field("query").isin(chosen) & pc.field("slice").isin(views)
    hits = by_key(audit.rankings.filter(mine), ("slice", "query", "side"))
    asked = audit.per_query.filter(mine & pc.field("measure").isin(measures))
    values = by_key(asked.filter(pc.field("shown")), ("slice", "query", "measure"))
    stands = set(zip(asked.column("slice").to_pylist(), asked.column("query").to_pylist(), strict=True))
    made = []
    for query in chosen:
        found: dict[str, OpenedView] = {}
        for view in views:
            if (view, query) not in stands:
                continue
            rows = {m: values.get((view, query, m), [{}])[0] for m in measures}
            ranked = [hits.get((view, query, side), [])[: audit.summary.k] for side in SIDES]
            first = [{str(row["document"]) for row in rows} for rows in ranked]
            pair = [opened_hits(rows[:depth]) for rows in ranked]
            found[view] = OpenedView(
                values={m: (_number(row.get("source")), _number(row.get("target"))) for m, row in rows.items()},
                rankings=(_moved(pair[0], first[1], "out"), _moved(pair[1], first[0], "in")),
            )
        made.append(OpenedQuery(id=query, withheld=query not in told, views=found))
    return made


def _moved(hits: Sequence[OpenedHit], other: set[str], way: Literal["in", "out"]) -> tuple[OpenedHit, ...]:
    """The hits of one side, marked where the other side's first k lack their document, seen or not."""
    return tuple(replace(h, moved=way) if h.document and h.document not in other else h for h in hits)


def _number(value: object) -> float | None:
    return None if value is None else float(str(value))
