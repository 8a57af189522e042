"""The layer "contract": what the contracts of a fixture may say."""

from __future__ import annotations

from typing import get_args

from tiepoint.core.contract import Metric, Role
from tiepoint.core.fixture import NORM_TOLERANCE
from tiepoint.errors import did_you_mean
from tiepoint.formats.fixture_json.findings import Findings, kind, shown
from tiepoint.formats.fixture_json.known import Known, Space
from tiepoint.formats.fixture_json.names import check_forms, check_name, check_repeats
from tiepoint.formats.fixture_json.shape import Draft
from tiepoint.formats.fixture_json.spec import ContractEntry

METRICS = get_args(Metric)
DTYPES = ("float32", "float64")
LARGEST_DIMENSION = 100_000
NAMES = ("space_id", "provider", "model", "revision", "query_role", "document_role")
WORDS = ("pooling", "tokenizer_revision", "truncation", "preprocessing", "sdk", "verified_on")
PROMPTS = ("query_prompt", "document_prompt", "query_task", "document_task")
"""These may end in a blank or a line break: they are put before a text as they stand."""


def check_contracts(drafts: tuple[Draft[ContractEntry], ...], known: Known, found: Findings) -> None:
    """Note what is wrong with the contracts; known learns of every space."""
    named = [((name,), draft.place) for draft in drafts if (name := draft.name("space_id")) is not None]
    known.some_space_unreadable = not drafts or len(named) < len(drafts)
    check_repeats(named, "a space", layer="contract", found=found)
    check_forms((name for (name,), _ in named), "a space_id", layer="contract", found=found)
    for draft in drafts:
        roles = None if draft.entry is None else _check_contract(draft.entry, draft.place, found)
        if (name := draft.name("space_id")) is not None:
            known.spaces.setdefault(name, Space(draft.entry, roles))


def _check_contract(entry: ContractEntry, place: str, found: Findings) -> dict[str, Role] | None:
    """Note what is wrong with one contract. Returns how it calls its roles."""
    for name in (*NAMES, *(name for name in WORDS if name in entry.model_fields_set)):
        check_name(getattr(entry, name), name, layer="contract", place=place, found=found)
    for name in PROMPTS:
        if name in entry.model_fields_set and not getattr(entry, name):
            found.add("contract", f"{name} is empty", place=place, fix=f"leave {name} out")
    for name, choices in (("metric", METRICS), ("dtype", DTYPES)):
        value = getattr(entry, name)
        if value not in choices:
            fix = did_you_mean(value, choices) or f"one of {', '.join(choices)}"
            found.add("contract", f"{name} is not supported", place=f"{place}: {shown(value)}", fix=fix)
    if not 1 <= entry.dimension <= LARGEST_DIMENSION:
        what, fix = "dimension lies out of bounds", f"a whole number from 1 to {LARGEST_DIMENSION}"
        found.add("contract", what, place=f"{place}: {kind(entry.dimension)}", fix=fix)
    if "max_input_tokens" in entry.model_fields_set and entry.max_input_tokens < 1:
        what, fix = "max_input_tokens must be at least 1", "leave it out where the model has no limit"
        found.add("contract", what, place=f"{place}: {kind(entry.max_input_tokens)}", fix=fix)
    if "norm_tolerance" in entry.model_fields_set and not 0 < entry.norm_tolerance < 1:
        what, fix = (
            "norm_tolerance must lie between 0 and 1",
            f"leave it out; a fixture allows {NORM_TOLERANCE:g} at most",
        )
        found.add("contract", what, place=f"{place}: {kind(entry.norm_tolerance)}", fix=fix)
    if entry.query_role == entry.document_role:
        what = "query_role and document_role are equal"
        found.add("contract", what, place=f"{place}: {shown(entry.query_role)}", fix="give each role a name of its own")
        return None
    return {entry.query_role: "query", entry.document_role: "document"}
