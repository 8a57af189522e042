"""Regions: the declared names, parents and aliases, joined with the names that documents carry."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from tiepoint.core.regions import Regions
from tiepoint.core.rows import Rows
from tiepoint.errors import Problems, did_you_mean, some
from tiepoint.formats.study_toml import RegionsTable
from tiepoint.workflows.intake.sheet import Sheet


def matched(name: str) -> str:
    """A region's name in the form in which names are matched: NFC."""
    return unicodedata.normalize("NFC", name)


def take_regions(rows: Rows | None, table: RegionsTable, carried: Iterable[str], problems: Problems) -> Regions:
    """Every region of the study. Notes in `problems` circles, aliases of two regions, and rows that cannot be read.

    rows      the file of [regions]; None: the study declares none
    carried   the names that documents carry, as written
    """
    carried = [matched(name) for name in carried]
    if rows is None:
        return Regions(frozenset(carried))
    sheet = Sheet.of(rows, table.id, what="regions", problems=problems)
    ids = [matched(name) for name in sheet.ids]
    aliases = _aliases(sheet, ids, table, problems)
    parents = _parents(sheet, ids, table, aliases)
    names = {*ids, *parents.values(), *(aliases.get(name, name) for name in carried)}
    regions = Regions(frozenset(names), parents, aliases)
    if circle := regions.circle():
        problems.add(
            f"{len(circle)} regions lie in a circle of parents",
            where=f"{rows.name}, regions {some(circle)}",
            fix="a region cannot lie under itself: correct one parent",
        )
    return regions


def _parents(sheet: Sheet, ids: list[str], table: RegionsTable, aliases: Mapping[str, str]) -> dict[str, str]:
    if table.parent is None:
        return {}
    above = [matched(name or "") for name in sheet.texts(table.parent)]
    return {name: aliases.get(parent, parent) for name, parent in zip(ids, above, strict=True) if parent.strip()}


def _aliases(sheet: Sheet, ids: list[str], table: RegionsTable, problems: Problems) -> dict[str, str]:
    if table.aliases is None:
        return {}
    given: dict[str, set[str]] = {}
    for name, spellings in zip(ids, sheet.lists(table.aliases, blank_is_null=True), strict=True):
        for spelling in map(matched, spellings or ()):
            if spelling != name:
                given.setdefault(spelling, set()).add(name)
    declared = set(ids)
    torn = [f"{s!r} ({some(sorted(n))})" for s, n in given.items() if len(n) > 1]
    if torn:
        problems.add(
            f"{len(torn)} aliases stand for more than one region",
            where=f"{sheet.rows.name}, {some(torn)}",
            fix="let each alias stand for one region",
        )
    if taken := [spelling for spelling in given if spelling in declared]:
        problems.add(
            f"{len(taken)} aliases are the names of other regions",
            where=f"{sheet.rows.name}, {some(taken)}",
            fix="remove the alias, or the region's own row",
        )
    return {spelling: min(names) for spelling, names in given.items()}


def canonical(names: Iterable[str], regions: Regions) -> tuple[str, ...]:
    """The names that these spellings stand for, each once; spellings that the study does not know are left out."""
    found = (regions.canonical(matched(name)) for name in names)
    return tuple(dict.fromkeys(name for name in found if name is not None))


def resolve(sheet: Sheet, asked: Iterable[tuple[str, ...]], regions: Regions) -> list[tuple[str, ...]]:
    """Canonical names for each row of a sheet. Notes rows that ask for an unknown region, with near names."""
    asked = list(asked)
    unknown = {
        i: names for i, every in enumerate(asked) if (names := [n for n in every if not canonical([n], regions)])
    }
    if unknown:
        known = sorted(regions.names | regions.aliases.keys())
        wrong = sorted({name for names in unknown.values() for name in names})
        hints = [f"{name!r}: {did_you_mean(name, known)}" for name in wrong if did_you_mean(name, known)]
        sheet.problems.add(
            f"{len(unknown):,} of {len(sheet):,} {sheet.what} ask for a region that the study does not know: "
            f"{some(map(repr, wrong))}",
            where=f"{sheet.rows.name}, ids {some(sheet.ids[i] for i in unknown)}",
            fix=f"{'; '.join(hints[:10]) or f'known regions: {some(known)}'}, or give the region this alias in [regions]",
        )
    return [canonical(names, regions) for names in asked]
