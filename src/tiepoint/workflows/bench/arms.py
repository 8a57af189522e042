"""What a candidate's encoding tells, put into its result: costs, lengths, norms, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.candidate import Candidate
from tiepoint.core.contract import Contract
from tiepoint.core.figure import Norms, Truncation
from tiepoint.core.result import ArmFigures, CandidateResult, Status
from tiepoint.core.space import Vectors
from tiepoint.core.study import Study
from tiepoint.encoding.check import vector_norms
from tiepoint.encoding.encoded import Encoded
from tiepoint.encoding.lengths import Lengths, token_lengths
from tiepoint.errors import FIRST

Figured = TypeVar("Figured", bound=ArmFigures)
NORM_DIGITS = 6
"""Norms are told to a millionth: their last bits change with the processor and say nothing."""


def named(
    candidate: Candidate, contract: Contract | None, status: Status, reason: str | None = None
) -> CandidateResult:
    """A candidate's result before anything is measured. contract None: it could not even be opened."""
    if contract is None:
        return CandidateResult(id=candidate.id, status=status, reason=reason, embedder=candidate.embedder)
    return CandidateResult(
        id=candidate.id,
        status=status,
        reason=reason,
        embedder=candidate.embedder,
        contract=contract.stated(),
        signature=contract.signature(),
        dimension=contract.dimension,
        bytes_per_item=contract.bytes_per_item,
    )


def with_figures(result: Figured, own: ArmFigures) -> Figured:
    """The same result with its figures."""
    return replace(result, **{f.name: getattr(own, f.name) for f in fields(ArmFigures)})


def with_encoding(result: CandidateResult, candidate: Candidate, encoded: Encoded, study: Study) -> CandidateResult:
    """The same result with what its encoding tells; what may not be counted for the readers stays None."""
    timing = encoded.timing
    shown = int(study.shown.sum()) if study.corpus.public or study.readers else None
    contract = encoded.space.contract
    documents = token_lengths(encoded.document_lengths, contract.max_input_tokens)
    queries = token_lengths(encoded.query_lengths, contract.max_input_tokens)
    missing = encoded.space.documents.missing
    return replace(
        result,
        bytes=None if shown is None else shown * contract.bytes_per_item,
        documents_per_s=timing.documents_per_s,
        tokens_per_s=timing.tokens_per_s,
        queries_per_s=timing.queries_per_s,
        query_p50_ms=timing.query_p50_ms,
        query_p95_ms=timing.query_p95_ms,
        load_s=timing.load_s,
        rebuild_s=None if shown is None else _rebuild_s(encoded, study.shown),
        price=_price(candidate, encoded.document_lengths, study),
        encoded_on=timing.encoded_on,
        tokens_cut=None if documents is None else documents.cut_tokens,
        document_tokens=_truncation(documents, () if documents is None else _shown_ids(documents.over, study)),
        query_tokens=_truncation(queries, ()),
        document_norms=_norms(encoded.space.documents),
        query_norms=_norms(encoded.space.queries),
        documents_missing=len(missing) if shown is None else int(study.shown[missing].sum()),
        queries_missing=len(encoded.space.queries.missing),
        missing=_shown_ids(missing, study),
        noise=encoded.space.noise,
        notes=(*encoded.notes, *_without_vector(encoded, study)),
    )


def _without_vector(encoded: Encoded, study: Study) -> Iterator[str]:
    """Why items have no vector: documents counted by reason, as far as they may be counted; queries by name."""
    row = {name: i for i, name in enumerate(study.corpus.ids)} if encoded.failed_documents else {}
    shown = study.shown
    everything = not (study.corpus.public or study.readers)
    reasons = Counter(why for name, why in encoded.failed_documents.items() if everything or shown[row[name]])
    for why, count in sorted(reasons.items()):
        yield f"{count:,} {'document has' if count == 1 else 'documents have'} no vector: {why}"
    for name, why in encoded.failed_queries.items():
        yield f"query {name} is a miss: {why}"


def costs(candidate: Candidate, encoded: Encoded, study: Study) -> dict[str, float | None]:
    """What the cost order goes by, for the whole corpus; the keys are core.study.PREFER."""
    timing, contract = encoded.timing, encoded.space.contract
    tokens = None if encoded.document_lengths is None else int(encoded.document_lengths.sum())
    price = candidate.price_per_million_tokens
    return {
        "dimension": float(contract.dimension),
        "bytes": float(contract.bytes_per_item * len(study.corpus)),
        "documents_per_s": timing.documents_per_s,
        "queries_per_s": timing.queries_per_s,
        "rebuild_s": _rebuild_s(encoded, np.ones(len(study.corpus), dtype=bool)),
        "price": 0.0 if price == 0 else None if price is None or tokens is None else price * tokens / 1e6,
    }


def _rebuild_s(encoded: Encoded, counted: NDArray[np.bool_]) -> float | None:
    """Seconds to encode the counted documents anew, projected from tokens/s where tokens can be counted.

    Texts of one corpus differ in length from those of another encoding, so documents/s only stands in where it must.
    """
    timing, lengths = encoded.timing, encoded.document_lengths
    if lengths is not None and timing.tokens_per_s:
        limit = encoded.space.contract.max_input_tokens
        read = lengths if limit is None else np.minimum(lengths, limit)
        return float(read[counted].sum()) / timing.tokens_per_s
    return float(counted.sum()) / timing.documents_per_s if timing.documents_per_s else None


def _price(candidate: Candidate, lengths: NDArray[np.int64] | None, study: Study) -> float | None:
    """The price of encoding the documents that may be counted."""
    if candidate.price_per_million_tokens is None or lengths is None or not (study.corpus.public or study.readers):
        return None
    return candidate.price_per_million_tokens * int(lengths[study.shown].sum()) / 1e6


def _truncation(found: Lengths | None, worst: tuple[str, ...]) -> Truncation | None:
    if found is None:
        return None
    return Truncation(
        p50=found.p50,
        p95=found.p95,
        max=found.max,
        limit=found.limit,
        cut_texts=found.cut_texts,
        cut_tokens=found.cut_tokens,
        worst=worst,
    )


def _shown_ids(rows: NDArray[np.int64], study: Study) -> tuple[str, ...]:
    """The first of these documents that the readers may see, in the order given."""
    ids = study.corpus.table.column("id")
    return tuple(ids[int(row)].as_py() for row in rows[study.shown[rows]][:FIRST])


def _norms(vectors: Vectors) -> Norms | None:
    """Lengths of the vectors that the items of this study use."""
    used = vectors.row[vectors.row >= 0]
    if not len(used):
        return None
    lengths = vector_norms(vectors.array)[used]
    low, middle, high = (round(float(v), NORM_DIGITS) for v in np.percentile(lengths, [0, 50, 100]))
    return Norms(min=low, median=middle, max=high)
