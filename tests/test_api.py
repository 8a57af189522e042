"""The Python door: every name is documented and its example runs as shown; its types hold; tables go elsewhere."""

from __future__ import annotations

import importlib.resources
import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tiepoint as tp
from sample import hashing, write_sample
from tiepoint.core.audit import AuditSummary
from tiepoint.core.result import Conditions, Summary
from tiepoint.formats import result_json

DOCS = Path(__file__).parents[1] / "docs" / "api.md"
BLOCK = re.compile(r"(?:<!-- needs (?P<needs>[^>]*) -->\n)?```python\n(?P<code>.*?)```", re.DOTALL)
PLAIN = {name for name in tp.__all__ if not name.startswith("_")}


def missing(names: str | None) -> list[str]:
    return [n for n in (names or "").replace(" ", "").split(",") if n and importlib.util.find_spec(n) is None]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> tp.Result:
    folder = write_sample(tmp_path_factory.mktemp("door") / "sample", readers=["planning"])
    return tp.bench(tp.load_study(folder), candidates=[hashing(16), hashing(64)])


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_every_public_name_is_documented_has_an_example_and_a_docstring(name: str) -> None:
    text = DOCS.read_text(encoding="utf-8")
    headings = "\n".join(re.findall(r"(?m)^###? .*$", text))
    assert re.search(rf"\btp\.{name}\b", headings), f"docs/api.md has no heading for tp.{name}"
    assert any(re.search(rf"\btp\.{name}\b", m["code"]) for m in BLOCK.finditer(text)), f"no example uses tp.{name}"
    assert inspect.getdoc(getattr(tp, name))


def test_the_examples_run_in_order_as_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sample(tmp_path / "my-study", readers=["planning"])
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    ran = 0
    for block in BLOCK.finditer(DOCS.read_text(encoding="utf-8")):
        if not missing(block["needs"]):
            exec(compile(block["code"], "docs/api.md", "exec"), space)  # noqa: S102
            ran += 1
    assert ran >= 12
    assert len(list((tmp_path / "my-study" / "results").glob("*/result.json"))) == 1
    assert len(list((tmp_path / "audits").glob("*/audit.json"))) == 1


def test_per_query_goes_to_pandas(result: tp.Result) -> None:
    pytest.importorskip("pandas", reason="not executed: pandas is not installed")
    frame = result.per_query.to_pandas()
    columns = "candidate slice query measure value weight low high unjudged"
    assert list(frame.columns) == columns.split()
    mine = frame[(frame.candidate == "hash-64") & (frame.slice == "filtered")]
    for measure, figure in result.summary.candidates[1].measures["filtered"].items():
        rows = mine[mine.measure == measure].dropna()
        assert (rows.value * rows.weight).sum() / rows.weight.sum() == pytest.approx(figure.mean)


def test_per_query_goes_to_polars(result: tp.Result) -> None:
    polars = pytest.importorskip("polars", reason="not executed: polars is not installed")
    frame = polars.from_arrow(result.per_query)
    assert frame.height == result.per_query.num_rows
    assert frame["value"].null_count() == result.per_query.column("value").null_count > 0


def test_the_types_hold_for_a_caller() -> None:
    pytest.importorskip("mypy", reason="not executed: mypy is not installed")
    here = Path(__file__).parent
    config = here.parent / "pyproject.toml"
    words = [
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        str(config),
        "--follow-imports=silent",
        str(here / "typed_door.py"),
    ]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, cwd=here)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("name", "kind"), [("result", Summary), ("conditions", Conditions), ("audit", AuditSummary)])
def test_the_published_schemas_are_those_of_the_code(name: str, kind: type) -> None:
    published = importlib.resources.files("tiepoint") / "schemas" / f"{name}.schema.json"
    assert published.read_text(encoding="utf-8") == result_json.schema(kind), (
        f"stale: tiepoint schema {name} > new && mv new src/tiepoint/schemas/{name}.schema.json"
    )


def test_a_real_result_validates_and_a_changed_one_does_not(tmp_path: Path, result: tp.Result) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="not executed: jsonschema is not installed")
    folder = tp.record(result, tmp_path / "results")
    for name in ("result", "conditions"):
        text = (importlib.resources.files("tiepoint") / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
        schema = json.loads(text)
        jsonschema.Draft202012Validator.check_schema(schema)
        found = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(found)
        for broken in (
            {**found, "unknown": 1},
            {**found, "schema_version": 99},
            {k: v for k, v in found.items() if k != "definitions"},
        ):
            assert list(jsonschema.Draft202012Validator(schema).iter_errors(broken))
