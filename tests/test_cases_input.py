"""Field cases of input: ids and judgements, geography and encodings, access. Each enters by the CLI or the Python door."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp
from command import Command, process
from forms import separated, write_rows
from sample import contract, hashing
from studies import DOCUMENTS, JUDGEMENTS, QUERIES, refusal, rows_with, rows_without, study_text, write_study
from tiepoint.core.result import Summary

PLAIN = {"queries": dict.fromkeys(("groups", "region", "subgroups", "rare", "cluster"))}
"""Changes that leave the queries of the small study their id and text."""


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def open_study(folder: Path, documents: Sequence[dict[str, object]], judged: str, **changes: object) -> Path:
    """A public study without regions; every query of `judged` asks "silt of the port"."""
    asked = sorted({line.split("\t")[0] for line in judged.splitlines()})
    return write_study(
        folder,
        documents=documents,
        questions=[{"_id": q, "text": "silt of the port"} for q in asked],
        judgements=judged,
        corpus={"acl": None, "region": None, "text": "{text}"},
        access={"public": True},
        **PLAIN,
        **{"decision": {"slice": "unfiltered", "measure": "RR@3"}, **changes},  # type: ignore[arg-type]
    )


def csv_study(folder: Path, rows: Sequence[dict[str, object]], **changes: object) -> Path:
    """The small study with its corpus as CSV."""
    keys = {"path": "corpus.csv", **changes.pop("corpus", {})}  # type: ignore[dict-item]
    write_study(folder, documents=None, corpus=keys, **changes)  # type: ignore[arg-type]
    (folder / "corpus.csv").write_text(separated(list(rows)), encoding="utf-8", newline="")
    return folder


def documents(**changes: dict[str, object]) -> list[dict[str, object]]:
    """The small study's documents, each with every column."""
    return [{"_id": i["_id"], **i} for i in rows_with(DOCUMENTS, **changes)]


# A. Measures, judgements, ids


def constant(texts: Sequence[str]) -> np.ndarray:
    return np.ones((len(texts), 2), dtype=np.float32)


@pytest.mark.parametrize("confidence", [0.8, "point"])
def test_V001_renaming_ids_that_tie_changes_no_verdict_and_the_range_is_shown(
    tmp_path: Path, confidence: float | str
) -> None:
    arms = [tp.Candidate("ties", encode=constant, contract=contract(2)), hashing(64)]
    rows = [{"_id": "b", "text": "silt of the port"}, {"_id": "c", "text": "a moor"}, {"_id": "d", "text": "fen"}]
    found: list[Summary] = []
    for first in ("a", "z"):
        named = [{**row, "_id": first} if row["_id"] == "b" else row for row in rows]
        judged = "".join(f"q{n:02d}\t{first}\t1\n" for n in range(40))
        rule = {"slice": "unfiltered", "measure": "RR@3", "confidence": confidence, "gap": 0.1}
        study = tp.load_study(open_study(tmp_path / first, named, judged, decision=rule))
        found.append(tp.bench(study, candidates=arms).summary)
    one, other = found
    assert one.candidates[0].measures["unfiltered"]["RR@3"].mean == 1
    assert other.candidates[0].measures["unfiltered"]["RR@3"].mean == pytest.approx(1 / 3)
    for summary in found:
        bounds = summary.candidates[0].bounds["unfiltered"]["RR@3"]
        assert (bounds.tie_low, bounds.tie_expected, bounds.tie_high) == (
            pytest.approx(1 / 3),
            pytest.approx(11 / 18),
            1,
        )
    assert (one.decision.verdict, one.decision.choice) == (other.decision.verdict, other.decision.choice)


def test_V007_one_pair_with_two_grades_is_refused_with_both(tmp_path: Path, command: Command) -> None:
    folder = write_study(tmp_path, judgements=JUDGEMENTS + "q1\td1\t0\nq3\td5\t3\nq2\td2\t3\n")
    answer = command("check", folder)
    assert answer.code == 2
    assert "2 pairs of query and document have more than one grade" in answer.err
    assert "(q1, d1): 0 and 2, (q2, d2): 1 and 3" in answer.err, "an identical repeat (q3, d5) is fine"
    assert "(q3, d5)" not in answer.err


