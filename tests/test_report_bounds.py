"""What a report may not tell or do: values over hidden answers, rows that cannot be read, signs that no reader sees."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import tiepoint as tp
from audited import recorded_audit
from command import Command
from pages import assert_self_contained, seen
from recorded import benched, change, runnable
from tiepoint.core.audit import Audit
from tiepoint.core.report import Explorer
from tiepoint.report.html import html
from tiepoint.report.markdown import markdown
from tiepoint.report.signs import TURNING, visible
from tiepoint.report.table import Page, Section, Table
from tiepoint.report.terminal import show, show_section
from tiepoint.workflows.audit.run import audit
from tiepoint.workflows.record.audit import load_audit
from tiepoint.workflows.report.audited import audit_explorer
from tiepoint.workflows.report.explorer import explorer

PLAIN = {"ESC": "\x1b[31m", "NUL": "\x00", "turn": "\u202e"}
MEASURED = "an answer that they may not see"


def hidden_answers(result: Path) -> set[str]:
    gold = pq.read_table(result / "rows" / "gold.parquet").to_pylist()
    return {row["query"] for row in gold if row["grade"] >= 1 and not row["shown"]}


def assert_withheld(data: dict, hidden: set[str]) -> None:
    """No value of these queries, every one marked, none before a query whose values may be told."""
    assert 0 < len(hidden) < len(data["queries"])
    first = [q["views"][data["first"]] for q in data["queries"]]
    valued = [i for i, view in enumerate(first) if view and view[0][0][0] is not None]
    assert max(valued) < min(i for i, q in enumerate(data["queries"]) if q["id"] in hidden), (
        "their spread orders nothing"
    )
    for query in data["queries"]:
        values = [v for view in query["views"] if view for of in view[0] for v in of]
        assert query.get("withheld", False) == (query["id"] in hidden)
        if query["id"] in hidden:
            assert set(values) == {None}
            assert any(view and any(view[1]) for view in query["views"]), "its rankings stay"


# V114: a value over an answer that may not be seen tells its rank


def test_V114_values_over_hidden_answers_are_withheld_in_a_report(tmp_path: Path, command: Command) -> None:
    result = benched(command, runnable(tmp_path / "s", readers=["planning"]))
    text = (result / "report.html").read_text(encoding="utf-8")
    assert_withheld(seen(text).data, hidden_answers(result))
    assert MEASURED in "".join(seen(text).text)


def test_V114_a_public_study_withholds_no_value(tmp_path: Path, command: Command) -> None:
    result = benched(command, runnable(tmp_path / "s", public=True))
    data = seen((result / "report.html").read_text(encoding="utf-8")).data
    assert not [q for q in data["queries"] if "withheld" in q]
    found = load_audit(recorded_audit(tmp_path / "audit", public=True))
    assert found.summary.quality is not None
    assert found.summary.quality.lost_hidden is None
    assert set(found.per_query.column("shown").to_pylist()) == {True}


def test_V114_values_over_hidden_answers_are_withheld_in_an_audit(tmp_path: Path) -> None:
    place = recorded_audit(tmp_path, readers=["planning"])
    study = tp.load_study(tmp_path / "s")
    hidden = hidden_answers(tp.record(tp.bench(study), tmp_path / "bench"))
    text = (place / "report.html").read_text(encoding="utf-8")
    assert_withheld(seen(text).data, hidden)
    quality = json.loads((place / "audit.json").read_text(encoding="utf-8"))["quality"]
    assert MEASURED in quality["lost_hidden"]
    assert not re.search(r"\d", quality["lost_hidden"]), "the reason counts nothing"
    assert not hidden & {query["query"] for query in quality["lost"]}
    rows = pq.read_table(place / "rows" / "per_query.parquet").to_pylist()
    assert {row["query"] for row in rows if not row["shown"]} == hidden


def test_V114_a_critical_query_with_a_hidden_answer_is_named_without_its_values(tmp_path: Path) -> None:
    names = ["q02", "q04", "q10"]
    folder = runnable(tmp_path / "s", readers=["planning"])
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n[gates]\ncritical = {json.dumps(names)}\n")
    sys.modules.pop("own", None)
    found = audit(tp.load_study(folder), "words", "letters")
    (gate,) = [gate for gate in found.summary.gates if gate.name == "critical queries"]
    hidden = set(found.per_query.filter(~pc.field("shown")).column("query").to_pylist())
    named = re.findall(r"(q\d\d)( \d\.\d{4} to)?", gate.evidence)
    assert hidden == set(names)
    assert {bool(values) for _, values in named} == {False}, gate.evidence


# rows/ that cannot be read


@pytest.mark.parametrize("spoil", [b"", b"PAR1 no table PAR1", b"\x00" * 400])
def test_a_table_that_cannot_be_read_is_named_and_the_index_lists_its_result(
    tmp_path: Path, command: Command, spoil: bytes
) -> None:
    folder = runnable(tmp_path / "s", public=True)
    good, bad = benched(command, folder), benched(command, folder)
    (bad / "rows" / "gold.parquet").write_bytes(spoil)
    answer = command("report", bad)
    assert answer.code == 2
    assert f"{bad.name}/rows/gold.parquet" in answer.err
    assert "Traceback" not in answer.err
    assert command("report", folder / "results").code == 0
    _, *rows = seen((folder / "results" / "index.html").read_text(encoding="utf-8")).tables["2 results"]
    assert {row[0]: row[3] for row in rows} == {good.name: "benchmark", bad.name: "cannot be read"}


def test_a_table_of_an_audit_that_cannot_be_read_is_named(tmp_path: Path, command: Command) -> None:
    place = recorded_audit(tmp_path, public=True)
    (place / "rows" / "rankings.parquet").write_bytes(b"no table")
    answer = command("report", place)
    assert answer.code == 2
    assert "rows/rankings.parquet" in answer.err


def test_without_the_answers_no_query_is_opened_and_the_page_says_so(tmp_path: Path, command: Command) -> None:
    result = benched(command, runnable(tmp_path / "s", readers=["planning"]))
    (result / "rows" / "gold.parquet").unlink()
    assert command("report", result).code == 0
    text = (result / "report.html").read_text(encoding="utf-8")
    assert "holds no rows/gold.parquet" in text
    assert "<script" not in text


# Documents in and out


def test_in_and_out_are_of_the_first_k_where_fewer_hits_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: Audit = load_audit(recorded_audit(tmp_path, public=True))
    whole = audit_explorer(found)
    monkeypatch.setattr("tiepoint.workflows.report.audited.MOST_HITS", 1)
    cut = audit_explorer(found)
    assert isinstance(whole, Explorer)
    assert isinstance(cut, Explorer)
    looked = 0
    for one, other in zip(whole.queries, cut.queries, strict=True):
        for name, view in one.views.items():
            for hits, first in zip(view.rankings, other.views[name].rankings, strict=True):
                assert first == tuple(replace(hit, tied=False) for hit in hits[:1])
                looked += bool(hits) and hits[0].document not in {h.document for h in other.views[name].rankings[0]}
    assert looked, "some first hits differ"


# Signs that no reader sees


def test_signs_that_no_reader_sees_become_visible_in_page_markdown_and_terminal() -> None:
    name = "a" + "".join(PLAIN.values()) + "z"
    table = Table(name, (name, name), ((name, name),), name)
    page = Page(name, name, name, table, (Section(name, (name,), (table,)),))
    console = Console(record=True, width=100, force_terminal=False)
    show(console, notice=name, sentence=name, rule=name, table=table)
    show_section(console, page.sections[0])
    printed, marked, made = console.export_text(), markdown(page), html(page)
    for text in (printed, marked, made):
        assert not {"\x00", "\x1b"} & set(text)
        assert "\ufffd" in text
    for text in (printed, marked, made.partition("<body>")[0]):
        assert not set(TURNING) & set(text)
    assert not re.search('aria-label="[^"]*\u202e', made)
    assert visible("a\nb") == "a\nb"


def test_control_signs_in_a_study_reach_no_report(tmp_path: Path, command: Command) -> None:
    folder = change(runnable(tmp_path / "s", public=True), ('"sample"', r'"sam\u001b[31m\u0000\u202eple"'))
    change(folder, ('"early"', r'"ear\u001b\u0000\u202ely"'), file="queries.jsonl")
    for file in ("corpus.jsonl", "queries.jsonl"):
        change(folder, ('"Teesdale"', r'"Tees\u001b\u0000\u202edale"'), file=file)
    answer = command("bench", folder, "--quiet")
    assert answer.code in (0, 4), answer.err
    (result,) = (folder / "results").iterdir()
    assert command("report", folder / "results").code == 0
    page = (result / "report.html").read_text(encoding="utf-8")
    index = (folder / "results" / "index.html").read_text(encoding="utf-8")
    for text in (page, index, (result / "report.md").read_text(encoding="utf-8"), answer.out):
        assert not {"\x00", "\x1b"} & set(text)
        assert "\ufffd" in text or text is answer.out
        assert "\u202e" not in text.partition("<body>")[0]
    assert "\x1b" not in "".join(str(q) for q in seen(page).data["queries"])
    assert re.search("<bdi>Tees\ufffd\ufffd\u202edale</bdi>", page)


# The index


def test_a_link_leads_to_the_page_of_its_folder_or_is_not_there(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", public=True)
    results = folder / "results"
    odd = benched(command, folder).rename(results / "javascript:a%20b #1?x")
    bare = shutil.copytree(odd, results / "bare", ignore=shutil.ignore_patterns("report.html"))
    assert command("report", results).code == 0
    text = (results / "index.html").read_text(encoding="utf-8")
    assert_self_contained(text)
    links = [a["href"] for tag, a in seen(text).tags if tag == "a" and "report.html" in str(a["href"])]
    assert links == ["./javascript%3Aa%2520b%20%231%3Fx/report.html"]
    assert f"<bdi>{bare.name}</bdi></h3>" in text


def test_two_audits_side_by_side_say_that_they_are_not_compared_by_query(tmp_path: Path, command: Command) -> None:
    one = recorded_audit(tmp_path, public=True)
    other = shutil.copytree(one, one.with_name("other"))
    assert command("report", one.parent, "--compare", one.name, other.name).code == 0
    text = (one.parent / "index.html").read_text(encoding="utf-8")
    assert "Audits are not compared query by query" in text
    assert "that takes rows/ of both" not in text


def test_the_explorer_of_a_result_orders_by_what_may_be_told(tmp_path: Path, command: Command) -> None:
    result = benched(command, runnable(tmp_path / "s", readers=["planning"]))
    found = explorer(tp.load_result(result), most=3)
    assert isinstance(found, Explorer)
    assert not {query.id for query in found.queries} & hidden_answers(result)
