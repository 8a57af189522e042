"""The report: every number on its page stands in result.json or rows/, it loads nothing, and it says what it cannot show."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import tiepoint as tp
from command import Command
from pages import Seen, assert_self_contained, seen
from recorded import benched, change, runnable
from sample import documents, hashing, write_sample
from tiepoint.report.table import DOUBT, NONE, figure, number
from tiepoint.workflows.report.files import MOST_BYTES, report_of, written
from wide import wide

GRADE = 16
FLAGS = {1: "tied", 2: "gone"}


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded result for readers in planning."""
    folder = write_sample(tmp_path_factory.mktemp("report") / "sample", readers=["planning"])
    return tp.record(tp.bench(tp.load_study(folder), candidates=[hashing(16), hashing(64)]), folder / "results")


@pytest.fixture(scope="module")
def page(closed: Path) -> Seen:
    return seen((closed / "report.html").read_text(encoding="utf-8"))


def result_of(folder: Path) -> dict[str, object]:
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


def printed(found: dict[str, object] | None) -> str:
    """A figure of result.json as the page prints it."""
    if found is None or found["mean"] is None:
        return NONE
    doubt = "]" if found["trusted"] else DOUBT
    return f"{found['mean']:.4f}" + (
        "" if found["low"] is None else f" [{found['low']:.4f}, {found['high']:.4f}{doubt}"
    )


# Every number


def test_every_figure_in_a_table_of_the_page_is_one_of_result_json(closed: Path, page: Seen) -> None:
    found = result_of(closed)
    arms = {arm["id"]: arm for arm in [*found["candidates"], *found["baselines"]]}
    for name, counts in found["denominators"].items():
        caption = next(c for c in page.tables if c.startswith(f"{name} (") and c.endswith("scored queries"))
        head, *rows = page.tables[caption]
        assert caption.endswith(f"{counts['scored']} scored queries")
        assert [row[0] for row in rows] == list(arms)
        for arm, *cells in rows:
            assert cells == [printed(arms[arm]["measures"][name][m]) for m in head[1:]]
    _, *rows = page.tables["recall@3"]
    for arm, *cells in rows:
        assert cells == [printed(arms[arm]["measures"][n]["recall@3"]) for n in ("unfiltered", "filtered", "rare")]
    _, *rows = page.tables["nDCG@5"]
    for arm, without, _, beside, _ in rows:
        assert without == printed(arms[arm]["measures"]["unfiltered_same"]["nDCG@5"])
        assert beside == printed(arms[arm]["measures"]["filtered"]["nDCG@5"])
    for kind in ("subgroup", "region"):
        head, *rows = page.tables[f"nDCG@5 by {kind}, filtered (region filter)"]
        for group, n, few, *cells in rows:
            assert int(n) == found[f"{kind}s"][group]["filtered"]["scored"]
            assert few.startswith("too few to decide")
            assert cells == [printed(arms[a][f"{kind}s"][group]["filtered"]["nDCG@5"]) for a in head[3:]]
    _, *rows = page.tables["How much of each ranking is judged"]
    for arm, *cells in rows:
        assert cells == [number(v) for v in arms[arm]["judged"].values()]


def test_the_quality_and_cost_table_is_of_the_result_and_the_gap_of_its_rule(closed: Path, page: Seen) -> None:
    found = result_of(closed)
    arms = {c["id"]: c for c in found["candidates"]}
    _, *rows = page.tables["Quality and cost"]
    for name, quality, dimension, _, held, _, chosen in rows:
        assert quality == printed(arms[name]["measures"]["filtered"]["nDCG@5"])
        assert dimension == f"{arms[name]['dimension']:,}"
        assert held == f"{arms[name]['bytes']:,}"
        assert bool(chosen) == (name == found["decision"]["point_choice"])
    cost = report_of(tp.load_result(closed)).cost
    assert cost is not None
    assert cost.floor == pytest.approx(max(s["mean"] for s in found["decision"]["standings"]) - 0.02)


