"""Rankings made elsewhere: an arm with every measure, checked for what the principal may not read, never chosen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiepoint as tp
from sample import hashing, write_sample
from tiepoint.errors import InputError
from tiepoint.formats.trec import read_run
from tiepoint.report.page import main as main_table


def run_text(*hits: tuple[str, str, object]) -> str:
    return "".join(f"{query} Q0 {document} {n} {score} prod\n" for n, (query, document, score) in enumerate(hits, 1))


def made(**options: str) -> tp.Candidate:
    return tp.Candidate("prod", embedder="run", options=options or {"run": "prod.trec"})


def result_of(folder: Path, text: str, *others: tp.Candidate, public: bool = True) -> tp.Result:
    write_sample(folder, public=public)
    (folder / "prod.trec").write_text(text, encoding="utf-8")
    return tp.bench(tp.load_study(folder), candidates=[*others, made()])


def refused(folder: Path, text: str, *, public: bool = True) -> str:
    with pytest.raises(InputError) as error:
        result_of(folder, text, public=public)
    return str(error.value)


def notes(result: tp.Result) -> str:
    return "\n".join(result.summary.candidates[-1].notes)


# the file


def test_every_bad_line_is_named(tmp_path):
    path = tmp_path / "bad.trec"
    path.write_text(
        "q1 Q0 d1 1 0.5 p\nq1 Q0 d2 2 0.4\n\nq1 Q0 d3 3 nan p\nq1 Q0 d4 4 -Infinity p\nq1 Q0 d5 5 1e999 p\nq1 Q0 d6 6 1_0 p\n"
        "q1 Q0 d1 7 0.1 p\nq1 Q0 d7 7 high p\n\n"
    )
    with pytest.raises(InputError) as error:
        read_run(path)
    text = str(error.value)
    assert "do not have six columns (2)" in text
    assert "lines 2, 3\n" in text
    assert "a score that is not finite (3)" in text
    assert "lines 4 ('nan'), 5 ('-Infinity'), 6 ('1e999')" in text
    assert "a score that is no number (2)" in text
    assert "lines 7 ('1_0'), 9 ('high')" in text
    assert "query q1, document d1 (lines 1 and 8)" in text


def test_a_run_that_is_not_utf8_names_the_byte(tmp_path):
    (tmp_path / "r.trec").write_bytes(b"q1 Q0 d\xe9 1 0.5 p\n")
    with pytest.raises(InputError, match="byte at offset 7"):
        read_run(tmp_path / "r.trec")


# as an arm


def test_a_run_that_tiepoint_wrote_reads_back_to_the_same_figures(tmp_path):
    study = tp.load_study(write_sample(tmp_path / "s"))
    folder = tp.record(tp.bench(study, candidates=[hashing(64)]), tmp_path / "results")
    options = {view: f"{folder}/rows/run-hash-64-{view}.trec" for view in ("unfiltered", "filtered")}
    ours, theirs = tp.bench(study, candidates=[hashing(64), made(**options)]).summary.candidates
    assert ours.measures == theirs.measures
    assert ours.bounds["rare"] == theirs.bounds["rare"]
    assert ours.regions == theirs.regions


def test_it_stands_in_the_table_and_is_never_chosen(tmp_path, command):
    best = run_text(
        *[(f"q{n:02d}", f"d{p * 6 + (n * 5 + 1) % 6:02d}", 9 - abs(p - n % 6)) for n in range(16) for p in range(6)]
    )
    result = result_of(tmp_path / "s", best, hashing(64), hashing(32))
    summary = result.summary
    prod = summary.candidates[-1]
    assert prod.measures["filtered"]["nDCG@5"].mean >= max(
        c.measures["filtered"]["nDCG@5"].mean for c in summary.candidates
    )
    assert (prod.status, prod.dimension, prod.bytes, prod.contract) == ("measured", None, None, {})
    assert prod.id not in summary.decision.order
    assert summary.decision.point_choice != prod.id
    assert "prod is a run made elsewhere, BM25 and random are baselines: none of these is ever chosen." in (
        summary.decision.sentence
    )
    row = next(row for row in main_table(summary).rows if row[0] == "prod")
    assert row[-1] == "run"
    assert "–" in row
    assert result.conditions.hashes["prod unfiltered"]
    with (tmp_path / "s" / "study.toml").open("a") as file:
        file.write('[[candidate]]\nid = "prod"\nembedder = "run"\noptions = { run = "prod.trec" }\n')
    told = command("bench", tmp_path / "s", "--quiet")
    assert told.code == 0, told.err
    assert "No decision" in told.out


def test_a_candidate_that_loses_to_production_is_warned_of(tmp_path):
    best = run_text(
        *[(f"q{n:02d}", f"d{p * 6 + (n * 5 + 1) % 6:02d}", 9 - abs(p - n % 6)) for n in range(16) for p in range(6)]
    )
    warnings = result_of(tmp_path, best, hashing(2), hashing(3)).summary.decision.warnings
    assert any("does not beat prod, the rankings made elsewhere" in line for line in warnings)


def test_ranks_are_not_read_and_ties_are_counted(tmp_path):
    text = "q00 Q0 d07 1 0.1 p\nq00 Q0 d02 2 0.9 p\nq00 Q0 d01 3 0.9 p\nq00 Q0 d03 4 0.9 p\n"
    result = result_of(tmp_path, text)
    rows = [r for r in result.rankings.to_pylist() if r["candidate"] == "prod" and r["slice"] == "unfiltered"]
    assert [r["document"] for r in rows] == ["d01", "d02", "d03", "d07"]
    assert "3 pairs of hits have equal scores" in notes(result)


def test_what_the_study_lacks_is_counted_and_what_the_filter_removes_drops_out(tmp_path):
    text = run_text(("q00", "d01", 3), ("q00", "d35", 2), ("q00", "gone", 1), ("q99", "d01", 1))
    result = result_of(tmp_path, text)
    said = notes(result)
    assert "1 hits name documents that the corpus lacks" in said
    assert "1 rankings are of queries that the study lacks" in said
    assert "1 hits lie outside their query's filter" in said
    rows = {
        name: [r["document"] for r in result.rankings.to_pylist() if (r["candidate"], r["slice"]) == ("prod", name)]
        for name in ("unfiltered", "filtered")
    }
    assert rows == {"unfiltered": ["d01", "d35"], "filtered": ["d01"]}


def test_V108_a_document_that_the_principal_may_not_read_refuses_the_study(tmp_path, command):
    """d00 and d03 are for ecology alone; q01 and q03 are planning's questions."""
    text = run_text(("q00", "d00", 1), ("q01", "d00", 3), ("q01", "d01", 2), ("q03", "d03", 1))
    write_sample(tmp_path)
    (tmp_path / "prod.trec").write_text(text)
    with (tmp_path / "study.toml").open("a") as file:
        file.write('[[candidate]]\nid = "prod"\nembedder = "run"\noptions = { run = "prod.trec" }\n')
    told = command("bench", tmp_path, "--quiet")
    assert told.code == 2
    assert "2 hits are documents that the query's groups may not read" in told.err
    assert "query q01, document d00 (line 2), query q03, document d03 (line 4)" in told.err
    assert not (tmp_path / "results").exists()
    assert "Survey of" not in told.err


