"""Contracts, inventory, canon and vectors of an audit: every planted fault is found by name; clean sides give none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audit_kit import QUERIES, ROWS, both, inventory_and_canon, named, unit
from tiepoint.core.audit_findings import NONE, Offenders
from tiepoint.core.held import Ledger
from tiepoint.encoding import same
from tiepoint.encoding.same import spread, vector_numbers
from tiepoint.workflows.audit.bounds import EVERYTHING
from tiepoint.workflows.audit.contracts import audit_contracts
from tiepoint.workflows.audit.findings import FINDINGS
from tiepoint.workflows.audit.vectors import audit_vectors


def canon_of(found, field):
    return next(f for f in found.whole.fields if f.field == field)


def checked(tmp_path, change, bounds=EVERYTHING, **contract):
    return audit_vectors(both(tmp_path, None, change, **contract).target, "target", bounds)


# clean sides


def test_clean_sides_give_no_finding_at_all(tmp_path):
    sides = both(tmp_path)
    inventory, canon = inventory_and_canon(sides)
    contracts = audit_contracts(sides.source, sides.target)
    assert contracts.whole.comparable
    assert contracts.whole.differences == ()
    assert inventory.whole.shared == ROWS
    assert inventory.whole.only_source == inventory.whole.only_target == NONE
    holding = inventory.whole.source
    assert (holding.rows, holding.documents, holding.queries) == (ROWS, ROWS - QUERIES, QUERIES)
    assert holding.bytes == ROWS * 16 * 4
    assert (holding.closed, holding.watermark) == (None, None)
    assert canon.whole.match
    assert {f.field: (f.compared, f.unknown) for f in canon.whole.fields} == {
        "role": (ROWS, 0),
        "content_hash": (ROWS, 0),
        "acl": (ROWS - QUERIES, QUERIES),
        "source_revision": (ROWS, 0),
        "version": (ROWS, 0),
    }
    vectors = audit_vectors(sides.source, "source", EVERYTHING)
    assert vectors.whole.texts_known
    assert (vectors.whole.norm_min, vectors.whole.norm_max) == (1.0, 1.0)
    assert vectors.whole.shared_vector == vectors.whole.split_text == NONE
    for one in (contracts, inventory, canon, vectors):
        assert one.findings.num_rows == 0
        assert one.findings.schema == FINDINGS
        assert one.shown is one.whole


# contracts


def test_V081_a_changed_prefix_alone_makes_another_space_though_the_content_is_equal(tmp_path):
    sides = both(tmp_path, document_prompt="passage: ", sdk="2.1")
    found = audit_contracts(sides.source, sides.target)
    assert not found.whole.comparable
    assert {(d.field, d.source, d.target) for d in found.whole.differences} == {
        ("document_prompt", None, "passage: "),
        ("sdk", None, "2.1"),
    }
    assert {row["field"] for row in found.findings.to_pylist()} == {"document_prompt", "sdk"}
    assert inventory_and_canon(sides)[1].whole.match
    named_only = both(tmp_path, sdk="2.1")
    assert audit_contracts(named_only.source, named_only.target).whole.comparable


# inventory


def test_V077_ids_that_one_side_lacks_are_named_both_ways_though_the_counts_are_equal(tmp_path):
    def change(columns):
        columns.drop(7, 2_000)
        columns.add(0, ids="new1")
        columns.add(0, ids="new2")

    inventory, canon = inventory_and_canon(both(tmp_path, None, change))
    assert inventory.whole.source.documents == inventory.whole.target.documents
    assert inventory.whole.only_source == Offenders(2, ("d00007", "d02000"))
    assert inventory.whole.only_target == Offenders(2, ("new1", "new2"))
    assert inventory.whole.shared == ROWS - 2
    assert named(inventory.findings, kind="only in source", side="source") == ["d00007", "d02000"]
    assert canon.whole.match, "what is missing is no mismatch"


def test_V078_an_update_and_a_deletion_during_the_backfill_are_found_though_the_counts_are_equal(tmp_path):
    def source(columns):
        columns.text[1], columns.version[1] = "text 1, amended", "13"
        columns.deleted[2], columns.version[2] = True, "14"
        columns.add(3, ids="d99999")

    sides = both(tmp_path, source)
    inventory, canon = inventory_and_canon(sides)
    assert inventory.whole.source.documents == inventory.whole.target.documents
    assert inventory.whole.source.watermark == "14"
    assert inventory.whole.target.watermark is None
    assert inventory.whole.only_target == Offenders(1, ("d00002",))
    assert inventory.whole.target.returned == Offenders(1, ("d00002",)), "the source says that it was deleted"
    assert inventory.whole.source.returned == NONE
    assert canon_of(canon, "content_hash").mismatches == Offenders(1, ("d00001",))
    assert canon_of(canon, "version").mismatches == Offenders(1, ("d00001",))
    (row,) = [r for r in canon.findings.to_pylist() if r["field"] == "version"]
    assert (row["id"], row["source"], row["target"]) == ("d00001", "13", "1")


def test_a_deletion_came_back_unless_a_later_version_made_the_item_anew(tmp_path):
    def change(columns):
        columns.add(5, deleted=True, version="30")
        columns.add(6, deleted=True, version="4")
        columns.version[6] = "30"
        columns.add(8, deleted=True, version=None)
        columns.add(9, ids="gone", deleted=True, version="9")

    target = inventory_and_canon(both(tmp_path, None, change))[0]
    assert target.whole.target.tombstones == Offenders(4, ("d00005", "d00006", "d00008", "gone"))
    assert target.whole.target.returned == Offenders(2, ("d00005", "d00008"))
    assert target.whole.target.watermark == "30", "as numbers, not as text, where 9 would be the greatest"
    assert target.whole.target.duplicates == NONE
    assert named(target.findings, kind="deleted and back") == ["d00005", "d00008"]


def test_versions_that_are_not_all_numbers_compare_as_text(tmp_path):
    def change(columns):
        columns.version = [f"2026-0{i % 9 + 1}-01" for i in range(len(columns.ids))]
        columns.add(0, deleted=True, version="2026-11-30")
        columns.add(1, deleted=True, version="2026-9")

    found = inventory_and_canon(both(tmp_path, change, change))[0].whole
    assert found.source.watermark == "2026-9"
    assert found.source.returned == Offenders(2, ("d00000", "d00001"))


def test_counts_are_closed_against_the_ledger(tmp_path):
    sides = both(tmp_path)
    for ledger, closed in (
        (Ledger(wanted=3_005, encoded=2_000, cached=1_000, failed=5), True),
        (Ledger(wanted=3_005, encoded=2_000, cached=1_000, failed=0), False),
        (Ledger(wanted=3_006, encoded=2_001, cached=1_000, failed=5), False),
        (Ledger(wanted=3_005), None),
    ):
        sides = replace(sides, source=replace(sides.source, ledger=ledger))
        assert inventory_and_canon(sides)[0].whole.source.closed is closed


# canon


def test_V017_one_id_twice_with_different_text_is_named_on_its_side_and_no_row_wins(tmp_path):
    def change(columns):
        columns.add(12, text="quite another text")
        columns.add(13)
        columns.add(14, text=columns.text[0])  # what a sort of the texts puts first

    inventory, canon = inventory_and_canon(both(tmp_path, None, change))
    assert inventory.whole.target.duplicates == Offenders(3, ("d00012", "d00013", "d00014"))
    assert inventory.whole.source.duplicates == NONE
    assert canon_of(canon, "content_hash").mismatches == Offenders(2, ("d00012", "d00014"))
    row, _ = [r for r in canon.findings.to_pylist() if r["field"] == "content_hash"]
    assert row["target"].count(" | ") == 1
    assert row["source"] in row["target"]
    mirrored = inventory_and_canon(both(tmp_path, change, None))[1]
    assert canon_of(mirrored, "content_hash").mismatches == Offenders(2, ("d00012", "d00014"))


def test_every_field_that_differs_is_named_with_what_both_sides_say(tmp_path):
    def change(columns):
        columns.text[100] = "text 100, changed"
        columns.acl[101] = ["everyone", "planning", "staff"]
        columns.acl[102] = []
        columns.acl[103] = ["staff", "planning", "staff"]  # the same set
        columns.acl[104] = None
        columns.source_revision[105] = "r4"
        columns.version[106] = "11"
        columns.role[107] = "query"
        columns.text[108] = "text 108 of a survey".replace(" ", "\u00a0")

    inventory, canon = inventory_and_canon(both(tmp_path, None, change))
    assert not canon.whole.match
    found = {f.field: f.mismatches.first for f in canon.whole.fields}
    assert found == {
        "role": ("d00107",),
        "content_hash": ("d00100", "d00108"),
        "acl": ("d00101", "d00102"),
        "source_revision": ("d00105",),
        "version": ("d00106",),
    }
    assert canon_of(canon, "acl").unknown == QUERIES + 1
    assert inventory.whole.only_source == inventory.whole.only_target == NONE, "another role, and still that id"
    said = {(r["id"], r["field"]): (r["role"], r["source"], r["target"]) for r in canon.findings.to_pylist()}
    assert len(said) == canon.findings.num_rows == 7
    assert said["d00101", "acl"] == ("document", '["planning", "staff"]', '["everyone", "planning", "staff"]')
    assert said["d00102", "acl"] == ("document", '["staff"]', "[]")
    assert said["d00107", "role"] == ("document", "document", "query")


def test_a_document_and_a_query_of_one_id_are_two_items(tmp_path):
    def change(columns):
        columns.add(ROWS - 1, ids="d00000")

    inventory, canon = inventory_and_canon(both(tmp_path, change, change))
    assert inventory.whole.shared == ROWS + 1
    assert inventory.whole.source.duplicates == NONE
    assert canon.whole.match


def test_a_field_that_nobody_states_is_not_compared_and_no_match_is_claimed_for_it(tmp_path):
    def change(columns):
        columns.version = [None] * len(columns.ids)

    canon = inventory_and_canon(both(tmp_path, change))[1]
    assert (canon_of(canon, "version").compared, canon_of(canon, "version").unknown) == (0, ROWS)


# vectors


def test_V069_zero_and_broken_vectors_are_named_and_wrong_norms_held_against_the_contract(tmp_path):
    def change(columns):
        columns.vectors[3] = 0
        columns.vectors[ROWS - 1] = 0
        columns.vectors[5, 2] = np.nan
        columns.vectors[6, 2] = np.inf
        columns.vectors[7] *= 2
        columns.vectors[8] *= 1 + 5e-6
        columns.deleted[9] = True
        columns.vectors[9] = 0

    found = checked(tmp_path, change)
    assert found.whole.zero == Offenders(2, ("d00003", "q99"))
    assert found.whole.not_finite == Offenders(2, ("d00005", "d00006"))
    assert found.whole.off_norm == Offenders(1, ("d00007",))
    assert (found.whole.norm_min, found.whole.norm_median, found.whole.norm_max) == (0.0, 1.0, 2.0)
    assert named(found.findings, kind="zero", side="target") == ["d00003", "q99"]
    (off,) = [r for r in found.findings.to_pylist() if r["kind"] == "off norm"]
    assert off["target"].startswith("length 2")
    assert found.whole.shared_vector == NONE, "two zero vectors share nothing"
    assert checked(tmp_path, change, normalized=False).whole.off_norm == NONE


def test_shape_and_dtype_are_sentences_and_the_rest_is_looked_at_all_the_same(tmp_path):
    def change(columns):
        columns.vectors[3] = 0

    found = checked(tmp_path, change, dimension=384, dtype="float64").whole
    assert found.shape == "16 numbers a vector where the contract says 384"
    assert found.dtype == "dtype float32 where the contract says float64"
    assert found.zero == Offenders(1, ("d00003",))


def test_texts_that_share_a_vector_are_named_with_whom_they_share_it(tmp_path):
    def change(columns):
        columns.vectors[40] = columns.vectors[2_800] = columns.vectors[41]
        columns.vectors[50] = columns.vectors[51]
        columns.text[50] = columns.text[51]  # one text, one vector: as it should be
        columns.vectors[60] = np.nextafter(columns.vectors[61], np.float32(2))  # near is not equal
        columns.vectors[70] = columns.vectors[71]
        columns.text[71] = None  # not known to be another text

    found = checked(tmp_path, change)
    assert found.whole.shared_vector == Offenders(3, ("d00040", "d00041", "d02800"))
    assert {r["target"] for r in found.findings.to_pylist()} == {"the vector of d00040"}
    assert found.whole.split_text == NONE


def test_V016_copies_of_one_text_are_held_to_one_vector_within_rounding_and_role(tmp_path):
    def change(columns):
        for other in (201, 202):
            columns.text[other] = columns.text[200]
            columns.vectors[other] = columns.vectors[200]
        columns.vectors[201] += np.float32(1e-5)
        columns.text[301] = columns.text[300]  # a copy whose vector is another's
        columns.text[ROWS - 1] = columns.text[400]  # a query may have another vector

    found = checked(tmp_path, change, norm_tolerance=0.001)
    assert found.whole.split_text == Offenders(2, ("d00300", "d00301"))
    assert found.whole.shared_vector == NONE
    assert named(found.findings, kind="text of several vectors") == ["d00300", "d00301"]


def test_a_length_alone_splits_a_text_where_the_contract_is_not_normalised(tmp_path):
    def change(columns):
        columns.text[301], columns.vectors[301] = columns.text[300], columns.vectors[300] * 3

    assert checked(tmp_path, change, normalized=False, metric="dot").whole.split_text.count == 2
    assert checked(tmp_path, change).whole.split_text == NONE, "there the norm is what is wrong"


def test_constant_and_collapsed_dimensions_are_told_apart(tmp_path):
    def change(columns):
        columns.vectors[:, 3] = 0.25
        columns.vectors[:, 7] = 0.5 + 1e-8 * columns.vectors[:, 8]
        columns.vectors[-QUERIES:, 3] = 0.75  # queries say nothing about the documents

    found = checked(tmp_path, change, normalized=False)
    assert found.whole.constant == (3, 7) or found.whole.constant == (3,)
    assert found.whole.collapsed == (3, 7)
    assert {r["field"] for r in found.findings.to_pylist()} == {"dimension 3", "dimension 7"}
    assert {r["id"] for r in found.findings.to_pylist()} == {None}


def test_without_texts_what_needs_them_is_none_and_not_clean(tmp_path):
    def change(columns):
        columns.text = [None] * len(columns.ids)

    found = checked(tmp_path, change).whole
    assert (found.texts_known, found.shared_vector, found.split_text) == (False, None, None)


def test_a_hash_that_strikes_twice_gives_no_false_finding(monkeypatch):
    vectors = np.repeat(unit(40), 2, axis=0)[np.random.default_rng(0).permutation(80)]
    honest = vector_numbers(vectors, np.arange(80))
    monkeypatch.setattr(same, "_hashes", lambda array, rows: (np.arange(len(rows)) * 0 + 5).astype(np.uint64))
    struck = vector_numbers(vectors, np.arange(80))
    assert len(np.unique(honest)) == len(np.unique(struck)) == 40
    pairs = {tuple(sorted(np.flatnonzero(struck == n))) for n in np.unique(struck)}
    assert pairs == {tuple(sorted(np.flatnonzero(honest == n))) for n in np.unique(honest)}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_minus_zero_is_zero_and_every_dtype_is_hashed(dtype):
    vectors = unit(5, dimension=7).astype(dtype)
    vectors[1], vectors[2] = vectors[0], vectors[0]
    vectors[0, 3], vectors[1, 3] = 0.0, -0.0
    numbers = vector_numbers(vectors, np.arange(5))
    assert numbers[0] == numbers[1]
    assert len(np.unique(numbers)) == 4


def test_spread_is_the_standard_deviation_whatever_the_blocks(monkeypatch):
    vectors = unit(1_000) * 3 + 100
    expected = vectors.astype(np.float64).std(axis=0)
    monkeypatch.setattr(same, "BLOCK_VALUES", 16 * 37)
    np.testing.assert_allclose(spread(vectors, np.arange(1_000)), expected, rtol=1e-9)
