"""The strict fixture after any change at all: it is refused with problems that name their layer, or audited."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixture_kit import BUNDLED, TEXT, Tree, changed
from tiepoint.errors import InputError
from tiepoint.formats.fixture_json import LAYERS, parse_fixture
from tiepoint.workflows.fixture.run import audit_fixture

PLACES: list[tuple[str | int, ...]] = []


def _collect(value: object, path: tuple[str | int, ...]) -> None:
    PLACES.append(path)
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        _collect(inner, (*path, key))


_collect(BUNDLED, ())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["", " ", "query", "document", "toy-v1", "doc-retry", "a\tb", "employees", 1e200, 10**400]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)  # fmt: skip


def answered(raw: bytes) -> None:
    """It is either refused with problems that name their layer, or audited."""
    try:
        fixture = parse_fixture(raw, name="x")
        audit_fixture(fixture)
    except InputError as error:
        assert all(re.match(f"({'|'.join(LAYERS)}): ", problem.what) for problem in error.problems)  # noqa: PT017
        str(error).encode()


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(PLACES), JSON, st.sampled_from(["put", "drop", "copy"]))
def test_any_value_anywhere_is_answered_without_a_traceback(
    path: tuple[str | int, ...], value: object, how: str
) -> None:
    def change(tree: Tree) -> None:
        place: Any = tree
        for step in path[:-1]:
            place = place[step]
        if not path:
            tree.update({"more": value})
        elif how == "drop":
            del place[path[-1]]
        elif how == "copy" and isinstance(place, list):
            place.insert(0, value)
        else:
            place[path[-1]] = value

    answered(json.dumps(changed(change)).encode())


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(TEXT) - 1), st.binary(max_size=3), st.integers(0, 4))
def test_any_bytes_anywhere_are_answered_without_a_traceback(start: int, new: bytes, cut: int) -> None:
    answered(TEXT[:start] + new + TEXT[start + cut :])
