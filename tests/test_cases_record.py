"""Field cases about what is recorded, shown and compared; each enters by the command line or the Python door."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import tiepoint as tp
from command import Command
from recorded import benched, change, runnable
from sample import contract, documents, judgements, questions


def of(folder: Path, name: str = "result") -> dict[str, object]:
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def write_rows(path: Path, rows: Sequence[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_V010_unjudged_queries_are_listed_and_never_scored(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", readers=["planning"])
    five = ["q03", "q05", "q06", "q07", "q08"]
    kept = ["\t".join(map(str, row)) for row in judgements() if row[0] not in five]
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(kept) + "\n", encoding="utf-8")
    result = benched(command, folder)
    assert set(five) <= set(of(result)["not_judged"])
    assert of(result)["denominators"]["unfiltered"]["not_judged"] == len(of(result)["not_judged"])
    rows = pq.read_table(result / "rows" / "per_query.parquet").to_pylist()
    values = {row["value"] for row in rows if row["query"] in five}
    assert values == {None}, "an unjudged query has no value, not even 0"
    assert "q03" in (result / "report.md").read_text(encoding="utf-8")


def test_V013_reports_of_different_gains_are_refused_and_each_names_its_gain(tmp_path: Path, command: Command) -> None:
    one = benched(command, runnable(tmp_path / "one", public=True))
    folder = change(runnable(tmp_path / "other", public=True), ("nDCG@5", "nDCG(gain=linear)@5"))
    other = benched(command, folder)
    assert "2^grade − 1" in (one / "report.html").read_text(encoding="utf-8")
    assert "the grade itself" in (other / "report.html").read_text(encoding="utf-8")
    answer = command("compare", one, other)
    assert answer.code == 2
    assert answer.out == ""
    assert "nDCG@5 is another measure in each: nDCG@5 and nDCG(gain=linear)@5" in answer.err
    assert command("compare", one, one).code == 0


def test_V014_equal_ids_of_queries_and_documents_are_said_and_nothing_is_dropped(
    tmp_path: Path, command: Command
) -> None:
    folder = runnable(tmp_path / "s", public=True)
    write_rows(folder / "corpus.jsonl", [{**row, "_id": str(int(row["_id"][1:]))} for row in documents()])
    write_rows(folder / "queries.jsonl", [{**row, "_id": str(int(row["_id"][1:]))} for row in questions()])
    lines = [f"{int(q[1:])}\t{int(d[1:])}\t{g}" for q, d, g in judgements() if d != "gone"]
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(lines) + "\n", encoding="utf-8")
    result = benched(command, folder)
    (note,) = [note for note in of(result)["notes"] if "document ids too" in note]
    assert note.startswith("18 query ids")
    rows = pq.read_table(result / "rows" / "rankings.parquet").to_pylist()
    assert any(row["query"] == row["document"] for row in rows), "a namesake may be ranked like any other document"
    plain = benched(command, runnable(tmp_path / "plain", public=True))
    assert not [note for note in of(plain)["notes"] if "document ids too" in note]


def test_V014_a_document_that_readers_may_not_see_is_not_betrayed(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", readers=["planning"])
    change(folder, ('"d00"', '"q16"'), ('"d01"', '"q14"'), file="corpus.jsonl")
    (note,) = [note for note in of(benched(command, folder))["notes"] if "document ids too" in note]
    assert note.startswith("1 query ids are document ids too (q14)"), "d00 is for ecology alone"


def test_V019_an_edited_document_alone_is_encoded_again_and_every_figure_is_new(tmp_path: Path) -> None:
    folder = runnable(tmp_path / "s", public=True)
    encoded: list[str] = []

    def encode(texts: Sequence[str]) -> np.ndarray:
        encoded.extend(texts)
        return np.array([[len(t), t.count("a"), t.count("e"), 1.0] for t in texts], dtype=np.float32)

    def run() -> tp.Result:
        mine = tp.Candidate("mine", encode=encode, contract=contract(4), cache=True)
        return tp.bench(tp.load_study(folder), candidates=[mine])

    first = run()
    assert len(set(encoded)) >= 36
    rows = documents()
    rows[7]["text"] = "aaaa eeee " * 30
    write_rows(folder / "corpus.jsonl", rows)
    encoded.clear()
    second = run()
    again = {t for t in encoded if t.startswith("Survey of")}
    assert again == {f"{rows[7]['title']} {rows[7]['text']}"}, "the embedding text of d07 alone"
    assert second.conditions.throughput["mine"]["documents_cached"] == 35
    for name in ("rankings", "per_query"):
        fresh = tp.bench(
            tp.load_study(folder),
            candidates=[tp.Candidate("mine", encode=encode, contract=contract(4))],
        )
        assert getattr(second, name).equals(getattr(fresh, name)), "figures are of the vectors as they are now"
    assert not second.rankings.equals(first.rankings)
    with pytest.raises(tp.InputError, match="the corpus differ"):
        tp.compare(first, second)


def test_V024_results_on_other_pools_are_refused(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", public=True)
    one = benched(command, folder)
    change(folder, ("score\n", "score\nq01\td34\t1\n"), file="qrels.tsv")
    other = benched(command, folder)
    hashes = [of(result, "conditions")["hashes"]["qrels_content"] for result in (one, other)]
    assert hashes[0] != hashes[1]
    answer = command("compare", one, other)
    assert answer.code == 2
    assert "the judgements differ" in answer.err
    assert "judge the union" in answer.err
    assert "corpus" not in answer.err.replace("qrels", ""), "only what differs is named"


def two_hundred(folder: Path) -> tp.Study:
    """200 queries over 30 documents; the first 10 documents are relevant for all; a query's text says how many it finds."""
    folder.mkdir()
    write_rows(folder / "corpus.jsonl", [{"_id": f"d{n:02d}", "text": str(n)} for n in range(30)])
    write_rows(folder / "queries.jsonl", [{"_id": f"q{n:03d}", "text": f"{n} {n * 7 % 10}"} for n in range(200)])
    rows = [f"q{q:03d}\td{d:02d}\t1\n" for q in range(200) for d in range(10)]
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows), encoding="utf-8")
    (folder / "study.toml").write_text(
        """[study]
k = 10
measures = ["recall@10"]
seed = 1
[corpus]
path = "corpus.jsonl"
id = "_id"
text = "{text}"
[queries]
path = "queries.jsonl"
id = "_id"
text = "text"
[qrels]
path = "qrels.tsv"
[access]
public = true
[decision]
measure = "recall@10"
slice = "unfiltered"
""",
        encoding="utf-8",
    )
    return tp.load_study(folder)


