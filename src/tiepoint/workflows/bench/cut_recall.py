"""Does cutting texts cost recall? Relevant documents that the model's limit cut, beside those that it read whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.figure import CutRecall, Figure
from tiepoint.core.study import Study
from tiepoint.encoding.encoded import Encoded
from tiepoint.stats.interval import bca, trusted
from tiepoint.stats.resample import Draws, by_cluster, stream
from tiepoint.workflows.cells import shown
from tiepoint.workflows.figures import ArmRun
from tiepoint.workflows.slices import Slice, scored

DEFINITION = (
    "relevant documents within the first k hits over all relevant documents of the corpus, all queries together, without a "
    "filter; once over those whose text the candidate's token limit cut (of passages: any of them), once over the others"
)


def cut_recall(study: Study, arm: ArmRun, encoded: Encoded, part: Slice) -> CutRecall | None:
    """The two recalls of one candidate.

    part      the unfiltered slice
    returns   None where there is no limit, nothing to count tokens with, or no relevant document that was cut
    """
    limit = encoded.space.contract.max_input_tokens
    if limit is None or encoded.document_lengths is None:
        return None
    units = study.corpus.units
    cut = np.zeros(len(units.ids), dtype=bool)
    np.logical_or.at(cut, units.of_row, encoded.document_lengths > limit)
    qrels = study.qrels
    gold = np.flatnonzero(part.view.counted & (qrels.grade >= 1) & (qrels.document >= 0))
    gold = gold[scored(study, part.view)[qrels.query[gold]]]
    top = arm.views[part.view.name].run.document[:, : study.k]
    found = (top[qrels.query[gold]] == qrels.document[gold][:, None]).any(axis=1)
    was_cut = cut[qrels.document[gold]]
    if not was_cut.any():
        return None
    return CutRecall(
        measure=f"recall@{study.k}",
        cut=_pooled(study, qrels.query[gold[was_cut]], found[was_cut], f"{arm.id}: cut"),
        uncut=_pooled(study, qrels.query[gold[~was_cut]], found[~was_cut], f"{arm.id}: uncut"),
    )


def _pooled(study: Study, query: NDArray[np.int64], found: NDArray[np.bool_], purpose: str) -> Figure:
    """Found over all of these (query, document) pairs; n counts the queries."""
    asked, number = np.unique(query, return_inverse=True)
    if not len(asked) or not shown(study, [asked], np.ones(len(study.queries), dtype=bool))[0]:
        return Figure(None, None, None, 0)
    cluster = study.queries.clusters(asked)
    sums = np.zeros((len(asked), 2))
    np.add.at(sums, number, np.stack([found.astype(np.float64), np.ones(len(found))], axis=1))
    units = by_cluster(sums, cluster)
    draws = Draws(stream(study.seed, "interval", "recall on cut", purpose))
    low, high = bca(units[:, :1], units[:, 1:], level=study.rule.level, draws=draws)
    known = bool(np.isfinite(low[0]) and np.isfinite(high[0]))
    return Figure(
        float(found.mean()),
        float(low[0]) if known else None,
        float(high[0]) if known else None,
        len(asked),
        not known or bool(trusted(units[:, :1], units[:, 1:])[0]),
    )
