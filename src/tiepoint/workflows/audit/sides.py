"""The two sides of an audit, read: a candidate of the study, a store that the benchmark made, or anyone's Parquet file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tiepoint.core.candidate import RUN
from tiepoint.core.contract import Contract
from tiepoint.core.held import Held
from tiepoint.core.pinned import unpinned
from tiepoint.core.study import Study
from tiepoint.encoding.progress import SILENT, Progress
from tiepoint.errors import CannotRun, InputError, Problems, did_you_mean, some
from tiepoint.formats.contract_toml import read_contract_toml
from tiepoint.formats.space_folder import is_space_folder, read_space_folder
from tiepoint.formats.space_parquet import read_space_parquet
from tiepoint.workflows.audit.join import Named, held_encoded, held_stored, known_texts
from tiepoint.workflows.candidates.spaces import Failed, make_space, open_candidates, store_folder


@dataclass(frozen=True, slots=True)
class Asked:
    """One side as the caller names it.

    name       a candidate's id, a folder below spaces/, or a Parquet file; a candidate's id comes first
    contract   a TOML file, for a Parquet file only: every other side brings its own
    option     what messages call it
    """

    name: str
    contract: Path | None = None
    option: str = "--source"


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Both sides of an audit."""

    source: Held
    target: Held


@dataclass(frozen=True, slots=True, eq=False)
class _Opened:
    """A side whose contract is known; read does the work."""

    contract: Contract
    read: Callable[[], Held]


def read_sides(study: Study | None, source: Asked, target: Asked, *, progress: Progress = SILENT) -> Sides:
    """Both sides. Contracts come first, so that nothing is encoded or read for an audit that is refused.

    study     None: there are no candidates, and texts, acl and revisions are only those that a file states
    raises    InputError with the problems of both sides at once: no such side, no contract, a revision that is not pinned,
              bad files; CannotRun where a candidate cannot be encoded here
    """
    problems = Problems()
    opened: list[_Opened] = []
    for asked in (source, target):
        try:
            one = _open(study, asked, progress)
            problems.extend(unpinned(one.contract, f"{asked.option} {asked.name}"))
            opened.append(one)
        except InputError as error:
            problems.extend(error.problems)
    problems.raise_if_any()
    held: list[Held] = []
    for one in opened:
        try:
            held.append(one.read())
        except InputError as error:
            problems.extend(error.problems)
    problems.raise_if_any()
    return Sides(*held)


def read_side(
    study: Study | None,
    name: str,
    contract: Path | None = None,
    *,
    option: str = "--source",
    progress: Progress = SILENT,
) -> Held:
    """One side alone; see read_sides, which tells the problems of both together."""
    opened = _open(study, Asked(name, contract, option), progress)
    if problems := unpinned(opened.contract, f"{option} {name}"):
        raise InputError(problems=problems)
    return opened.read()


def _open(study: Study | None, asked: Asked, progress: Progress) -> _Opened:
    place = Path(asked.name)
    is_candidate = study is not None and asked.name in {c.id for c in study.candidates}
    if asked.contract is not None and (is_candidate or is_space_folder(place)):
        raise InputError(
            f"{asked.name} brings its own contract",
            where=f"{asked.option}-contract {asked.contract}",
            fix=f"leave {asked.option}-contract out; it is for Parquet files",
        )
    if study is not None and is_candidate:
        return _open_candidate(study, asked, progress)
    if is_space_folder(place):
        stored = read_space_folder(place)
        side = Named(stored.folder.name, str(place))
        return _Opened(stored.contract, stored.held if study is None else lambda: held_stored(study, side, stored))
    if not place.exists():
        known = [] if study is None else [c.id for c in study.candidates]
        kinds = "a folder below spaces/ or a Parquet file"
        hint = did_you_mean(asked.name, known) or (
            f"name {kinds}, or a candidate: {some(known)}" if known else f"name {kinds}"
        )
        what = "space" if study is None else "candidate and no space"
        raise InputError(f"there is no {what} {asked.name!r}", where=f"{asked.option} {asked.name}", fix=hint)
    if place.is_dir():
        raise InputError(
            f"{asked.name} is a folder without a manifest.json",
            where=f"{asked.option} {asked.name}",
            fix="name a folder below spaces/ that tiepoint bench made, or a Parquet file with its contract",
        )
    return _open_file(study, asked, place)


def _open_file(study: Study | None, asked: Asked, place: Path) -> _Opened:
    problems = Problems()
    if place.suffix != ".parquet":
        problems.add(
            f"{place.name} is no .parquet file",
            where=f"{asked.option} {asked.name}",
            fix="write the space as Parquet: id, vector, and text or hash, role, acl, source_revision, version, deleted",
        )
    contract: Contract | None = None
    if asked.contract is None:
        problems.add(
            f"{place.name} has no contract: nothing says what its vectors are",
            where=f"{asked.option} {asked.name}",
            fix=f"state it in a TOML file and name it: {asked.option}-contract contract.toml",
        )
    else:
        try:
            contract = read_contract_toml(asked.contract)
        except InputError as error:
            problems.extend(error.problems)
    if contract is None or problems.found:
        raise InputError(problems=problems.found)
    stated = contract

    def read() -> Held:
        held = read_space_parquet(place, stated)
        return held if study is None else known_texts(study, held)

    return _Opened(stated, read)


def _open_candidate(study: Study, asked: Asked, progress: Progress) -> _Opened:
    candidate = next(c for c in study.candidates if c.id == asked.name)
    where = f"{asked.option} {asked.name}"
    if candidate.embedder == RUN:
        raise InputError(
            f"{asked.name} is rankings made elsewhere: there are no vectors to audit",
            where=where,
            fix="name a candidate with an embedder or with vectors",
        )
    (opened,) = open_candidates(study, [candidate])
    if opened.contract is None:
        raise CannotRun(f"candidate {asked.name} cannot run here: {opened.not_executed}", where=where)
    contract = opened.contract

    def read() -> Held:
        made = make_space(opened, study, progress=progress)
        if isinstance(made, Failed):
            raise CannotRun(
                f"candidate {asked.name} could not be encoded: {made.reason}",
                where=where,
                fix=f"see what tiepoint bench {study.folder.name} --candidate {asked.name} says of it",
            )
        store = None if opened.embedder is None else store_folder(candidate, contract, study)
        side = Named(candidate.id, where if store is None else str(store))
        return held_encoded(study, side, made, store)

    return _Opened(contract, read)
