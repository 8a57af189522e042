"""The layer "shape": which fields stand where, and of which JSON type they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import ValidationError

from tiepoint.errors import did_you_mean
from tiepoint.formats.fixture_json.findings import Findings, Layer, kind, shown
from tiepoint.formats.fixture_json.spec import ContractEntry, Entry, ItemEntry, QueryEntry

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

LAYER_OF: Mapping[str, Layer] = {"contracts": "contract", "items": "item", "queries": "query"}
PARTS = tuple(LAYER_OF)
TYPES = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number, written without a point",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}
AnEntry = TypeVar("AnEntry", bound=Entry)


@dataclass(frozen=True, slots=True)
class Draft(Generic[AnEntry]):
    """One entry of a part.

    place   `items[3] (doc-retry in toy-v1)`
    raw     its fields as far as it is an object, for what can be told of an entry whose shape is wrong
    entry   None: its shape is wrong, and said
    """

    place: str
    raw: dict[str, object]
    entry: AnEntry | None

    def name(self, field: str) -> str | None:
        """A field of the raw entry; None where it is missing or no text."""
        value = self.raw.get(field)
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Drafts:
    """Every entry of the three parts, in the order of the file."""

    contracts: tuple[Draft[ContractEntry], ...]
    items: tuple[Draft[ItemEntry], ...]
    queries: tuple[Draft[QueryEntry], ...]


def take_shape(tree: object, found: Findings) -> Drafts:
    """The entries of a fixture; what has not the shape of one is noted."""
    if not isinstance(tree, dict):
        fix = f"write an object with {', '.join(PARTS)}"
        found.add("shape", f"the top level must be an object, is {kind(tree)}", fix=fix)
        return Drafts((), (), ())
    for key in (key for key in tree if key not in PARTS):
        fix = did_you_mean(key, PARTS) or f"fields here: {', '.join(PARTS)}"
        found.add("shape", f"unknown field {shown(key)}", place="the top level", fix=fix)
    parts: dict[str, list[object]] = {}
    for name in PARTS:
        if name not in tree:
            found.add("shape", f"the field {name} is missing", place="the top level", fix=f"state {name}")
        elif not isinstance(tree[name], list):
            found.add("shape", f"{name} must be a list", place=f"{name}, is {kind(tree[name])}", fix=f"correct {name}")
        else:
            parts[name] = tree[name]
            if not tree[name]:
                found.add(LAYER_OF[name], f"{name} is empty", place=name, fix="a fixture has at least one of each")
    return Drafts(
        _entries(ContractEntry, "contracts", parts, found),
        _entries(ItemEntry, "items", parts, found),
        _entries(QueryEntry, "queries", parts, found),
    )


def _entries(
    model: type[AnEntry], part: str, parts: dict[str, list[object]], found: Findings
) -> tuple[Draft[AnEntry], ...]:
    return tuple(_draft(model, f"{part}[{i}]", value, found) for i, value in enumerate(parts.get(part, ())))


def _draft(model: type[AnEntry], place: str, value: object, found: Findings) -> Draft[AnEntry]:
    raw = value if isinstance(value, dict) else {}
    named = f" ({label})" if (label := _label(raw)) else ""
    try:
        return Draft(place + named, raw, model.model_validate(value))
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            _note(model, place, named, detail, found)
        return Draft(place + named, raw, None)


def _label(raw: dict[str, object]) -> str:
    """How messages name an entry: `toy-v1`, `doc-retry in toy-v1`, `retry-policy`."""
    names = [raw.get(field) for field in ("item_id", "case_id", "space_id")]
    return " in ".join(shown(name) for name in names if isinstance(name, str))


def _note(model: type[Entry], place: str, named: str, detail: ErrorDetails, found: Findings) -> None:
    """One finding of pydantic in our words."""
    key, of = detail["loc"], detail["type"]
    field = str(key[0]) if key else place.partition("[")[0]
    if of == "missing":
        found.add("shape", f"the field {field} is missing", place=place + named, fix=f"state {field}")
    elif of == "extra_forbidden":
        known = list(model.model_fields)
        fix = did_you_mean(field, known) or f"fields here: {', '.join(known)}"
        found.add("shape", f"unknown field {shown(field)}", place=place + named, fix=fix)
    else:
        step = "" if not key else f".{field}" if len(key) == 1 else f".{field}[{_inner(key[1])}]"
        each = field if len(key) == 1 else f"each of {field}"
        what = f"{each} must be {TYPES.get(of, detail['msg'])}"
        found.add("shape", what, place=f"{place}{step}{named}, is {kind(detail['input'])}", fix=f"correct {field}")


def _inner(key: str | int) -> str:
    return str(key) if isinstance(key, int) else shown(key)