def test_every_number_of_the_explorer_is_one_of_rows(closed: Path, page: Seen) -> None:
    data = page.data
    rows = {
        name: pq.read_table(closed / "rows" / f"{name}.parquet").to_pylist()
        for name in ("per_query", "rankings", "gold")
    }
    closed_to = {r["query"] for r in rows["gold"] if not r["shown"]}
    values = {(r["candidate"], r["slice"], r["query"], r["measure"]): r["value"] for r in rows["per_query"]}
    ranked = {(r["candidate"], r["slice"], r["query"], r["rank"]): r for r in rows["rankings"]}
    looked = 0
    for query in data["queries"]:
        for slice_name, view in zip(data["views"], query["views"], strict=True):
            if view is None:
                assert (data["arms"][0], slice_name, query["id"], "nDCG@5") not in values
                continue
            for measure, of in zip(data["measures"], view[0], strict=True):
                for arm, value in zip(data["arms"], of, strict=True):
                    own = values[arm, slice_name, query["id"], measure]
                    assert value == (None if query["id"] in closed_to else own)
            for arm, hits in zip(data["arms"], view[1], strict=True):
                for rank, (document, score, flags) in enumerate(zip(*[iter(hits)] * 3, strict=True), 1):
                    row = ranked[arm, slice_name, query["id"], rank]
                    assert (document < 0) == (not row["shown"])
                    if row["shown"]:
                        assert data["documents"][document] == row["document"]
                        assert f"{score / 10_000:.4f}" == f"{row['score']:.4f}"
                        assert flags // GRADE - 1 == (-1 if row["grade"] is None else row["grade"])
                    looked += 1
    assert looked > 300


def test_ties_and_what_a_filter_takes_out_are_marked_as_the_rows_have_them(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "s", public=True)
    result = tp.bench(tp.load_study(folder), candidates=[hashing(4), hashing(64)])
    found = report_of(result).explorer
    rows = result.rankings.to_pylist()
    tied = gone = 0
    for query in found.queries:
        for name, view in query.views.items():
            for arm, hits in zip(found.arms, view.rankings, strict=True):
                own = [r for r in rows if (r["candidate"], r["slice"], r["query"]) == (arm, name, query.id)][
                    : len(hits)
                ]
                kept = {
                    r["document"]
                    for r in rows
                    if (r["candidate"], r["slice"], r["query"]) == (arm, "filtered", query.id)
                }
                for hit, row in zip(hits, own, strict=True):
                    assert hit.tied == (sum(r["score"] == row["score"] for r in own) > 1)
                    assert hit.gone == (
                        name == "unfiltered" and "filtered" in query.views and row["document"] not in kept
                    )
                    tied, gone = tied + hit.tied, gone + hit.gone
    assert tied
    assert gone


def test_the_inversion_counts_pairs_that_change_places(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "s", public=True)
    result = tp.bench(tp.load_study(folder), candidates=[hashing(d) for d in (2, 3, 5, 8, 16)])
    found = report_of(result).inversion
    mean = {
        c.id: [c.measures[n]["nDCG@5"].mean for n in ("unfiltered_same", "filtered")] for c in result.summary.candidates
    }
    pairs = {(a, b) for a in mean for b in mean if mean[a][0] > mean[b][0] and mean[a][1] < mean[b][1]}
    assert set(found.swapped) == pairs
    for turn in found.arms:
        if turn.id in mean:
            assert turn.place_with == 1 + sum(m[1] > mean[turn.id][1] for m in mean.values())
    assert {"bm25", "random"} <= {turn.id for turn in found.arms}


# The file


def test_the_page_loads_nothing_and_runs_only_what_its_policy_names(closed: Path) -> None:
    assert_self_contained((closed / "report.html").read_text(encoding="utf-8"))


def test_every_chart_says_in_words_what_it_shows(page: Seen) -> None:
    charts = [a for tag, a in page.tags if tag == "div" and a.get("role") == "img"]
    assert len(charts) == sum(tag == "svg" for tag, _ in page.tags) >= 6
    assert all(len(str(a["aria-label"])) > 60 for a in charts)


