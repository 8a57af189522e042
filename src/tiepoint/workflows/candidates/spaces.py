"""Candidates to spaces: open every one, then make the vectors of each, or say why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tiepoint.core.candidate import RUN, Candidate
from tiepoint.core.contract import Contract
from tiepoint.core.study import Study
from tiepoint.embedders import VECTORS, check_options, open_embedder
from tiepoint.encoding.embedder import Embedder
from tiepoint.encoding.encode import encode_space
from tiepoint.encoding.encoded import Encoded, EncodingFailed, Items
from tiepoint.encoding.made import Made, made_space
from tiepoint.encoding.progress import SILENT, Progress
from tiepoint.errors import CannotRun, InputError, NotInstalled, Problems, some
from tiepoint.formats.vectors import read_vectors
from tiepoint.workflows.candidates.made_run import MadeRun, read_made_run

OPTIONS = frozenset({"documents", "queries", "document_ids", "query_ids"})
"""Of vectors made elsewhere: the files, and for `.npy` the files of ids where they do not lie beside."""


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A candidate that may run: by its embedder, or with its vectors or rankings made elsewhere; or why it may not.

    contract   None only where the candidate is not executed, or is rankings
    """

    candidate: Candidate
    contract: Contract | None = None
    embedder: Embedder | None = None
    made: Encoded | None = None
    run: MadeRun | None = None
    not_executed: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A candidate that could not load or encode, and why."""

    reason: str


def open_candidates(study: Study, candidates: Sequence[Candidate]) -> list[Opened]:
    """Open every candidate, in their order; loads no model, reads vectors and rankings made elsewhere and checks all of them.

    returns   one for each candidate; one whose package is missing is not executed and says what installs it
    raises    InputError with the problems of all candidates at once
    """
    problems = Problems()
    repeated = [name for name, count in Counter(c.id for c in candidates).items() if count > 1]
    if repeated:
        problems.add(f"candidate ids are repeated: {some(repeated)}", fix="give every candidate an id of its own")
    opened = []
    for candidate in candidates:
        try:
            opened.append(_open(study, candidate))
        except InputError as error:
            problems.extend(error.problems)
    problems.raise_if_any()
    return opened


def make_space(opened: Opened, study: Study, *, fresh: bool = False, progress: Progress = SILENT) -> Encoded | Failed:
    """The vectors of one candidate. Writes below study.folder / "spaces", but for a callable without cache = true.

    raises   CannotRun where the store cannot be written, or the candidate is not executed
    """
    if opened.made is not None:
        return opened.made
    if opened.embedder is None:
        raise CannotRun(f"candidate {opened.candidate.id!r} is not executed ({opened.not_executed})")
    store = store_folder(opened.candidate, opened.embedder.contract, study)
    try:
        return encode_space(
            opened.embedder,
            Items(study.corpus.ids, study.corpus.texts),
            Items(study.queries.ids, study.queries.texts),
            store_folder=store,
            fresh=fresh,
            threads=study.threads,
            progress=progress,
        )
    except EncodingFailed as failed:
        return Failed(failed.reason)
    except OSError as error:  # the model's own errors are caught where it is called: this is the store's
        raise CannotRun(
            f"the store of {opened.candidate.id} cannot be written ({error.strerror or type(error).__name__})",
            where=str(store),
            fix="make room or give write access, and run again: finished shards are used",
        ) from error


def store_folder(candidate: Candidate, contract: Contract, study: Study) -> Path | None:
    """Where a candidate's vectors are kept; None: nowhere, since nobody can say what a function computes tomorrow."""
    if candidate.embedder == "callable" and not candidate.cache:
        return None
    return study.folder / "spaces" / f"{candidate.id}-{contract.signature()[:8]}"


def _open(study: Study, candidate: Candidate) -> Opened:
    try:
        if candidate.embedder == RUN:
            return Opened(candidate, run=read_made_run(study, candidate))
        if candidate.embedder == VECTORS:
            made = _read_made(study, candidate)
            return Opened(candidate, made.space.contract, made=made)
        embedder = open_embedder(candidate, folder=study.folder, threads=study.threads)
    except NotInstalled as error:
        reason = "; ".join(f"{problem.what}: {problem.fix}" for problem in error.problems)
        return Opened(candidate, not_executed=reason)
    return Opened(candidate, embedder.contract, embedder=embedder)


def _read_made(study: Study, candidate: Candidate) -> Encoded:
    check_options(candidate, OPTIONS)
    problems = Problems()
    where = f"options of candidate {candidate.id!r}"
    paths: dict[str, Path] = {}
    for option in sorted(OPTIONS):
        value = candidate.options.get(option)
        if isinstance(value, str) and value:
            paths[option] = study.folder / value
        elif value is not None or option in {"documents", "queries"}:
            problems.add(
                f"the option {option} must name a file, is {value!r}", where=where, fix="name a .npy or .parquet file"
            )
    contract: Contract | None = None
    try:
        stated = candidate.contract
        contract = stated if isinstance(stated, Contract) else Contract.from_claims(candidate.id, stated)
    except InputError as error:
        problems.extend(error.problems)
    made: list[Made] = []
    for option, ids in (("documents", "document_ids"), ("queries", "query_ids")):
        if option in paths:
            try:
                file = read_vectors(paths[option], ids=paths.get(ids))
                made.append(Made(file.ids, file.array, str(paths[option])))
            except InputError as error:
                problems.extend(error.problems)
    if problems.found or contract is None:
        problems.raise_if_any()
        raise InputError("the contract is missing", where=where)
    documents, queries = made
    return made_space(contract, documents, queries, document_ids=study.corpus.ids, query_ids=study.queries.ids)
