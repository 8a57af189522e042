"""A fixture of sound shape against its rules, contract by contract, item by item, case by case; then its values."""

from __future__ import annotations

from tiepoint.core.contract import Contract
from tiepoint.core.fixture import Case, Fixture, FixtureItem, FixtureSpace
from tiepoint.formats.fixture_json.contracts import check_contracts
from tiepoint.formats.fixture_json.findings import Findings
from tiepoint.formats.fixture_json.items import check_items
from tiepoint.formats.fixture_json.known import Known
from tiepoint.formats.fixture_json.queries import check_queries
from tiepoint.formats.fixture_json.shape import Drafts


def obey(drafts: Drafts, found: Findings) -> Fixture:
    """The fixture. Raises InputError with everything that was noted and what the rules add, if there is anything."""
    known = Known()
    check_contracts(drafts.contracts, known, found)
    check_items(drafts.items, known, found)
    check_queries(drafts.queries, known, found)
    found.raise_if_any()
    return _build(drafts)


def _build(drafts: Drafts) -> Fixture:
    """The values of a fixture with which nothing is wrong, each in its order."""
    contracts = {d.entry.space_id: d.entry for d in drafts.contracts if d.entry is not None}
    items: dict[str, list[FixtureItem]] = {name: [] for name in contracts}
    for item in (d.entry for d in drafts.items if d.entry is not None):
        contract = contracts[item.space_id]
        items[item.space_id].append(
            FixtureItem(
                item_id=item.item_id,
                space_id=item.space_id,
                role="query" if item.role == contract.query_role else "document",
                text=item.text,
                vector=tuple(item.vector),
                acl=tuple(sorted(item.acl)),
                source_revision=item.source_revision,
            )
        )
    spaces = tuple(
        FixtureSpace(
            Contract(**contracts[name].model_dump(exclude_unset=True)),
            tuple(sorted(items[name], key=lambda item: item.item_id)),
        )
        for name in sorted(contracts)
    )
    cases = tuple(
        Case(q.case_id, q.query_item_id, frozenset(q.subject_groups), dict(q.relevance), tuple(sorted(q.subgroups)))
        for q in sorted((d.entry for d in drafts.queries if d.entry is not None), key=lambda q: q.case_id)
    )
    return Fixture(spaces, cases)
