"""What is wrong with a fixture, gathered by layer: equal findings become one problem with all its places."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from tiepoint.errors import FIRST, InputError, Problem

Layer = Literal["file", "shape", "contract", "item", "query", "access"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
LONGEST = 60
"""So many characters of a name are shown in a message."""


@dataclass(slots=True)
class Places:
    """Where one thing is wrong: how often, and the first places; the others are only counted."""

    count: int = 0
    first: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Findings:
    """Problems of one fixture. name: what messages call the file."""

    name: str
    places: dict[tuple[Layer, str, str], Places] = field(default_factory=dict)

    def add(self, layer: Layer, what: str, *, place: str = "", fix: str) -> None:
        """Note one finding; those of equal words become one problem."""
        at = self.places.setdefault((layer, what, fix), Places())
        at.count += 1
        if place and len(at.first) < FIRST:
            at.first.append(place)

    def raise_if_any(self) -> None:
        """Raise InputError with every problem, in the order of the layers; each begins with the name of its layer."""
        if self.places:
            ordered = sorted(self.places.items(), key=lambda found: LAYERS.index(found[0][0]))
            raise InputError(problems=[self._problem(*key, places) for key, places in ordered])

    def _problem(self, layer: Layer, what: str, fix: str, at: Places) -> Problem:
        count = f" ({at.count:,} times)" if at.count > 1 else ""
        more = f" and {at.count - len(at.first):,} more" if at.first and at.count > len(at.first) else ""
        return Problem(f"{layer}: {what}{count}", ", ".join((self.name, *at.first)) + more, fix)


def shown(name: str) -> str:
    """A name for a message: as written where it is short and printable, quoted, escaped and cut where it is not."""
    if name and name.isprintable() and name == name.strip() and len(name) <= LONGEST:
        return name
    cut = ascii(name[:LONGEST])
    return f"{cut}..." if len(name) > LONGEST else cut


def kind(value: object) -> str:
    """What a value is, never what it says: `true`, `null`, `a text`, `a list`, `an object`, or the number itself."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value!r:.{LONGEST}}"
    return "a text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