def test_ten_candidates_and_two_thousand_queries_stay_within_four_megabytes() -> None:
    small = written(wide(60))
    assert len(seen(small.html).data["queries"]) == 60
    large = written(wide(2_000))
    assert len(large.html.encode()) <= MOST_BYTES == 4_000_000
    assert len(seen(large.html).data["queries"]) == 200
    assert "The 200 queries that differ most are here, of 2,000" in large.html


def test_the_two_hundred_are_those_that_differ_most() -> None:
    result = wide(700)
    found = report_of(result, most=200).explorer
    rule = result.summary.decision
    spread: dict[str, list[float]] = {}
    for row in result.per_query.to_pylist():
        if (row["measure"], row["slice"]) == (rule.measure, rule.slice) and row["candidate"].startswith("candidate"):
            spread.setdefault(row["query"], []).append(row["value"])
    away = {query: max(values) - min(values) for query, values in spread.items()}
    least = min(away[query.id] for query in found.queries)
    assert sum(value > least for value in away.values()) == 199
    assert [away[q.id] for q in found.queries] == sorted(away.values(), reverse=True)[:200]


def test_ten_thousand_queries_make_a_page_too() -> None:
    made = written(wide(10_000, candidates=3))
    assert len(made.html.encode()) <= MOST_BYTES
    assert "of 10,000" in made.html


# The command


def test_a_report_is_written_anew_from_its_folder_alone(tmp_path: Path, closed: Path, command: Command) -> None:
    copy = shutil.copytree(closed, tmp_path / "alone" / "r")
    before = {name: (copy / name).read_text(encoding="utf-8") for name in ("report.html", "report.md")}
    for name in before:
        (copy / name).unlink()
    answer = command("report", copy)
    assert (answer.code, answer.out) == (0, f"Wrote {copy / 'report.html'}\n")
    assert {name: (copy / name).read_text(encoding="utf-8") for name in before} == before, "the same, byte for byte"
    assert sorted(p.name for p in copy.iterdir()) == sorted(p.name for p in closed.iterdir()), "nothing is left beside"


def test_charts_are_written_as_svg_and_png(tmp_path: Path, closed: Path, command: Command) -> None:
    copy = shutil.copytree(closed, tmp_path / "r")
    assert command("report", copy, "--charts", tmp_path / "charts").code == 0
    names = {path.stem for path in (tmp_path / "charts").iterdir()}
    assert names >= {"quality-by-dimension", "recall", "filter-and-order", "subgroups", "regions"}
    for name in names:
        root = ElementTree.fromstring((tmp_path / "charts" / f"{name}.svg").read_bytes())  # noqa: S314 our own file
        assert root.tag.endswith("svg")
        assert (tmp_path / "charts" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_result_without_rows_says_what_it_cannot_show(tmp_path: Path, closed: Path, command: Command) -> None:
    bare = shutil.copytree(closed, tmp_path / "bare", ignore=shutil.ignore_patterns("rows"))
    assert command("report", bare).code == 0
    text = (bare / "report.html").read_text(encoding="utf-8")
    assert "holds no rows/" in text
    assert "no query can be opened here" in text
    assert "<script" not in text
    assert "script-src &#39;none&#39;" in text
    assert seen(text).tables["recall@3"]
    answer = command("report", bare, "--with-text", closed.parents[1])
    assert answer.code == 3
    assert "rows/" in answer.err


def test_another_schema_version_is_refused_and_no_page_is_touched(
    tmp_path: Path, closed: Path, command: Command
) -> None:
    copy = shutil.copytree(closed, tmp_path / "r")
    change(copy, ('"schema_version": 1', '"schema_version": 7'), file="result.json")
    before = (copy / "report.html").stat().st_mtime_ns
    answer = command("report", copy)
    assert answer.code == 2
    assert "schema version 7, this tiepoint reads 1" in answer.err
    assert (copy / "report.html").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (["{empty}"], "there is no result here"),
        (["{result}", "--compare", "a", "b"], "--compare goes with a folder of results"),
        (["{results}", "--with-text", "{study}"], "go with one result"),
        (["{results}", "--charts", "{empty}"], "go with one result"),
        (["{results}", "--compare", "a", "b"], "there is no result 'a'"),
    ],
)
def test_wrong_calls_are_exit_2(tmp_path: Path, closed: Path, command: Command, given: list[str], hint: str) -> None:
    places = {"empty": tmp_path, "result": closed, "results": closed.parent, "study": closed.parents[1]}
    answer = command("report", *(word.format(**places) for word in given))
    assert (answer.code, answer.out) == (2, "")
    assert hint in answer.err


