"""TREC run files: `query Q0 document rank score tag`, one hit a line."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from tiepoint.core.rows import encoding_name, utf8_text
from tiepoint.errors import Problems, some

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class RunHit:
    """One line of a run file; its rank was not read, since the order follows from the scores."""

    document: str
    score: float
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class RunFile:
    """Rankings as somebody brought them. No query has a document twice, and every score is finite.

    hits     query id to its hits in the order of the file
    form     which form was read, with encoding and number of rows
    sha256   of the file's bytes, in hexadecimal
    """

    name: str
    hits: dict[str, list[RunHit]]
    form: str
    sha256: str


def spaced(ids: Iterable[str]) -> list[str]:
    """Ids that a TREC file cannot hold, since it parts its columns by white space."""
    return [name for name in ids if any(c.isspace() for c in name)]


def run_lines(rankings: pa.Table, candidate: str, slice_name: str) -> Iterator[str]:
    """The lines of one run, from the rankings table of a result; scores as repr, so that they read back exactly."""
    chosen = rankings.filter((pc.field("candidate") == candidate) & (pc.field("slice") == slice_name))
    columns = (chosen.column(name).to_pylist() for name in ("query", "document", "rank", "score"))
    for query, document, rank, score in zip(*columns, strict=True):
        yield f"{query} Q0 {document} {rank} {score!r} {candidate}\n"


def read_run(path: Path, *, name: str | None = None) -> RunFile:
    """Every hit of a run file; one without a line is whole and has no hits.

    name     what messages call the file; None: its file name
    raises   InputError with every bad line: other than six columns, a score that is no number or not finite; with every
             document that stands twice in one query's ranking; with the byte offset where the file is not UTF-8
    """
    name = name or path.name
    raw = path.read_bytes()
    lines = [line.removesuffix("\r") for line in utf8_text(raw, name=name).split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    reader = _Reader(name)
    for number, line in enumerate(lines, 1):
        reader.take(number, line)
    reader.finish()
    form = f"{name}: TREC run, six columns, {encoding_name(raw)}, {len(lines):,} rows; its ranks were not read"
    return RunFile(name, reader.hits, form, hashlib.sha256(raw).hexdigest())


@dataclass(slots=True)
class _Reader:
    name: str
    hits: dict[str, list[RunHit]] = field(default_factory=dict)
    bad: dict[str, list[str]] = field(default_factory=dict)
    seen: dict[tuple[str, str], int] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)

    def take(self, number: int, line: str) -> None:
        """One line: a hit, or a reason why it is none."""
        columns = line.split()
        if len(columns) != 6:
            self._refuse("do not have six columns", f"{number:,}")
            return
        query, _, document, _, text, _ = columns
        score = float(text) if NUMBER.fullmatch(text) else math.inf
        if not math.isfinite(score):
            large = NUMBER.fullmatch(text) or NOT_FINITE.fullmatch(text)
            why = "have a score that is not finite" if large else "have a score that is no number"
            self._refuse(why, f"{number:,} ({text[:20]!r})")
            return
        first = self.seen.setdefault((query, document), number)
        if first != number:
            self.twice.append(f"query {query}, document {document} (lines {first:,} and {number:,})")
        self.hits.setdefault(query, []).append(RunHit(document, score, number))

    def _refuse(self, why: str, line: str) -> None:
        self.bad.setdefault(why, []).append(line)

    def finish(self) -> None:
        """Raise InputError with everything that is wrong."""
        problems = Problems()
        for why, lines in self.bad.items():
            problems.add(
                f"{self.name} has lines that {why} ({len(lines):,})",
                where=f"{self.name}, lines {some(lines)}",
                fix="write query, Q0, document, rank, score and tag, parted by white space, the score a finite number",
            )
        if self.twice:
            problems.add(
                f"{len(self.twice):,} hits repeat a document in one query's ranking",
                where=f"{self.name}, {some(self.twice)}",
                fix="keep one line for each document of a query; none is chosen for you",
            )
        problems.raise_if_any()