def finder(gain_every: int) -> tp.Candidate:
    """Finds as many relevant documents as the query says, and one more for one query in so many; 0: for none."""

    def encode(texts: Sequence[str], role: str) -> np.ndarray:
        vectors = np.full((len(texts), 30), 0.01, dtype=np.float32)
        for row, text in enumerate(texts):
            if not text[0].isdigit():
                continue  # the probe of every candidate
            if role == "document":
                vectors[row, int(text)] = 1
            else:
                number, found = map(int, text.split())
                found += bool(gain_every and number % gain_every == 0)
                vectors[row, :found] = 1
                vectors[row, 10 : 20 - found] = 1
        return vectors

    return tp.Candidate("mine", encode=encode, contract=contract(30, metric="dot", revision=f"every {gain_every}"))


def test_V026_a_small_gain_on_shared_queries_is_seen_pair_by_pair(tmp_path: Path, command: Command) -> None:
    study = two_hundred(tmp_path / "s")
    before, after = (tp.bench(study, candidates=[finder(every)]) for every in (0, 4))
    folders = [tp.record(result, tmp_path / "s" / "results") for result in (before, after)]
    assert before.summary.candidates[0].status == "measured", before.summary.candidates[0].reason
    old, new = (r.summary.candidates[0].measures["unfiltered"]["recall@10"] for r in (before, after))
    assert new.low < old.high, "unpaired, the two intervals overlap"
    answer = command("compare", *folders, "--json")
    assert answer.code == 0
    found = json.loads(answer.out)
    (moved,) = [m for m in found["movements"] if m["slice"] == "unfiltered"]
    assert moved["difference"] == pytest.approx(50 / 200 / 10)
    assert moved["low"] > 0
    assert (moved["direction"], moved["trusted"]) == ("higher", True)
    assert (moved["up"], moved["down"], moved["same"]) == (50, 0, 150)
    values = [
        np.array(r.per_query.filter((pc.field("candidate") == "mine") & (pc.field("slice") == "unfiltered"))["value"])
        for r in (before, after)
    ]
    spread = np.sqrt(sum(v.var(ddof=1) for v in values) / 200)
    away = values[1] - values[0]
    assert away.mean() / spread < 1 < 3 < away.mean() / (away.std(ddof=1) / np.sqrt(200))
    assert found["other_space"] == ["mine"], "the same name, another space"
    (smaller,) = [
        m for m in tp.compare(before, tp.bench(study, candidates=[finder(13)])).movements if m.slice == "unfiltered"
    ]
    assert (smaller.up, smaller.direction) == (16, "not shown"), "losses too rare to be among 200 could outweigh it"


