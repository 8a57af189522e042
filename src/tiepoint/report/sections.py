"""The sections beside quality: cost, texts and vectors, denominators, notes, conditions."""

from __future__ import annotations

from collections.abc import Mapping

from tiepoint.core.figure import Figure, Norms, Truncation
from tiepoint.core.result import ArmFigures, CandidateResult, Conditions, Summary
from tiepoint.report.table import NONE, Table, arms_of, figure, number, rate, whole


def cost(summary: Summary) -> Table:
    """What each measured candidate costs; unknown is a dash."""
    head = (
        "",
        "dim",
        "bytes",
        "docs/s",
        "tokens/s",
        "queries/s",
        "p50 ms",
        "p95 ms",
        "load s",
        "rebuild s",
        "price",
        "encoded on",
    )
    rows = tuple(
        (
            c.id,
            whole(c.dimension),
            whole(c.bytes),
            rate(c.documents_per_s),
            rate(c.tokens_per_s),
            rate(c.queries_per_s),
            rate(c.query_p50_ms),
            rate(c.query_p95_ms),
            rate(c.load_s),
            rate(c.rebuild_s),
            rate(c.price),
            c.encoded_on or NONE,
        )
        for c in summary.candidates
        if c.status == "measured"
    )
    return Table("Cost", head, rows, "Times are of this machine; encoding from the cache keeps its own date.")


def lengths(summary: Summary) -> Table:
    """Token lengths of every measured candidate, by role."""
    rows = []
    for c in summary.candidates:
        for role, found in (("documents", c.document_tokens), ("queries", c.query_tokens)):
            if c.status == "measured":
                rows.append(_length_row(c, role, found))
    head = ("", "", "tokens p50", "p95", "max", "limit", "texts cut", "tokens cut", "worst")
    note = "No limit stated: truncation was not executed, which is not the same as nothing cut."
    return Table("Token lengths against each model's limit", head, tuple(rows), note)


def _length_row(c: CandidateResult, role: str, found: Truncation | None) -> tuple[str, ...]:
    if found is None:
        return (c.id, role, *[NONE] * 4, "not executed", "not executed", NONE)
    cut = [NONE if v is None else f"{v:.1%}" for v in (found.cut_texts, found.cut_tokens)]
    if found.limit is None:
        cut = ["not executed"] * 2
    return (
        c.id, role, f"{found.p50:.0f}", f"{found.p95:.0f}", f"{found.max:.0f}", whole(found.limit), *cut,
        ", ".join(found.worst) or NONE,
    )  # fmt: skip


def recall_on_cut(summary: Summary) -> Table:
    """Recall of relevant documents that a limit cut, beside the others; no rows where nothing was cut."""
    rows = tuple(
        (c.id, c.recall_cut.measure, _pair(c.recall_cut.cut), _pair(c.recall_cut.uncut))
        for c in summary.candidates
        if c.recall_cut is not None
    )
    note = "Pooled over the relevant documents, without a filter; in brackets the interval, then the queries."
    return Table("Recall on cut beside uncut documents", ("", "", "cut", "not cut"), rows, note)


def _pair(found: Figure) -> str:
    return NONE if found.mean is None else f"{figure(found)}, {found.n} queries"


def suspect_labels(summary: Summary) -> tuple[str, ...]:
    """The queries that nothing finds; no line where there is none or where they may not be shown."""
    found = summary.suspects
    if not found.count:
        return ()
    return (
        f"{found.count} queries have a relevant document that no candidate and not BM25 finds within {summary.k} hits: "
        "look at their labels first.",
        ", ".join(found.queries),
    )


def norms(summary: Summary) -> Table:
    """Lengths of the vectors, by role."""
    rows = []
    for c in summary.candidates:
        for role, norms in (("documents", c.document_norms), ("queries", c.query_norms)):
            if norms is not None:
                said = "normalised" if c.contract.get("normalized") else "any length"
                rows.append((c.id, role, said, *_norm_cells(norms)))
    return Table("Lengths of vectors", ("", "", "contract", "min", "median", "max"), tuple(rows))


def _norm_cells(norms: Norms) -> tuple[str, str, str]:
    return f"{norms.min:.6f}", f"{norms.median:.6f}", f"{norms.max:.6f}"


