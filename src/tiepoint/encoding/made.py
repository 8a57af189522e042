"""Vectors made elsewhere: taken as a Space only when every one of them is what its contract says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Contract
from tiepoint.core.space import Space, Vectors
from tiepoint.encoding.check import check_vectors
from tiepoint.encoding.encoded import Encoded
from tiepoint.errors import Problem, Problems, some


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """Vectors of one role as somebody brought them: one id a row, and where they lie, for messages."""

    ids: Sequence[str]
    array: NDArray[np.floating]
    where: str


def made_space(
    contract: Contract, documents: Made, queries: Made, *, document_ids: Sequence[str], query_ids: Sequence[str]
) -> Encoded:
    """A space over vectors made elsewhere, aligned with a study's documents and queries. Nothing is timed.

    Vectors of ids that the study lacks are checked too, left out, and counted in the notes.
    raises   InputError naming every offender of both roles: NaN, infinity, zero, dimension, dtype, norm, missing and repeated ids
    """
    problems = Problems()
    problems.extend(vector_problems(documents, contract, wanted=document_ids, what="documents"))
    problems.extend(vector_problems(queries, contract, wanted=query_ids, what="queries"))
    problems.raise_if_any()
    notes = []
    for made, wanted, what in ((documents, document_ids, "documents"), (queries, query_ids, "queries")):
        if extra := len(set(made.ids) - set(wanted)):
            notes.append(f"{extra:,} vectors are of {what} that the study lacks; they are left out")
    space = Space(contract, _aligned(documents, document_ids), _aligned(queries, query_ids))
    return Encoded(space=space, notes=tuple(notes))


def vector_problems(made: Made, contract: Contract, *, wanted: Sequence[str], what: str) -> list[Problem]:
    """Everything that is wrong with one role's vectors.

    wanted   the ids that the study has
    what     their kind in the plural, for messages: "documents", "queries"
    """
    problems = Problems()

    def add(offenders: Sequence[str], of: int, sentence: str, fix: str) -> None:
        if offenders:
            problems.add(
                f"{len(offenders):,} of {of:,} {sentence}", where=f"{made.where}, ids {some(offenders)}", fix=fix
            )

    repeated = [name for name, count in Counter(made.ids).items() if count > 1]
    add(repeated, len(made.ids), f"{what} have more than one vector", "keep one vector for each id")
    there = set(made.ids)
    missing = [name for name in wanted if name not in there]
    add(missing, len(wanted), f"{what} have no vector", "bring a vector for every id of the study")
    found = check_vectors(made.array, contract, items=len(made.ids))
    for sentence in (found.shape, found.dtype):
        if sentence:
            problems.add(
                f"vectors of {what} have the {sentence}", where=made.where, fix="correct the contract or the file"
            )
    for rows, sentence, fix in (
        (found.not_finite, "hold NaN or infinity", "make them again; a value over 65,504 does not fit into float16"),
        (found.zero, "are zero", "a zero vector has no direction: leave the text out, or make it again"),
        (
            found.off_norm,
            f"have a length off 1 by more than {contract.tolerance:g}",
            "normalise them, or say normalized = false in the contract",
        ),
    ):
        add([made.ids[i] for i in rows], len(made.ids), f"vectors of {what} {sentence}", fix)
    return problems.found


def _aligned(made: Made, wanted: Sequence[str]) -> Vectors:
    row = {name: i for i, name in enumerate(made.ids)}
    return Vectors(made.array, np.array([row[name] for name in wanted], dtype=np.int64))
