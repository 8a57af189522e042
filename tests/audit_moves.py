"""Moves for `tiepoint audit` as a person calls it: Parquet files with a planted fault, studies with spaces."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from audit_kit import Change, write_contract, write_side
from command import Answer, Command
from studies import PUBLIC, write_study

MODULE = """
import zlib
import numpy as np

def words(texts):
    vectors = np.full((len(texts), 64), 1e-3, dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            vectors[row, zlib.crc32(word.encode()) % 64] += 1 + zlib.crc32(word.encode()) % 97 / 97
    return vectors

def more_words(texts):
    return words(texts) * 2

def turned(texts):
    return words(texts)[:, ::-1].copy()

def noise(texts):
    return np.array([[1, len(text), zlib.crc32(text.encode()) % 1009] + [0.5] * 61 for text in texts], dtype=np.float32)

def broken(texts):
    raise RuntimeError("no weights")
"""
STATED: Mapping[str, object] = {
    "provider": "test", "revision": "1", "dimension": 64, "metric": "cosine", "normalized": False, "dtype": "float32",
    "query_role": "query", "document_role": "document",
}  # fmt: skip
EASY = {"loss": 0.4, "subgroup_loss": 0.5, "subgroup_queries": 4}
"""Gates that a dozen questions can settle."""


@dataclass(frozen=True)
class Done:
    """One audit from the command line: what was printed, and the folder that it left."""

    answer: Answer
    folder: Path

    @property
    def code(self) -> int:
        return self.answer.code

    @property
    def summary(self) -> dict:
        return json.loads((self.folder / "audit.json").read_text(encoding="utf-8"))

    @property
    def gates(self) -> dict[str, dict]:
        return {gate["name"]: gate for gate in self.summary["gates"]}

    @property
    def outcomes(self) -> dict[str, str]:
        return {name: gate["outcome"] for name, gate in self.gates.items()}

    @property
    def findings(self) -> list[dict]:
        return self.rows("findings")

    def rows(self, name: str) -> list[dict]:
        return pq.read_table(self.folder / "rows" / f"{name}.parquet").to_pylist()

    @property
    def shared(self) -> dict[str, str]:
        """All that readers of the report get, and stdout."""
        names = ("audit.json", "report.md", "report.html")
        return {"stdout": self.answer.out} | {n: (self.folder / n).read_text(encoding="utf-8") for n in names}


def audited(command: Command, *words: object) -> Done:
    """`tiepoint audit ...`, which must record."""
    answer = command("audit", *words)
    assert "Recorded in " in answer.err, answer.err
    return Done(answer, Path(answer.err.partition("Recorded in ")[2].strip()))


def planted(
    command: Command, folder: Path, target: Change | None = None, source: Change | None = None, **contract: object
) -> Done:
    """3,000 rows on each side, clean but for what is planted; contract: changes of the target's."""
    one, other = write_side(folder, "source", source), write_side(folder, "target", target, **contract)
    return audited(
        command, "--source", one.name, "--target", other.name, "--source-contract", one.contract,
        "--target-contract", other.contract, "--results", folder / "results",
    )  # fmt: skip


def candidate(function: str, **contract: object) -> dict[str, object]:
    """A candidate that runs from the command line, under the name of its function."""
    stated = {**STATED, "model": function, **contract}
    options = {"function": f"own:{function}"}
    return {"id": function, "embedder": "callable", "contract": stated, "options": options, "cache": True}


def archive(folder: Path, *, readers: Sequence[str] | None = None, questions: int = 12, **tables: object) -> Path:
    """A study under an acl: an open document for each of 12 questions of two groups, 6 closed ones; six candidates."""
    documents = [
        {"_id": f"{kind}-{i:02}", "title": f"sheet {i}", "text": f"zanzibar {kind} number{i} place{i % 4}", "groups": groups}
        for kind, count, groups in (("open", questions, ["planning", "ecology"]), ("closed", 6, ["ecology"]))
        for i in range(count)
    ]  # fmt: skip
    asked = [
        {"_id": f"q{i:02}", "text": f"quagga number{i} place{i % 4}", "groups": ["ecology" if i % 2 else "planning"],
         "subgroups": ["odd" if i % 2 else "even"]}
        for i in range(questions)
    ]  # fmt: skip
    plain: dict[str, object] = {
        "study": {"k": 3, "measures": ["nDCG@3"]},
        "corpus": {"region": None},
        "queries": {"region": None, "rare": None, "cluster": None},
        "decision": {"slice": "unfiltered"},
        "gates": EASY,
    }
    if readers is not None:
        plain["report"] = {"readers": list(readers)}
    write_study(
        folder,
        documents=documents,
        questions=asked,
        judgements="".join(f"q{i:02}\topen-{i:02}\t2\n" for i in range(questions)) + "q01\tclosed-01\t1\n",
        candidates=[candidate(name) for name in ("words", "more_words", "turned", "noise", "broken")],
        **{**plain, **tables},  # type: ignore[arg-type]
    )
    (folder / "own.py").write_text(MODULE, encoding="utf-8")
    return folder


def encoded(texts: Sequence[str], function: str = "words") -> np.ndarray:
    """What a function of the study's module makes of texts."""
    names: dict[str, object] = {}
    exec(MODULE, names)  # noqa: S102  # the text above
    return names[function](list(texts))  # type: ignore[operator]


def exported(folder: Path, function: str = "words") -> dict[str, list]:
    """The items of an archive with the vectors of one function, as columns for a Parquet file; change them and write_space."""
    lines = {
        name: (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines() for name in ("corpus", "queries")
    }
    documents, questions = ([json.loads(line) for line in lines[name]] for name in ("corpus", "queries"))
    texts = [f"{d['title']} {d['text']}" for d in documents] + [q["text"] for q in questions]
    return {
        "id": [row["_id"] for row in (*documents, *questions)],
        "vector": list(encoded(texts, function)),
        "text": texts,
        "role": ["document"] * len(documents) + ["query"] * len(questions),
        "acl": [d["groups"] for d in documents] + [None] * len(questions),
    }


def write_space(folder: Path, name: str, columns: Mapping[str, list], **contract: object) -> tuple[Path, Path]:
    """A Parquet file and the TOML of its contract."""
    kind = pa.list_(pa.float32())
    arrays = {n: pa.array(v, kind) if n == "vector" else pa.array(v) for n, v in columns.items()}
    pq.write_table(pa.table(arrays), folder / f"{name}.parquet")
    return folder / f"{name}.parquet", write_contract(
        folder / f"{name}.toml", **{**STATED, "model": "words", **contract}
    )


def ordered(
    command: Command,
    folder: Path,
    orders: tuple[Sequence[str], Sequence[str]],
    judged: Mapping[str, int],
    *,
    queries: int = 1,
    vectors: Mapping[str, float] | None = None,
    **tables: object,
) -> Done:
    """An audit of two files in which every question ranks the documents in the order that is given, source and target.

    judged    document to grade, for every question
    vectors   the target's one number of an item, where it is not the one of its order
    """
    asked = [f"q{i:02}" for i in range(queries)]
    columns = {"region": None, "subgroups": None, "rare": None, "cluster": None, "groups": None}
    plain: dict[str, object] = {
        **PUBLIC, "corpus": {"acl": None, "region": None}, "queries": columns,
        "study": {"k": 5, "measures": ["nDCG@5"]}, "decision": {"slice": "unfiltered", "measure": "nDCG@5"},
    }  # fmt: skip
    write_study(
        folder,
        documents=[{"_id": d, "title": "sheet", "text": f"text of {d}"} for d in sorted({*orders[0], *orders[1]})],
        questions=[{"_id": q, "text": f"question {q}"} for q in asked],
        judgements="".join(f"{q}\t{d}\t{grade}\n" for q in asked for d, grade in judged.items()),
        **{**plain, **tables},  # type: ignore[arg-type]
    )
    words: list[object] = []
    for side, order in zip(("source", "target"), orders, strict=True):
        own = {d: float(len(order) - place) for place, d in enumerate(order)} | dict.fromkeys(asked, 1.0)
        own |= dict(vectors or {}) if side == "target" else {}
        items = {"id": list(own), "vector": [[v] for v in own.values()]}
        roles = ["query" if i in asked else "document" for i in own]
        path, contract = write_space(folder, side, {**items, "role": roles}, dimension=1, metric="dot", model=side)
        words += [f"--{side}", path, f"--{side}-contract", contract]
    return audited(command, folder, *words)
