"""The queries that a reader of a report may open: taken from the owner's rows, with nothing that the readers may not see."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.compute as pc

from tiepoint.core.report import Explorer, NotOpen, OpenedGold, OpenedQuery, OpenedView
from tiepoint.core.result import Result, Summary
from tiepoint.core.shown import Found
from tiepoint.errors import InputError
from tiepoint.measures import parse
from tiepoint.report.table import main_recall
from tiepoint.workflows.report.hits import MOST_DIFFERING, MOST_HITS, Row, Texts, by_key, fits, opened_hits
from tiepoint.workflows.show import NO_READERS

MOST_GOLD = 50
VIEWS = ("unfiltered", "filtered")
NO_ROWS = (
    "the folder of this result holds no rows/, which names every id and is the owner's: no query can be opened here. The "
    "figures are whole without it"
)
NO_GOLD = (
    "the folder of this result holds no rows/gold.parquet, or an empty one: without it nobody can tell which answers the "
    "readers may see, so no query can be opened here. The figures are whole without it"
)
NONE_RANKED = "no candidate was measured, so there is no ranking to open"


def explorer(result: Result, *, texts: Texts | None = None, most: int | None = None) -> Explorer | NotOpen:
    """The queries of a result, the ones that differ most first.

    texts    None: no text
    most     so many queries at most; None: all, or MOST_DIFFERING where all would take more than ROOM
    returns  NotOpen where the result has no rows, or where its acl has no readers named
    """
    summary = result.summary
    if summary.counts.documents is None:
        return NotOpen(NO_READERS)
    if result.queries.num_rows == 0:
        return NotOpen(NO_ROWS)
    candidates = tuple(c.id for c in summary.candidates if c.status == "measured")
    if not candidates:
        return NotOpen(NONE_RANKED)
    if result.rankings.num_rows == 0 or result.per_query.num_rows == 0:
        return NotOpen(NO_ROWS)
    if result.gold.num_rows == 0:
        return NotOpen(NO_GOLD)
    arms = (*candidates, *(b.id for b in summary.baselines if b.status == "measured"))
    withheld = withheld_queries(result)
    differing = _differing(result, candidates if len(candidates) > 1 else arms[:2], withheld)
    measures = tuple(dict.fromkeys((summary.decision.measure, main_recall(summary))))
    depth = min(max(summary.k, _cutoff(summary.decision.measure, summary.k)), MOST_HITS)
    if most is None:
        hits = result.rankings.filter(pc.field("slice").isin(VIEWS) & (pc.field("rank") <= depth)).num_rows
        values = 2 * len(arms) * len(measures) * len(differing)
        whole = fits(hits=hits, values=values, queries=len(differing))
        most = len(differing) if whole else MOST_DIFFERING
    chosen = differing[:most]
    views = [name for name in VIEWS if summary.denominators[name].queries]
    made = _Maker(result, arms, measures, depth, chosen, views, withheld)
    queries = tuple(made.query(query, texts) for query in chosen)
    named = {hit.document for q in queries for view in q.views.values() for r in view.rankings for hit in r}
    named |= {gold.document for q in queries for view in q.views.values() for gold in view.gold}
    return Explorer(
        arms=arms,
        beside=_beside(summary, candidates, arms),
        measures=measures,
        views=tuple(views),
        first=summary.decision.slice if summary.decision.slice in views else views[-1],
        k=summary.k,
        depth=depth,
        ranked=int(pc.max(result.rankings.column("rank")).as_py()),
        total=len(differing),
        queries=queries,
        texts={} if texts is None else {d: texts.documents[d] for d in sorted(texts.documents) if d in named},
    )


def _beside(summary: Summary, candidates: Sequence[str], arms: Sequence[str]) -> tuple[str, str]:
    """The choice, decided or by point estimate, and the best of the others."""
    rule = summary.decision
    mean = {s.id: s.mean or 0.0 for s in rule.standings}
    one = next((c for c in (rule.choice, rule.point_choice) if c in candidates), None) or candidates[0]
    others = [c for c in candidates if c != one] or [a for a in arms if a != one]
    return (one, max(others, key=lambda c: mean.get(c, -1.0)))


def _cutoff(measure: str, k: int) -> int:
    try:
        return parse(measure).cutoff
    except InputError:
        return k  # a measure that this tiepoint no longer has


def withheld_queries(result: Result) -> frozenset[str]:
    """The queries with an answer that the readers may not see, in any slice: a value of one would tell where that answer is."""
    gold = result.gold.filter((pc.field("grade") >= 1) & ~pc.field("shown"))
    return frozenset(gold.column("query").to_pylist())


def _differing(result: Result, arms: Sequence[str], withheld: frozenset[str]) -> list[str]:
    """Every query: the largest spread of the rule's measure among these arms first, then by id; unscored, withheld last."""
    rule = result.summary.decision
    chosen = result.per_query.filter(
        (pc.field("measure") == rule.measure) & (pc.field("slice") == rule.slice) & pc.field("candidate").isin(arms)
    )
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    for query, value in zip(chosen.column("query").to_pylist(), chosen.column("value").to_pylist(), strict=True):
        if value is not None and query not in withheld:
            low[query] = min(low.get(query, value), value)
            high[query] = max(high.get(query, value), value)
    spread = {query: high[query] - low[query] for query in low}
    return sorted(result.queries.column("query").to_pylist(), key=lambda q: (-spread.get(q, -1.0), q))


