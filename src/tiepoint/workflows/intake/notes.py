"""Notes of a study: what was read, in which form, and what was made of it. Counts only; never a document's id or text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tiepoint.core.study import Rule
from tiepoint.errors import some
from tiepoint.formats.study_toml import StudyFile
from tiepoint.measures import parse
from tiepoint.workflows.intake.contents import Contents
from tiepoint.workflows.intake.corpus import GARBLED, Documents
from tiepoint.workflows.intake.files import Intake


def study_notes(file: StudyFile, intake: Intake, contents: Contents, rule: Rule) -> Iterator[str]:
    """Every note, in the order in which the files are read. Documents are counted only as far as the readers may see."""
    readers = file.spec.report.readers
    count = _Count.of(contents.documents, readers)
    if intake.corpus is not None:
        yield intake.corpus.sentence if contents.corpus.public else intake.corpus.form
    for sentence, positions in contents.documents.remarks.items():
        yield from count.note(sentence, positions)
    if readers and not contents.corpus.public:
        for group in sorted(set(readers)):
            if not contents.corpus.readable([group]).any():
                yield f"[report] readers names {group!r}, which stands in no document's acl: nothing is shown to it"
    if intake.queries is not None:
        yield intake.queries.sentence
    if integers := contents.asking.sheet.integers:
        yield f"{len(integers):,} queries have an integer id, read as its decimal text"
    if garbled := sum(GARBLED.search(text) is not None for text in contents.queries.texts):
        yield f"{garbled:,} queries look garbled (UTF-8 read in another encoding)"
    yield from _left_out(contents)
    if intake.qrels is not None:
        yield intake.qrels.form
    yield from _qrels_notes(contents)
    if intake.regions is not None:
        yield intake.regions.sentence
    yield from _measure_notes(file, rule)


def _left_out(contents: Contents) -> Iterator[str]:
    named = [i for i, source in zip(contents.queries.ids, contents.queries.exclude, strict=False) if source is not None]
    if named:
        yield f"{len(named):,} queries leave out the document that they were made from, in every slice: {some(named)}"
        units = set(contents.corpus.units.ids)
        if lost := sum(source is not None and source not in units for source in contents.queries.exclude):
            yield f"{lost:,} of them name a document that the corpus lacks"


def _qrels_notes(contents: Contents) -> Iterator[str]:
    qrels = contents.qrels
    if qrels.repeats:
        yield f"{qrels.repeats:,} judgements are repeated word for word and count once"
    if qrels.stray:
        yield f"{len(qrels.stray):,} judged queries are not among the queries and are not scored: {some(qrels.stray)}"
    if dangling := len({qrels.document_id[j] for j in np.flatnonzero(qrels.document < 0)}):
        yield f"{dangling:,} judged documents are not in the corpus: they can never be found"


def _measure_notes(file: StudyFile, rule: Rule) -> Iterator[str]:
    named = file.spec.study.measures
    if named is None:
        yield "study.toml names no measures: recall, RR and nDCG at k are reported"
        return
    known = {str(parse(name)) for name in named}
    if rule.measure not in known:
        yield f"{rule.measure} decides and was added to the measures"
    if len(known) < len(named):
        yield "a measure that is named twice is reported once"


@dataclass(frozen=True, slots=True)
class _Count:
    """Counts documents for a report: all of a public corpus, else those that every reader may see.

    shown   for each document in file order whether it may be counted; None: readers are not said, so none is
    whom    what the counted documents are called
    """

    shown: Sequence[bool] | None
    whom: str

    @classmethod
    def of(cls, documents: Documents, readers: Sequence[str] | None) -> _Count:
        if documents.acl is None:
            return cls([True] * len(documents.texts), "documents")
        if not readers:
            return cls(None, "documents")
        wanted = set(readers)
        return cls([wanted <= set(groups) for groups in documents.acl], "documents that the readers may see")

    def note(self, sentence: str, positions: Sequence[int]) -> Iterator[str]:
        """`12 of 5,183 documents have no region`; without numbers where none may be counted."""
        if self.shown is None:
            yield f"some documents {sentence} (not counted: [report] readers is not said)"
        elif counted := sum(self.shown[i] for i in positions):
            yield f"{counted:,} of {sum(self.shown):,} {self.whom} {sentence}"