@pytest.mark.parametrize("spelling", ["12.0", "012"])
def test_V008_spellings_of_one_id_stop_with_both_and_the_overlap(tmp_path: Path, spelling: str) -> None:
    folder = write_study(
        tmp_path, questions=rows_with(QUERIES, q1={"_id": 12}), judgements=JUDGEMENTS.replace("q1", spelling)
    )
    message = refusal(folder)
    assert f"{spelling!r} is judged, '12' is known" in message
    assert "3 of 4 judged query ids stand in the queries" in message
    (folder / "qrels.tsv").write_text(JUDGEMENTS.replace("q1", "12"), encoding="utf-8")
    assert tp.load_study(folder).queries.ids[0] == "12", "an integer id is its decimal text"


@pytest.mark.parametrize("lines", ["", "q2\tc\t0\n"])
def test_V011_a_query_without_a_relevant_document_leaves_the_mean_and_the_others_alone(
    tmp_path: Path, lines: str
) -> None:
    rows = [{"_id": "a", "text": "silt of the port"}, {"_id": "c", "text": "a moor"}, {"_id": "d", "text": "silt fen"}]
    judged = f"q1\ta\t1\n{lines}q3\tc\t2\n"
    folder = open_study(tmp_path / "s", rows, judged)
    asked = [{"_id": q, "text": "silt of the port"} for q in ("q1", "q2", "q3")]
    write_rows(folder / "queries.jsonl", asked)
    summary = tp.bench(tp.load_study(folder), candidates=[hashing(64)]).summary
    without = tp.bench(
        tp.load_study(open_study(tmp_path / "w", rows, "q1\ta\t1\nq3\tc\t2\n")), candidates=[hashing(64)]
    )
    figure = summary.candidates[0].measures["unfiltered"]["RR@3"]
    assert (figure.mean, figure.n) == (without.summary.candidates[0].measures["unfiltered"]["RR@3"].mean, 2)
    out = summary.denominators["unfiltered"]
    assert (out.no_relevant, out.not_judged, out.no_answer) == ((1, 0, 0) if lines else (0, 1, 0))


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_V017_one_id_with_two_texts_names_the_id_and_both_places(tmp_path: Path, form: str) -> None:
    twice = [*documents(), {**documents()[1], "text": "another text"}]
    folder = write_study(tmp_path, documents=None, corpus={"path": f"corpus.{form}"})
    write_rows(folder / f"corpus.{form}", twice)
    place = {"jsonl": "lines 2, 7", "csv": "lines 3, 8", "parquet": "rows 2, 7"}[form]
    assert f"d2 ({place})" in refusal(folder)


@pytest.mark.parametrize(("value", "dtype"), [(np.nan, "float32"), (np.inf, "float32"), (70000, "float16")])
def test_V021_made_vectors_that_are_not_finite_name_their_ids(
    tmp_path: Path, command: Command, value: float, dtype: str
) -> None:
    stated = {
        k: v for k, v in dataclasses.asdict(contract(4, dtype=dtype)).items() if v is not None and k != "space_id"
    }
    options = {"documents": "docs.npy", "queries": "asked.npy"}
    made = {"id": "made", "embedder": "vectors", "contract": stated, "options": options}
    folder = write_study(tmp_path / "s", candidates=[made])
    for name, ids in (("docs", [d["_id"] for d in DOCUMENTS]), ("asked", [q["_id"] for q in QUERIES])):
        vectors = np.ones((len(ids), 4))
        vectors[[1, 3], 2] = value if name == "docs" else 1
        with np.errstate(over="ignore"):
            np.save(folder / f"{name}.npy", vectors.astype(dtype))
        (folder / f"{name}.ids.txt").write_text("".join(f"{i}\n" for i in ids), encoding="utf-8")
    answer = command("bench", folder)
    assert answer.code == 2
    assert "2 of 6 vectors of documents hold NaN or infinity" in answer.err
    assert "d2, d4" in answer.err
    assert "65,504 does not fit into float16" in answer.err


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("q1\tmsmarco#7\t1\nq2\td2\t1\n\n", "qrels.tsv: tab-separated without a header, UTF-8, 2 rows"),
        ("q1 0 msmarco#7 1\nq2 0 d2 1\n\n\n", "qrels.tsv: TREC, four columns, UTF-8, 2 rows"),
        ("q1\t0\tmsmarco#7\t1\nq2\t0\td2\t1\n", "qrels.tsv: TREC, four columns, UTF-8, 2 rows"),
    ],
    ids=["tabs", "spaces", "four between tabs"],
)
def test_V034_the_form_of_the_judgements_is_found_and_said(tmp_path: Path, text: str, form: str) -> None:
    folder = write_study(tmp_path, documents=rows_with(DOCUMENTS, d1={"_id": "msmarco#7"}), judgements=text)
    study = tp.load_study(folder)
    assert form in study.notes
    assert "msmarco#7" in study.qrels.document_id
    assert (study.qrels.document >= 0).all()


