"""Relevance judgements: tab-separated (BEIR) with or without a header, and the four columns of TREC, both without
quoting; and .csv with it.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tiepoint.core.qrels import GRADES
from tiepoint.core.rows import encoding_name, utf8_text
from tiepoint.errors import InputError, Problems, some

QUERY = {"query-id", "query_id", "queryid", "query", "qid", "topic"}
DOCUMENT = {
    "corpus-id",
    "corpus_id",
    "document-id",
    "document_id",
    "doc-id",
    "doc_id",
    "docid",
    "document",
    "doc",
    "pid",
}
GRADE = {"score", "grade", "relevance", "rel", "label"}
SHORT = re.compile(r"[+-]?[0-9]{1,3}")
WHOLE = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """What a qrels file says. No two rows disagree; identical rows may stand more than once.

    rows     (query id, document id, grade), ids as written
    form     which form was read, with encoding and number of rows
    sha256   of the file's bytes, in hexadecimal
    """

    rows: tuple[tuple[str, str, int], ...]
    form: str
    sha256: str


def read_qrels(path: Path, *, grades: Mapping[str, int] | None = None, name: str | None = None) -> Judgements:
    r"""Every judgement of the file; grades are whole numbers in 0..3.

    grades   the grade that each text in the file stands for; None: the text is the grade
    name     what messages call the file; None: its file name
    raises   InputError with every bad line: columns, blank, empty id, grade no whole number, out of range or not in
             the map; with every pair that has two grades; with the byte offset where the file is not UTF-8
    """
    name = name or path.name
    raw = path.read_bytes()
    lines = [line.removesuffix("\r") for line in utf8_text(raw, name=name).split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    reader = _Reader(name, grades)
    parted = "comma" if path.suffix.lower() == ".csv" else "tab" if _is_tabbed(lines) else "TREC"
    values = {"comma": _between_commas, "tab": _between_tabs, "TREC": _without_iteration}[parted]
    header = bool(lines) and parted != "TREC" and reader.header(values(lines[0]))
    for number, line in enumerate(lines, 1):
        if not (header and number == 1):
            reader.take(number, values(line), line)
    reader.finish()
    shape = (
        "TREC, four columns" if parted == "TREC" else f"{parted}-separated {'with' if header else 'without'} a header"
    )
    form = f"{name}: {shape}, {encoding_name(raw)}, {len(reader.rows):,} rows"
    return Judgements(tuple(reader.rows), form, hashlib.sha256(raw).hexdigest())


def merged(read: Sequence[Judgements], *, names: Sequence[str]) -> Judgements:
    """The judgements of several files as one; a row that two files hold counts as repeated.

    read     one file or more
    names    what messages call each
    raises   InputError with every pair that has one grade in this file and another in that
    """
    if len(read) == 1:
        return read[0]
    rows = tuple(row for judgements in read for row in judgements.rows)
    problems = Problems()
    _conflicts(rows, ", ".join(names), problems)
    problems.raise_if_any()
    whole = hashlib.sha256("\n".join(judgements.sha256 for judgements in read).encode()).hexdigest()
    return Judgements(rows, "; ".join(judgements.form for judgements in read), whole)


def _conflicts(rows: Sequence[tuple[str, str, int]], name: str, problems: Problems) -> None:
    """Note every pair with two grades."""
    given: dict[tuple[str, str], set[int]] = {}
    for query, document, grade in rows:
        given.setdefault((query, document), set()).add(grade)
    if conflicts := [
        f"({query}, {document}): {' and '.join(map(str, sorted(found)))}"
        for (query, document), found in given.items()
        if len(found) > 1
    ]:
        problems.add(
            f"{len(conflicts):,} pairs of query and document have more than one grade",
            where=f"{name}, {some(conflicts, first=100)}",
            fix="decide on one grade for each pair; none is chosen for you",
        )


def _is_tabbed(lines: list[str]) -> bool:
    """Whether most lines that can be read at all have three values between tabs; else four between white space."""
    tabbed = sum(len(line.split("\t")) == 3 for line in lines)
    trec = sum(len(line.split()) == 4 for line in lines)
    return tabbed >= trec


def _between_tabs(line: str) -> list[str]:
    return line.split("\t")


def _between_commas(line: str) -> list[str]:
    """The values of one line of CSV; no value where a quote is not closed."""
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error:
        return []


def _without_iteration(line: str) -> list[str]:
    """TREC's four values but the second, which says nothing; no value where there are not four."""
    values = line.split()
    return [values[0], *values[2:]] if len(values) == 4 else []


