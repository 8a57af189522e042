"""What the study's questions can settle: the rule walked over samples of a supposed population, before any run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.power import POWER_VERSION, GroupOutlook, Outlook, Power, Row
from tiepoint.core.study import Study
from tiepoint.errors import InputError
from tiepoint.stats.paired import least_units
from tiepoint.stats.power import Supposed
from tiepoint.stats.resample import stream
from tiepoint.stats.settle import LIMIT, SAMPLES
from tiepoint.workflows.evidence import deciding_queries
from tiepoint.workflows.slices import slices, views
from tiepoint.workflows.spreads import Supposition, suppositions

NUMBERS = (50, 100, 200, 500, 1_000, 2_000)


def power(study: Study, *, difference: float = 0.0, spread: float | None = None, unequal: float | None = None) -> Power:
    """The chance that the study's rule decides, by number of queries. Encodes and writes nothing.

    difference   how much every other candidate is truly ahead of the cheapest one; between -1 and 1
    spread       standard deviation of the difference on a query; None: measured on the dev queries of the latest result,
                 or where there is none several that are assumed
    unequal      share of the queries that differ, beside a stated spread; None: a half
    returns      a Power, the owner's own
    raises       InputError where the rule decides by point estimates, or a number cannot be
    """
    if study.rule.confidence == "point":
        raise InputError(
            'the rule decides by point estimate (confidence = "point"): it always decides, and is never sure',
            where=f"{study.folder / 'study.toml'} [decision]",
            fix="state confidence = 0.95 there to ask what the queries can settle",
        )
    if not -1 < difference < 1:
        raise InputError(f"--difference {difference:g} lies outside -1 to 1", fix="state one between")
    every = suppositions(study, spread=spread, unequal=unequal)
    chosen, split = deciding_queries(study, slices(study, views(study)))
    sizes = _sizes(study, chosen)
    least = least_units(study.rule.gap, study.rule.confidence, sizes)
    outlooks = tuple(_outlook(study, one, difference, len(sizes), least) for one in every)
    return Power(
        schema_version=POWER_VERSION,
        study=study.name,
        measure=study.rule.measure,
        slice=study.rule.slice,
        split=split,
        gap=study.rule.gap,
        confidence=study.rule.confidence,
        queries=len(chosen),
        clusters=len(sizes),
        largest_cluster=int(sizes.max(initial=0)),
        least=least,
        difference=difference,
        outlooks=outlooks,
        groups=tuple(_groups(study, chosen, every[0], difference, outlooks[0].needed)),
        notes=_notes(study, sizes, difference),
        definitions=definitions(),
    )


def chances(study: Study, number: int) -> dict[str, float | None]:
    """The chance that so many independent queries decide where the candidates are truly equal, by spread in words."""
    return {
        in_words(one): None if (found := _row(study, one, number, 0.0)) is None else found.decides
        for one in suppositions(study, spread=None, unequal=None)
    }


def in_words(one: Supposition) -> str:
    """`assumed, spread 0.20, 50% of queries differ`."""
    return f"{one.spread.source}, spread {one.spread.sd:.2f}, {one.spread.unequal:.0%} of queries differ"


def definitions() -> dict[str, str]:
    """What the figures of a power page mean."""
    return {
        "decides": f"the share of {SAMPLES} samples in which the decision rule's own code ends in a choice",
        "right": "in the choice that the true means ask for: the cheapest candidate where the others are ahead by no more "
        "than the gap, another one where they are ahead by more",
        "difference": "how much every other candidate is truly ahead of the cheapest one",
        "spread": "standard deviation of the difference of two candidates on a query. Measured: the differences of the dev "
        "queries, each also with the other sign, drawn with chances that give the true difference asked for. Stated or "
        "assumed: every query that differs does so by one amount, either way",
        "needed": f"the least number that decides rightly four times in five; not looked for above {LIMIT:,}",
        "shown inside, shown outside": "the largest true loss of the cheapest candidate that the study's own number still "
        "shows inside the gap four times in five, and the least that it shows outside",
        "independent": "queries without a cluster, and clusters of queries, which are drawn whole",
    }


def _sizes(study: Study, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.bincount(study.queries.clusters(chosen)).astype(np.float64) if len(chosen) else np.empty(0)


def _supposed(study: Study, one: Supposition) -> Supposed:
    return Supposed(one.population, study.rule.gap, study.rule.level)


def _row(study: Study, one: Supposition, number: int, difference: float) -> Row | None:
    rng = stream(study.seed, "power", str(number), f"{difference:g}")
    found = _supposed(study, one).chance(number, difference, rng=rng)
    return None if found is None else Row(clusters=number, decides=found.decides, right=found.right)


def _outlook(study: Study, one: Supposition, difference: float, own: int, least: int | None) -> Outlook:
    supposed, rng = _supposed(study, one), stream(study.seed, "power", "search")
    numbers = sorted({*NUMBERS, *(n for n in (own, least) if n)})
    rows = {n: row for n in numbers if (row := _row(study, one, n, difference)) is not None}
    return Outlook(
        spread=one.spread,
        rows=tuple(rows.values()),
        own=rows.get(own),
        needed=supposed.needed(difference, rng=rng),
        shown_inside=supposed.shown_inside(own, rng=rng) if own else None,
        shown_outside=supposed.shown_outside(own, rng=rng) if own else None,
    )


def _groups(
    study: Study, chosen: NDArray[np.int64], one: Supposition, difference: float, needed: int | None
) -> Sequence[GroupOutlook]:
    """Every subgroup and region that has queries which decide, the largest first."""
    found = []
    for kind, names in (("subgroup", study.queries.subgroups), ("region", study.queries.regions)):
        for name in sorted({n for i in chosen for n in names[i]}):
            member = chosen[[name in names[i] for i in chosen]]
            sizes = _sizes(study, member)
            found.append(
                GroupOutlook(
                    kind=kind,
                    name=name,
                    clusters=len(sizes),
                    least=least_units(study.rule.gap, study.rule.level, sizes),
                    needed=needed,
                    own=_row(study, one, len(sizes), difference),
                )
            )
    return sorted(found, key=lambda group: (group.kind, -group.clusters, group.name))


def _notes(study: Study, sizes: NDArray[np.float64], difference: float) -> tuple[str, ...]:
    lines = []
    plain = least_units(study.rule.gap, study.rule.level)
    uneven = least_units(study.rule.gap, study.rule.level, sizes)
    if plain is not None and uneven is not None and uneven > plain:
        lines.append(
            f"the clusters are uneven (up to {int(sizes.max()):,} queries): losses on the largest could go unseen, so at least "
            f"{uneven:,} clusters are needed where {plain:,} of equal size would do"
        )
    if abs(difference - study.rule.gap) < 1e-9:
        lines.append("a true difference on the gap itself is never settled, by any number of queries")
    return tuple(lines)
