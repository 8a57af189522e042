"""Where a fixture comes from: a file, or the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from tiepoint.core.fixture import Fixture
from tiepoint.errors import InputError
from tiepoint.formats.fixture_json import parse_fixture, read_fixture

BUNDLED = "bundled"
"""The word for the fixture that comes with the package."""


def bundled_bytes() -> bytes:
    """The bundled fixture, byte by byte as it is installed."""
    return (files("tiepoint") / "bundled_fixture" / "fixture.json").read_bytes()


def load_fixture(name: str) -> Fixture:
    """The fixture of a file, or the bundled one.

    name     a path, or BUNDLED (a file of that name is ./bundled)
    raises   InputError with every problem, each with its layer and places (formats.fixture_json.parse_fixture)
    """
    return parse_fixture(bundled_bytes(), name=BUNDLED) if name == BUNDLED else read_fixture(Path(name))


def write_fixture(path: Path) -> None:
    """Write the bundled fixture. Raises InputError where something stands there; nothing is then changed."""
    if path.exists():
        raise InputError("something stands there already", where=str(path), fix="name a file that is not there")
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".writing-{path.name}")
    beside.write_bytes(bundled_bytes())
    beside.replace(path)
