"""The Python door as a typed caller uses it; tests/test_api.py has mypy check it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import tiepoint as tp


def encode(texts: list[str], role: str) -> NDArray[np.float32]:
    return np.full((len(texts), 2), len(role), dtype=np.float32)


def walk(folder: Path) -> str | None:
    study: tp.Study = tp.load_study(folder)
    contract = tp.Contract(
        space_id="a", provider="p", model="m", revision="1", dimension=2, metric="dot", normalized=False, dtype="float32",
        query_role="query", document_role="document",
    )  # fmt: skip
    candidate = tp.Candidate("mine", encode=encode, contract=contract, price_per_million_tokens=0.1)
    found: tp.Check = tp.check(study, candidates=[candidate])
    warnings: tuple[str, ...] = found.warnings
    result: tp.Result = tp.bench(study, candidates=[*study.candidates, candidate])
    written: Path = tp.record(result, folder / "results")
    again: tp.Result = tp.load_result(str(written))
    mean: float | None = again.summary.candidates[0].measures["filtered"]["nDCG@10"].mean
    part: tp.Part = tp.show_part(again, region="North")
    beside: tp.SideBySide = tp.show_query(again, "q1", slice_name="unfiltered", owner=True)
    moved: tp.Comparison = tp.compare(again, result)
    first: tp.Movement = moved.movements[0]
    choice: str | None = again.summary.decision.choice
    gates: tp.Gates = study.gates
    audit: tp.Audit = tp.audit(study, "mine", folder / "new.parquet", target_contract=folder / "new.toml")
    audited: tp.AuditSummary = tp.load_audit(tp.record(audit, folder / "results")).summary
    judged: tp.GateResult = audited.gates[0]
    print(warnings, mean, part.slices, beside.arms, first.difference, gates.loss, judged.outcome, audited.outcome)
    return choice