@dataclass(slots=True)
class _Reader:
    name: str
    grades: Mapping[str, int] | None
    rows: list[tuple[str, str, int]] = field(default_factory=list)
    bad: dict[str, list[str]] = field(default_factory=dict)
    scale: set[str] = field(default_factory=set)

    def header(self, values: list[str]) -> bool:
        """Whether the first line names the columns. Raises InputError where it names them in another order."""
        folded = [value.strip().casefold() for value in values]
        if len(folded) != 3 or not (folded[0] in QUERY | DOCUMENT and folded[2] in GRADE | QUERY | DOCUMENT):
            return False
        if not (folded[0] in QUERY and folded[1] in DOCUMENT and folded[2] in GRADE):
            raise InputError(
                f"{self.name}: the header is not query-id, corpus-id, score",
                where=f"{self.name}, line 1",
                fix="put the columns in the order query-id, corpus-id, score",
            )
        return True

    def take(self, number: int, values: list[str], line: str) -> None:
        """One line: a judgement, or a reason why it is none."""
        if not line.strip():
            self._refuse("are blank", f"{number:,}")
        elif len(values) != 3:
            self._refuse("have neither three columns (between tabs, or commas in .csv) nor TREC's four", f"{number:,}")
        elif not values[0].strip() or not values[1].strip():
            self._refuse("have an empty id", f"{number:,}")
        else:
            self.scale.add(values[2].strip())
            grade = self._grade(number, values[2].strip())
            if grade is not None:
                self.rows.append((values[0], values[1], grade))

    def _grade(self, number: int, text: str) -> int | None:
        shown = f"{number:,} ({text[:20]!r})"
        if self.grades is not None:
            if text not in self.grades:
                self._refuse("have a grade that the map [qrels] grades lacks", shown)
            return self.grades.get(text)
        if not WHOLE.fullmatch(text):
            self._refuse("have a grade that is no whole number", shown)
            return None
        if len(text) > 4 or int(text) not in GRADES:
            self._refuse(f"have a grade outside {GRADES[0]}..{GRADES[-1]}", shown)
            return None
        return int(text)

    def _refuse(self, why: str, line: str) -> None:
        self.bad.setdefault(why, []).append(line)

    def finish(self) -> None:
        """Raise InputError with everything that is wrong."""
        problems = Problems()
        for why, lines in self.bad.items():
            fix = "remove blank lines between judgements" if why == "are blank" else _COLUMNS
            fix = (
                f"write whole numbers in 0..3, or say under [qrels] what each stands for: {self._map()}"
                if "grade" in why
                else fix
            )
            problems.add(
                f"{self.name} has lines that {why} ({len(lines):,})", where=f"{self.name}, lines {some(lines)}", fix=fix
            )
        _conflicts(self.rows, self.name, problems)
        problems.raise_if_any()

    def _map(self) -> str:
        """The map to write, with every grade of the file: nearest grades as a beginning, for the owner to correct."""
        numbers = {text: max(GRADES[0], min(int(text), GRADES[-1])) for text in self.scale if SHORT.fullmatch(text)}
        known = self.grades or {}
        if not numbers or len(self.scale) > 20 or any(len(text) > 20 for text in self.scale):
            return 'grades = { "good" = 2, "poor" = 0 }'
        grade = {text: known.get(text, numbers.get(text, 1)) for text in sorted(self.scale, key=_in_order)}
        return f"grades = {{ {', '.join(f'{json.dumps(text)} = {g}' for text, g in grade.items())} }}"


def _in_order(text: str) -> tuple[int, str]:
    return (int(text) if SHORT.fullmatch(text) else 10_000, text)


_COLUMNS = "write query id, document id and grade between tabs, or TREC's query id, 0, document id, grade"
