"""How the differences between candidates may lie before a run: measured on dev queries, stated, or assumed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tiepoint.core.candidate import RUN
from tiepoint.core.power import Spread
from tiepoint.core.result import Conditions, Summary
from tiepoint.core.rounding import bound_below
from tiepoint.core.study import Study
from tiepoint.errors import InputError
from tiepoint.formats import result_json
from tiepoint.stats.enough import FEWEST
from tiepoint.stats.measured import Measured
from tiepoint.stats.population import Mix, Population
from tiepoint.stats.stated import Stated
from tiepoint.stats.units import ArmValues
from tiepoint.workflows.content_hashes import content_hashes
from tiepoint.workflows.record.folders import read_table
from tiepoint.workflows.tables import PER_QUERY, QUERIES

DEV = "dev"
SAME = 1e-12
LEAST_UNEQUAL = 1e-4
"""A stated share of queries that differ below it would take a population too large to walk."""
ASSUMED = ((0.10, 0.20), (0.20, 0.50), (0.35, 0.80))
"""Standard deviation of a paired difference, and share of queries that differ: models that are alike, that are not, that
have little in common."""


@dataclass(frozen=True, slots=True, eq=False)
class Supposition:
    """A spread in figures, and as a population to draw from whose clusters are as large as those that decide."""

    spread: Spread
    population: Callable[[Mix], Population]


def suppositions(study: Study, *, spread: float | None, unequal: float | None) -> tuple[Supposition, ...]:
    """The one stated, else the one measured on the dev queries of the latest result, else those assumed.

    raises   InputError where a stated spread cannot be
    """
    arms = max(2, len(_walked(study)))
    if spread is not None or unequal is not None:
        return (_stated(study, 0.2 if spread is None else spread, 0.5 if unequal is None else unequal, arms),)
    found, why = _measured(study)
    if found is not None:
        return (found,)
    return tuple(
        _drawn(study, sd, share, arms, "assumed", f"assumed, not measured: {why}; --spread and --unequal state another")
        for sd, share in ASSUMED
    )


def _stated(study: Study, sd: float, unequal: float, arms: int) -> Supposition:
    if not LEAST_UNEQUAL <= unequal <= 1:
        raise InputError(
            f"--unequal {unequal:g}: a share of queries that differ lies between {LEAST_UNEQUAL:g} and 1",
            fix="state another",
        )
    if not 0 < sd <= unequal**0.5:
        raise InputError(
            f"--spread {sd:g}: with {100 * unequal:.3g}% of the queries differing, by 1 at most, it lies above 0 and up to "
            f"{bound_below(unequal**0.5):g}",
            fix="state a smaller --spread or a larger --unequal",
        )
    return _drawn(study, sd, unequal, arms, "stated", "as stated")


def _drawn(study: Study, sd: float, unequal: float, arms: int, source: str, sentence: str) -> Supposition:
    def population(mix: Mix) -> Population:
        return Stated(sd, unequal, arms, study.seed, mix)

    return Supposition(Spread(source=source, sentence=sentence, arms=arms, sd=sd, unequal=unequal), population)


def _measured(study: Study) -> tuple[Supposition | None, str]:
    """The spread of the latest result that has one; what speaks against later ones, or against all."""
    if DEV not in study.queries.split:
        return None, "the queries name no dev split, and those that decide are not looked at"
    passed: list[str] = []
    for folder in sorted((study.folder / "results").glob("*/"), reverse=True):
        try:
            found = _from_rows(study, folder)
        except InputError as error:
            found = error.problems[0].what
        if isinstance(found, Supposition):
            later = f"; not in a later one, {passed[0]}" if passed else ""
            return replace(found, spread=replace(found.spread, sentence=found.spread.sentence + later)), ""
        if found:
            passed.append(f"{folder.name}: {found}")
    if not passed:
        return None, "no result under results/ has rows/"
    more = f"; {len(passed) - 1:,} earlier passed over too" if len(passed) > 1 else ""
    return None, f"no result says how these candidates spread here, {passed[0]}{more}"


def _walked(study: Study) -> set[str]:
    """The candidates that the rule may walk: rankings made elsewhere have no costs and never stand in it."""
    return {candidate.id for candidate in study.candidates if candidate.embedder != RUN}


def _from_rows(study: Study, folder: Path) -> Supposition | str:
    """What a result measured on the dev queries, or why it says nothing here; an empty reason: it is no result with rows.

    raises   InputError where a file of it cannot be read
    """
    files = [folder / "result.json", folder / "conditions.json", folder / "rows" / "per_query.parquet"]
    if not all(path.is_file() for path in files):
        return ""
    summary = result_json.parse(Summary, files[0].read_bytes(), where=str(files[0]))
    arms = list(summary.decision.order)
    measured = sorted(c.id for c in summary.candidates if c.status == "measured" and c.embedder != RUN)
    if summary.study != study.name or set(measured) != _walked(study):
        return f"it measured the candidates {', '.join(measured) or 'none'} of {summary.study}"
    if len(arms) < 2:
        return "it measured one candidate, which differs from none"
    queries = read_table(folder / "rows" / "queries.parquet", QUERIES)
    dev = queries.filter(pc.equal(queries["split"], DEV))
    rows = read_table(files[2], PER_QUERY)
    wanted = (pc.field("slice") == study.rule.slice) & (pc.field("measure") == study.rule.measure)
    noisy = {candidate.id for candidate in summary.candidates if candidate.noise}
    values = _values(rows.filter(wanted), arms, dev["query"].to_pylist(), noisy)
    scored = ~np.isnan(values.mid).any(axis=1)
    values = ArmValues(values.low[scored], values.mid[scored], values.high[scored])
    clusters = np.array(dev["cluster"].to_pylist(), dtype=object)[scored].astype(str)
    cluster = np.unique(clusters, return_inverse=True)[1].astype(np.int64)
    away = values.mid[:, 1:] - values.mid[:, :1]
    independent = len(set(clusters.tolist()))
    if independent < FEWEST:
        return f"it measured {independent} independent dev queries by this rule's measure, and {FEWEST} are needed"
    if not (away.std(axis=0) > SAME).all():
        return "differences of its candidates do not spread"
    widest = int(away.std(axis=0).argmax())
    changed = _changed(study, files[1])
    spread = Spread(
        source="measured",
        sentence=f"measured on {len(away):,} dev queries, {independent:,} independent, in the result {folder.name}"
        f"{changed}; cheapest first as there, {', '.join(arms)}, the difference of {arms[1 + widest]} to {arms[0]} spreads most",
        arms=len(arms),
        sd=float(away[:, widest].std()),
        unequal=float((np.abs(away[:, widest]) > SAME).mean()),
    )
    return Supposition(spread, lambda mix: Measured.of(values, cluster, mix))


def _changed(study: Study, path: Path) -> str:
    """What the study says otherwise now, in brackets; empty: nothing."""
    then = result_json.parse(Conditions, path.read_bytes(), where=str(path)).hashes
    other = [name.removesuffix("_content") for name, now in content_hashes(study).items() if then.get(name, now) != now]
    return f" (whose {', '.join(other)} were others)" if other else ""


def _values(rows: pa.Table, arms: list[str], queries: list[str], noisy: Collection[str]) -> ArmValues:
    """(queries, arms) each, NaN where a query has no value; without recorded ties low and high are the value.

    noisy   arms whose recorded range is over noise of encoding too, which the rule does not take in: theirs is the value as well
    """
    at = {name: i for i, name in enumerate(queries)}
    low, mid, high = (np.full((len(queries), len(arms)), np.nan) for _ in range(3))
    for row in rows.select(["candidate", "query", "value", "low", "high"]).to_pylist():
        if row["candidate"] in arms and row["query"] in at and row["value"] is not None:
            place = at[row["query"]], arms.index(row["candidate"])
            mid[place] = row["value"]
            known = row["low"] is not None and row["candidate"] not in noisy
            low[place], high[place] = (row["low"], row["high"]) if known else (row["value"], row["value"])
    return ArmValues(low, mid, high)
