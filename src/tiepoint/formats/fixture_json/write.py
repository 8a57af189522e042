"""The audit of a fixture as JSON: the published keys, in one place."""

from __future__ import annotations

import json

from tiepoint.core.fixture_audit import (
    NOTICE,
    CaseFigures,
    FixtureAudit,
    Means,
    MigrationFigures,
    SpaceFigures,
)


def dump_audit(audit: FixtureAudit) -> bytes:
    """UTF-8 JSON, indented, every object in the order of its keys, every float as repr writes it; what is undefined is null.

    It holds ids, scores, measures and what the contracts say; no text and no vector.
    """
    document = {
        "fixture_notice": NOTICE,
        "k": audit.k,
        "spaces": {space.contract.space_id: _space(space) for space in audit.spaces},
        "migrations": [_migration(move) for move in audit.migrations],
    }
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def _space(space: SpaceFigures) -> dict[str, object]:
    contract, inventory, means = space.contract, space.inventory, space.means
    return {
        "contract": contract.stated(),
        "inventory": {
            "contract_signature": contract.signature(),
            "item_count": inventory.items,
            "document_count": inventory.documents,
            "query_item_count": inventory.queries,
            "dimension": contract.dimension,
            "metric": contract.metric,
            "normalized": contract.normalized,
            "dtype": contract.dtype,
            "estimated_raw_vector_bytes": inventory.raw_bytes,
            "norm_min": inventory.norm_min,
            "norm_median": inventory.norm_median,
            "norm_max": inventory.norm_max,
        },
        "evaluation": {
            "query_count": means.queries,
            "mean_recall_at_k": means.recall,
            "mrr": means.rr,
            "mean_ndcg_at_k": means.ndcg,
            "subgroups": {name: _subgroup(of) for name, of in space.subgroups.items()},
            "details": [_case(case) for case in space.cases],
        },
    }


def _subgroup(means: Means) -> dict[str, object]:
    return {
        "query_count": means.queries,
        "recall_at_k": means.recall,
        "reciprocal_rank": means.rr,
        "ndcg_at_k": means.ndcg,
    }


def _case(case: CaseFigures) -> dict[str, object]:
    return {
        "case_id": case.case_id,
        "query_item_id": case.query_item_id,
        "result_ids": list(case.result_ids),
        "scores": list(case.scores),
        "recall_at_k": case.recall,
        "reciprocal_rank": case.rr,
        "ndcg_at_k": case.ndcg,
        "subgroups": list(case.subgroups),
    }


def _migration(move: MigrationFigures) -> dict[str, object]:
    return {
        "old_space_id": move.source,
        "new_space_id": move.target,
        "vectors_directly_comparable": move.comparable,
        "inventory_match": move.inventory_match,
        "canonical_match": move.canonical_match,
        "only_old": list(move.only_source),
        "only_new": list(move.only_target),
        "canonical_mismatches": list(move.mismatched),
        "mechanical_gates_pass": move.gates_pass,
        "quality_delta_new_minus_old": {
            "mean_recall_at_k": move.recall,
            "mrr": move.rr,
            "mean_ndcg_at_k": move.ndcg,
        },
        "mean_top_k_jaccard": move.jaccard,
        "per_query_agreement": [{"case_id": a.case_id, "top_k_jaccard": a.jaccard} for a in move.agreement],
        "quality_decision_required": True,
    }
