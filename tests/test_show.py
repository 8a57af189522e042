"""`tiepoint show`, `compare` and `schema`: what a recorded result says when it is read again, and what is refused."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

import tiepoint as tp
from command import Command
from recorded import benched, change, runnable
from sample import documents, hashing, judgements, write_sample


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded result for readers in planning."""
    folder = write_sample(tmp_path_factory.mktemp("closed") / "sample", readers=["planning"])
    return tp.record(tp.bench(tp.load_study(folder), candidates=[hashing(16), hashing(64)]), folder / "results")


def test_a_result_prints_again_as_bench_printed_it(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", public=True)
    printed = command("bench", folder, "--quiet").out
    (result,) = (folder / "results").iterdir()
    answer = command("show", result)
    assert answer.code == 0
    assert answer.out.startswith(printed)
    assert json.loads(command("show", result, "--json").out) == json.loads((result / "result.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (["--query", "q0"], 'did you mean "q'),
        (["--subgroup", "erly"], 'did you mean "early"?'),
        (["--region", "Tesdale"], 'did you mean "Teesdale"?'),
        (["--slice", "filterd"], 'did you mean "filtered"?'),
        (["--query", "q01", "--slice", "filterd"], 'did you mean "filtered"?'),
        (["--query", "q04", "--slice", "filtered"], "unfiltered"),
        (["--query", "q01", "--region", "Teesdale"], "leave out"),
        (["--subgroup", "early", "--region", "Teesdale"], "name one of them"),
        (["--owner"], "name a query"),
    ],
)
def test_what_a_result_does_not_know_is_exit_2_with_the_nearest_name(
    closed: Path, command: Command, given: list[str], hint: str
) -> None:
    answer = command("show", closed, *given)
    assert (answer.code, answer.out) == (2, "")
    assert hint in answer.err


@pytest.mark.parametrize("given", [["--subgroup", "early"], ["--region", "Teesdale"], ["--slice", "rare"]])
def test_parts_say_the_figures_of_the_record(closed: Path, command: Command, given: list[str]) -> None:
    found = json.loads(command("show", closed, *given, "--json").out)
    summary = tp.load_result(closed).summary
    assert found["slices"]
    for of in found["slices"]:
        for arm in (*summary.candidates, *summary.baselines):
            groups = {"--subgroup": arm.subgroups, "--region": arm.regions, "--slice": {given[1]: arm.measures}}
            own = groups[given[0]][given[1]][of["slice"]]
            for measure, figure in of["arms"][arm.id].items():
                assert (figure["mean"], figure["low"], figure["n"]) == (
                    own[measure].mean,
                    own[measure].low,
                    own[measure].n,
                )
    assert command("show", closed, *given).code == 0


def test_a_query_stands_side_by_side_with_what_became_of_its_gold(closed: Path, command: Command) -> None:
    found = json.loads(command("show", closed, "--query", "q07", "--slice", "unfiltered", "--owner", "--json").out)
    assert set(found["arms"]) == {"hash-16", "hash-64", "bm25", "random"}
    relevant = {d: g for q, d, g in judgements() if q == "q07" and g >= 1}
    assert {g["document"]: g["grade"] for g in found["gold"]} == relevant
    for gold in found["gold"]:
        for arm, state in gold["state"].items():
            inside = gold["document"] in {hit["document"] for hit in found["arms"][arm][: found["k"]]}
            assert state == ("found" if inside else "missed")
    rows = tp.load_result(closed).gold.to_pylist()
    lost = next(row for row in rows if (row["slice"], row["state"]) == ("filtered", "filtered"))
    narrow = json.loads(command("show", closed, "--query", lost["query"], "--owner", "--json").out)
    assert narrow["slice"] == "filtered", "the rule's slice where the query stands in it"
    (gold,) = [g for g in narrow["gold"] if g["document"] == lost["document"]]
    assert set(gold["state"].values()) == {"filtered"}
    gone = json.loads(command("show", closed, "--query", "q02", "--slice", "unfiltered", "--owner", "--json").out)
    assert {s for g in gone["gold"] if g["document"] == "gone" for s in g["state"].values()} == {"absent"}
    assert "gone" not in command("show", closed, "--query", "q02", "--slice", "unfiltered").out


def test_hidden_relevant_documents_are_neither_listed_nor_counted(closed: Path, command: Command) -> None:
    secret = {row["_id"] for row in documents() if "planning" not in row["groups"]}
    result = tp.load_result(closed)
    asked = {row["query"] for row in result.gold.to_pylist() if row["document"] in secret}
    assert asked
    for query in sorted(asked):
        found = tp.show_query(result, query, slice_name="unfiltered")
        assert not secret & {gold.document for gold in found.gold}
        assert all(hit.score is None for hits in found.arms.values() for hit in hits if not hit.shown)


def test_a_result_without_the_owners_rows_says_what_it_cannot_show(
    tmp_path: Path, closed: Path, command: Command
) -> None:
    shutil.copytree(closed, tmp_path / "bare", ignore=shutil.ignore_patterns("rows"))
    assert command("show", tmp_path / "bare").code == 0
    assert command("show", tmp_path / "bare", "--region", "Teesdale").code == 0
    for answer in (command("show", tmp_path / "bare", "--query", "q01"), command("compare", closed, tmp_path / "bare")):
        assert (answer.code, answer.out) == (3, "")
        assert "rows/" in answer.err


def test_a_shuffled_file_compares_and_a_changed_one_is_refused_with_all_that_differs(
    tmp_path: Path, command: Command
) -> None:
    straight = benched(command, runnable(tmp_path / "one", public=True))
    shuffled = benched(command, runnable(tmp_path / "other", public=True, shuffled=True))
    hashes = [tp.load_result(folder).conditions.hashes for folder in (straight, shuffled)]
    assert hashes[0]["corpus"] != hashes[1]["corpus"]
    answer = command("compare", straight, shuffled)
    assert answer.code == 0, answer.err
    assert "words" in answer.out
    assert "equal" in answer.out

    folder = change(runnable(tmp_path / "third", public=True), ("k = 3", "k = 4"))
    change(folder, ('sheet 5.", "region": "Teesdale"', 'sheet 5.", "region": "Weardale"'), file="corpus.jsonl")
    change(folder, ("bats near", "a bat near"), file="queries.jsonl")
    answer = command("compare", straight, benched(command, folder))
    assert (answer.code, answer.out) == (2, "")
    for named in ("k differs: 3 and 4", "the corpus differ", "the queries differ"):
        assert named in answer.err
    assert "the judgements differ" not in answer.err


def test_who_may_read_is_part_of_a_corpus(tmp_path: Path, command: Command) -> None:
    one = benched(command, runnable(tmp_path / "one", readers=["planning"]))
    folder = runnable(tmp_path / "other", readers=["planning"])
    change(folder, ('"groups": ["ecology", "planning"]', '"groups": ["planning", "ecology"]'), file="corpus.jsonl")
    assert command("compare", one, benched(command, folder)).code == 0, "the order of groups says nothing"
    lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").replace('["ecology"]', '["ecology", "planning"]', 1)
    (folder / "corpus.jsonl").write_text(lines, encoding="utf-8")
    answer = command("compare", one, benched(command, folder))
    assert answer.code == 2
    assert "the corpus differ" in answer.err


def test_compare_says_who_stands_in_one_result_alone(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", public=True)
    one = benched(command, folder)
    change(folder, ('id = "letters"', 'id = "glyphs"'), ('encode"', 'encode_letters"'))
    change(folder, ('model = "encode_letters"', 'model = "other"'))
    text = command("compare", one, benched(command, folder)).out
    assert "only before: candidate letters" in text
    assert "only after: candidate glyphs" in text
    assert "words: the same name, another space" in text


def test_queries_that_nothing_finds_are_suspect_labels(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", public=True)
    lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(("q04\t", "q11\t"))]
    rows = ["q04\td35\t3", "q11\tgone\t2"]  # what q04 asks for is elsewhere, and what q11 asks for is nowhere
    (folder / "qrels.tsv").write_text("\n".join([*kept, *rows]) + "\n", encoding="utf-8")
    result = benched(command, folder)
    found = tp.load_result(result)
    assert found.summary.suspects.queries == ("q04", "q11")
    assert "q04, q11" in (result / "report.md").read_text(encoding="utf-8")
    assert "Suspect labels, found by no candidate: q04, q11" in command("show", result).out

    runnable(tmp_path / "unsaid")
    shutil.copy(folder / "qrels.tsv", tmp_path / "unsaid" / "qrels.tsv")
    kept = [line for line in (folder / "qrels.tsv").read_text("utf-8").splitlines() if not line.startswith("q04")]
    (tmp_path / "unsaid" / "qrels.tsv").write_text(
        "\n".join([kept[0], *(k for k in kept[1:] if _allowed(k))]) + "\n", "utf-8"
    )
    few = tp.load_result(benched(command, tmp_path / "unsaid")).summary.suspects
    assert (few.count, few.queries) == (None, ()), "fewer than 5 are hidden where readers are not named"


def _allowed(line: str) -> bool:
    query, document, _ = line.split("\t")
    return document == "gone" or int(query[1:]) % 2 == 0 or bool(int(document[1:]) % 3)


@pytest.mark.parametrize("name", ["result", "conditions"])
def test_schemas_are_printed(command: Command, name: str) -> None:
    answer = command("schema", name)
    assert answer.code == 0
    assert json.loads(answer.out)["$id"] == f"urn:tiepoint:{name}:1"


def test_a_group_too_small_to_be_shown_says_so_and_nothing_else(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s")
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").replace('["early"]', '["tiny"]', 1)
    (folder / "queries.jsonl").write_text(lines, encoding="utf-8")
    result = benched(command, folder)
    assert "tiny" not in (result / "result.json").read_text(encoding="utf-8")
    answer = command("show", result, "--subgroup", "tiny")
    assert answer.code == 0
    assert "too few queries to be shown" in answer.out
    assert "bm25" not in answer.out


def test_a_movement_is_the_difference_of_both_figures_on_the_queries_of_the_slice(tmp_path: Path) -> None:
    study = tp.load_study(write_sample(tmp_path / "sample", public=True))
    one = tp.bench(study, candidates=[dataclasses.replace(hashing(4), id="mine"), hashing(64)])
    other = tp.bench(study, candidates=[dataclasses.replace(hashing(256), id="mine"), hashing(64)])
    found = tp.compare(one, other)
    assert found.other_space == ("mine",)
    assert {m.candidate for m in found.movements} == {"mine", "hash-64"}
    for m in found.movements:
        arms = [next(c for c in r.summary.candidates if c.id == m.candidate) for r in (one, other)]
        figures = [arm.measures[m.slice][m.measure] for arm in arms]
        assert (m.before, m.after, m.n) == (
            pytest.approx(figures[0].mean),
            pytest.approx(figures[1].mean),
            figures[0].n,
        )
        assert m.difference == pytest.approx(m.after - m.before)
        assert m.up + m.down + m.same == m.n
        assert m.low is None or m.low <= m.difference <= m.high
        rows = [row for r in (one, other) for row in r.per_query.to_pylist()]
        of = [r for r in rows if (r["candidate"], r["slice"], r["measure"]) == (m.candidate, m.slice, m.measure)]
        fixed = all(r["low"] == r["high"] for r in of if r["value"] is not None)
        assert (m.direction == "equal") == (m.up + m.down == 0 and fixed), "what ties can move is not equal"
    assert "equal" in {m.direction for m in found.movements if m.candidate == "hash-64"}
    assert {m.direction for m in found.movements if m.candidate == "mine"} >= {"too few", "not tested"}
    assert tp.compare(one, other) == found, "seeded"
