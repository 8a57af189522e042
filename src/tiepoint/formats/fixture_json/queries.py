"""The layers "query" and "access": what the cases of a fixture may ask, in every one of its spaces."""

from __future__ import annotations

from tiepoint.core.contract import Role
from tiepoint.formats.fixture_json.findings import Findings, kind, shown
from tiepoint.formats.fixture_json.known import Known
from tiepoint.formats.fixture_json.names import check_forms, check_name, check_names, check_repeats
from tiepoint.formats.fixture_json.shape import Draft
from tiepoint.formats.fixture_json.spec import QueryEntry


def check_queries(drafts: tuple[Draft[QueryEntry], ...], known: Known, found: Findings) -> None:
    """Note what is wrong with the cases, in every space that is known."""
    named = [((name,), draft.place) for draft in drafts if (name := draft.name("case_id")) is not None]
    check_repeats(named, "a case", layer="query", found=found)
    check_forms((name for (name,), _ in named), "a case_id", layer="query", found=found)
    for draft in drafts:
        if draft.entry is not None:
            _check_query(draft.entry, draft.place, known, found)


def _check_query(entry: QueryEntry, place: str, known: Known, found: Findings) -> None:
    check_name(entry.case_id, "case_id", layer="query", place=place, found=found)
    if not entry.subject_groups:
        what, fix = "subject_groups is empty: nothing could be found", "name the groups of who asks"
        found.add("query", what, place=place, fix=fix)
    if not entry.relevance:
        found.add("query", "relevance is empty", place=place, fix="name at least one relevant document")
    check_names(entry.subject_groups, "subject_groups", layer="query", place=place, found=found)
    check_names(entry.subgroups, "subgroups", layer="query", place=place, found=found)
    if check_name(entry.query_item_id, "query_item_id", layer="query", place=place, found=found):
        _check_held(entry.query_item_id, "query", place, known, found)
    for document, grade in entry.relevance.items():
        if not 1 <= grade <= 3:
            what, fix = "a grade lies out of 1 to 3", "leave out a document that is not relevant"
            found.add("query", what, place=f"{place}: {shown(document)} {kind(grade)}", fix=fix)
        if check_name(document, "a document in relevance", layer="query", place=place, found=found):
            _check_held(document, "document", place, known, found)
            _check_access(document, entry, place, known, found)


def _check_held(name: str, role: Role, place: str, known: Known, found: Findings) -> None:
    """Note in which spaces an item that a case names is missing or of the other role."""
    noun = "the item that is asked" if role == "query" else "a relevant document"
    for space_id, space in known.spaces.items():
        at = f"{place}: {shown(name)} in {shown(space_id)}"
        if (space_id, name) not in known.items:
            lacking = space.roles is not None and role not in space.held
            if not known.some_item_unreadable and not lacking:
                found.add("query", f"{noun} is missing in a space", place=at, fix="every space holds every one of them")
        elif known.items[space_id, name][0] not in (role, None):
            found.add(
                "query", f"{noun} has another role than {role}", place=at, fix="name another item, or correct its role"
            )


def _check_access(document: str, entry: QueryEntry, place: str, known: Known, found: Findings) -> None:
    """Note in which spaces a relevant document may not be read by who asks."""
    for space_id in known.spaces:
        _, item = known.items.get((space_id, document), (None, None))
        if item is not None and item.acl and entry.subject_groups and not set(item.acl) & set(entry.subject_groups):
            what = "a relevant document may not be read by the groups of the case"
            at = f"{place}: {shown(document)} in {shown(space_id)}"
            found.add("access", what, place=at, fix="correct its acl, the groups, or the judgement")