def test_V034_every_bad_line_of_the_judgements_is_counted_and_the_first_ten_named(tmp_path: Path) -> None:
    bad = "".join(f"q1 d{n}\n" for n in range(12))
    message = refusal(write_study(tmp_path, judgements=JUDGEMENTS + bad))
    assert "nor TREC's four (12)" in message
    assert "lines 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 and 2 more" in message


# F. Geography and encodings


@pytest.mark.parametrize("forms", [("NFC", "NFD", "NFC"), ("NFD", "NFC", "NFC"), ("NFC", "NFC", "NFD")])
def test_V103_names_meet_in_both_unicode_forms_and_texts_are_not_altered(
    tmp_path: Path, forms: tuple[str, str, str]
) -> None:
    name = "Årdal"
    carried, asked, declared = (unicodedata.normalize(form, name) for form in forms)
    folder = write_study(
        tmp_path / "s",
        documents=rows_with(DOCUMENTS, d1={"region": carried, "text": f"Silt at {carried}"}),
        questions=rows_with(QUERIES, q1={"region": asked, "text": f"silt at {asked}"}),
        regions={"path": "regions.csv", "parent": "within"},
        places=f"region,within\n{declared},North\nNorth,\nSouth,\n",
    )
    study = tp.load_study(folder)
    assert study.queries.regions[0] == (unicodedata.normalize("NFC", name),)
    assert study.corpus.within(study.queries.regions[0]).tolist() == [True, *[False] * 5]
    assert study.corpus.texts[0].endswith(carried), "the text goes to the model as it was written"
    assert study.queries.texts[0].endswith(asked)
    twins = rows_with(DOCUMENTS, d5={"_id": "\u00e9"}, d6={"_id": "e\u0301"})
    assert "spelt in two Unicode forms" in refusal(write_study(tmp_path / "t", documents=twins))


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_V104_an_id_007_and_a_region_NA_are_text(tmp_path: Path, form: str) -> None:
    rows = documents(d1={"_id": "007", "region": "NA", "title": "null"}, d2={"_id": "1.0", "title": "1e5"})
    folder = write_study(
        tmp_path,
        documents=None,
        questions=rows_with(QUERIES, q1={"region": "NA"}),
        judgements=JUDGEMENTS.replace("d1", "007").replace("d2", "1.0"),
        corpus={"path": f"corpus.{form}"},
    )
    write_rows(folder / f"corpus.{form}", rows)
    study = tp.load_study(folder)
    assert study.corpus.ids[:2] == ["007", "1.0"]
    assert study.queries.regions[0] == ("NA",)
    assert study.corpus.within(["NA"]).tolist() == [True, *[False] * 5]
    assert study.corpus.texts[:2] == ["null Silt in the harbour", "1e5 Quay wall survey"]


def test_V105_an_unknown_region_is_refused_with_near_names_and_an_alias_mends_it(tmp_path: Path) -> None:
    rows = rows_with(DOCUMENTS, d1={"region": "Great Britain"})
    asked = rows_with(QUERIES, q1={"region": "UK"}, q2={"region": "Great Britian"})
    folder = write_study(tmp_path / "s", documents=rows, questions=asked)
    message = refusal(folder)
    assert "2 of 4 queries ask for a region that the study does not know" in message
    assert 'did you mean "Great Britain"?' in message
    assert "or give the region this alias in [regions]" in message
    mended = write_study(
        tmp_path / "s",
        documents=rows,
        questions=asked,
        places='region,aliases\nGreat Britain,"[""UK"", ""Great Britian""]"\n',
        regions={"path": "regions.csv", "aliases": "aliases"},
    )
    assert tp.load_study(mended).queries.regions[:2] == (("Great Britain",), ("Great Britain",))
    for empty in ("", [], [""]):
        message = refusal(write_study(tmp_path / "e", questions=rows_with(QUERIES, q1={"region": empty})))
        assert "ids q1" in message, "an empty region never passes"


