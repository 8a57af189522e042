"""Queries: from rows to checked columns, ascending by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.ids import id_order
from tiepoint.core.queries import PROVENANCES, SPLITS, Queries
from tiepoint.core.regions import Regions
from tiepoint.core.rows import Rows
from tiepoint.errors import Problems, did_you_mean
from tiepoint.formats.study_toml import QueriesTable, StudyFile
from tiepoint.workflows.intake.regions import resolve
from tiepoint.workflows.intake.sheet import Sheet


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """Checked queries in file order. groups None: public, so nobody asks who asks. regions: names as written."""

    sheet: Sheet
    texts: Sequence[str]
    groups: Sequence[tuple[str, ...]] | None
    regions: Sequence[tuple[str, ...]]
    subgroups: Sequence[tuple[str, ...]]
    rare: NDArray[np.bool_]
    no_answer: NDArray[np.bool_]
    split: Sequence[str | None]
    cluster: Sequence[str | None]
    exclude: Sequence[str | None] | None
    provenance: Sequence[str]

    def queries(self, regions: Regions) -> Queries:
        """The Queries, ascending by id, with canonical regions. Notes unknown regions in the sheet's problems."""
        order = id_order(self.sheet.ids)
        placed = resolve(self.sheet, self.regions, regions)
        return Queries(
            ids=tuple(self.sheet.ids[i] for i in order),
            texts=tuple(self.texts[i] for i in order),
            groups=tuple(frozenset(self.groups[i] if self.groups is not None else ()) for i in order),
            regions=tuple(placed[i] for i in order),
            subgroups=tuple(self.subgroups[i] for i in order),
            rare=self.rare[order],
            no_answer=self.no_answer[order],
            split=tuple(self.split[i] for i in order),
            cluster=tuple(self.cluster[i] or self.sheet.ids[i] for i in order),
            provenance=tuple(self.provenance[i] for i in order),
            exclude=() if self.exclude is None else tuple(self.exclude[i] for i in order),
        )


def take_queries(file: StudyFile, rows: Rows, problems: Problems) -> Asking:
    """Every query. Notes in `problems` each query that cannot be used, by id."""
    table = file.spec.queries
    sheet = Sheet.of(rows, table.id, what="queries", problems=problems)
    texts = [text or "" for text in sheet.texts(table.text)]
    sheet.refuse(
        [i for i, text in enumerate(texts) if not text.strip()],
        "have an empty text",
        "write the question, or remove it",
    )
    nothing: list[None] = [None] * len(sheet)
    return Asking(
        sheet=sheet,
        texts=texts,
        groups=_groups(sheet, table.groups) if file.spec.corpus.acl is not None else None,
        regions=_regions(sheet, table.region),
        subgroups=[names or () for names in (sheet.lists(table.subgroups) if table.subgroups else nothing)],
        rare=sheet.flags(table.rare) if table.rare else np.zeros(len(sheet), dtype=bool),
        no_answer=sheet.flags(table.no_answer) if table.no_answer else np.zeros(len(sheet), dtype=bool),
        split=_split(sheet, table.split) if table.split else nothing,
        cluster=sheet.texts(table.cluster) if table.cluster else nothing,
        exclude=sheet.texts(table.exclude) if table.exclude else None,
        provenance=_provenance(file, sheet, table),
    )


def _groups(sheet: Sheet, column: str | None) -> list[tuple[str, ...]]:
    """Who asks; a query without groups is refused, an empty list finds nothing."""
    groups = sheet.lists(column) if column else []
    sheet.refuse(
        [i for i, names in enumerate(groups) if names is None],
        "have no groups",
        f"fill the column {column!r}; [] means a principal who may read nothing",
    )
    return [names or () for names in groups]


def _regions(sheet: Sheet, column: str | None) -> list[tuple[str, ...]]:
    """The regions of each query's filter; null or missing means no filter, an empty list or text is refused."""
    if column is None:
        return [()] * len(sheet)
    regions = sheet.lists(column)
    sheet.refuse(
        [i for i, value in enumerate(sheet.raw(column)) if value == []],
        "have an empty list of regions",
        "name a region, or write null where the query has no region filter",
    )
    return [names or () for names in regions]


def _split(sheet: Sheet, column: str) -> list[str | None]:
    split = sheet.texts(column)
    wrong = sorted({name for name in split if name is not None and name not in SPLITS})
    sheet.refuse(
        [i for i, name in enumerate(split) if name in wrong],
        f"have a split other than dev or test: {', '.join(map(repr, wrong[:10]))}",
        (did_you_mean(wrong[0], SPLITS) if wrong else "") or 'write "dev", "test" or null',
    )
    return split


def _provenance(file: StudyFile, sheet: Sheet, table: QueriesTable) -> list[str]:
    """The class of each query: from the column of that name if the queries have one, else one class for all."""
    named = table.provenance
    if named not in sheet.rows.seen:
        if named not in PROVENANCES:
            hint = did_you_mean(named, [*PROVENANCES, *sheet.rows.seen])
            sheet.problems.add(
                f"provenance = {named!r} is neither a column of {sheet.rows.name} nor one of the classes",
                where=file.where("queries", "provenance"),
                fix=hint or f"classes: {', '.join(PROVENANCES)}",
            )
        return [named] * len(sheet)
    given = [name or "unknown" for name in sheet.texts(named)]
    wrong = sorted(set(given).difference(PROVENANCES))
    sheet.refuse(
        [i for i, name in enumerate(given) if name in wrong],
        f"have an unknown provenance: {', '.join(map(repr, wrong[:10]))}",
        (did_you_mean(wrong[0], PROVENANCES) if wrong else "") or f"classes: {', '.join(PROVENANCES)}",
    )
    return given
