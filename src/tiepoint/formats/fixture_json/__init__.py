"""The strict fixture as JSON: read with every problem named by its layer and place; the audit's result written."""

from tiepoint.formats.fixture_json.findings import LAYERS
from tiepoint.formats.fixture_json.read import LARGEST, parse_fixture, read_fixture
from tiepoint.formats.fixture_json.write import dump_audit

__all__ = ["LARGEST", "LAYERS", "dump_audit", "parse_fixture", "read_fixture"]
