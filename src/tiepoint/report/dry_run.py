"""A dry run as one section."""

from __future__ import annotations

from tiepoint.core.dry_run import CandidateRun, DryRun, RoleRun
from tiepoint.report.table import NONE, Section, Table, rate, whole


def section(run: DryRun) -> Section:
    """What would be encoded, what comes from the cache, time and price."""
    head = (
        "candidate",
        "documents to encode",
        "from cache",
        "tokens",
        "queries to encode",
        "from cache",
        "tokens",
        "s",
        "price",
    )
    lines = [f"{one.id}: {one.reason}" for one in run.candidates if one.reason is not None]
    lines += [
        f"{one.id}: time projected from {one.measured_on}" for one in run.candidates if one.measured_on and one.seconds
    ]
    unknown = "unknown: at least one candidate was never encoded here"
    lines.append(f"Projected time: {unknown if run.seconds is None else rate(run.seconds) + ' s'}.")
    lines.append(f"Price: {'unknown' if run.price is None else f'{run.price:.6g}'}.")
    return Section(
        f"{run.study}: a dry run, nothing was encoded and nothing written",
        tuple(lines),
        (Table("What would be encoded", head, tuple(_row(one) for one in run.candidates if one.executed)),),
    )


def _row(one: CandidateRun) -> tuple[str, ...]:
    price = NONE if one.price is None else f"{one.price:.6g}"
    return (one.id, *_role(one.documents), *_role(one.queries), rate(one.seconds), price)


def _role(found: RoleRun | None) -> tuple[str, str, str]:
    if found is None:
        return NONE, NONE, NONE
    return whole(found.encode), whole(found.texts - found.encode), whole(found.tokens)
