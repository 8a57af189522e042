"""What the study's questions can settle: the rule walked over samples of a supposed population, before any run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiepoint.core.power import POWER_VERSION, GroupOutlook, Outlook, Power, Row
from tiepoint.core.rounding import bound_below
from tiepoint.core.study import Study
from tiepoint.errors import InputError
from tiepoint.stats.enough import FEWEST
from tiepoint.stats.population import Mix
from tiepoint.stats.power import Supposed
from tiepoint.stats.resample import stream
from tiepoint.stats.settle import LIMIT, SAMPLES
from tiepoint.workflows.enough import Enough
from tiepoint.workflows.evidence import deciding_split
from tiepoint.workflows.slices import slices, views
from tiepoint.workflows.spreads import Supposition, suppositions

LITTLE = "the queries that differ are too few, or differ by too little, for more"
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
        raise InputError(
            f"--difference {difference:g}: a measure lies in 0 to 1, so no candidate can be ahead by 1 or more",
            fix="state one above -1 and below 1",
        )
    whole = Enough.of(study, next(part for part in slices(study, views(study)) if part.name == study.rule.slice))
    every = suppositions(study, spread=spread, unequal=unequal)
    ranges = _ranges(every, difference, whole)
    if len(ranges) == len(every):
        raise InputError(
            f"--difference {difference:g} is not possible: {'; '.join(ranges)}; {LITTLE}",
            fix="state a --difference in that range, or a wider spread with --spread and --unequal",
        )
    outlooks = tuple(_outlook(study, one, difference, whole) for one in every)
    return Power(
        schema_version=POWER_VERSION,
        study=study.name,
        measure=study.rule.measure,
        slice=study.rule.slice,
        split=deciding_split(study),
        gap=study.rule.gap,
        confidence=study.rule.confidence,
        queries=len(whole.queries),
        clusters=len(whole.sizes),
        largest_cluster=whole.largest,
        least=whole.least,
        difference=difference,
        outlooks=outlooks,
        groups=tuple(_groups(study, whole, every[0], difference)),
        notes=(*(f"{one}; {LITTLE}" for one in ranges), *_notes(study, difference)),
        definitions=definitions(every[0].spread.source),
    )


def chances(study: Study, found: Enough) -> dict[str, float | None]:
    """The chance that these queries decide where the candidates are truly equal, by spread in words."""
    rows = {
        in_words(one): _row(study, _supposed(study, one, found.mix), len(found.sizes), 0.0)
        for one in suppositions(study, spread=None, unequal=None)
    }
    return {words: None if row is None else row.decides for words, row in rows.items()}


def in_words(one: Supposition) -> str:
    """`assumed, spread 0.20, 50% of queries differ`."""
    return f"{one.spread.source}, spread {one.spread.sd:.2f}, {100 * one.spread.unequal:.3g}% of queries differ"


def definitions(source: str) -> dict[str, str]:
    """What the figures of a power page mean, under spreads of this source: measured, stated or assumed."""
    measured = source == "measured"
    return {
        "decides": f"the share of {SAMPLES} samples in which the decision rule's own code ends in a choice",
        "right": "in the choice that the true means ask for: the cheapest candidate where the others are ahead by no more "
        "than the gap, another one where they are ahead by more",
        "difference": "how much every other candidate is truly ahead of the cheapest one",
        "spread": "standard deviation of the difference of two candidates on a query: "
        + (
            "of the dev queries' differences less their mean, each also with the other sign, drawn with chances that give the "
            "true difference asked for"
            if measured
            else "every query that differs does so by one amount, either way"
        ),
        "ties": "as they were measured, but for those of candidates whose scores noise of encoding moves: none"
        if measured
        else "none: where scores tie, the rule takes every order of the tied documents, and decides less often",
        "clusters": "as large, and each size as frequent, as those of the study that decide; the imagined worst one is as large "
        "as the largest of the slice, of whatever split. Their queries "
        + ("are queries of one dev cluster, round and round where it has fewer" if measured else "all differ alike"),
        "needed": f"roughly the least number that decides rightly four times in five; not looked for above {LIMIT:,}",
        "shown inside, shown outside": "the largest true loss of the cheapest candidate that the study's own number still "
        "shows inside the gap four times in five, and the least that it shows outside",
        "independent": f"queries without a cluster, and clusters of queries, which are drawn whole; with fewer than {FEWEST} "
        "nothing is decided",
    }


def _supposed(study: Study, one: Supposition, mix: Mix) -> Supposed:
    return Supposed(one.population(mix), study.rule.gap, study.rule.level)


def _row(study: Study, supposed: Supposed, number: int, difference: float) -> Row | None:
    rng = stream(study.seed, "power", str(number), f"{difference:g}")
    found = supposed.chance(number, difference, rng=rng)
    return None if found is None else Row(clusters=number, decides=found.decides, right=found.right)


def _outlook(study: Study, one: Supposition, difference: float, whole: Enough) -> Outlook:
    supposed, rng, own = _supposed(study, one, whole.mix), stream(study.seed, "power", "search"), len(whole.sizes)
    numbers = sorted({*NUMBERS, *(n for n in (own, whole.least) if n)})
    rows = {n: row for n in numbers if (row := _row(study, supposed, n, difference)) is not None}
    return Outlook(
        spread=one.spread,
        rows=tuple(rows.values()),
        own=rows.get(own),
        needed=supposed.needed(difference, rng=rng),
        shown_inside=supposed.shown_inside(own, rng=rng) if own else None,
        shown_outside=supposed.shown_outside(own, rng=rng) if own else None,
        furthest=supposed.population.furthest,
    )


def _groups(study: Study, whole: Enough, one: Supposition, difference: float) -> Sequence[GroupOutlook]:
    """Every subgroup and region that has queries which decide, the largest first."""
    found = []
    needed: dict[bytes, int | None] = {}
    for kind, names in (("subgroup", study.queries.subgroups), ("region", study.queries.regions)):
        for name in sorted({n for i in whole.queries for n in names[i]}):
            group = whole.among(np.array([name in of for of in names]))
            supposed, mix = _supposed(study, one, group.mix), group.mix
            alike = np.concatenate([mix.size, mix.share]).tobytes()
            if alike not in needed:
                needed[alike] = supposed.needed(difference, rng=stream(study.seed, "power", "search"))
            found.append(
                GroupOutlook(
                    kind=kind,
                    name=name,
                    clusters=len(group.sizes),
                    least=group.least,
                    needed=needed[alike],
                    own=_row(study, supposed, len(group.sizes), difference),
                )
            )
    return sorted(found, key=lambda group: (group.kind, -group.clusters, group.name))


def _ranges(every: Sequence[Supposition], difference: float, whole: Enough) -> Sequence[str]:
    """For each spread under which that difference is impossible: which ones are possible."""
    found = []
    for one in every:
        population = one.population(whole.mix)
        if population.at(difference) is None:
            most = bound_below(population.furthest)
            possible = (
                f"a true difference lies between {-most:g} and {most:g}" if most else "the candidates are truly equal"
            )
            found.append(
                f"under a spread of {one.spread.sd:.4f}, with {100 * one.spread.unequal:.3g}% of the queries differing, "
                + possible
            )
    return found


def _notes(study: Study, difference: float) -> tuple[str, ...]:
    notes = []
    if abs(difference - study.rule.gap) < 1e-9:
        notes.append("a true difference on the gap itself is never settled, by any number of queries")
    if study.qrels.pooled:
        notes.append(
            "the judgements are pooled: supposed is that no hit is unjudged; where the candidates' Judged@k differ, the rule "
            "takes each unjudged hit at its worst and at its best, and may decide far less often than this"
        )
    return tuple(notes)
