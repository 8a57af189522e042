"""Field cases of regions, names in Unicode and encodings of files; each enters by the command line or the Python door."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest

import tiepoint as tp
from command import process
from forms import separated, write_rows
from sample import contract, hashing
from studies import DOCUMENTS, JUDGEMENTS, QUERIES, refusal, rows_with, write_study


def csv_study(folder: Path, rows: Sequence[dict[str, object]], **changes: object) -> Path:
    """The small study with its corpus as CSV."""
    keys = {"path": "corpus.csv", **changes.pop("corpus", {})}  # type: ignore[dict-item]
    write_study(folder, documents=None, corpus=keys, **changes)  # type: ignore[arg-type]
    (folder / "corpus.csv").write_text(separated(list(rows)), encoding="utf-8", newline="")
    return folder


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
    rows = rows_with(DOCUMENTS, d1={"_id": "007", "region": "NA", "title": "null"}, d2={"_id": "1.0", "title": "1e5"})
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
    plain = tp.load_study(csv_study(tmp_path / "a", DOCUMENTS))
    folder = csv_study(tmp_path / "b", DOCUMENTS)
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
    rows = rows_with(DOCUMENTS, d1={"text": "the \u201csilt\u201d of the harbour"})
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
