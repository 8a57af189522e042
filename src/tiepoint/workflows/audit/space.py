"""A side of an audit as a space that can be searched under a study."""

from __future__ import annotations

import numpy as np

from tiepoint.core.contract import Role
from tiepoint.core.held import Held
from tiepoint.core.space import Space, Vectors
from tiepoint.core.study import Study
from tiepoint.encoding.check import check_vectors


def space_of(study: Study, held: Held) -> Space | str:
    """The vectors of a side, aligned with the study's documents and queries; or why they cannot be searched.

    An item without a vector, or with one that is not finite or zero, has none here: a document is never found, a query is a
    miss. The vectors gate names them.
    """
    checked = check_vectors(held.vectors, held.contract)
    if checked.shape:
        return f"{held.name} cannot be searched: {checked.shape}"
    usable = np.ones(len(held.vectors) + 1, dtype=bool)  # the last stands for row -1
    usable[checked.broken] = False

    def aligned(role: Role, ids: list[str]) -> Vectors:
        found = held.aligned(role, ids)
        return Vectors(found.array, np.where(usable[found.row], found.row, -1))

    documents, queries = aligned("document", study.corpus.ids), aligned("query", list(study.queries.ids))
    for what, one in (("document", documents), ("question", queries)):
        if (one.row < 0).all():
            return f"{held.name} holds no vector of any {what} of the study"
    return Space(held.contract, documents, queries, held.noise)
