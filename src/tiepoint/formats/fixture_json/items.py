"""The layer "item": what the items of a fixture may say, each by the contract of its space."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tiepoint.core.contract import Role
from tiepoint.core.fixture import NORM_TOLERANCE, plain_norm
from tiepoint.errors import did_you_mean
from tiepoint.formats.fixture_json.contracts import LARGEST_DIMENSION
from tiepoint.formats.fixture_json.findings import Findings, shown
from tiepoint.formats.fixture_json.known import Known
from tiepoint.formats.fixture_json.names import check_forms, check_name, check_names, check_repeats
from tiepoint.formats.fixture_json.shape import Draft
from tiepoint.formats.fixture_json.spec import ContractEntry, ItemEntry

ROLES: tuple[Role, ...] = ("query", "document")


def check_items(drafts: tuple[Draft[ItemEntry], ...], known: Known, found: Findings) -> None:
    """Note what is wrong with the items, each by its contract; known learns of every item."""
    named = [((space, name), draft.place) for draft in drafts for space, name in _ids(draft)]
    known.some_item_unreadable = not drafts or len(named) < len(drafts)
    check_repeats(named, "an item", layer="item", found=found)
    check_forms((name for (_, name), _ in named), "an item_id", layer="item", found=found)
    for draft in drafts:
        role = None if draft.entry is None else _check_item(draft.entry, draft.place, known, found)
        for key in _ids(draft):
            known.items.setdefault(key, (role, draft.entry))
        if (name := draft.name("space_id")) is not None and (space := known.spaces.get(name)) is not None:
            space.doubtful |= role is None
            space.held |= {role} if role else set()
    _check_roles_held(known, found)


def _ids(draft: Draft[ItemEntry]) -> Iterator[tuple[str, str]]:
    space, name = draft.name("space_id"), draft.name("item_id")
    if space is not None and name is not None:
        yield space, name


def _check_item(entry: ItemEntry, place: str, known: Known, found: Findings) -> Role | None:
    """Note what is wrong with one item. Returns its role, None where that cannot be told."""
    check_name(entry.item_id, "item_id", layer="item", place=place, found=found)
    check_name(entry.source_revision, "source_revision", layer="item", place=place, found=found)
    if not entry.text.strip():
        found.add("item", "text is empty", place=place, fix="write the text that was embedded")
    if not entry.acl:
        found.add("item", "acl is empty: nobody could read it", place=place, fix="name the groups that may read it")
    check_names(entry.acl, "acl", layer="item", place=place, found=found)
    space = known.spaces.get(entry.space_id)
    _check_vector(entry, place, None if space is None else space.entry, found)
    if space is None:
        if not known.some_space_unreadable:
            fix = did_you_mean(entry.space_id, known.spaces) or "add its contract"
            found.add("item", "the space is not among the contracts", place=place, fix=fix)
        return None
    if space.roles is None:
        return None
    if entry.role not in space.roles:
        fix = f"its contract says {' or '.join(map(shown, space.roles))}"
        found.add("item", "the role is not in the contract", place=f"{place}: {shown(entry.role)}", fix=fix)
    return space.roles.get(entry.role)


def _check_vector(entry: ItemEntry, place: str, contract: ContractEntry | None, found: Findings) -> None:
    length, norm = len(entry.vector), plain_norm(entry.vector)
    if contract is not None and length != contract.dimension and 1 <= contract.dimension <= LARGEST_DIMENSION:
        what, fix = "the vector has another length than the contract says", "was it made by another model?"
        found.add("item", what, place=f"{place}: {length:,}, not {contract.dimension:,}", fix=fix)
    elif norm == 0:
        what, fix = (
            "the vector is zero: its sum of squares is 0 in float64",
            "a zero vector has no direction; embed anew",
        )
        found.add("item", what, place=place, fix=fix)
    elif math.isinf(norm):
        what, fix = (
            "the vector is too long: its sum of squares is infinite in float64",
            "scale the vectors of this space",
        )
        found.add("item", what, place=place, fix=fix)
    elif contract is not None and contract.normalized and abs(norm - 1) > _tolerance(contract):
        what = "the norm is off 1, while the contract says normalized"
        fix = f"normalise it within {_tolerance(contract):g}, or say normalized = false"
        found.add("item", what, place=f"{place}: norm {norm!r}", fix=fix)


def _tolerance(contract: ContractEntry) -> float:
    stated = contract.norm_tolerance
    return min(stated, NORM_TOLERANCE) if 0 < stated < 1 else NORM_TOLERANCE


def _check_roles_held(known: Known, found: Findings) -> None:
    for name, space in known.spaces.items():
        for role in ROLES:
            if space.roles and role not in space.held and not space.doubtful and not known.some_item_unreadable:
                what, fix = f"a space has no item of its {role} role", "add its items, or remove its contract"
                found.add("item", what, place=shown(name), fix=fix)
