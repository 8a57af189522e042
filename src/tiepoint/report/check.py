"""A check as sections of sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator

from tiepoint.core.check import CandidateCheck, Check, Lengths, Named, Spread
from tiepoint.core.since import Since
from tiepoint.report.table import IN_WORDS, NONE, Section, Table, number, percent, upper, whole

FIRST_REGIONS = 20
"""Regions in the table; the others are counted, and `--json` has them all."""


def sections(check: Check) -> tuple[Section, ...]:
    """What the owner reads: warnings first, definitions last."""
    parts = (
        Section(_title(check), (check.definitions["owner"] + ".",)),
        Section("Warnings", tuple(f"- {line}" for line in check.warnings) or ("none",)),
        *([] if check.since is None else [_since(check.since)]),
        Section("Documents", tuple(_documents(check)), (_regions(check),)),
        Section("Tokens against each candidate's limit", (), (_tokens(check),)),
        Section("Queries", tuple(_queries(check)), (_slices(check),)),
        Section("Notes of loading", tuple(f"- {line}" for line in check.notes)),
        Section("Definitions", tuple(f"- {name}: {text}" for name, text in check.definitions.items())),
    )
    return tuple(part for part in parts if part.lines or any(table.rows for table in part.tables))


def _title(check: Check) -> str:
    count = len(check.warnings)
    found = f"{count} warning{'' if count == 1 else 's'}" if count else "no warning"
    return f"{check.study}: the study can be benchmarked, {found}; nothing was encoded"


def _since(since: Since) -> Section:
    moved = NONE if since.moved_share is None else f"{since.moved_share:.1%}"
    fresh = NONE if since.new_words is None else f"{since.new_words:.1%}"
    lines = (
        since.sentence,
        f"documents: {since.documents:,} then, {since.now:,} now; {since.added:,} added, {since.removed:,} removed, "
        f"{since.changed:,} changed ({since.share:.1%})",
        f"regions: {since.moved:,} documents of both lie in others ({moved}); new: {', '.join(since.new_regions) or 'none'}; "
        f"gone: {', '.join(since.gone_regions) or 'none'}",
        f"lengths: a median of {since.median_words_then:,.0f} words then, {since.median_words:,.0f} now; vocabulary: {fresh} of "
        "the running words are new",
        f"Rule: {since.rule}.",
    )
    return Section(f"Since the result of {since.recorded}", lines)


def _documents(check: Check) -> Iterator[str]:
    parents = f", passages of {check.units:,} parents" if check.units != check.documents else ""
    yield f"{check.documents:,} documents{parents}; words: {_spread(check.words)}"
    placed = check.without_region.count < check.documents
    yield f"without a region: {_named(check.without_region)}" if placed else "no document has a region"
    copies = check.copies
    yield f"exact copies, groups: {_named(copies.exact)}"
    yield f"copies but for white space, groups: {_named(copies.spaced)}"
    if copies.judged_apart.count:
        yield f"relevant, with a copy that is judged otherwise or not: {_named(copies.judged_apart)}"
    even = check.even
    if even.regions is not None:
        yield f"the largest region holds {even.regions:.2f} times the documents of the smallest"
    if even.lengths is not None:
        yield f"words of a document at the 90th percentile over those at the 10th: {even.lengths:.2f}"


def _regions(check: Check) -> Table:
    shown = check.regions[:FIRST_REGIONS]
    rest = len(check.regions) - len(shown)
    rows = tuple((r.name, whole(r.documents), whole(r.under), whole(r.queries)) for r in shown)
    return Table(
        f"Regions, {len(check.regions):,}",
        ("region", "documents", "in or under it", "queries"),
        rows,
        f"and {rest:,} more: --json has them all" if rest > 0 else "",
    )


def _tokens(check: Check) -> Table:
    head = ("candidate", "", "tokens min", "median", "max", "limit", "texts cut", "tokens cut", "longest over it")
    rows = tuple(row for candidate in check.candidates for row in _token_rows(candidate))
    reasons = [f"{c.id}: {c.reason}" for c in check.candidates if c.reason is not None]
    return Table("Tokens", head, rows, ". ".join(["Limit –: the model has or states none.", *reasons]))


def _token_rows(candidate: CandidateCheck) -> Iterator[tuple[str, ...]]:
    for role, found in (("documents", candidate.documents), ("queries", candidate.queries)):
        if found is not None:
            yield (candidate.id, f"{role} ({found.counted:,})", *_token_cells(found))
        elif candidate.reason is not None:
            yield (candidate.id, role, *["not executed"] + [NONE] * 6)


def _token_cells(found: Lengths) -> tuple[str, ...]:
    cut = ["not executed" if share is None else f"{share:.1%}" for share in (found.cut_texts, found.cut_tokens)]
    tokens = found.tokens
    return (
        whole(tokens.min), whole(tokens.median), whole(tokens.max), whole(found.limit), *cut,
        ", ".join(found.worst.first[:3]) or NONE,
    )  # fmt: skip


def _queries(check: Check) -> Iterator[str]:
    counts = ", ".join(f"{name} {count:,}" for name, count in check.provenance.items())
    yield f"provenance: {counts}"
    for name, asked in check.splits.items():
        split = f"split {name}" if name else ("without a split" if len(check.splits) > 1 else "no splits")
        yield f"{split}: {asked.queries:,} queries, {asked.clusters:,} independent clusters"
    yield _deciding(check)
    if check.deciding.chances:
        yield _chances(check)
    judged = check.judged
    yield f"{judged.judgements:,} judgements; repeated word for word and counted once: {judged.repeats:,}"
    yield f"judged documents that the corpus lacks: {_named(judged.absent)}"
    yield f"judged queries that are not asked: {_named(judged.stray)}"
    yield f"queries without a judgement: {_named(judged.not_judged)}"
    near = check.near
    shared = "" if near.share is None else f", {near.share:.1%} of those of 8 words or more"
    yield f"queries that share 8 words in a row with a document: {_named(near.long)}{shared}"
    yield f"shorter queries that stand word for word in a document: {_named(near.whole)}; too short to look for: {near.short:,}"
    yield f"query ids that are document ids too: {_named(check.alike)}"


def _deciding(check: Check) -> str:
    d = check.deciding
    split = f" of the {d.split} split" if d.split else ""
    start = f"the rule decides on {d.queries:,} {d.slice} queries{split}, {d.clusters:,} independent"
    if d.enough is None:
        return f"{start}; by point estimate, so no number of them is needed"
    if d.least is None:
        return f"{start}; no number of queries can show a candidate inside a gap of {d.gap:g}"
    gap = "" if d.smallest_gap is None else f"; so many could at best show a gap of {upper(d.smallest_gap)}"
    return f"{start}; a gap of {d.gap:g} takes at least {d.least:,}: {'enough' if d.enough else 'too few'}{gap}"


def _chances(check: Check) -> str:
    """The chance that the study's own queries decide, by how differences lie."""
    found = "; ".join(f"{percent(chance)} ({words})" for words, chance in check.deciding.chances.items())
    return f"chance that so many decide, if no candidate is truly ahead: {found}; tiepoint power tells more"


def _slices(check: Check) -> Table:
    head = (
        "slice", "queries", "scored", "clusters", "eligible min", "median", "max", f"at most {check.k}", "gold", "absent",
        "ceiling", "random recall",
    )  # fmt: skip
    rows = tuple(
        (
            name, whole(p.queries), whole(p.scored), whole(p.clusters), *_cells(p.eligible), whole(p.few_eligible),
            whole(p.gold), whole(p.gold_absent), number(p.ceiling), number(p.random_recall),
        )
        for name, p in check.slices.items()
        if p.queries
    )  # fmt: skip
    words = ", ".join(f"{name}: {text}" for name, text in IN_WORDS.items() if check.slices[name].queries)
    return Table("Slices", head, rows, words)


def _cells(found: Spread | None) -> tuple[str, str, str]:
    return (NONE, NONE, NONE) if found is None else (whole(found.min), whole(found.median), whole(found.max))


def _spread(found: Spread) -> str:
    return f"{found.min:,} at least, {found.median:,.0f} in the middle, {found.max:,} at most"


def _named(found: Named) -> str:
    if not found.count:
        return "none"
    rest = found.count - len(found.first)
    return f"{found.count:,} ({', '.join(found.first)}{f' and {rest:,} more' if rest else ''})"
