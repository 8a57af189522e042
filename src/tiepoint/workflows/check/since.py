"""What changed in a corpus since a result, and whether a new benchmark is due."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from tiepoint.core.result import Result
from tiepoint.core.since import Since
from tiepoint.core.study import Study
from tiepoint.errors import InputError
from tiepoint.workflows.content_hashes import content_hashes
from tiepoint.workflows.snapshot import corpus_tables, new_share

CHANGED = 0.10
MOVED = 0.10
LENGTH = 0.20
NEW_WORDS = 0.05
RULE = (
    f"a new benchmark is due when more than {CHANGED:.0%} of the documents of either corpus were added, removed or changed, "
    f"when a region is new, when more than {MOVED:.0%} of the documents of both lie in other regions, when the median length "
    f"moved by more than {LENGTH:.0%}, or when more than {NEW_WORDS:.0%} of the running words (those that hold a letter) are "
    "new; and whenever the queries, the judgements or the region table changed, since its figures are then of another test"
)
BESIDE = {"queries_content": "queries", "qrels_content": "judgements", "regions_content": "region table"}


def since_result(study: Study, earlier: Result) -> Since:
    """The corpus of a study against the one of an earlier result.

    raises   InputError where the result does not hold its corpus: rows/ is the owner's part and may have been left behind
    """
    then = earlier.documents
    if not then.num_rows or not earlier.words.num_rows:
        raise InputError(
            "the result does not say what its corpus was",
            where="rows/documents.parquet and rows/words.parquet",
            fix="name a result with its rows/ folder, recorded by this version; or run the benchmark again",
        )
    tables = corpus_tables(study)
    now = tables["documents"]
    before, after = _by_id(then, "content_hash"), _by_id(now, "content_hash")
    places, places_now = _by_id(then, "regions"), _by_id(now, "regions")
    both = sorted(before.keys() & after.keys())
    changed = sum(before[i] != after[i] for i in both)
    moved = sum(set(places[i]) != set(places_now[i]) for i in both)
    added, removed = len(after) - len(both), len(before) - len(both)
    old_names, names = _regions(then), _regions(now)
    found = Since(
        recorded=earlier.conditions.created,
        documents=len(before),
        now=len(after),
        added=added,
        removed=removed,
        changed=changed,
        share=(added + removed + changed) / len(before.keys() | after.keys()),
        moved=moved,
        moved_share=moved / len(both) if both else None,
        new_regions=tuple(sorted(names - old_names)),
        gone_regions=tuple(sorted(old_names - names)),
        median_words_then=float(np.median(then.column("words").to_numpy())),
        median_words=float(np.median(now.column("words").to_numpy())),
        new_words=new_share(tables["words"], earlier.words),
        beside=_beside(study, earlier),
        reasons=(),
        due=False,
        sentence="",
        rule=RULE,
    )
    return _ruled(found)


def _ruled(found: Since) -> Since:
    """With the rule applied."""
    reasons = []
    if found.share > CHANGED:
        reasons.append(f"{found.share:.1%} of the documents were added, removed or changed")
    if found.new_regions:
        reasons.append(f"{len(found.new_regions):,} regions are new")
    if found.moved_share is not None and found.moved_share > MOVED:
        reasons.append(f"{found.moved_share:.1%} of the documents lie in other regions")
    if abs(found.median_words - found.median_words_then) > LENGTH * found.median_words_then:
        reasons.append(
            f"the median length moved from {found.median_words_then:,.0f} to {found.median_words:,.0f} words"
        )
    if found.new_words is not None and found.new_words > NEW_WORDS:
        reasons.append(f"{found.new_words:.1%} of the running words are new")
    if found.beside:
        reasons.append(f"the {' and the '.join(found.beside)} changed")
    sentence = f"A new benchmark is due: {'; '.join(reasons)}." if reasons else "No new benchmark is due by this rule."
    return replace(found, reasons=tuple(reasons), due=bool(reasons), sentence=sentence)


def _by_id(documents: pa.Table, column: str) -> dict[str, Sequence[object]]:
    return dict(zip(documents.column("document").to_pylist(), documents.column(column).to_pylist(), strict=True))


def _regions(documents: pa.Table) -> set[str]:
    return {name for names in documents.column("regions").to_pylist() for name in names}


def _beside(study: Study, earlier: Result) -> tuple[str, ...]:
    """What else differs. A result that does not hold a hash says nothing about it."""
    then, now = earlier.conditions.hashes, content_hashes(study)
    return tuple(name for key, name in BESIDE.items() if key in then and then[key] != now[key])
