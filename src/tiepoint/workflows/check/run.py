"""Checks a study before anything is encoded: all that bench would refuse, and all that its owner should know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tiepoint.core.candidate import Candidate
from tiepoint.core.check import CHECK_VERSION, Check
from tiepoint.core.result import Result
from tiepoint.core.study import Study
from tiepoint.workflows.candidates.spaces import open_candidates
from tiepoint.workflows.candidates.tried import tried
from tiepoint.workflows.check.since import since_result
from tiepoint.workflows.check.study import (
    alike_ids,
    deciding,
    evenness,
    judged,
    provenance,
    region_sizes,
    slice_check,
    splits,
    spread,
    without_region,
)
from tiepoint.workflows.check.texts import TextScan, copies, near_copies
from tiepoint.workflows.check.tokens import candidate_check
from tiepoint.workflows.check.warnings import definitions, warnings
from tiepoint.workflows.evidence import largest_cluster
from tiepoint.workflows.record.result import load_result
from tiepoint.workflows.slices import slices, views


def check(
    study: Study, *, candidates: Sequence[Candidate] | None = None, since: Result | str | Path | None = None
) -> Check:
    """Everything that bench would validate, and what a study tells before a run. Encodes and writes nothing.

    candidates   None: the study's own; a sequence stands in their place
    since        an earlier result, or its folder: says whether a new benchmark is due
    returns      a Check, the owner's own: it names and counts every document, whoever may read it
    raises       InputError where bench would, or where `since` is no result that holds what its corpus was
    """
    opened = open_candidates(study, tried(study, candidates))
    earlier = since if since is None or isinstance(since, Result) else load_result(since)
    scan = TextScan.of(study)
    by_view = views(study)
    parts = slices(study, by_view)
    eligible = {name: view.eligible for name, view in by_view.items()}
    regions = region_sizes(study)
    found = Check(
        schema_version=CHECK_VERSION,
        study=study.name,
        k=study.k,
        documents=len(study.corpus),
        units=len(study.corpus.units.ids),
        words=spread(scan.lengths),
        regions=regions,
        without_region=without_region(study),
        candidates=tuple(candidate_check(study, one) for one in opened),
        copies=copies(study),
        near=near_copies(study, scan),
        slices={part.name: slice_check(study, part, eligible[part.view.name]) for part in parts},
        judged=judged(study),
        provenance=provenance(study),
        splits=splits(study),
        deciding=deciding(study, parts),
        even=evenness(regions, scan.lengths),
        alike=alike_ids(study),
        warnings=(),
        notes=study.notes,
        definitions=definitions(study.k),
        since=None if earlier is None else since_result(study, earlier),
    )
    largest = largest_cluster(study, next(part for part in parts if part.name == study.rule.slice))
    return replace(found, warnings=tuple(warnings(found, largest)))
