"""Documents: from rows to checked columns, in file order, until the regions are resolved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tiepoint.core.corpus import Corpus
from tiepoint.core.ids import id_problems
from tiepoint.core.regions import Regions
from tiepoint.core.rows import Rows
from tiepoint.errors import Problems
from tiepoint.formats.study_toml import CorpusTable
from tiepoint.formats.template import Template
from tiepoint.workflows.intake.regions import canonical
from tiepoint.workflows.intake.sheet import Sheet

GARBLED = re.compile("\u00c3[\u0080-\u00bf]|\u00e2\u20ac[\u0080-\u2122]")
"""What UTF-8 looks like once it was read as Latin-1 or Windows-1252."""

PARENT = "parent"
"""A column of this name is looked at even where the study does not name it, to tell what may be meant."""


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """Checked documents in file order.

    acl        who may read; None: public
    regions    names as written; an empty tuple for a document that is in no region
    revisions  None: not known
    parents    the document that a passage is part of; None where it stands for itself, or where passages are not declared
    undeclared_parents   what a column "parent" holds that the study does not name; empty where it names one
    remarks    what is worth a note, and the positions of the documents it is about
    """

    sheet: Sheet
    texts: Sequence[str]
    acl: Sequence[tuple[str, ...]] | None
    regions: Sequence[tuple[str, ...]]
    revisions: Sequence[str | None]
    parents: Sequence[str | None] | None
    undeclared_parents: frozenset[str]
    remarks: Mapping[str, Sequence[int]]

    @property
    def names(self) -> list[str]:
        """The distinct regions that documents carry, as written, sorted."""
        return sorted({name for names in self.regions for name in names})

    @property
    def units(self) -> Sequence[str]:
        """What judgements may name: the ids, or the parents where passages are declared."""
        if self.parents is None:
            return self.sheet.ids
        named = {own if parent is None else parent for own, parent in zip(self.sheet.ids, self.parents, strict=True)}
        return sorted(named)

    def corpus(self, regions: Regions) -> Corpus:
        """The Corpus, with canonical regions."""
        return Corpus.from_columns(
            self.sheet.ids,
            self.texts,
            acl=self.acl,
            regions=[canonical(names, regions) for names in self.regions],
            source_revision=self.revisions,
            parents=self.parents,
        )


def take_documents(rows: Rows, table: CorpusTable, template: Template, problems: Problems) -> Documents:
    """Every document of the corpus. Notes in `problems` each document that cannot be used, by id."""
    sheet = Sheet.of(rows, table.id, what="documents", problems=problems)
    columns = {name: sheet.texts(name) for name in template.columns}
    texts = [template.fill({name: column[i] or "" for name, column in columns.items()}) for i in range(len(sheet))]
    sheet.refuse(
        [i for i, text in enumerate(texts) if not text.strip()],
        "have an empty text",
        "remove them, or add a column that has text to the template: text under [corpus]",
    )
    remarks = {
        f"have no {name!r}: empty in the embedding text": [i for i, value in enumerate(column) if value is None]
        for name, column in columns.items()
    }
    remarks["have an integer id, read as its decimal text"] = list(sheet.integers)
    remarks["look garbled (UTF-8 read in another encoding)"] = [i for i, t in enumerate(texts) if GARBLED.search(t)]
    regions = _regions(sheet, table)
    if table.region is not None:
        remarks["have no region: outside every region filter"] = [i for i, names in enumerate(regions) if not names]
    return Documents(
        sheet,
        texts,
        None if table.acl is None else _acl(sheet, table.acl),
        regions,
        sheet.texts(table.source_revision) if table.source_revision else [None] * len(sheet),
        _parents(sheet, table.parent) if table.parent else None,
        frozenset() if table.parent else frozenset(v for v in sheet.raw(PARENT) if isinstance(v, str)),
        {sentence: positions for sentence, positions in remarks.items() if positions},
    )


def _acl(sheet: Sheet, column: str) -> list[tuple[str, ...]]:
    """Who may read each document; a document without an acl is refused, an empty list means nobody."""
    acl = sheet.lists(column)
    sheet.refuse(
        [i for i, groups in enumerate(acl) if groups is None],
        "have no acl",
        f"fill the column {column!r} ([] means nobody), or say public = true under [access] in study.toml",
    )
    return [groups or () for groups in acl]


def _parents(sheet: Sheet, column: str) -> list[str | None]:
    """The parent of each passage; a parent that is itself a passage of another document is refused."""
    parents = sheet.texts(column)
    own = dict(zip(sheet.ids, parents, strict=True))
    sheet.refuse(
        [i for i, above in enumerate(parents) if above is not None and own.get(above) not in (None, above)],
        f"have a parent in {column!r} that is itself a passage",
        "name the whole document: passages collapse to it in one step",
    )
    sheet.problems.extend(
        id_problems(sorted({p for p in parents if p is not None}), what="parents", where=sheet.rows.name)
    )
    return parents


def _regions(sheet: Sheet, table: CorpusTable) -> list[tuple[str, ...]]:
    if table.region is None:
        return [()] * len(sheet)
    regions = sheet.lists(table.region, blank_is_null=True)
    if table.unplaced == "error":
        raw = sheet.raw(table.region)
        sheet.refuse(
            [i for i, names in enumerate(regions) if names is None or raw[i] == []],
            "have no region",
            f'fill the column {table.region!r}, or say unplaced = "out" under [corpus] to keep them out of every filter',
        )
    return [names or () for names in regions]
