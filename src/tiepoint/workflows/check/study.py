"""Regions, slices, judgements, provenance and what can be decided: counted from the study alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.check import Asked, Deciding, Even, Judged, Named, RegionSize, SliceCheck, Spread
from tiepoint.core.queries import PROVENANCES
from tiepoint.core.study import Study
from tiepoint.stats.enough import FEWEST
from tiepoint.stats.paired import least_shown
from tiepoint.workflows.check.texts import named
from tiepoint.workflows.enough import Enough
from tiepoint.workflows.evidence import deciding_split
from tiepoint.workflows.power import chances
from tiepoint.workflows.slices import Slice, denominators, scored

FEWEST_REGIONS = 3
FEWEST_DOCUMENTS = 10


def spread(values: NDArray[np.int64]) -> Spread:
    """Of a column with at least one value."""
    return Spread(int(values.min()), float(np.median(values)), int(values.max()))


def region_sizes(study: Study) -> tuple[RegionSize, ...]:
    """Every region that a document or a query names, or that the study declares; the largest first."""
    own = Counter(study.corpus.table.column("regions").combine_chunks().flatten().to_pylist())
    asked = Counter(name for names in study.queries.regions for name in set(names))
    rows = []
    for name in sorted({*own, *asked, *study.regions.names}):
        below = study.regions.under([name])
        under = own[name] if below == {name} else int(study.corpus.within(below).sum())
        rows.append(RegionSize(name, own[name], under, asked[name]))
    return tuple(sorted(rows, key=lambda row: (-row.under, row.name)))


def without_region(study: Study) -> Named:
    """Documents that no region filter admits."""
    counts = np.diff(study.corpus.table.column("regions").combine_chunks().offsets.to_numpy())
    ids = study.corpus.table.column("id")
    return named([ids[int(i)].as_py() for i in np.flatnonzero(counts == 0)])


def slice_check(study: Study, part: Slice, eligible: NDArray[np.int64]) -> SliceCheck:
    """One slice. eligible: (queries,) under the slice's view."""
    counts = denominators(study, part)
    chosen = part.queries[scored(study, part.view)[part.queries]]
    return SliceCheck(
        queries=counts.queries,
        scored=counts.scored,
        clusters=_clusters(study, chosen),
        eligible=spread(eligible[part.queries]) if len(part.queries) else None,
        few_eligible=counts.few_eligible,
        gold=counts.gold,
        gold_absent=counts.gold_absent,
        ceiling=counts.gold_ceiling,
        random_recall=_random_recall(study, part, chosen, eligible),
    )


def judged(study: Study) -> Judged:
    """What is odd about the judgements."""
    qrels = study.qrels
    silent = np.flatnonzero(~qrels.judged & ~study.queries.no_answer)
    return Judged(
        judgements=len(qrels),
        repeats=qrels.repeats,
        absent=named(sorted({qrels.document_id[j] for j in np.flatnonzero(qrels.document < 0)})),
        stray=named(qrels.stray),
        not_judged=named([study.queries.ids[i] for i in silent]),
    )


def provenance(study: Study) -> dict[str, int]:
    """Class to queries, the classes that occur, in the order of PROVENANCES."""
    counts = Counter(study.queries.provenance)
    return {name: counts[name] for name in PROVENANCES if counts[name]}


def splits(study: Study) -> dict[str, Asked]:
    """Split to its queries and clusters; "" for queries without one."""
    names = np.array([split or "" for split in study.queries.split])
    return {
        name: Asked(int((names == name).sum()), _clusters(study, np.flatnonzero(names == name)))
        for name in sorted(set(names.tolist()))
    }


def deciding(study: Study, parts: Sequence[Slice]) -> Deciding:
    """The queries that the rule would decide on, as workflows.evidence chooses them, against what it needs."""
    rule = study.rule
    found = Enough.of(study, next(part for part in parts if part.name == rule.slice))
    sizes, point = found.sizes, rule.confidence == "point"
    least, clusters = None if point else found.least, len(sizes)
    told = not point and clusters >= FEWEST
    return Deciding(
        slice=rule.slice,
        split=deciding_split(study),
        gap=rule.gap,
        confidence=rule.confidence,
        queries=len(found.queries),
        clusters=clusters,
        least=least,
        enough=None if point else least is not None and clusters >= least,
        smallest_gap=least_shown(clusters, rule.level, sizes, float(found.largest)) if told else None,
        chances={} if point else chances(study, found),
    )


def evenness(regions: Sequence[RegionSize], lengths: NDArray[np.int64]) -> Even:
    """How even regions and texts are."""
    sizes = [row.documents for row in regions if row.documents]
    low, high = np.percentile(lengths, [10, 90]) if len(lengths) >= FEWEST_DOCUMENTS else (0.0, 0.0)
    return Even(
        regions=max(sizes) / min(sizes) if len(sizes) >= FEWEST_REGIONS else None,
        lengths=float(high / low) if low > 0 else None,
    )


def alike_ids(study: Study) -> Named:
    """Query ids that are document ids (or parents) too."""
    both = set(study.corpus.units.ids) | set(study.corpus.ids)
    return named([name for name in study.queries.ids if name in both])


def _clusters(study: Study, chosen: NDArray[np.int64]) -> int:
    return len(np.unique(study.queries.clusters(chosen)))


def _random_recall(study: Study, part: Slice, chosen: NDArray[np.int64], eligible: NDArray[np.int64]) -> float | None:
    """The mean over scored queries of: share of R that the corpus has, times min(1, k / eligible)."""
    if not len(chosen):
        return None
    gold = part.view.counted & (study.qrels.grade >= 1)
    size = len(study.queries)
    relevant = np.bincount(study.qrels.query[gold], minlength=size)[chosen]
    present = np.bincount(study.qrels.query[gold & (study.qrels.document >= 0)], minlength=size)[chosen]
    drawn = np.minimum(1.0, study.k / np.maximum(eligible[chosen], 1))
    return float((present / relevant * drawn).mean())


def share(counts: Mapping[str, int], names: Sequence[str]) -> float:
    """Which share of all counts stands under these names; 0 where nothing is counted."""
    total = sum(counts.values())
    return sum(counts.get(name, 0) for name in names) / total if total else 0.0
