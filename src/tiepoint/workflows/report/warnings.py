"""What should make a reader doubt figures of a report, put where these figures stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tiepoint.core.result import CandidateResult, Summary
from tiepoint.errors import some

UNEVEN = 0.05
"""Shares of judged hits that lie further apart are said: one ranking gains nothing for more of what nobody looked at."""
APART = 1.5
"""So many times the shortest vector's length may the longest have before a dot product is said to depend on it."""


def report_warnings(summary: Summary) -> Mapping[str, tuple[str, ...]]:
    """The warnings of a result, by the section of the report that they belong to."""
    return {
        "Quality": (*_copied(summary), *_pool(summary)),
        "Texts and vectors": (*_cut(summary), *_norms(summary)),
        "Who stands in the means": tuple(_noise(summary)),
        "Suspect labels": tuple(_suspects(summary)),
    }


def _copied(summary: Summary) -> Iterator[str]:
    found = summary.copied
    if found.documents:
        yield (
            f"{found.documents:,} documents share {found.texts:,} texts: where one of them is relevant and its copy is not "
            "judged, finding the copy counts as a miss"
        )
    if found.queries:
        yield (
            f"{found.queries:,} queries are copied from a document, or share a run of words with one "
            f"({_named(found.queries, found.first)}): matching words is rewarded there"
        )


def _pool(summary: Summary) -> Iterator[str]:
    name = summary.decision.slice
    shares = {c.id: share for c in _measured(summary) if (share := c.judged.get(name)) is not None}
    if shares and max(shares.values()) - min(shares.values()) > UNEVEN:
        least, most = min(shares, key=lambda c: (shares[c], c)), max(shares, key=lambda c: (shares[c], c))
        yield (
            f"the candidates' hits are not equally judged ({name}): {shares[least]:.4f} of {least}'s and {shares[most]:.4f} of "
            f"{most}'s; an unjudged hit gains nothing, so see what unjudged hits could move"
        )


def _cut(summary: Summary) -> Iterator[str]:
    for c in _measured(summary):
        for role, found in (("documents", c.document_tokens), ("queries", c.query_tokens)):
            if found is not None and found.cut_texts:
                yield (
                    f"{c.id} reads {found.limit:,} tokens of a text: {found.cut_texts:.1%} of the {role} are cut, "
                    f"{found.cut_tokens or 0.0:.1%} of their tokens"
                )


def _norms(summary: Summary) -> Iterator[str]:
    for c in _measured(summary):
        norms = c.document_norms
        if c.contract.get("metric") == "dot" and norms is not None and norms.max > APART * norms.min:
            yield (
                f"{c.id} is searched by dot product, and its document vectors are {norms.min:.4f} to {norms.max:.4f} long: a "
                "longer one scores higher whatever it says"
            )


def _noise(summary: Summary) -> Iterator[str]:
    for c in _measured(summary):
        struck = {name: ties.by_noise for name, ties in c.ties.items() if ties.by_noise}
        if struck and c.noise:
            counts = ", ".join(f"{count:,} ({name})" for name, count in struck.items())
            yield (
                f"scores of the same text differ by up to {c.noise:.1g} when {c.id} encodes it again: across the cut "
                f"{summary.k} the order is noise in so many queries: {counts}"
            )


def _suspects(summary: Summary) -> Iterator[str]:
    if summary.suspects.count:
        yield "what no candidate and not BM25 finds may be judged wrongly: look at these labels before the figures"


def _measured(summary: Summary) -> Iterator[CandidateResult]:
    return (c for c in summary.candidates if c.status == "measured")


def _named(count: int, first: tuple[str, ...]) -> str:
    return some(first) if count <= len(first) else f"{', '.join(first)} and {count - len(first):,} more"
