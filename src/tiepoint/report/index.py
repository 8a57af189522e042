"""All stored results as cards that can stand side by side."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from tiepoint.core.report import Entry, Index
from tiepoint.report.payload import safe
from tiepoint.report.table import IN_WORDS, NONE, Table, figure

UNREADABLE = "cannot be read"


@dataclass(frozen=True, slots=True)
class Card:
    """One result as the index shows it."""

    position: int
    title: str
    href: str | None
    row: tuple[str, ...]
    says: str
    facts: tuple[tuple[str, str], ...]
    figures: tuple[Table, ...]
    definitions: tuple[tuple[str, str], ...]
    kind: str


HEAD = ("result", "made", "study", "what", "verdict", "choice")


def index_page(index: Index) -> list[Card]:
    """The cards, newest first."""
    return [_card(i, entry) for i, entry in enumerate(index.entries)]


def _card(position: int, entry: Entry) -> Card:
    made = entry.created or NONE
    kind = UNREADABLE if entry.kind == "unreadable" else entry.kind
    facts = [("made", made), ("study", entry.study or NONE), ("verdict", entry.verdict), ("rule", entry.rule)]
    facts += [(f"SHA-256 of {name}", value) for name, value in entry.hashes.items()]
    return Card(
        position=position,
        title=entry.folder,
        href=f"./{quote(entry.folder, safe='')}/report.html" if entry.page else None,
        row=(made, entry.study or NONE, kind, entry.verdict, entry.choice or NONE),
        says=entry.problem or entry.says,
        facts=tuple(fact for fact in facts if fact[1]),
        figures=_figures(entry),
        definitions=tuple(entry.definitions.items()),
        kind=entry.kind,
    )


def _figures(entry: Entry) -> tuple[Table, ...]:
    """One table a slice: the arms' figures of the rule's measure and of recall."""
    tables = []
    for name in dict.fromkeys(key.partition(": ")[0] for key in entry.figures):
        of = {key.partition(": ")[2]: found for key, found in entry.figures.items() if key.startswith(f"{name}: ")}
        measures = tuple(dict.fromkeys(m for found in of.values() for m in found))
        rows = tuple((arm, *(figure(found.get(m)) for m in measures)) for arm, found in of.items())
        tables.append(Table(f"{name} ({IN_WORDS.get(name, name)}), on the queries that decide", ("", *measures), rows))
    return tuple(tables)


def index_data(index: Index) -> str:
    """Which pairs may not stand side by side, and why: for the page's script."""
    reasons = list(dict.fromkeys(index.refused.values()))
    return safe(
        {
            "compared": index.compared,
            "kinds": [entry.kind for entry in index.entries],
            "reasons": [list(reason) for reason in reasons],
            "refused": {f"{a} {b}": reasons.index(why) for (a, b), why in index.refused.items()},
        }
    )