class _Maker:
    """Looks the chosen queries up in the rows, which are read once."""

    def __init__(
        self,
        result: Result,
        arms: Sequence[str],
        measures: Sequence[str],
        depth: int,
        chosen: Sequence[str],
        views: Sequence[str],
        withheld: frozenset[str],
    ) -> None:
        self.arms, self.measures, self.depth, self.k = arms, measures, depth, result.summary.k
        self.suspects = frozenset(result.summary.suspects.queries)
        mine = pc.field("query").isin(chosen) & pc.field("slice").isin(views)
        self.views, self.withheld = views, withheld
        self.rows = {row["query"]: row for row in result.queries.filter(pc.field("query").isin(chosen)).to_pylist()}
        self.hits = by_key(result.rankings.filter(mine), ("slice", "query", "candidate"))
        gold = result.gold.filter(mine & pc.field("shown")).drop_columns(["found_by"])
        self.gold = by_key(gold, ("slice", "query"))
        values = result.per_query.filter(mine & pc.field("measure").isin(measures))
        columns = (values.column(name).to_pylist() for name in ("slice", "query", "candidate", "measure", "value"))
        self.values = {(s, q, a, m): v for s, q, a, m, v in zip(*columns, strict=True)}
        self.stands = {(s, q) for s, q, *_ in self.values}

    def query(self, query: str, texts: Texts | None) -> OpenedQuery:
        row = self.rows[query]
        return OpenedQuery(
            id=query,
            split=row["split"],
            subgroups=tuple(row["subgroups"] or ()),
            regions=tuple(row["regions"] or ()),
            rare=bool(row["rare"]),
            no_answer=bool(row["no_answer"]),
            suspect=query in self.suspects,
            withheld=query in self.withheld,
            text=None if texts is None else texts.queries.get(query),
            views={name: self._view(name, query) for name in self.views if (name, query) in self.stands},
        )

    def _view(self, name: str, query: str) -> OpenedView:
        filtered = ("filtered", query) in self.stands
        rankings = []
        for arm in self.arms:
            rows = self.hits.get((name, query, arm), [])
            kept: frozenset[str] | None = None
            if name == "unfiltered" and filtered:
                kept = frozenset(str(r["document"]) for r in self.hits.get(("filtered", query, arm), ()))
            rankings.append(opened_hits(rows[: self.depth], kept))
        gold = self._gold(name, query)
        values = {} if query in self.withheld else self.values
        return OpenedView(
            values={m: tuple(values.get((name, query, a, m)) for a in self.arms) for m in self.measures},
            rankings=tuple(rankings),
            gold=gold[:MOST_GOLD],
            gold_more=max(len(gold) - MOST_GOLD, 0),
        )

    def _gold(self, name: str, query: str) -> tuple[OpenedGold, ...]:
        rows = sorted(self.gold.get((name, query), ()), key=lambda r: (-int(str(r["grade"])), str(r["document"])))
        first = [
            {r["document"] for r in self.hits.get((name, query, arm), ()) if int(str(r["rank"])) <= self.k}
            for arm in self.arms
        ]
        return tuple(
            OpenedGold(str(r["document"]), int(str(r["grade"])), tuple(_state(r, found) for found in first))
            for r in rows
        )


def _state(row: Row, found: set[object]) -> Found:
    if row["state"] == "filtered":
        return "filtered"
    if row["state"] == "absent":
        return "absent"
    return "found" if row["document"] in found else "missed"
