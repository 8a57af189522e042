"""Whether vectors are in the space that their label names: a random sample is embedded again and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.audit_findings import Provenance, Stratum
from tiepoint.core.candidate import Candidate
from tiepoint.core.contract import Contract, Role
from tiepoint.core.held import Held
from tiepoint.core.study import Study
from tiepoint.embedders import installed_candidates, live_names, open_embedder
from tiepoint.encoding.again import encode_again
from tiepoint.encoding.batches import Inputs, Pass, batches
from tiepoint.encoding.embedder import Embedder
from tiepoint.encoding.encoded import EncodingFailed, Items
from tiepoint.encoding.live import Live
from tiepoint.encoding.progress import SILENT, Progress
from tiepoint.encoding.same import AGREEMENT, same_vector
from tiepoint.encoding.shelf import Memory
from tiepoint.errors import TiepointError
from tiepoint.stats.interval import exact_binomial
from tiepoint.stats.resample import stream
from tiepoint.workflows.audit.bounds import Bounds, Seen
from tiepoint.workflows.audit.findings import FINDINGS, Side, item_findings
from tiepoint.workflows.audit.sample import Strata, sample, strata

LEVEL = 0.95
NO_TEXT = "no text of its items is known: bring a column text, or name the STUDY"


@dataclass(frozen=True, slots=True)
class NoEmbedder:
    """Why nothing here can make the vectors of a contract."""

    reason: str


def embedder_of(study: Study | None, contract: Contract) -> Embedder | NoEmbedder:
    """What makes the vectors of a contract: a candidate of the study, else a packaged model, whose signature is equal.

    Nothing is loaded. Candidates that cannot be opened, and vectors and rankings made elsewhere, are passed over.
    """
    tried = list(study.candidates) if study is not None else []
    folder = study.folder if study is not None else Path()
    threads = study.threads if study is not None else 0
    wanted, live = contract.signature(), set(live_names())
    for candidate in [*tried, *installed_candidates()]:
        if candidate.embedder.replace("-", "_") in live:
            embedder = _opened(candidate, folder, threads)
            if embedder is not None and embedder.contract.signature() == wanted:
                return embedder
    return NoEmbedder(
        f"no candidate of the study and no packaged model has the contract of {contract.model}, revision "
        f"{contract.revision} (signature {wanted[:8]}), so nothing here can embed its texts again"
    )


def audit_provenance(
    held: Held,
    side: Side,
    embedder: Embedder | NoEmbedder,
    bounds: Bounds,
    *,
    size: int,
    seed: int,
    level: float = LEVEL,
    progress: Progress = SILENT,
) -> Seen[Provenance]:
    """Embed a sample again and count the rows whose vector is another's.

    Of the live rows whose text is known, each has the same chance to be sampled (audit_sample). A row is elsewhere where the
    cosine of its vector with the one made now is below encoding.same.AGREEMENT, where the contract is not normalised also where
    their distance is too large, and where its text gets no vector now. low and high come from the exact binomial interval of
    the pooled counts: with equal chances it is valid, and wider than it need be, because strata take variance away
    (Hoeffding 1956); where every row was sampled it is the share itself. Live rows that cannot be checked, for want of a
    text, may all be elsewhere or none: they widen it. Under bounds all of this is of the rows that the readers may see, each
    of which had the same chance as any other.

    embedder   of the side's contract, or why there is none
    size       of the sample; seed: the study's; level: two-sided
    returns    not executed, with its reason, where there is no embedder or no text, or the model cannot run
    """
    if isinstance(embedder, NoEmbedder):
        return _not_executed(embedder.reason, bounds, level)
    known = np.zeros(len(held), dtype=bool) if held.texts is None else pc.is_valid(held.texts).to_numpy()
    rows = np.flatnonzero(held.live & known & (held.vector_of >= 0))
    if not len(rows):
        return _not_executed(NO_TEXT, bounds, level)
    if size < 1:
        return _not_executed("the sample was asked to be empty", bounds, level)
    if held.vectors.shape[1] != held.contract.dimension:
        return _not_executed("the vectors are not of the contract's dimension", bounds, level)
    parts = strata(held, rows)
    chosen = sample(parts, size, stream(seed, "provenance", side))
    try:
        elsewhere = _elsewhere(held, chosen, embedder, progress)
    except EncodingFailed as failed:
        return _not_executed(f"the embedder {failed.reason}", bounds, level)
    return _result(held, side, parts, chosen, elsewhere, bounds, level)


def _opened(candidate: Candidate, folder: Path, threads: int) -> Embedder | None:
    try:
        return open_embedder(candidate, folder=folder, threads=threads)
    except TiepointError:
        return None


def _elsewhere(held: Held, chosen: NDArray[np.int64], embedder: Embedder, progress: Progress) -> NDArray[np.bool_]:
    """(chosen,) True where the vector is not the one that the embedder makes of the row's text. Raises EncodingFailed."""
    live = Live(embedder)
    live.load()
    elsewhere = np.ones(len(chosen), dtype=bool)
    documents = held.documents[chosen]
    roles: tuple[tuple[Role, NDArray[np.bool_]], ...] = (("document", documents), ("query", ~documents))
    progress.start(f"{held.name}: embedding a sample again", len(chosen))
    try:
        for role, mask in roles:
            at = np.flatnonzero(mask)
            if len(at):
                elsewhere[at] = _of_role(held, chosen[at], role, live, progress)
    finally:
        progress.finish()
    return elsewhere


