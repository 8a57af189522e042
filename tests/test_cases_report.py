"""Field cases about reports, and names and sizes that a page must bear; each enters by the command line or the door."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import tiepoint as tp
from command import Command
from hostile import NAMES, TEXT, hostile
from pages import assert_self_contained, seen
from recorded import benched, change, runnable
from sample import documents, judgements
from tiepoint.report.payload import LONGEST_TEXT, safe


def page_of(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


def result_of(folder: Path, name: str = "result") -> dict[str, object]:
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


# V024: two reports whose pools came from different systems


def test_V024_every_report_names_its_pool_and_two_pools_are_not_put_side_by_side(
    tmp_path: Path, command: Command
) -> None:
    folder = runnable(tmp_path / "s", public=True)
    one = benched(command, folder)
    change(folder, ("score\n", "score\nq01\td34\t1\n"), file="qrels.tsv")
    other = benched(command, folder)
    for result in (one, other):
        pool = result_of(result, "conditions")["hashes"]["qrels_content"]
        assert f"qrels_content: {pool}" in page_of(result)
        assert pool in (result / "report.md").read_text(encoding="utf-8").replace("\\", "")
    answer = command("report", folder / "results", "--compare", one.name, other.name)
    assert (answer.code, answer.out) == (2, "")
    assert "the judgements differ" in answer.err
    assert "judge the union" in answer.err
    assert not (folder / "results" / "index.html").exists(), "nothing is written"
    assert command("report", folder / "results").code == 0
    index = seen((folder / "results" / "index.html").read_text(encoding="utf-8"))
    (why,) = index.data["refused"].values()
    assert [reason for reason in index.data["reasons"][why] if "the judgements differ" in reason]


@pytest.mark.parametrize(
    ("changed", "file", "named"),
    [
        (("k = 3", "k = 4"), "study.toml", "k differs: 3 and 4"),
        (("nDCG@5", "nDCG(gain=linear)@5"), "study.toml", "nDCG@5 is another measure in each"),
        (('sheet 5.", "region": "Teesdale"', 'sheet 5.", "region": "Weardale"'), "corpus.jsonl", "the corpus differ"),
        (("bats near", "a bat near"), "queries.jsonl", "the queries differ"),
    ],
)
def test_V024_whatever_else_two_results_measured_otherwise_is_refused_too(
    tmp_path: Path, command: Command, changed: tuple[str, str], file: str, named: str
) -> None:
    folder = runnable(tmp_path / "s", public=True)
    one = benched(command, folder)
    other = benched(command, change(folder, changed, file=file))
    answer = command("report", folder / "results", "--compare", one, other)
    assert answer.code == 2
    assert named in answer.err


# V025: the new model's hits are unjudged


def test_V025_judged_shares_and_unjudged_bounds_stand_in_the_report_of_every_arm(
    tmp_path: Path, command: Command
) -> None:
    folder = change(runnable(tmp_path / "s", public=True), (', "Judged@3"', ""))
    liked = {"q01", "q03", "q05", "q07", "q09"}
    rows = [row for row in judgements() if row[0] not in liked or row[2] >= 1]
    (folder / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8"
    )
    result = benched(command, folder)
    found, page = result_of(result), seen(page_of(result))
    arms = [*found["candidates"], *found["baselines"]]
    ranked = pq.read_table(result / "rows" / "rankings.parquet").to_pylist()
    scored = {
        (r["candidate"], r["query"])
        for r in pq.read_table(result / "rows" / "per_query.parquet").to_pylist()
        if (r["slice"], r["measure"]) == ("filtered", "nDCG@5") and r["value"] is not None
    }
    head, *rows = page.tables["How much of each ranking is judged"]
    column = head.index("filtered (region filter)")
    for arm, row in zip(arms, rows, strict=True):
        shares = []
        for candidate, query in scored:
            if candidate == arm["id"]:
                own = (candidate, "filtered", query)
                hits = [r for r in ranked if (r["candidate"], r["slice"], r["query"]) == own and r["rank"] <= 5]
                shares.append(sum(r["grade"] is not None for r in hits) / len(hits))
        assert row[0] == arm["id"]
        assert row[column] == f"{sum(shares) / len(shares):.4f}"
    (caption,) = [c for c in page.tables if c.startswith("What could move nDCG@5")]
    head, *rows = page.tables[caption]
    for row in rows:
        bounds = next(a for a in arms if a["id"] == row[1])["bounds"][row[0]]["nDCG@5"]
        for name, key in (("least by unjudged hits", "unjudged_worst"), ("most by unjudged hits", "unjudged_best")):
            assert row[head.index(name)] == f"{bounds[key]:.4f}"
    opened = [hit for q in page.data["queries"] for v in q["views"] if v for hits in v[1] for hit in hits[2::3]]
    assert any(flags // 16 == 0 for flags in opened), "unjudged hits stand in the rankings, and not as grade 0"
    assert any(flags // 16 == 1 for flags in opened)


def test_V025_unequally_judged_candidates_are_warned_of_beside_their_figures(tmp_path: Path) -> None:
    from dataclasses import replace

    from sample import hashing, write_sample
    from tiepoint.workflows.report.warnings import report_warnings

    result = tp.bench(tp.load_study(write_sample(tmp_path / "s", public=True)), candidates=[hashing(16), hashing(64)])
    one, other = result.summary.candidates
    apart = (replace(one, judged={"filtered": 1.0}), replace(other, judged={"filtered": 0.4}))
    (warning,) = report_warnings(replace(result.summary, candidates=apart))["Quality"]
    assert "0.4000 of hash-64's and 1.0000 of hash-16's" in warning
    assert report_warnings(replace(result.summary, candidates=(one, one)))["Quality"] == ()


# V114: counts and ids are those that the readers may see


def test_V114_the_page_holds_nothing_of_documents_that_its_readers_may_not_see(
    tmp_path: Path, command: Command
) -> None:
    closed = {row["_id"] for row in documents() if "planning" not in row["groups"]} | {"gone"}
    folder = runnable(tmp_path / "s", readers=["planning"])
    result = benched(command, folder)
    assert command("report", result, "--with-text", folder).code == 0
    text, data = page_of(result), seen(page_of(result)).data
    assert not closed & set(data["documents"])
    assert not [name for name in closed if f'"{name}"' in text]
    ranked = pq.read_table(result / "rows" / "rankings.parquet").to_pylist()
    hidden = [row for row in ranked if not row["shown"] and row["slice"] == "unfiltered" and row["rank"] <= 5]
    assert hidden
    blank = [
        hits[i : i + 3]
        for q in data["queries"]
        for v in q["views"][:1]
        for hits in v[1]
        for i in range(0, len(hits), 3)
        if hits[i] < 0
    ]
    assert len(blank) == len(hidden)
    assert all(hit == [-1, 0, 0] for hit in blank), "no score, no grade, no tie"


def test_V114_a_tie_with_a_hidden_document_is_not_told(tmp_path: Path, command: Command) -> None:
    """A mark beside the one would tell the score of the other."""
    folder = runnable(tmp_path / "s", readers=["planning"])
    result = benched(command, folder)
    loaded = tp.load_result(result)
    rows = loaded.rankings.to_pylist()
    data = seen(page_of(result)).data
    looked = 0
    for query in data["queries"]:
        for name, view in zip(data["views"], query["views"], strict=True):
            for arm, hits in zip(data["arms"], view[1] if view else [], strict=False):
                own = [r for r in rows if (r["candidate"], r["slice"], r["query"]) == (arm, name, query["id"])][:5]
                for i, row in enumerate(own):
                    among = [r for r in own if r["shown"] and r["score"] == row["score"]]
                    assert bool(hits[3 * i + 2] & 1) == (row["shown"] and len(among) > 1)
                    looked += row["shown"] and len(among) == 1 and sum(r["score"] == row["score"] for r in own) > 1
    assert looked, "there is a tie with a hidden document"


def test_V114_without_named_readers_the_page_has_aggregates_alone(tmp_path: Path, command: Command) -> None:
    result = benched(command, runnable(tmp_path / "s"))
    text = page_of(result)
    assert "names no readers under [report]" in text
    assert "<script" not in text
    for row in documents():
        assert f">{row['_id']}<" not in text
        assert f'"{row["_id"]}"' not in text


def test_V114_an_index_is_bounded_as_its_results_are(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", readers=["planning"])
    benched(command, folder)
    assert command("report", folder / "results").code == 0
    text = (folder / "results" / "index.html").read_text(encoding="utf-8")
    # As a word: the name of a result's folder ends in a hash, which may end as an id does.
    assert not [row["_id"] for row in documents() if re.search(rf"\b{row['_id']}\b", text)]
    assert_self_contained(text)


# Names and sizes


def test_hostile_names_and_texts_are_text_and_end_nothing(tmp_path: Path) -> None:
    place = hostile(tmp_path / "s")
    text = page_of(place)
    assert_self_contained(text)
    page = seen(text)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"img", "b"}
    assert sum(tag == "script" for tag, _ in page.tags) == 2, "the data and the page's own"
    shown = set(page.data["documents"])
    assert {NAMES["script"], NAMES["close"], NAMES["quote"], NAMES["turn"], NAMES["comment"]} <= shown
    assert any(name.startswith("xxxx") and name.endswith("… (100,000 characters)") for name in shown)
    (long,) = [t for t in page.data["texts"].values() if "gnp" in t]
    assert long.startswith(f"Survey of culvert {TEXT}"[:60])
    assert long.endswith(" characters)")
    assert len(long) < LONGEST_TEXT + 40
    assert "stand here with their beginning alone" in text
    assert len(text.encode()) < 4_000_000
    assert_self_contained(tp.write_index(place.parent).read_text(encoding="utf-8"))


def test_names_that_turn_directions_are_isolated(tmp_path: Path) -> None:
    text = page_of(hostile(tmp_path / "s", text=False))
    assert f"<bdi>{NAMES['turn']}</bdi>" in text
    body = text.partition("<body>")[2].partition('<script type="application/json"')[0]
    for part in body.split("\u202e")[:-1]:
        opened = part.rpartition("<bdi>")[2]
        assert "</bdi>" not in opened, "every one of them stands inside an isolate"


def test_json_inside_a_page_cannot_end_it() -> None:
    value = {"a": "</script><!--<script>&\u2028\u2029", "b": ["<", None, 1.5]}
    text = safe(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value


def test_an_index_says_what_cannot_be_read_and_lists_the_rest_newest_first(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", public=True)
    results = folder / "results"
    names = [benched(command, folder).name for _ in range(2)]
    broken = shutil.copytree(results / names[0], results / "20200101T000000Z-00000000")
    change(broken, ('"schema_version": 1', '"schema_version": 7'), file="result.json")
    (results / "notes").mkdir()
    assert command("report", results).code == 0
    text = (results / "index.html").read_text(encoding="utf-8")
    assert "schema version 7, this tiepoint reads 1" in text
    page = seen(text)
    (caption,) = [c for c in page.tables if c == "3 results"]
    listed = [row[0] for row in page.tables[caption][1:]]
    assert listed[-1] == broken.name
    made = [result_of(results / name, "conditions")["created"] for name in listed[:2]]
    assert made == sorted(made, reverse=True)
    sentence = result_of(results / names[0])["decision"]["sentence"]
    assert sentence in "".join(page.text)
    assert "notes" not in listed


def test_two_results_stand_side_by_side_with_what_moved(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", public=True)
    one, other = benched(command, folder), benched(command, folder)
    answer = command("report", folder / "results", "--compare", one.name, other.name)
    assert answer.code == 0, answer.err
    text = (folder / "results" / "index.html").read_text(encoding="utf-8")
    assert "Side by side" in text
    assert "what moved" in text
    assert any(c.startswith("filtered (region filter)") for c in seen(text).tables)
    shutil.rmtree(one / "rows")
    assert command("report", folder / "results", "--compare", one.name, other.name).code == 0
    assert "that takes rows/ of both" in (folder / "results" / "index.html").read_text(encoding="utf-8")