def test_V106_a_byte_order_mark_and_a_quoted_header_change_nothing(tmp_path: Path) -> None:
    plain = tp.load_study(csv_study(tmp_path / "a", documents()))
    folder = csv_study(tmp_path / "b", documents())
    head, rest = (folder / "corpus.csv").read_text(encoding="utf-8").split("\n", 1)
    quoted = ",".join(f'"{name}"' for name in head.split(","))
    (folder / "corpus.csv").write_text(f"{quoted}\n{rest}", encoding="utf-8-sig", newline="")
    marked = tp.load_study(folder)
    assert marked.corpus.table.equals(plain.corpus.table)
    assert "corpus.csv: comma-separated with a header, UTF-8 with BOM" in marked.notes
    results = [tp.bench(study, candidates=[hashing(16)]) for study in (plain, marked)]
    assert results[0].per_query.equals(results[1].per_query)
    hashes = [result.conditions.hashes["corpus_content"] for result in results]
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_V107_files_are_utf8_whatever_the_locale_and_the_byte_is_named(tmp_path: Path, form: str) -> None:
    rows = documents(d1={"text": "the \u201csilt\u201d of the harbour"})
    stated = {k: v for k, v in dataclasses.asdict(contract(4)).items() if v is not None and k != "space_id"}
    arm = {"id": "own", "embedder": "callable", "contract": stated, "options": {"function": "own:encode"}}
    folder = write_study(tmp_path / "s", documents=None, corpus={"path": f"corpus.{form}"}, candidates=[arm])
    write_rows(folder / f"corpus.{form}", rows)
    (folder / "own.py").write_text(
        "import numpy\n\n\ndef encode(texts):\n    return numpy.ones((len(texts), 4), 'f4')\n"
    )
    other = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    answer = process("check", folder, **other)
    assert answer.code == 0, answer.err
    raw = (folder / f"corpus.{form}").read_bytes()
    cut = raw.replace("\u201c".encode(), b"\x93").replace("\u201d".encode(), b"\x94")
    (folder / f"corpus.{form}").write_bytes(cut)
    refused = process("check", folder, **other)
    assert refused.code == 2
    assert f"byte offset {cut.index(bytes([0x93]))})" in refused.err


def test_V107_garbled_texts_are_flagged(tmp_path: Path) -> None:
    garbled = "caf\u00e9 \u201csilt\u201d".encode().decode("cp1252", errors="replace")
    folder = write_study(
        tmp_path,
        documents=rows_with(DOCUMENTS, d1={"text": garbled}, d2={"text": "na\u00efve caf\u00e9"}),
        questions=rows_with(QUERIES, q1={"text": garbled}),
        report={"readers": ["planning"]},
    )
    notes = tp.load_study(folder).notes
    assert "1 of 3 documents that the readers may see look garbled (UTF-8 read in another encoding)" in notes
    assert "1 queries look garbled (UTF-8 read in another encoding)" in notes


# G. Access


def closed_study(folder: Path, queries: Sequence[dict[str, object]], judged: str) -> Path:
    """30 documents of one text: the first 25 by id for ecology alone, five for planning too, less alike the question."""
    rows = [
        {
            "_id": f"d{n:02d}",
            "text": "silt of the port" if n < 25 else f"silt of the old port {n}",
            "groups": ["ecology"] if n < 25 else ["ecology", "planning"],
        }
        for n in range(30)
    ]
    return write_study(
        folder,
        documents=rows,
        questions=queries,
        judgements=judged,
        corpus={"region": None, "text": "{text}"},
        queries={"region": None, "subgroups": None, "rare": None, "cluster": None},
        decision={"slice": "unfiltered"},
    )


def ranked(result: tp.Result, query: str, arm: str = "hash-64") -> list[str]:
    rows = result.rankings.to_pylist()
    return [r["document"] for r in rows if (r["candidate"], r["query"], r["slice"]) == (arm, query, "unfiltered")]


