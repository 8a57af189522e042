"""Reads a fixture: file, shape, then rules; what one of these refuses is said before the next looks."""

from __future__ import annotations

from pathlib import Path

from tiepoint.core.fixture import Fixture
from tiepoint.errors import InputError
from tiepoint.formats.fixture_json.findings import Findings
from tiepoint.formats.fixture_json.rules import obey
from tiepoint.formats.fixture_json.shape import take_shape
from tiepoint.formats.fixture_json.tree import parse_tree

LARGEST = 5 * 1024 * 1024
"""Bytes that a fixture may have."""


def read_fixture(path: Path) -> Fixture:
    """The fixture in a file; never reads more than LARGEST bytes and one.

    raises   InputError as parse_fixture does, and where the file cannot be opened
    """
    name = str(path).encode("utf-8", "backslashreplace").decode()
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise InputError(f"file: cannot be read: {why}", where=name, fix="name a JSON file, or bundled") from None
    return parse_fixture(raw, name=name)


def parse_fixture(raw: bytes, *, name: str) -> Fixture:
    """The fixture that these bytes hold, with everything checked.

    name     what messages call the file
    raises   InputError with every problem that can be found; each begins with its layer (LAYERS) and names its places.
             A file that is no sound JSON is not looked into; an entry without the shape of one is not looked into further.
    """
    found = Findings(name)
    if len(raw) > LARGEST:
        found.add("file", f"is larger than {LARGEST:,} bytes (5 MiB)", fix="a fixture is made by hand; keep it small")
        found.raise_if_any()
    tree = parse_tree(raw, found)
    found.raise_if_any()
    return obey(take_shape(tree, found), found)
