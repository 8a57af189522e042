"""The report of an audit: its gates, its chart, its queries side by side, within what the readers may see."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from audited import recorded_audit
from command import Command
from pages import assert_self_contained, seen
from recorded import change
from sample import documents
from tiepoint.report.table import NONE

IN, OUT = 4, 8


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded_audit(tmp_path_factory.mktemp("audit"), readers=["planning"])


def test_the_page_has_gates_sections_chart_and_queries(audit: Path) -> None:
    text = (audit / "report.html").read_text(encoding="utf-8")
    assert_self_contained(text)
    page, found = seen(text), json.loads((audit / "audit.json").read_text(encoding="utf-8"))
    _, *gates = page.tables["Gates"]
    assert [row[0] for row in gates] == [gate["name"] for gate in found["gates"]]
    assert [row[3] for row in gates] == [gate["evidence"] for gate in found["gates"]]
    for title in ("Contracts", "Inventory", "Canon", "Quality, query by query", "Agreement of the rankings"):
        assert f"<bdi>{title}</bdi></h2>" in text
    assert text.count("<svg") == 1
    assert page.data["arms"] == ["source", "target"]


def test_every_number_of_its_explorer_is_one_of_rows_and_in_and_out_are_marked(audit: Path) -> None:
    data = seen((audit / "report.html").read_text(encoding="utf-8")).data
    values = {
        (r["slice"], r["query"], r["measure"]): r for r in pq.read_table(audit / "rows/per_query.parquet").to_pylist()
    }
    ranked = pq.read_table(audit / "rows/rankings.parquet").to_pylist()
    marked = 0
    for query in data["queries"]:
        for name, view in zip(data["views"], query["views"], strict=True):
            if view is None:
                continue
            for measure, (source, target) in zip(data["measures"], view[0], strict=True):
                row = values[name, query["id"], measure]
                own_values = (row["source"], row["target"]) if row["shown"] else (None, None)
                assert (source, target) == own_values
            own = {
                side: sorted(
                    (
                        r
                        for r in ranked
                        if (r["side"], r["slice"], r["query"]) == (side, name, query["id"]) and r["rank"] <= 3
                    ),
                    key=lambda r: r["rank"],
                )
                for side in data["arms"]
            }
            for i, side in enumerate(data["arms"]):
                others = {r["document"] for r in own[data["arms"][1 - i]] if r["shown"]}
                hits = list(zip(*[iter(view[1][i])] * 3, strict=True))
                assert len(hits) == len(own[side])
                for (document, score, flags), row in zip(hits, own[side], strict=True):
                    if not row["shown"]:
                        assert (document, score, flags) == (-1, 0, 0)
                        continue
                    assert data["documents"][document] == row["document"]
                    assert f"{score / 10_000:.4f}" == f"{row['score']:.4f}"
                    assert bool(flags & (IN, OUT)[1 - i]) == (row["document"] not in others)
                    marked += bool(flags & (IN | OUT))
    assert marked


def test_no_document_of_others_is_named(audit: Path) -> None:
    text = (audit / "report.html").read_text(encoding="utf-8")
    for row in documents():
        assert ("planning" in row["groups"]) or f'"{row["_id"]}"' not in text
    assert '"d01"' in text


def test_without_named_readers_no_query_can_be_opened(tmp_path: Path) -> None:
    text = (recorded_audit(tmp_path) / "report.html").read_text(encoding="utf-8")
    assert "names no readers under [report]" in text
    assert "<script" not in text
    assert not [row["_id"] for row in documents() if f"{row['_id']}" in text.split()]


def test_it_is_written_anew_without_rows_and_refused_from_another_version(
    tmp_path: Path, audit: Path, command: Command
) -> None:
    again = shutil.copytree(audit, tmp_path / "again")
    before = (again / "report.html").read_text(encoding="utf-8")
    assert command("report", again, "--charts", tmp_path / "charts").code == 0
    assert (again / "report.html").read_text(encoding="utf-8") == before
    assert {p.name for p in (tmp_path / "charts").iterdir()} == {"differences.svg", "differences.png"}
    bare = shutil.copytree(audit, tmp_path / "bare", ignore=shutil.ignore_patterns("rows"))
    assert command("report", bare).code == 0
    assert "holds no rows/" in (bare / "report.html").read_text(encoding="utf-8")
    assert command("report", bare, "--with-text", audit.parents[1] / "s").code == 2
    change(bare, ('"schema_version": ', '"schema_version": 9'), file="audit.json")
    answer = command("report", bare)
    assert answer.code == 2
    assert "schema version 9" in answer.err
    change(bare, ('"schema_version": 92', '"schema_version": 1'), ('"randomised"', '"tests"'), file="audit.json")
    assert "schema version 1, this tiepoint reads 2" in command("report", bare).err


def test_differences_print_as_audit_json_has_them(audit: Path) -> None:
    page = seen((audit / "report.html").read_text(encoding="utf-8"))
    found = json.loads((audit / "audit.json").read_text(encoding="utf-8"))["quality"]["deltas"]
    assert found
    for delta in found:
        group = f"region {delta['region']}" if delta["region"] else delta["subgroup"] or "every query"
        caption = next(c for c in page.tables if c.startswith(f"{delta['slice']} ("))
        (row,) = [
            row for row in page.tables[caption]
            if row[0] == delta["measure"] and row[1].partition(":")[0] == group
        ]  # fmt: skip
        assert row[1] == group if delta["enough"] else f"{group}: too few to decide: {delta['least']:,} needed"
        assert ("]?" in row[5]) == (not delta["trusted"])
        assert row[5].startswith(NONE if delta["difference"] is None else f"{delta['difference']:+.4f}")
