"""Rankings made elsewhere: the search that is in production today, as an arm with every measure that is never chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.candidate import Candidate
from tiepoint.core.run import Run
from tiepoint.core.study import Study
from tiepoint.embedders import check_options
from tiepoint.errors import InputError, Problems, some
from tiepoint.formats.trec import RunFile, read_run
from tiepoint.search.eligibility import Eligibility, Part
from tiepoint.search.rank import rank
from tiepoint.workflows.slices import FILTERED, UNFILTERED

OPTIONS = frozenset({"run", UNFILTERED, FILTERED})
NO_RESULT = "no result"
FORM = 'options = { run = "prod.trec" }, or { unfiltered = "all.trec", filtered = "by-region.trec" }'


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """One query's hits as rows of the corpus; a hit on a parent stands at each of its passages.

    rows     (hits,) int64, scores (hits,) float64
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class MadeRun:
    """Rankings made elsewhere, checked against the study.

    hits     by view name: query position to its hits in the corpus; a query that the file lacks is not there
    notes    lines for the report; they count, and name queries only
    hashes   SHA-256 of each file, by what it is
    did_not_run   True where a file has not one hit that study and corpus hold: nothing was searched, or something else
    """

    hits: Mapping[str, Mapping[int, Hits]]
    notes: tuple[str, ...]
    hashes: Mapping[str, str]
    did_not_run: bool

    def ranked(self, view: str, eligibility: Eligibility, *, depth: int, tolerance: float) -> Run:
        """The rankings of one view by our rules; what is not eligible drops out, a query that the file lacks is a miss."""
        mine = self.hits[view]
        documents = len(eligibility.corpus)

        def scorer(part: Part) -> NDArray[np.float64]:
            place = np.full(documents, -1, dtype=np.int64)
            place[part.rows] = np.arange(len(part.rows))
            scores = np.full((len(part.queries), len(part.rows)), -np.inf)
            for i, query in enumerate(part.queries):
                found = mine[int(query)]
                kept = place[found.rows] >= 0
                np.maximum.at(scores[i], place[found.rows[kept]], found.scores[kept])
            return scores

        missing = {query: NO_RESULT for query in range(len(eligibility.group)) if query not in mine}
        return rank(eligibility, scorer, depth=depth, tolerance=tolerance, failed=missing)


def read_made_run(study: Study, candidate: Candidate) -> MadeRun:
    """Read a candidate's run files and hold them against the study.

    raises   InputError where the options or a file are wrong, or where a ranking has a document that its query's principal
             may not read: every such query and document is named, to the study's owner
    """
    files = _files(study, candidate)
    plain = Eligibility.of(study.corpus, study.queries, study.regions, filtered=False)
    narrow = Eligibility.of(study.corpus, study.queries, study.regions, filtered=True, masks=plain.masks)
    problems = Problems()
    placed = {view: _Placed.of(file, study) for view, file in files.items()}
    for view, file in files.items():
        if view == UNFILTERED or file is not files[UNFILTERED]:
            _forbidden(file, placed[view], plain, study, problems)
    problems.raise_if_any()
    # A query without a filter is searched without one: its ranking is the unfiltered one in either view.
    whole = placed[UNFILTERED].hits
    by_filter = {q: hits for q, hits in placed[FILTERED].hits.items() if study.queries.has_region[q]}
    free = {q: hits for q, hits in whole.items() if not study.queries.has_region[q]}
    hits = {UNFILTERED: whole, FILTERED: {**by_filter, **free}}
    notes = [line for view in files for line in _notes(view, files, placed[view], study)]
    if outside := _outside(by_filter, narrow):
        notes.append(
            f"{outside:,} hits lie outside their query's filter, or under a parent that may not be read; they drop out"
        )
    hashes = {f"{candidate.id} {view}": file.sha256 for view, file in files.items()}
    apart = files[FILTERED] is not files[UNFILTERED] and study.queries.has_region.any()
    searched = [whole, by_filter] if apart else [whole]
    empty = any(not any(len(found.rows) for found in of.values()) for of in searched)
    return MadeRun(hits, tuple(dict.fromkeys(notes)), hashes, empty)


