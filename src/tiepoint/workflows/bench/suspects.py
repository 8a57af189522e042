"""Queries whose labels are in doubt, since nothing finds what they say is relevant; and ids that may be confused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiepoint.core.figure import Suspects
from tiepoint.core.study import Study
from tiepoint.errors import some
from tiepoint.workflows.cells import SMALL_CELL, told
from tiepoint.workflows.figures import ArmRun
from tiepoint.workflows.slices import Slice, scored


def suspects(study: Study, arms: Sequence[ArmRun], bm25: ArmRun, parts: Sequence[Slice]) -> Suspects:
    """The scored queries for which neither a candidate nor BM25 finds a relevant document within k, in any slice.

    arms      measured candidates; without one nothing is said, since BM25 alone proves nothing about labels
    returns   ids in id order, but for queries with an answer that named readers may not see; none, and no count, where none
              are named and so few queries may not be shown
    """
    if not arms:
        return Suspects()
    qrels = study.qrels
    asked = np.zeros(len(study.queries), dtype=bool)
    found = np.zeros(len(study.queries), dtype=bool)
    for part in parts:
        inside = np.zeros(len(study.queries), dtype=bool)
        inside[part.queries] = True
        asked |= inside & scored(study, part.view)
        gold = np.flatnonzero(inside[qrels.query] & part.view.counted & (qrels.grade >= 1) & (qrels.document >= 0))
        for arm in [*arms, bm25]:
            top = arm.views[part.view.name].run.document[:, : study.k]
            hit = (top[qrels.query[gold]] == qrels.document[gold][:, None]).any(axis=1)
            found[qrels.query[gold[hit]]] = True
    unnamed = not study.corpus.public and study.readers is None
    doubted = np.flatnonzero(asked & ~found & (unnamed | told(study)))
    if unnamed and 0 < len(doubted) < SMALL_CELL:
        return Suspects()
    return Suspects(len(doubted), tuple(study.queries.ids[i] for i in doubted))


def confusable_ids(study: Study) -> tuple[str, ...]:
    """A note where query ids are document ids too; documents that the readers may not see are not looked at.

    Some corpora hold their queries as documents and leave each out of its own ranking. tiepoint never does: an equal id
    says nothing about what it names.
    """
    units = study.corpus.units.ids
    shown = {units[i] for i in np.flatnonzero(study.shown_units)}
    both = [name for name in study.queries.ids if name in shown]
    if not both:
        return ()
    return (
        f"{len(both):,} query ids are document ids too ({some(both)}): they are taken as unrelated, and no document is "
        "dropped from the ranking of its namesake",
    )
