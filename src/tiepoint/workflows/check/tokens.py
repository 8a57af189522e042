"""Every candidate's token lengths before a run, counted with its tokenizer alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.candidate import RUN
from tiepoint.core.check import CandidateCheck, Lengths
from tiepoint.core.study import Study
from tiepoint.encoding.encoded import Items
from tiepoint.encoding.lengths import token_lengths
from tiepoint.encoding.preview import preview
from tiepoint.workflows.candidates.spaces import Opened, store_folder
from tiepoint.workflows.check.study import spread
from tiepoint.workflows.check.texts import named

MADE = "its vectors were made elsewhere: what its model reads of a text is not known here"

RANKED = "its rankings were made elsewhere: nothing is encoded"


def candidate_check(study: Study, opened: Opened) -> CandidateCheck:
    """One candidate that was opened; loads a tokenizer where there is one, never a model."""
    candidate = opened.candidate
    if opened.embedder is None:
        elsewhere = RANKED if candidate.embedder == RUN else MADE
        return CandidateCheck(id=candidate.id, embedder=candidate.embedder, reason=opened.not_executed or elsewhere)
    documents = Items(study.corpus.ids, study.corpus.texts)
    queries = Items(study.queries.ids, study.queries.texts)
    contract = opened.embedder.contract
    found = preview(opened.embedder, documents, queries, store_folder=store_folder(candidate, contract, study))
    return CandidateCheck(
        id=candidate.id,
        embedder=candidate.embedder,
        reason=found.reason,
        documents=None if found.reason else _lengths(found.documents.tokens, contract.max_input_tokens, documents),
        queries=None if found.reason else _lengths(found.queries.tokens, contract.max_input_tokens, queries),
    )


def _lengths(tokens: NDArray[np.int64], limit: int | None, items: Items) -> Lengths | None:
    known = np.flatnonzero(tokens >= 0)
    found = token_lengths(tokens[known], limit)
    if found is None:
        return None
    return Lengths(
        counted=len(known),
        tokens=spread(tokens[known]),
        limit=limit,
        cut_texts=found.cut_texts,
        cut_tokens=found.cut_tokens,
        worst=named([items.ids[int(i)] for i in known[found.over]]),
    )
