"""A small study with permissions, regions, clusters and rare names, and an encoder of hashed words to run it with.

The encoder is a real one, if a poor one: its figures say nothing about any model.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import tiepoint as tp

PLACES = ("Cotherstone", "Eggleston", "Frosterley", "Garrigill", "Nenthead", "Rookhope")
THINGS = ("bats", "culvert", "shaft", "peat", "hedge", "borehole")
GROUPS = ("ecology", "planning")


def documents() -> list[dict[str, object]]:
    """36 documents: each thing at each place; every third is for ecology alone."""
    rows = []
    for p, place in enumerate(PLACES):
        for t, thing in enumerate(THINGS):
            n = p * len(THINGS) + t
            rows.append(
                {
                    "_id": f"d{n:02d}",
                    "title": f"Survey of {thing}",
                    "text": f"The {thing} at {place} {'north' if n % 2 else 'south'} of the road were looked at, sheet {n}.",
                    "region": "Teesdale" if p < 2 else "Weardale" if p < 4 else "Alston Moor",
                    "groups": ["ecology"] if n % 3 == 0 else list(GROUPS),
                }
            )
    return rows


def questions() -> list[dict[str, object]]:
    """18 questions: three about each place, clustered in pairs; two have no region, one no judgement, one no answer."""
    rows = []
    for n in range(18):
        place, thing = PLACES[n % 6], THINGS[(n * 5 + 1) % 6]
        region = "Teesdale" if n % 6 < 2 else "Weardale" if n % 6 < 4 else "Alston Moor"
        rows.append(
            {
                "_id": f"q{n:02d}",
                "text": f"{thing} near {place}",
                "groups": ["planning"] if n % 2 else ["ecology"],
                "region": None if n in (4, 11) else region,
                "subgroups": ["early"] if n < 9 else ["late"],
                "has_rare_name": n % 3 == 0,
                "no_answer": n == 17,
                "cluster": f"c{n // 2}",
            }
        )
    return rows


def judgements() -> list[tuple[str, str, int]]:
    """The thing at the place has grade 3 where its group may read it, the same thing elsewhere grade 1, one is absent."""
    rows = []
    for n in range(16):
        thing, group = (n * 5 + 1) % 6, "planning" if n % 2 else "ecology"
        for p in range(6):
            number = p * 6 + thing
            if group == "ecology" or number % 3:
                grade = 3 if p == n % 6 else 1 if (p + n) % 4 == 0 else 0
                rows.append((f"q{n:02d}", f"d{number:02d}", grade))
    return [*rows, ("q02", "gone", 2)]


def write_sample(
    folder: Path, *, public: bool = False, readers: Sequence[str] | None = None, shuffled: bool = False
) -> Path:
    """Write the study; shuffled: with the lines of every file in another order."""
    folder.mkdir(parents=True, exist_ok=True)

    def turn(rows: list) -> np.ndarray:
        return np.random.default_rng(5).permutation(len(rows)) if shuffled else np.arange(len(rows))

    for name, rows in (("corpus", documents()), ("queries", questions())):
        lines = [json.dumps(rows[i], ensure_ascii=False) + "\n" for i in turn(rows)]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    judged = judgements()
    (folder / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join("\t".join(map(str, judged[i])) + "\n" for i in turn(judged)),
        encoding="utf-8",
    )
    acl = "" if public else 'acl = "groups"\n'
    groups = "" if public else 'groups = "groups"\n'
    report = "" if readers is None else f"[report]\nreaders = {json.dumps(list(readers))}\n"
    (folder / "study.toml").write_text(
        f"""[study]
name = "sample"
k = 3
measures = ["recall@3", "pooled_recall@3", "RR@3", "nDCG@5", "Success@1", "Judged@3"]
seed = 7

[corpus]
path = "corpus.jsonl"
id = "_id"
text = "{{title}} {{text}}"
{acl}region = "region"

[queries]
path = "queries.jsonl"
id = "_id"
text = "text"
{groups}region = "region"
subgroups = "subgroups"
rare = "has_rare_name"
no_answer = "no_answer"
cluster = "cluster"
provenance = "synthetic"

[qrels]
path = "qrels.tsv"

[access]
public = {"true" if public else "false"}

{report}
[decision]
measure = "nDCG@5"
slice = "filtered"
gap = 0.02
prefer = ["dimension"]
""",
        encoding="utf-8",
    )
    return folder


def contract(dimension: int, **changes: object) -> tp.Contract:
    """The contract of the hashing encoder."""
    stated = {
        "space_id": f"hash-{dimension}",
        "provider": "test",
        "model": "hashed words",
        "revision": "1",
        "dimension": dimension,
        "metric": "cosine",
        "normalized": False,
        "dtype": "float32",
        "query_role": "query",
        "document_role": "document",
    }
    return tp.Contract(**{**stated, **changes})


def hashing(dimension: int, **options: object) -> tp.Candidate:
    """A candidate that counts hashed words in so many columns."""

    def encode(texts: Sequence[str]) -> np.ndarray:
        vectors = np.zeros((len(texts), dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.strip(".,").encode()) % dimension] += 1
        return vectors

    return tp.Candidate(f"hash-{dimension}", encode=encode, contract=contract(dimension), **options)
