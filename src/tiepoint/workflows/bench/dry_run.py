"""What bench would encode, what it would take from the stores, how long it would take and cost."""

from __future__ import annotations

from collections.abc import Sequence

from tiepoint.core.candidate import RUN, Candidate
from tiepoint.core.dry_run import CandidateRun, DryRun, RoleRun
from tiepoint.core.study import Study
from tiepoint.encoding.encoded import Items
from tiepoint.encoding.preview import Preview, RolePreview, preview
from tiepoint.encoding.shelf import Encoding
from tiepoint.workflows.candidates.spaces import Opened, store_folder
from tiepoint.workflows.candidates.tried import open_chosen, tried

MADE = "its vectors were made elsewhere and are read anew"
RANKED = "its rankings were made elsewhere and are read anew"


def dry_run(
    study: Study,
    *,
    candidates: Sequence[Candidate] | None = None,
    only: Sequence[str] | None = None,
    fresh: bool = False,
) -> DryRun:
    """The same candidates as bench would run, checked as it would check them. Encodes nothing, writes nothing.

    raises   InputError where bench would
    """
    opened = open_chosen(study, tried(study, candidates), only)
    runs = tuple(_one(study, one, fresh=fresh) for one in opened)
    executed = [run for run in runs if run.executed]
    seconds = [run.seconds for run in executed if run.seconds is not None]
    prices = [run.price for run in executed if run.price is not None]
    return DryRun(
        study=study.name,
        candidates=runs,
        seconds=sum(seconds) if len(seconds) == len(executed) else None,
        price=sum(prices) if len(prices) == len(executed) else None,
    )


def _one(study: Study, opened: Opened, *, fresh: bool) -> CandidateRun:
    candidate = opened.candidate
    if opened.not_executed is not None:
        return CandidateRun(id=candidate.id, executed=False, reason=opened.not_executed)
    if opened.embedder is None:
        return CandidateRun(
            id=candidate.id, executed=True, reason=RANKED if candidate.embedder == RUN else MADE, seconds=0.0, price=0.0
        )
    found = preview(
        opened.embedder,
        Items(study.corpus.ids, study.corpus.texts),
        Items(study.queries.ids, study.queries.texts),
        store_folder=store_folder(candidate, opened.embedder.contract, study),
        fresh=fresh,
        only_new=True,
    )
    measured = next((one for one in reversed(found.history) if one.documents and one.document_s > 0), None)
    return CandidateRun(
        id=candidate.id,
        executed=True,
        reason=found.reason,
        documents=_role(found.documents),
        queries=_role(found.queries),
        measured_on=None if measured is None else measured.date,
        seconds=_seconds(found, measured),
        price=_price(candidate, found),
    )


def _role(found: RolePreview) -> RoleRun:
    tokens = found.encode_tokens
    return RoleRun(texts=found.texts, encode=found.encode, tokens=None if tokens is None else round(tokens))


def _seconds(found: Preview, measured: Encoding | None) -> float | None:
    """Load, documents by tokens/s where both are known (else by documents/s), queries by queries/s."""
    documents, queries = found.documents, found.queries
    if not documents.encode and not queries.encode:
        return 0.0
    if measured is None:
        return None
    total = measured.load_s
    if documents.encode_tokens is not None and measured.document_tokens:
        total += documents.encode_tokens * measured.document_s / measured.document_tokens
    else:
        total += documents.encode * measured.document_s / measured.documents
    if queries.encode:
        if not measured.queries_per_s:
            return None
        total += queries.encode / measured.queries_per_s
    return total


def _price(candidate: Candidate, found: Preview) -> float | None:
    price = candidate.price_per_million_tokens
    if price == 0 or not (found.documents.encode or found.queries.encode):
        return 0.0
    tokens = (found.documents.encode_tokens, found.queries.encode_tokens)
    if price is None or tokens[0] is None or tokens[1] is None:
        return None
    return price * (tokens[0] + tokens[1]) / 1e6
