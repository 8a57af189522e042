"""The bundled fixture, any change to it, what is refused and what is told of it, for tests of the fixture and its audit."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import Answer, Command
from tiepoint.core.fixture_audit import FixtureAudit
from tiepoint.errors import InputError
from tiepoint.formats.fixture_json import LAYERS, dump_audit, parse_fixture
from tiepoint.workflows.fixture.file import bundled_bytes
from tiepoint.workflows.fixture.run import audit_fixture

Tree = dict[str, Any]
TEXT = bundled_bytes()
BUNDLED: Tree = json.loads(TEXT)


def changed(change: Callable[[Tree], object]) -> Tree:
    """The bundled fixture after a change that is made in place."""
    tree = copy.deepcopy(BUNDLED)
    change(tree)
    return tree


def item(tree: Tree, name: str, space: str = "toy-v2") -> Tree:
    return next(i for i in tree["items"] if (i["item_id"], i["space_id"]) == (name, space))


def case(tree: Tree, name: str) -> Tree:
    return next(q for q in tree["queries"] if q["case_id"] == name)


def written(tree: Tree) -> bytes:
    return json.dumps(tree, ensure_ascii=False).encode()


def refused(content: Tree | bytes) -> list[tuple[str, str, str]]:
    """(layer, what, where) of every problem."""
    raw = content if isinstance(content, bytes) else written(content)
    with pytest.raises(InputError) as caught:
        parse_fixture(raw, name="fixture.json")
    found = []
    for problem in caught.value.problems:
        layer, _, what = problem.what.partition(": ")
        assert layer in LAYERS, problem
        assert problem.fix, problem
        assert problem.where.startswith("fixture.json"), problem
        found.append((layer, what, problem.where))
    return found


def audited(tree: Tree, k: int = 3) -> FixtureAudit:
    return audit_fixture(parse_fixture(written(tree), name="fixture.json"), k=k)


def told(tree: Tree, k: int = 3) -> Tree:
    """What --json prints of a fixture."""
    return json.loads(dump_audit(audited(tree, k)))


def cases_of(answer: Tree, space: str) -> Tree:
    """The cases that --json prints of a space, by their id."""
    return {one["case_id"]: one for one in answer["spaces"][space]["evaluation"]["details"]}


def of_file(command: Command, folder: Path, content: Tree | bytes, *more: object) -> Answer:
    """`tiepoint audit --fixture` of a file that holds this, by the command line."""
    path = folder / "fixture.json"
    path.write_bytes(content if isinstance(content, bytes) else written(content))
    return command("audit", "--fixture", path, *more)


def toy(
    spaces: dict[str, dict[str, list[float]]],
    queries: dict[str, dict[str, list[float]]],
    cases: list[Tree],
    *,
    metric: str = "dot",
    acl: dict[str, list[str]] | None = None,
) -> Tree:
    """A fixture of one's own: vectors of documents and of queries by space; acl ["all"] unless said.

    cases   each with what differs from a case of group all, without subgroups, named after its query
    """
    contracts, items = [], []
    for space, documents in spaces.items():
        one = next(iter(documents.values()))
        contracts.append(
            {**BUNDLED["contracts"][0], "space_id": space, "revision": space, "dimension": len(one), "metric": metric}
        )
        for role, vectors in (("document", documents), ("query", queries[space])):
            items += [
                {
                    "item_id": name,
                    "space_id": space,
                    "role": role,
                    "text": f"text of {name}",
                    "vector": vector,
                    "acl": (acl or {}).get(name, ["all"]),
                    "source_revision": "r1",
                }
                for name, vector in vectors.items()
            ]
    defaults = {"subject_groups": ["all"], "subgroups": []}
    return {
        "contracts": contracts,
        "items": items,
        "queries": [{**defaults, "case_id": f"case-{c['query_item_id']}", **c} for c in cases],
    }
