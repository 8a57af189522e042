"""What the readers of an audit may see: bounded counts and names, and gates that see everything all the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from audit_kit import QUERIES, ROWS, both, inventory_and_canon, named
from studies import write_study
from tiepoint.core.audit_findings import NONE, Offenders
from tiepoint.core.held import Ledger
from tiepoint.workflows.audit.bounds import Bounds, bounds_of
from tiepoint.workflows.audit.vectors import audit_vectors
from tiepoint.workflows.intake.load import load_study

SOME = Bounds(pa.array(["d00001", "d00002", "d00003"]))


def canon_of(found, field):
    return next(f for f in found.whole.fields if f.field == field)


def test_hidden_documents_are_neither_named_nor_counted_and_still_fail_the_gates(tmp_path):
    def change(columns):
        columns.drop(1, 500, ROWS - 1)
        columns.text[2 - 1] = "changed"  # d00002, after d00001 went
        columns.text[900] = "changed too"
        columns.vectors[901] = 0

    sides = both(tmp_path, None, change)
    sides = replace(sides, source=replace(sides.source, ledger=Ledger(wanted=ROWS, encoded=ROWS, cached=0, failed=0)))
    inventory, canon = inventory_and_canon(sides, SOME)
    vectors = audit_vectors(sides.target, "target", SOME)
    assert inventory.shown.only_source == Offenders(2, ("d00001", "q99"))
    assert inventory.whole.only_source.count == 3
    assert named(inventory.findings, kind="only in source") == ["d00001", "d00500", "q99"]
    assert (inventory.shown.source.documents, inventory.shown.source.queries) == (3, QUERIES)
    assert inventory.shown.shared == 2 + QUERIES - 1
    assert (inventory.shown.source.wanted, inventory.shown.source.bytes) == (None, (3 + QUERIES) * 64)
    assert (inventory.shown.source.closed, inventory.whole.source.wanted) == (True, ROWS)
    shown = next(f for f in canon.shown.fields if f.field == "content_hash")
    assert (shown.compared, shown.mismatches) == (2 + QUERIES - 1, Offenders(1, ("d00002",)))
    assert canon_of(canon, "content_hash").mismatches.count == 2
    assert vectors.shown.zero == NONE
    assert vectors.whole.zero.count == 1
    assert "d00500" not in repr((inventory.shown, canon.shown, vectors.shown))


def test_bounds_follow_the_readers_of_the_study(tmp_path):
    ids = pa.array(["d1", "d3", "d6", "stray", "q1"])
    documents = np.array([True, True, True, True, False])
    for readers, shown in (
        (["staff"], [True, True, False, False, True]),
        (["staff", "planning"], [True, False, False, False, True]),
        (None, [False, False, False, False, True]),
    ):
        study = load_study(
            write_study(tmp_path / str(readers), report=None if readers is None else {"readers": readers})
        )
        bounds = bounds_of(study)
        assert not bounds.whole
        assert bounds.shown(ids, documents).tolist() == shown
    assert bounds_of(None).whole


def test_an_id_that_is_a_document_on_one_side_only_is_hidden_as_one(tmp_path):
    def change(columns):
        columns.role[700] = "query"

    found = inventory_and_canon(both(tmp_path, change, None), SOME)[1]
    assert canon_of(found, "role").mismatches == Offenders(1, ("d00700",))
    assert next(f for f in found.shown.fields if f.field == "role").mismatches == NONE