def _files(study: Study, candidate: Candidate) -> dict[str, RunFile]:
    """The file of each view; one file may serve both. Raises InputError with every problem of the options and files."""
    check_options(candidate, OPTIONS)
    where = f"options of candidate {candidate.id!r}"
    if candidate.claims:
        raise InputError("rankings have no contract", where=f"candidate {candidate.id!r}", fix="remove the contract")
    named = {option: value for option, value in candidate.options.items() if isinstance(value, str) and value}
    if set(named) not in ({"run"}, {UNFILTERED, FILTERED}):
        raise InputError("the options name no run, or more than one", where=where, fix=FORM)
    problems = Problems()
    found: dict[str, RunFile] = {}
    for option, value in named.items():
        path = Path(study.folder / value)
        if not path.is_file():
            problems.add(f"there is no file {value}", where=where, fix="correct the path")
            continue
        try:
            found[option] = read_run(path, name=value)
        except InputError as error:
            problems.extend(error.problems)
    problems.raise_if_any()
    return {view: found.get(view, found.get("run", next(iter(found.values())))) for view in (UNFILTERED, FILTERED)}


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """A run file against the study.

    hits       query position to the hits that the corpus holds
    absent     hits on documents that the corpus lacks
    strange    queries of the file that the study lacks
    """

    hits: dict[int, Hits]
    absent: int
    strange: int

    @classmethod
    def of(cls, file: RunFile, study: Study) -> _Placed:
        places = _places(study)
        position = {name: i for i, name in enumerate(study.queries.ids)}
        hits, absent = {}, 0
        for query, ranked in file.hits.items():
            if query not in position:
                continue
            known = [(places[hit.document], hit.score) for hit in ranked if hit.document in places]
            absent += len(ranked) - len(known)
            rows = np.concatenate([np.empty(0, dtype=np.int64), *(rows for rows, _ in known)])
            scores = np.array([score for rows, score in known for _ in rows], dtype=np.float64)
            hits[position[query]] = Hits(rows, scores)
        return cls(hits, absent, sum(query not in position for query in file.hits))


def _places(study: Study) -> dict[str, NDArray[np.int64]]:
    """Where each id that a run may name stands in the corpus: a document at its row, a parent at all of its passages."""
    units = study.corpus.units
    places = {name: np.array([row]) for row, name in enumerate(study.corpus.ids)}
    if not units.plain:
        order = np.argsort(units.of_row, kind="stable")
        starts = np.searchsorted(units.of_row[order], np.arange(len(units.ids) + 1))
        places |= {name: order[starts[u] : starts[u + 1]] for u, name in enumerate(units.ids)}
    return places


def _forbidden(file: RunFile, placed: _Placed, plain: Eligibility, study: Study, problems: Problems) -> None:
    """Note every document that stands in a ranking whose principal may not read it."""
    units = study.corpus.units
    row = {name: i for i, name in enumerate(study.corpus.ids)}
    unit = {name: i for i, name in enumerate(units.ids)}
    found: list[tuple[int, str]] = []
    for part in plain.parts():
        whole = study.corpus.units_readable(part.readable)
        for query in part.queries:
            if int(query) not in placed.hits:
                continue
            for hit in file.hits[study.queries.ids[query]]:
                name = hit.document
                readable = part.readable[row[name]] if name in row else whole[unit[name]] if name in unit else True
                if not readable:
                    found.append((hit.line, f"query {study.queries.ids[query]}, document {name} (line {hit.line:,})"))
    if found:
        problems.add(
            f"{len(found):,} hits are documents that the query's groups may not read",
            where=f"{file.name}, {some(text for _, text in sorted(found))}",
            fix="the search that made this run leaks them: mend it, or correct the acl or the query's groups",
        )


def _outside(hits: Mapping[int, Hits], narrow: Eligibility) -> int:
    """Hits (counted at their rows) that their query's filter does not admit."""
    count = 0
    for part in narrow.parts():
        admitted = np.zeros(len(narrow.corpus), dtype=bool)
        admitted[part.rows] = True
        count += sum(int((~admitted[hits[int(q)].rows]).sum()) for q in part.queries if int(q) in hits)
    return count


def _notes(view: str, files: Mapping[str, RunFile], placed: _Placed, study: Study) -> Iterator[str]:
    """What was read of one file and what was made of it; a file that serves both views says it once."""
    file = files[view]
    shared = files[UNFILTERED] is files[FILTERED]
    of = "" if shared else f" ({view})"
    yield f"{file.form}{of}"
    asked = [i for i in range(len(study.queries)) if shared or view == UNFILTERED or study.queries.has_region[i]]
    if missing := [study.queries.ids[i] for i in asked if i not in placed.hits]:
        yield f"{len(missing):,} queries have no result and are misses{of}: {some(missing)}"
    if placed.strange:
        yield f"{placed.strange:,} rankings are of queries that the study lacks; they are left out{of}"
    if placed.absent:
        yield f"{placed.absent:,} hits name documents that the corpus lacks; they drop out{of}"
    if pairs := sum(_tied_pairs([hit.score for hit in hits]) for hits in file.hits.values()):
        yield f"{pairs:,} pairs of hits have equal scores; they stand in ascending document id{of}"
    longest = max((len(hits) for hits in file.hits.values()), default=0)
    if longest < study.k:
        yield f"no ranking has more than {longest:,} hits, and the study looks at {study.k:,}{of}"


def _tied_pairs(scores: list[float]) -> int:
    return sum(n * (n - 1) // 2 for n in Counter(scores).values())