def _of_role(held: Held, rows: NDArray[np.int64], role: Role, live: Live, progress: Progress) -> NDArray[np.bool_]:
    texts = _texts(held, rows)
    contract = live.embedder.contract
    inputs = Inputs.of(role, Items([f"{i:09}" for i in range(len(rows))], texts), contract)
    one = Pass.of(inputs, Memory(contract, 0))
    asked = [inputs.text(i) for i in range(len(inputs.keys))]
    counted = live.count(asked)
    if counted is not None:
        one.tokens[:] = counted
    made = encode_again(live, asked, role, batches(one, live.embedder), progress)
    ours = held.vectors[held.vector_of[rows]]
    return ~same_vector(ours, made[inputs.of_item], length_matters=not held.contract.normalized)


def _texts(held: Held, rows: NDArray[np.int64]) -> Sequence[str]:
    if held.texts is None:
        return []
    return [str(text) for text in held.texts.take(pa.array(rows)).to_pylist()]


def _result(
    held: Held,
    side: Side,
    parts: Strata,
    chosen: NDArray[np.int64],
    elsewhere: NDArray[np.bool_],
    bounds: Bounds,
    level: float,
) -> Seen[Provenance]:
    ids, documents, live = held.table.column("id"), held.documents, held.live
    part = parts.of_row[np.searchsorted(parts.rows, chosen)]

    def build(seen: Bounds) -> Provenance:
        may = seen.shown(ids, documents)
        mine, population = may[chosen], may[parts.rows]
        found = mine & elsewhere
        counts = [
            np.bincount(of, minlength=len(parts.names)).tolist()
            for of in (parts.of_row[population], part[mine], part[found])
        ]
        every = (
            Stratum(name=name, rows=rows, sampled=taken, elsewhere=wrong)
            for name, rows, taken, wrong in zip(parts.names, *counts, strict=True)
        )
        rows = pa.array(chosen[found])
        return replace(
            _shares(int(mine.sum()), int(found.sum()), int(population.sum()), int((live & may).sum()), level),
            strata=tuple(stratum for stratum in every if stratum.rows),
            offenders=seen.offenders(ids.take(rows), documents[chosen[found]]),
        )

    wrong = chosen[elsewhere]
    kept = item_findings(
        "provenance", "elsewhere", ids.take(pa.array(wrong)), documents[wrong], side=side, field="vector"
    )
    return Seen.of(build, bounds, kept)


def _shares(sampled: int, elsewhere: int, population: int, live: int, level: float) -> Provenance:
    """The share elsewhere with its interval, for rows of which some may not have been checkable."""
    if not sampled:
        return Provenance(level=level, reason="no row that these readers may see was sampled")
    share = elsewhere / sampled
    low, high = (share, share) if sampled == population else exact_binomial(elsewhere, sampled, level=level)
    unchecked = live - population
    return Provenance(
        sampled=sampled,
        elsewhere=elsewhere,
        share=share,
        low=low * population / live,
        high=(high * population + unchecked) / live,
        level=level,
        unchecked=unchecked,
        agreement=AGREEMENT,
    )


def _not_executed(reason: str, bounds: Bounds, level: float) -> Seen[Provenance]:
    return Seen.of(lambda _: Provenance(level=level, reason=reason), bounds, FINDINGS.empty_table())