def test_a_forbidden_document_in_the_filtered_file_alone_is_refused_too(tmp_path):
    write_sample(tmp_path)
    (tmp_path / "all.trec").write_text(run_text(("q01", "d01", 2)))
    (tmp_path / "by.trec").write_text(run_text(("q01", "d00", 3)))
    with pytest.raises(InputError, match=r"by\.trec, query q01, document d00"):
        tp.bench(tp.load_study(tmp_path), candidates=[made(unfiltered="all.trec", filtered="by.trec")])


def test_options_that_name_no_run_or_two_are_refused_and_so_is_a_contract(tmp_path):
    study = tp.load_study(write_sample(tmp_path))
    (tmp_path / "a.trec").write_text(run_text(("q00", "d00", 1)))
    for options in ({"unfiltered": "a.trec"}, {"run": "a.trec", "filtered": "a.trec"}, {"run": 3}):
        with pytest.raises(InputError, match="name no run, or more than one"):
            tp.bench(study, candidates=[tp.Candidate("prod", embedder="run", options=options)])
    with pytest.raises(InputError, match=r"there is no file gone\.trec"):
        tp.bench(study, candidates=[made(run="gone.trec")])
    with pytest.raises(InputError, match='did you mean "filtered"'):
        tp.bench(study, candidates=[made(run="a.trec", filterd="a.trec")])
    with pytest.raises(InputError, match="rankings have no contract"):
        tp.bench(study, candidates=[tp.Candidate("prod", "run", {"dimension": 3}, options={"run": "a.trec"})])


def test_a_query_without_a_region_keeps_its_unfiltered_ranking_in_the_filtered_view(tmp_path):
    write_sample(tmp_path, public=True)
    (tmp_path / "all.trec").write_text(run_text(("q04", "d01", 2), ("q00", "d02", 1)))
    (tmp_path / "by.trec").write_text(run_text(("q00", "d01", 3)))
    result = tp.bench(tp.load_study(tmp_path), candidates=[made(unfiltered="all.trec", filtered="by.trec")])
    rows = [
        r for r in result.rankings.to_pylist() if r["candidate"] == "prod" and r["slice"] in ("filtered", "unfiltered")
    ]
    assert {(r["slice"], r["query"], r["document"]) for r in rows} == {
        ("unfiltered", "q04", "d01"),
        ("unfiltered", "q00", "d02"),
        ("filtered", "q00", "d01"),
    }
    assert "q00" not in notes(result)


def test_a_run_on_passages_may_name_parents_or_passages(tmp_path):
    rows = [{"_id": f"p{i}#{j}", "text": f"{i} {j}", "parent": f"p{i}"} for i in range(3) for j in range(2)]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "a"}\n{"_id": "q2", "text": "b"}\n')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tp1\t1\nq2\tp2\t1\n")
    (tmp_path / "prod.trec").write_text(
        run_text(("q1", "p1", 5), ("q1", "p0", 4), ("q2", "p2#1", 5), ("q2", "p2#0", 6))
    )
    (tmp_path / "study.toml").write_text(
        '[study]\nk = 2\nmeasures = ["RR@2"]\n[corpus]\npath = "corpus.jsonl"\nparent = "parent"\n'
        '[queries]\npath = "queries.jsonl"\n'
        '[qrels]\npath = "qrels.tsv"\n[access]\npublic = true\n[decision]\nmeasure = "RR@2"\nslice = "unfiltered"\n'
    )
    result = tp.bench(tp.load_study(tmp_path), candidates=[made()])
    ranked = [(r["query"], r["document"], r["score"]) for r in result.rankings.to_pylist() if r["candidate"] == "prod"]
    assert ranked[:3] == [("q1", "p1", 5.0), ("q1", "p0", 4.0), ("q2", "p2", 6.0)]
    assert result.summary.candidates[0].measures["unfiltered"]["RR@2"].mean == 1.0