def denominators(summary: Summary) -> Table:
    """Who stands in the means of each slice, and who does not."""
    head = (
        "", "queries", "scored", "no relevant document", "not judged", "no answer", "left out", f"at most {summary.k} eligible",
        "gold", "gold filtered out", "gold absent", "recall ceiling",
    )  # fmt: skip
    rows = tuple(
        (
            name, str(d.queries), str(d.scored), str(d.no_relevant), str(d.not_judged), str(d.no_answer), str(d.left_out),
            str(d.few_eligible), str(d.gold), str(d.gold_filtered), str(d.gold_absent), number(d.gold_ceiling),
        )
        for name, d in summary.denominators.items()
    )  # fmt: skip
    return Table("Denominators", head, rows, "Counts of queries; gold counts judgements of grade 1 or better.")


def ties(summary: Summary) -> Table:
    """Ties at the cut, by arm and slice, and how many queries noise of encoding orders there."""
    names = [name for name, d in summary.denominators.items() if d.queries]
    rows = tuple((arm.id, *(_tie(arm, name) for name in names)) for arm in arms_of(summary) if arm.ties)
    note = "; ".join(f"{c.id}: {noise_in_words(c.noise)}" for c in summary.candidates if c.noise is not None)
    if any(of.by_noise for arm in arms_of(summary) for of in arm.ties.values()):
        note += ". After the plus: queries where that noise alone tells a hit from a document left out"
    if any(queries for arm in arms_of(summary) for of in arm.ties.values() for queries in of.at.values()):
        note = f"{note}. After @: queries that tie at another cut-off".removeprefix(". ")
    return Table(f"Ties at the cut {summary.k}: queries (pairs)", ("", *names), rows, f"{note}." if note else "")


def noise_in_words(noise: float | None) -> str:
    """By how much scores of the same text differ when it is encoded again."""
    if noise is None:
        return "not measured"
    if not noise:
        return "scores of the same text are equal when encoded again"
    return f"scores of the same text differ by up to {noise:.1g} when encoded again"


def _tie(arm: ArmFigures, name: str) -> str:
    found = arm.ties.get(name)
    if found is None:
        return NONE
    others = "".join(f"; @{k}: {queries}" for k, queries in found.at.items() if queries)
    return f"{found.queries} ({found.pairs})" + (f" + {found.by_noise}" if found.by_noise else "") + others


def notes(summary: Summary) -> tuple[str, ...]:
    """Everything that was left out, missing or read in a certain form."""
    lines = [f"This report is {summary.bounded}.", *summary.notes]
    if summary.not_judged:
        lines.append(f"not judged, so never scored: {', '.join(summary.not_judged)}")
    for c in summary.candidates:
        if c.status != "measured":
            lines.append(f"{c.id}: {c.status}: {c.reason}")
        lines += [f"{c.id}: {note}" for note in c.notes]
        if c.documents_missing or c.queries_missing:
            lines.append(f"{c.id}: {c.documents_missing} documents and {c.queries_missing} queries have no vector")
    return tuple(lines)


def conditions_of(conditions: Conditions) -> tuple[str, ...]:
    """Machine, packages, seeds, hashes, signatures."""
    lines = [
        f"tiepoint {conditions.tiepoint}, Python {conditions.python}, {conditions.platform}, {conditions.processor}, "
        f"{conditions.cores} cores, threads {conditions.threads or 'all'}; made {conditions.created}",
        "packages: " + _pairs(conditions.packages),
        "seeds: " + _pairs(conditions.seeds),
        "order of encoding: " + ", ".join(conditions.encoded),
    ]
    lines += [f"throughput of {name}: {_throughput(facts)}" for name, facts in conditions.throughput.items()]
    lines += [f"search of {name}: {_throughput(facts)}" for name, facts in conditions.search.items()]
    lines += [f"SHA-256 of {name}: {value}" for name, value in conditions.hashes.items()]
    lines += [f"signature of {name}: {value}" for name, value in conditions.signatures.items()]
    return tuple(lines)


def _throughput(facts: Mapping[str, str | int | float | None]) -> str:
    """`encoded_on 2026-05-01 ..., threads 0`: what is known of when and where a candidate's figures were measured."""
    known = {name: value for name, value in facts.items() if value is not None}
    return _pairs(known) or "not measured here"


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())