def test_V028_a_group_below_the_least_size_is_too_few_to_decide(tmp_path: Path, command: Command) -> None:
    result = benched(command, runnable(tmp_path / "s", readers=["planning"]))
    rows = pq.read_table(result / "rows" / "per_query.parquet")
    assert set(rows.column("query").to_pylist()) == {row["_id"] for row in questions()}
    size = of(result)["subgroups"]["early"]["filtered"]
    assert size["enough"] is False
    assert size["queries"] == 8
    assert "too few to decide" in (result / "report.md").read_text(encoding="utf-8")
    answer = command("show", result, "--subgroup", "early")
    assert answer.code == 0
    assert size["least"] > 149, "two of its five clusters are twice as large as the others"
    assert f"too few to decide (5 independent queries, {size['least']} are needed at the rule's gap)" in answer.out
    assert f"too few to decide: {size['clusters']} of {size['least']} needed" in (result / "report.md").read_text(
        encoding="utf-8"
    )
    assert "n=6" in answer.out, "counts and intervals stand all the same"
    wide = benched(command, change(runnable(tmp_path / "wide", public=True), ("gap = 0.02", "gap = 0.9")))
    assert of(wide)["decision"]["least_queries"] == 20
    assert "too few to decide" in command("show", wide, "--subgroup", "early", "--slice", "filtered").out, "20 at least"


def test_V114_a_shared_report_counts_only_what_its_readers_may_see(tmp_path: Path, command: Command) -> None:
    closed = {row["_id"] for row in documents() if "planning" not in row["groups"]}
    result = benched(command, runnable(tmp_path / "s", readers=["planning"]))
    assert of(result)["counts"]["documents"] == 24
    for name in ("result.json", "conditions.json", "report.md", "report.html"):
        text = (result / name).read_text(encoding="utf-8")
        assert not [d for d in closed if d in text.replace('"', " ").replace(",", " ").split()], name
    rankings = pq.read_table(result / "rows" / "rankings.parquet").to_pylist()
    asked = next(row["query"] for row in rankings if row["document"] in closed and row["slice"] == "filtered")
    shown = command("show", result, "--query", asked)
    assert "(not for these readers)" in shown.out
    assert not closed.intersection(shown.out.split())
    for arm in json.loads(command("show", result, "--query", asked, "--json").out)["arms"].values():
        for hit in arm:
            assert hit["shown"] or (hit["document"], hit["score"], hit["grade"]) == (None, None, None)
    assert closed.intersection(command("show", result, "--query", asked, "--owner").out.split())

    unsaid = benched(command, runnable(tmp_path / "unsaid"))
    assert of(unsaid)["counts"]["documents"] is None
    assert all("rare" not in sizes for sizes in of(unsaid)["regions"].values()), "small cells are hidden"
    answer = command("show", unsaid, "--query", "q03")
    assert answer.code == 0
    assert "Nothing is shown" in answer.out
    assert not [row["_id"] for row in documents() if row["_id"] in answer.out]


def test_V035_recall_of_cut_documents_stands_beside_that_of_the_others(tmp_path: Path, command: Command) -> None:
    from tiepoint.embedders import installed_candidates
    from tiepoint.formats.study_toml.write import toml_value

    ready = {c.id: c for c in installed_candidates()}
    if "minilm-int8" not in ready:
        pytest.skip("not executed: minilm-int8 is not installed (pip install 'tiepoint[demo]')")
    folder = tmp_path / "s"
    runnable(folder, public=True)
    rows = documents()
    for n, row in enumerate(rows):
        if n % 2:
            row["text"] = "Minutes of the parish council were read and agreed. " * 60 + str(row["text"])
    write_rows(folder / "corpus.jsonl", rows)
    mine = ready["minilm-int8"]
    table = [f"id = {toml_value(mine.id)}", f"embedder = {toml_value(mine.embedder)}"]
    table += [f"contract = {toml_value(dict(mine.claims))}", f"options = {toml_value(dict(mine.options))}"]
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write("\n[[candidate]]\n" + "\n".join(table) + "\n")
    result = benched(command, folder)
    by_id = {c["id"]: c for c in of(result)["candidates"]}
    found = by_id["minilm-int8"]["recall_cut"]
    long = {row["_id"] for n, row in enumerate(rows) if n % 2}
    scored = [(q, d) for q, d, g in judgements() if g >= 1 and d != "gone" and q not in ("q16", "q17")]
    ranked = {
        (row["query"], row["document"])
        for row in pq.read_table(result / "rows" / "rankings.parquet").to_pylist()
        if (row["candidate"], row["slice"]) == ("minilm-int8", "unfiltered") and row["rank"] <= 3
    }
    for name, pairs in (
        ("cut", [p for p in scored if p[1] in long]),
        ("uncut", [p for p in scored if p[1] not in long]),
    ):
        assert found[name]["mean"] == pytest.approx(sum(p in ranked for p in pairs) / len(pairs))
        assert found[name]["n"] == len({q for q, _ in pairs})
    assert found["cut"]["mean"] < found["uncut"]["mean"], "what was asked for stands behind the limit"
    assert by_id["words"]["recall_cut"] is None, "its tokens cannot be counted: not executed, never 0"
    assert "Recall on cut beside uncut documents" in (result / "report.md").read_text(encoding="utf-8")