def test_V108_what_is_forbidden_leaves_before_the_ranking(tmp_path: Path) -> None:
    asked = [{"_id": q, "text": "silt of the port", "groups": [g]} for q, g in (("qe", "ecology"), ("qp", "planning"))]
    folder = closed_study(tmp_path, asked, "qe\td00\t1\nqp\td25\t1\nqp\td26\t1\n")
    result = tp.bench(tp.load_study(folder), candidates=[hashing(64)])
    allowed = {f"d{n}" for n in range(25, 30)}
    for arm in ("hash-64", "bm25", "random"):
        found = ranked(result, "qp", arm)
        assert set(found) <= allowed
        assert len(found) == 3, "refilled to the depth with what may be read"
    assert set(ranked(result, "qe")) & {f"d{n:02d}" for n in range(25)}
    rows = result.per_query.to_pylist()
    (recall,) = [
        r["value"]
        for r in rows
        if (r["candidate"], r["query"], r["measure"], r["slice"]) == ("hash-64", "qp", "recall@3", "unfiltered")
    ]
    assert recall > 0, "recall is measured inside what the principal may read"


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_V112_an_acl_that_is_missing_null_misspelt_or_of_a_wrong_type_fails_closed(tmp_path: Path, form: str) -> None:
    def written(folder: Path, rows: list[dict[str, object]], **changes: dict[str, object]) -> Path:
        keys = {"path": f"corpus.{form}", **changes.pop("corpus", {})}
        write_study(folder, documents=None, corpus=keys, **changes)
        write_rows(folder / f"corpus.{form}", rows)
        return folder

    null = documents(d1={"groups": None}, d3={"groups": None})
    message = refusal(written(tmp_path / "null", null))
    assert f"2 of 6 documents have no acl\n  where: corpus.{form}, ids d1, d3" in message
    wrong = documents(d2={"groups": ["staff", ""]}, d4={"groups": [""]})
    message = refusal(written(tmp_path / "wrong", wrong))
    assert "2 of 6 documents have something in 'groups'" in message
    assert "ids d2, d4" in message
    missing = rows_without(documents(), "groups")
    assert f"corpus.{form} has no column 'groups'" in refusal(written(tmp_path / "missing", missing))
    misspelt = refusal(written(tmp_path / "misspelt", documents(), corpus={"acl": "group"}))
    assert 'did you mean "groups"?' in misspelt
    unsaid = written(tmp_path / "unsaid", documents(), corpus={"acl": None}, queries={"groups": None})
    assert "nobody has said who may read the documents" in refusal(unsaid)


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_V113_an_empty_list_of_groups_finds_nothing_and_an_empty_name_is_refused(tmp_path: Path, form: str) -> None:
    def asked(groups: object) -> Path:
        rows = [
            {"_id": "q1", "text": "silt of the port", "groups": ["planning"]},
            {"_id": "q2", "text": "silt of the port", "groups": groups},
        ]
        folder = closed_study(tmp_path, rows, "q1\td25\t1\n")
        toml = study_text(
            corpus={"region": None, "text": "{text}"},
            queries={**dict.fromkeys(("region", "subgroups", "rare", "cluster")), "path": f"queries.{form}"},
            decision={"slice": "unfiltered"},
        )
        (folder / "study.toml").write_text(toml, encoding="utf-8")
        write_rows(folder / f"queries.{form}", rows)
        return folder

    result = tp.bench(tp.load_study(asked([])), candidates=[hashing(64)])
    assert len(ranked(result, "q1")) == 3
    for arm in ("hash-64", "bm25", "random"):
        assert ranked(result, "q2", arm) == []
    for wrong in ([""], ["planning", " "]):
        message = refusal(asked(wrong))
        assert "1 of 2 queries have something in 'groups'" in message
        assert "ids q2" in message
    assert "1 of 2 queries have no groups" in refusal(asked(None))


def test_V115_one_question_by_two_principals_is_ranked_for_each_and_again_in_every_run(tmp_path: Path) -> None:
    def asked(first: list[str], second: list[str]) -> list[dict[str, object]]:
        text = "silt of the port"
        return [{"_id": q, "text": text, "groups": g} for q, g in (("qa", first), ("qb", second), ("qc", []))]

    arm = hashing(64, cache=True)
    judged = "qa\td26\t1\nqb\td26\t1\n"
    one = tp.bench(tp.load_study(closed_study(tmp_path, asked(["planning"], ["ecology"]), judged)), candidates=[arm])
    swapped = tp.bench(
        tp.load_study(closed_study(tmp_path, asked(["ecology"], ["planning"]), judged)), candidates=[arm]
    )
    assert ranked(one, "qa") == ranked(swapped, "qb")
    assert ranked(one, "qb") == ranked(swapped, "qa")
    assert set(ranked(one, "qa")).isdisjoint(ranked(one, "qb"))
    assert ranked(one, "qc") == ranked(swapped, "qc") == []
    scope = rows_with(QUERIES, q1={"region": ""})
    assert "ids q1" in refusal(write_study(tmp_path / "scope", questions=scope)), (
        "an empty scope never means everything"
    )
