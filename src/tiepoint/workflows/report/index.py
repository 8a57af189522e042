"""`tiepoint report RESULTS/`: one page over all stored results, newest first, two of them side by side on request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tiepoint.core.audit import Audit
from tiepoint.core.figure import Figures
from tiepoint.core.report import Entry, Index
from tiepoint.core.result import Result, Summary
from tiepoint.errors import CannotRun, InputError, TiepointError, did_you_mean, some
from tiepoint.report.html import index_html
from tiepoint.report.shown import movements, sides
from tiepoint.report.table import Page, Table, arms_of, headline, main_recall
from tiepoint.workflows.comparable import check_comparable
from tiepoint.workflows.compare import compare
from tiepoint.workflows.record.audit import load_audit
from tiepoint.workflows.record.folders import BESIDE
from tiepoint.workflows.record.result import load_result
from tiepoint.workflows.report.files import HTML, replace_file

INDEX = "index.html"
HELD_AGAINST = 40
"""So many of the newest results are held against each other; any two can be named with --compare."""
CONTENT = "_content"


def is_stored(folder: Path) -> bool:
    """Does this folder hold a result or an audit?"""
    return (folder / "result.json").is_file() or (folder / "audit.json").is_file()


def write_index(folder: str | Path, *, beside: tuple[str, str] | None = None) -> Path:
    """Write index.html over a folder of results. A result that cannot be read stands in it with the reason.

    beside    names of two of its results, or their folders, to stand side by side at the top
    returns   index.html
    raises    InputError where the folder holds no result, where a name is none of them, or where the two did not measure
              the same thing (all that differs is named); nothing is written then
    """
    place = Path(folder)
    found = _stored(place)
    if not found:
        raise InputError(
            "there is no result here", where=str(place), fix="name one folder under results/, or results/ itself"
        )
    index = _index(place, found)
    pair = None if beside is None else (_position(beside[0], index), _position(beside[1], index))
    moved = None if pair is None else _moved(*(found[index.entries[i].folder] for i in pair))
    path = place / INDEX
    replace_file(path, index_html(index, beside=pair, moved=moved).encode())
    return path


def _stored(place: Path) -> dict[str, Result | Audit | TiepointError]:
    """Every result and audit below, by the name of its folder; or why one cannot be read."""
    found: dict[str, Result | Audit | TiepointError] = {}
    if not place.is_dir():
        return found
    for folder in sorted(place.iterdir()):
        if folder.is_dir() and not folder.name.startswith(BESIDE) and is_stored(folder):
            try:
                found[folder.name] = load_audit(folder) if (folder / "audit.json").is_file() else load_result(folder)
            except TiepointError as error:
                found[folder.name] = error
    return found


def _index(place: Path, found: Mapping[str, Result | Audit | TiepointError]) -> Index:
    entries = [replace(_entry(n, what), page=(place / n / HTML).is_file()) for n, what in found.items()]
    entries.sort(key=lambda entry: (entry.created or "", entry.folder), reverse=True)
    refused = {}
    for i, one in enumerate(entries[:HELD_AGAINST]):
        for j, other in enumerate(entries[:HELD_AGAINST]):
            if i < j and (why := _refusal(found[other.folder], found[one.folder])):
                refused[i, j] = why
    return Index(
        name=place.resolve().name, entries=tuple(entries), refused=refused, compared=min(len(entries), HELD_AGAINST)
    )


def _entry(name: str, found: Result | Audit | TiepointError) -> Entry:
    if isinstance(found, TiepointError):
        return Entry(
            folder=name, kind="unreadable", created=None, study=None, verdict="cannot be read", choice=None, says="", rule="",
            problem=" ".join(f"{p.what} ({p.where})" if p.where else p.what for p in found.problems),
        )  # fmt: skip
    if isinstance(found, Audit):
        audit = found.summary
        return Entry(
            folder=name,
            kind="audit",
            created=audit.conditions.get("created"),
            study=audit.study,
            verdict=audit.outcome,
            choice=None,
            says=f"{audit.source.name} to {audit.target.name}: "
            + "; ".join(f"{gate.name} {gate.outcome}" for gate in audit.gates),
            rule="; ".join(f"{gate.name}: {gate.threshold}" for gate in audit.gates),
            definitions=audit.definitions,
        )
    summary = found.summary
    return Entry(
        folder=name,
        kind="benchmark",
        created=found.conditions.created,
        study=summary.study,
        verdict=summary.decision.verdict,
        choice=summary.decision.choice,
        says=summary.decision.sentence,
        rule=summary.decision.rule,
        definitions=summary.definitions,
        hashes={k.removesuffix(CONTENT): v for k, v in found.conditions.hashes.items() if k.endswith(CONTENT)},
        figures=_figures(summary),
    )


def _figures(summary: Summary) -> dict[str, Figures]:
    """`slice: arm` to the figures of the rule's measure and of recall, on the queries that decide."""
    measures = dict.fromkeys((summary.decision.measure, main_recall(summary)))
    return {
        f"{name}: {arm.id}": {m: of[m] for m in measures if m in of}
        for name, counts in summary.denominators.items()
        if counts.queries
        for arm in arms_of(summary)
        if (of := headline(summary, arm, name))
    }


def _refusal(before: Result | Audit | TiepointError, after: Result | Audit | TiepointError) -> tuple[str, ...]:
    """Why two may not stand side by side; empty: they may."""
    if isinstance(before, TiepointError) or isinstance(after, TiepointError):
        return ("one of the two cannot be read",)
    if isinstance(before, Audit) or isinstance(after, Audit):
        if not (isinstance(before, Audit) and isinstance(after, Audit)):
            return ("one is a benchmark, the other an audit",)
        one, other = before.summary, after.summary
        return tuple(
            f"the definitions of {name} differ"
            for name in sorted(one.definitions.keys() | other.definitions.keys())
            if one.definitions.get(name) != other.definitions.get(name)
        ) + (() if one.k == other.k else (f"k differs: {one.k} and {other.k}",))
    try:
        check_comparable(before, after)
    except InputError as refusal:
        return tuple(problem.what for problem in refusal.problems)
    return ()


def _moved(one: Result | Audit | TiepointError, other: Result | Audit | TiepointError) -> Page | None:
    """What moved between two results that stand side by side; None where one has no rows, or both are audits."""
    if isinstance(one, Result) and isinstance(other, Result):
        check_comparable(one, other)
        try:
            found = compare(one, other)
        except CannotRun:
            return None
        return Page("What moved", None, "", Table("", (), ()), (sides(found), movements(found)))
    why = _refusal(one, other)
    if why:
        raise InputError(
            f"the two may not stand side by side: {some(why)}", fix="name two results that measured the same thing"
        )
    return None


def _position(name: str, index: Index) -> int:
    wanted = Path(name).name
    names = [entry.folder for entry in index.entries]
    if wanted not in names:
        raise InputError(
            f"there is no result {wanted!r} here", where=index.name, fix=did_you_mean(wanted, names) or some(names)
        )
    return names.index(wanted)
