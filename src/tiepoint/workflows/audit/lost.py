"""The queries that a move changed most for the worse, with both rankings side by side, as far as the readers may see them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiepoint.core.audit_quality import Lost, Ranked
from tiepoint.stats.difference import SAME
from tiepoint.workflows.audit.pair import Pair, Part, Side
from tiepoint.workflows.show import HIDDEN_ANSWER, NO_READERS

MOST = 10
"""So many queries are shown; the owner's table per_query holds all."""


@dataclass(frozen=True, slots=True)
class LostFound:
    """queries: worst first, then by id. hidden: why some or all are left out for these readers; None: nothing is withheld."""

    queries: tuple[Lost, ...]
    hidden: str | None


def lost(pair: Pair) -> LostFound:
    """The queries of the gates' slice that lost most of the gates' measure, as ranked; those that lost nothing, or nothing but
    what noise of encoding could have moved, are not there.

    A hit whose document the readers may not see stands with its rank alone. A query with an answer that they may not see is
    left out, lost or not. Under an acl without readers no query is shown.
    """
    if not pair.study.corpus.public and pair.study.readers is None:
        return LostFound((), NO_READERS)
    name = pair.study.rule.measure
    group = pair.whole(next(p for p in pair.parts if p.name == pair.study.rule.slice))
    source, target = (side.measured(group.slice).columns[name].take(group.queries).values for side in pair.sides)
    told = pair.told()[group.queries]
    unsure = pair.pairs(group, name).unsure
    left_out = ~told if unsure is None else ~told | unsure
    away = np.where(np.isnan(source) | np.isnan(target) | left_out, 0.0, target - source)
    # Queries stand in ascending id, so a stable sort by the difference alone leaves equal losses in ascending id.
    order = [i for i in np.argsort(away, kind="stable") if away[i] < -SAME][:MOST]
    shown = pair.study.shown_units
    return LostFound(
        tuple(
            Lost(
                query=pair.study.queries.ids[group.queries[i]],
                measure=name,
                source=float(source[i]),
                target=float(target[i]),
                source_hits=_hits(pair, pair.source, group, int(group.queries[i]), shown),
                target_hits=_hits(pair, pair.target, group, int(group.queries[i]), shown),
            )
            for i in order
        ),
        None if told.all() else f"a query is {HIDDEN_ANSWER.replace(': it has', ' where it has')}",
    )


def _hits(pair: Pair, side: Side, group: Part, query: int, shown: np.ndarray) -> tuple[Ranked, ...]:
    """The first k hits of one query."""
    measured, k = side.measured(group.slice), pair.study.k
    hits = []
    for place, unit in enumerate(measured.run.document[query, :k]):
        if unit < 0:
            break
        grade, score = int(measured.grade[query, place]), float(measured.run.score[query, place])
        if shown[unit]:
            named = pair.study.corpus.units.ids[unit]
            hits.append(Ranked(place + 1, named, score, grade if grade >= 0 else None))
        else:
            hits.append(Ranked(place + 1, None, None, None))
    return tuple(hits)
