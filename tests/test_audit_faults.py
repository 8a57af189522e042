"""Faults planted in 3,000 rows and in a study under an acl: found, named, held by their gate, hidden where they must be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from audit_kit import Columns, unit
from audit_moves import EASY, archive, audited, exported, planted, write_space
from command import Command
from tiepoint.workflows.audit import provenance
from tiepoint.workflows.audit.summary import WITHHELD


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """No packaged model is looked through for the contract of vectors that none of them made."""
    monkeypatch.setattr(provenance, "installed_candidates", list)


# Planted faults


def drop(columns: Columns) -> None:
    columns.drop(7)


def change_text(columns: Columns) -> None:
    columns.text[8] = "another text"


def change_acl(columns: Columns) -> None:
    columns.acl[9] = ["everybody"]


def change_revision(columns: Columns) -> None:
    columns.source_revision[10] = "r4"


def swap_role(columns: Columns) -> None:
    columns.role[11] = "query"


def not_a_number(columns: Columns) -> None:
    columns.vectors[12, 3] = np.nan


def zero(columns: Columns) -> None:
    columns.vectors[13] = 0


def long(columns: Columns) -> None:
    columns.vectors[14] *= 1.001


def twice(columns: Columns) -> None:
    columns.add(15)


def came_back(columns: Columns) -> None:
    columns.add(16, deleted=True, version="30")


def share(columns: Columns) -> None:
    columns.vectors[18] = columns.vectors[17]


def flatten(columns: Columns) -> None:
    columns.vectors[:, 5] = 0
    columns.vectors /= np.linalg.norm(columns.vectors, axis=1, keepdims=True)


def noise(columns: Columns) -> None:
    columns.text[20] = columns.text[19]


FAULTS: dict[str, tuple[Callable[[Columns], None], str, str, str, str, list[str | None]]] = {
    "missing id": (drop, "inventory", "fail", "inventory", "only in source", ["d00007"]),
    "changed text": (change_text, "canon", "fail", "canon", "differs", ["d00008"]),
    "changed acl": (change_acl, "canon", "fail", "canon", "differs", ["d00009"]),
    "changed revision": (change_revision, "canon", "fail", "canon", "differs", ["d00010"]),
    "role swapped": (swap_role, "canon", "fail", "canon", "differs", ["d00011"]),
    "NaN": (not_a_number, "vectors", "fail", "vectors", "not finite", ["d00012"]),
    "zero vector": (zero, "vectors", "fail", "vectors", "zero", ["d00013"]),
    "norm off": (long, "vectors", "fail", "vectors", "off norm", ["d00014"]),
    "duplicate id": (twice, "inventory", "fail", "inventory", "repeated", ["d00015"]),
    "deletion that came back": (came_back, "inventory", "fail", "inventory", "deleted and back", ["d00016"]),
    "shared vector": (share, "vectors", "undecided", "vectors", "vector of several texts", ["d00017", "d00018"]),
    "constant dimension": (flatten, "vectors", "undecided", "vectors", "constant", [None]),
    "text of two vectors": (noise, "vectors", "undecided", "vectors", "text of several vectors", ["d00019", "d00020"]),
}


@pytest.mark.parametrize("name", list(FAULTS))
def test_a_planted_fault_is_found_named_and_held_by_its_gate(
    name: str, tmp_path: Path, command: Command, no_models: None
) -> None:
    fault, gate, outcome, section, kind, ids = FAULTS[name]
    done = planted(command, tmp_path, fault)
    assert done.outcomes[gate] == outcome
    assert done.code == {"fail": 1, "undecided": 4}[outcome] or name == "text of two vectors"
    found = [row["id"] for row in done.findings if (row["section"], row["kind"]) == (section, kind)]
    assert found == ids
    named = [i for i in ids if i] or ["dimension", "5"]
    for part in named:
        assert part in done.gates[gate]["evidence"]
        assert part in done.answer.out
        assert part in done.shared["report.md"]


def test_every_offender_stands_in_rows_and_the_report_counts_them(
    tmp_path: Path, command: Command, no_models: None
) -> None:
    def spoil(columns: Columns) -> None:
        columns.vectors[:400] *= 2
        columns.drop(*range(2_000, 2_300))

    done = planted(command, tmp_path, spoil)
    off = [row["id"] for row in done.findings if row["kind"] == "off norm"]
    assert off == [f"d{i:05}" for i in range(400)]
    assert len([row for row in done.findings if row["kind"] == "only in source"]) == 300
    assert "400 vectors off the length" in done.gates["vectors"]["evidence"]
    assert "d00004 and 395 more" in done.gates["vectors"]["evidence"]
    assert done.summary["target_vectors"]["off_norm"]["count"] == 400
    assert "d00011" not in done.shared["report.md"]


def test_names_never_become_markup(tmp_path: Path, command: Command, no_models: None) -> None:
    evil = "<script>alert(1)</script>|[bold]`*"

    def spoil(columns: Columns) -> None:
        columns.add(0, ids=evil, vector=unit(1, seed=9)[0], text="new")

    done = planted(command, tmp_path, spoil, model=evil)
    assert done.code == 1
    assert "<script>alert" not in done.shared["report.html"]
    assert "\\<script\\>alert(1)\\</script\\>\\|\\[bold\\]" in done.shared["report.md"]
    assert "[bold]" in done.answer.out


# What the readers may not see


def spoilt(folder: Path, study: Path) -> tuple[Path, Path]:
    """The archive exported with a fault of each kind on closed documents, and one id that the study lacks."""
    columns = exported(study)
    at = {name: i for i, name in enumerate(columns["id"])}
    columns["text"][at["closed-01"]] = "zanzibar rewritten"
    columns["vector"][at["closed-02"]] = np.zeros(64, np.float32)
    columns["acl"][at["closed-04"]] = ["everybody"]
    columns["vector"][at["closed-05"]] = columns["vector"][at["open-05"]]
    columns["vector"][at["open-03"]] = np.full(64, np.nan, np.float32)
    for name, source in (("closed-03", "closed-03"), ("closed-99", "closed-03")):
        for key in columns:
            columns[key].append(name if key == "id" else columns[key][at[source]])
    for key in columns:
        del columns[key][at["closed-00"]]
    return write_space(folder, "target", columns)


CLOSED = ["closed-00", "closed-01", "closed-02", "closed-03", "closed-04", "closed-05", "closed-99"]


@pytest.mark.parametrize("readers", [["planning"], None])
def test_V114_a_restricted_id_reaches_neither_stdout_nor_any_report_and_still_decides(
    readers: list[str] | None, tmp_path: Path, command: Command
) -> None:
    folder = archive(tmp_path / "s", readers=readers, gates={**EASY, "critical": ["q03"]})
    path, contract = spoilt(tmp_path, folder)
    done = audited(command, folder, "--source", "words", "--target", path, "--target-contract", contract)
    assert done.code == 1
    for name, text in done.shared.items():
        assert "closed-" not in text, name
        assert ("open-" in text) == (readers is not None), name
        assert "zanzibar" not in text, "no text, whoever may read it"
        assert "quagga" not in text
    named = {row["id"] for row in done.findings}
    assert named >= {*CLOSED, "open-03"}
    assert {done.outcomes[name] for name in ("inventory", "canon", "vectors")} == {"fail"}
    for name in ("inventory", "canon"):
        assert done.gates[name]["evidence"].endswith("items that these readers may not see decide this gate")
    assert done.summary["inventory"]["source"]["documents"] == (12 if readers else 0)
    assert done.summary["canon"]["fields"][1]["compared"] <= 24
    assert WITHHELD in done.summary["notes"]
    assert any(row["section"] == "notes" and "31 x 64" in row["field"] for row in done.findings)
    critical = done.gates["critical queries"]["evidence"]
    assert ("q03" in critical) == (readers is not None)
    assert (done.summary["quality"]["lost"] == []) == (readers is None)


def test_a_public_study_names_everything(tmp_path: Path, command: Command) -> None:
    public = {"corpus": {"acl": None, "region": None}, "access": {"public": True}}
    queries = {"region": None, "rare": None, "cluster": None, "groups": None}
    folder = archive(tmp_path / "s", **public, queries=queries)
    path, contract = spoilt(tmp_path, folder)
    done = audited(command, folder, "--source", "words", "--target", path, "--target-contract", contract)
    for name in ("closed-00", "closed-99"):
        assert name in done.gates["inventory"]["evidence"]
        assert name in done.shared["report.md"]
