"""What `show` and `compare` print: parts, rankings side by side, movements, as sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tiepoint.core.comparison import Comparison, Movement
from tiepoint.core.figure import Figure
from tiepoint.core.result import Summary
from tiepoint.core.shown import Hit, Part, SideBySide
from tiepoint.report.table import DOUBTED, IN_WORDS, NONE, TOO_FEW, Section, Table, figure, number

NOT_SHOWN = "(not for these readers)"
ARMS_BESIDE = 3
"""So many rankings stand beside each other in one table of 100 columns."""
MEASURES_BESIDE = 3


def part(found: Part) -> Section:
    """The figures of a subgroup, region or slice, with intervals and n."""
    if found.hidden and not found.slices:
        return Section(f"{found.kind} {found.name}", (f"{found.hidden}.",))
    tables, lines = [], []
    for of in found.slices:
        if of.size is not None and not of.size.enough:
            least = found.least if of.size.least is None else of.size.least
            bound = "" if least is None else f", {least:,} are needed at the rule's gap"
            lines.append(f"{of.slice}: {TOO_FEW} ({of.size.clusters:,} independent queries{bound})")
        scored = "" if of.size is None else f", {of.size.scored} of {of.size.queries} queries scored"
        for start in range(0, len(found.measures), MEASURES_BESIDE):
            measures = found.measures[start : start + MEASURES_BESIDE]
            rows = tuple((arm, *(_figure_n(f.get(m)) for m in measures)) for arm, f in of.arms.items())
            tables.append(Table(f"{of.slice} ({IN_WORDS[of.slice]}){scored}", ("", *measures), rows))
    return Section(f"{found.study}: {found.kind} {found.name}", tuple(lines), tuple(tables))


def side_by_side(found: SideBySide) -> Section:
    """Rankings beside each other, then the relevant documents that may be shown."""
    title = f"{found.study}: query {found.query}, {found.slice} ({IN_WORDS[found.slice]})"
    if found.hidden:
        return Section(title, (f"Nothing is shown: {found.hidden}.",))
    arms = list(found.arms)
    tables = []
    for start in range(0, len(arms), ARMS_BESIDE):
        beside = arms[start : start + ARMS_BESIDE]
        depth = max((len(found.arms[arm]) for arm in beside), default=0)
        rows = tuple((str(rank + 1), *(_hit(found.arms[arm], rank) for arm in beside)) for rank in range(depth))
        tables.append(Table("Rankings: document, grade, score", ("rank", *beside), rows))
    rows = tuple((g.document, str(g.grade), *(g.state[arm] for arm in arms)) for g in found.gold)
    tables.append(Table(f"Relevant documents within {found.k} hits", ("", "grade", *arms), rows))
    lines = () if any(t.rows for t in tables[:-1]) else ("No arm ranks a document.",)
    if not found.gold:
        lines = (*lines, "No relevant document may be shown, or there is none.")
    return Section(title, lines, tuple(tables))


def sides(found: Comparison) -> Section:
    """What the two rules said, and what else differs."""
    lines = [
        *(
            f"{name} ({side.created}): {side.verdict}, choice {side.choice or 'none'}"
            for name, side in (("before", found.before), ("after", found.after))
        ),
        *(f"{name}: the same name, another space (its contract differs)" for name in found.other_space),
        *(f"only before: {name}" for name in found.only_before),
        *(f"only after: {name}" for name in found.only_after),
        *found.notes,
    ]
    if not found.movements:
        lines.append("no candidate was measured in both: nothing to pair")
    tables = len({(m.slice, m.split) for m in found.movements if m.p_holm is not None})
    if tables > 1:
        lines.append(
            f"{found.tests:,} directions are asked in {tables} tables: corrected within each table, not across them"
        )
    return Section(f"{found.study}: what moved", tuple(lines))


def movements(found: Comparison) -> Section:
    """A table for each slice and split, after what holds for all of them."""
    tables, own = zip(*_movement_tables(found), strict=True) if found.movements else ((), ())
    says = _how_moved(found)
    if len(own) > 1 and len(set(own)) == 1 and own[0]:
        says, own = (*says, f"In every table: {own[0]}"), ("",) * len(own)
    noted = tuple(replace(table, note=note) for table, note in zip(tables, own, strict=True))
    return Section("Movements", says, noted)


def suspect_lines(summary: Summary) -> tuple[str, ...]:
    """The suspect labels of a result, for a terminal."""
    few = summary.suspects
    return (f"Suspect labels, found by no candidate: {', '.join(few.queries)}",) if few.count else ()


def _movement_tables(found: Comparison) -> Iterator[tuple[Table, str]]:
    """Each table, and what holds for it alone."""
    seen = dict.fromkeys((m.slice, m.split) for m in found.movements)
    for name, split in seen:
        of = [m for m in found.movements if (m.slice, m.split) == (name, split)]
        over = f", {split} split" if split else ""
        head = ("", "measure", "n", "before", "after", "difference", "up/down", "direction")
        table = Table(f"{name} ({IN_WORDS[name]}){over}", head, tuple(_movement(m) for m in of))
        yield table, _movement_note(of)


def _how_moved(found: Comparison) -> tuple[str, ...]:
    """How directions come about, and what they do not cover: what does not differ from table to table."""
    of, level = found.movements, f"{100 * found.level:g} %"
    if not of:
        return ()
    says = [f"Paired by query, as ranked; intervals at {level} each, not corrected: they decide no direction."]
    if any(m.low is not None and not m.trusted for m in of):
        says.append(DOUBTED)
    if any(m.p_holm is not None for m in of):
        says.append(
            f"Directions are two-sided, {level} for all of one table together (Holm): by Gaffke's bound after one imagined query "
            "with the worst possible difference, or one imagined cluster as large as the largest, over all orders of tied "
            "documents."
        )
    if any(m.direction == "no tie ranges" for m in of):
        says.append("No tie ranges: a result was recorded before they were; run its benchmark again.")
    if any(m.direction == "not tested" and m.n for m in of):
        says.append("Not tested: measures that no decision may rest on (pooled over queries, or Judged).")
    return tuple(says)


def _movement_note(of: Sequence[Movement]) -> str:
    """How many directions one table asks for, and what holds for them."""
    asked = [m for m in of if m.p_holm is not None]
    says = []
    if asked:
        largest = max(m.largest or 1 for m in asked)
        imagined = "query" if largest == 1 else f"cluster of {largest:,} queries"
        says.append(f"{_many(len(asked), 'direction', 'directions')} asked, with one imagined {imagined}.")
    if few := [m for m in asked if m.direction == "too few"]:
        least = sorted({m.least for m in few if m.least is not None})
        says.append(
            f"Too few: at least {' to '.join(f'{n:,}' for n in (least[0], *least[1:][-1:]))} independent queries."
        )
    if most := max((m.unjudged for m in asked), default=0):
        says.append(
            f"The judgements are pooled: of up to {_many(most, 'query', 'queries')} an unjudged document stands in the "
            "first k, and their difference is taken as anything from -1 to 1."
        )
    return " ".join(says)


def _movement(m: Movement) -> tuple[str, ...]:
    between = "" if m.low is None else f" [{_signed(m.low)}, {_signed(m.high)}]{'' if m.trusted else '?'}"
    return (
        m.candidate, m.measure, str(m.n), number(m.before), number(m.after), _signed(m.difference) + between,
        f"{m.up}/{m.down}", m.direction,
    )  # fmt: skip


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def _signed(value: float | None) -> str:
    return NONE if value is None else f"{value:+.4f}"


def _figure_n(found: Figure | None) -> str:
    return NONE if found is None or found.mean is None else f"{figure(found)} n={found.n}"


def _hit(hits: tuple[Hit, ...], rank: int) -> str:
    if rank >= len(hits):
        return NONE
    hit = hits[rank]
    if not hit.shown:
        return NOT_SHOWN
    grade = "unjudged" if hit.grade is None else f"grade {hit.grade}"
    return f"{hit.document} {grade} {number(hit.score)}"