# Texts


def test_texts_stand_there_only_when_asked_for_and_only_what_every_reader_may_read(
    tmp_path: Path, command: Command
) -> None:
    folder = runnable(tmp_path / "s", readers=["planning"])
    result = benched(command, folder)
    plain = (result / "report.html").read_text(encoding="utf-8")
    assert not [row for row in documents() if row["text"] in plain]
    assert command("report", result, "--with-text", folder).code == 0
    told = (result / "report.html").read_text(encoding="utf-8")
    for row in documents():
        assert (row["text"] in told) <= ("planning" in row["groups"]), row["_id"]
    assert sum(row["text"] in told for row in documents()) > 15
    ranked = {r["document"] for r in pq.read_table(result / "rows" / "rankings.parquet").to_pylist()}
    assert {row["_id"] for row in documents() if "planning" not in row["groups"]} & ranked, "they were ranked"
    assert "culvert near Cotherstone" not in told, "q06 was asked with ecology alone"
    asked = {q["id"] for q in seen(told).data["queries"] if q.get("text")}
    assert asked == {f"q{n:02d}" for n in range(1, 18, 2)}, "asked by planning"
    assert_self_contained(told)


def test_texts_of_another_study_are_refused_and_nothing_is_written(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", readers=["planning"])
    result = benched(command, folder)
    before = (result / "report.html").stat().st_mtime_ns
    change(folder, ("sheet 5.", "sheet 6."), file="corpus.jsonl")
    answer = command("report", result, "--with-text", folder)
    assert answer.code == 2
    assert "the corpus of the study are not those of the result" in answer.err
    change(folder, ("sheet 6.", "sheet 5."), file="corpus.jsonl")
    change(folder, ('readers = ["planning"]', 'readers = ["ecology"]'))
    answer = command("report", result, "--with-text", folder)
    assert answer.code == 2
    assert "the readers of the report have changed" in answer.err
    assert (result / "report.html").stat().st_mtime_ns == before


def test_without_named_readers_no_text_may_be_shown(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s")
    result = benched(command, folder)
    answer = command("report", result, "--with-text", folder)
    assert answer.code == 2
    assert "no text may be shown" in answer.err


# Warnings in place


def test_copies_and_copied_queries_are_warned_of_where_quality_stands(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", public=True)
    rows = documents()
    rows[5] = {**rows[5], "title": rows[4]["title"], "text": rows[4]["text"]}
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    change(folder, ("bats near Eggleston", "bats at Eggleston north of the road were looked at"), file="queries.jsonl")
    result = benched(command, folder)
    found = result_of(result)["copied"]
    assert (found["documents"], found["texts"]) == (2, 1)
    assert found["queries"] == len(found["first"]) >= 1
    text = (result / "report.html").read_text(encoding="utf-8")
    warned = text.partition("<h2")[2].partition('class="warning"')[2]
    assert "2 documents share 1 texts" in warned
    assert "matching words is rewarded" in warned
    markdown = (result / "report.md").read_text(encoding="utf-8")
    assert "2 documents share 1 texts" in markdown


def test_where_too_few_queries_leave_no_walk_no_hypothesis_is_said_to_be_tested(closed: Path) -> None:
    decision = result_of(closed)["decision"]
    assert decision["clusters"] < 20
    assert (decision["tests"], len(decision["open"])) == (0, 1)
    report = (closed / "report.md").read_text(encoding="utf-8")
    assert "Tested: no hypothesis, on fewer than 20 independent queries." in report
    assert "one-sided hypotheses" not in report


def test_figure_prints_as_the_page_does() -> None:
    assert figure(None) == NONE
