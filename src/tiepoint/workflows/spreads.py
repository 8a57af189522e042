"""How the differences between candidates may lie before a run: measured on dev queries, stated, or assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tiepoint.core.power import Spread
from tiepoint.core.result import Summary
from tiepoint.core.study import Study
from tiepoint.errors import InputError
from tiepoint.formats import result_json
from tiepoint.stats.enough import FEWEST
from tiepoint.stats.population import Mix, Population
from tiepoint.stats.resample import stream

DEV = "dev"
SAME = 1e-12
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
    arms = max(2, len(study.candidates))
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
    if not 0 < unequal <= 1:
        raise InputError(
            f"--unequal {unequal:g}: a share of queries that differ lies above 0 and up to 1", fix="state another"
        )
    if not 0 < sd <= unequal**0.5:
        raise InputError(
            f"--spread {sd:g}: with {unequal:.0%} of the queries differing, by 1 at most, it lies above 0 and up to "
            f"{unequal**0.5:.4f}",
            fix="state a smaller --spread or a larger --unequal",
        )
    return _drawn(study, sd, unequal, arms, "stated", "as stated")


def _drawn(study: Study, sd: float, unequal: float, arms: int, source: str, sentence: str) -> Supposition:
    def population(mix: Mix) -> Population:
        return Population.stated(sd, unequal, arms, rng=stream(study.seed, "power", "population"), mix=mix)

    return Supposition(Spread(source=source, sentence=sentence, arms=arms, sd=sd, unequal=unequal), population)


def _measured(study: Study) -> tuple[Supposition | None, str]:
    """The spread of the latest result that has one, or why there is none."""
    if DEV not in study.queries.split:
        return None, "the queries name no dev split, and those that decide are not looked at"
    for folder in _results(study):
        summary = result_json.parse(Summary, (folder / "result.json").read_bytes(), where=str(folder / "result.json"))
        found = _from_rows(study, folder, summary)
        if found is not None:
            return found, ""
    return None, (
        f"no result under results/ holds rows of two candidates, with differences that spread, on {FEWEST} independent dev "
        "queries by this rule's measure"
    )


def _results(study: Study) -> Iterator[Path]:
    """Folders of results with the owner's rows, the latest first."""
    for folder in sorted((study.folder / "results").glob("*/"), reverse=True):
        needed = (folder / "result.json", folder / "rows" / "per_query.parquet", folder / "rows" / "queries.parquet")
        if all(path.is_file() for path in needed):
            yield folder


def _from_rows(study: Study, folder: Path, summary: Summary) -> Supposition | None:
    rule = study.rule
    arms = [name for name in summary.decision.order if name]
    if summary.study != study.name or len(arms) < 2:
        return None
    queries = pq.read_table(folder / "rows" / "queries.parquet", columns=["query", "cluster", "split"])
    dev = queries.filter(pc.equal(queries["split"], DEV))
    rows = pq.read_table(folder / "rows" / "per_query.parquet")
    wanted = (pc.field("slice") == rule.slice) & (pc.field("measure") == rule.measure)
    values = _values(rows.filter(wanted), arms, dev["query"].to_pylist())
    scored = ~np.isnan(values).any(axis=1)
    names = np.array(dev["cluster"].to_pylist(), dtype=object)[scored]
    cluster = np.unique(names.astype(str), return_inverse=True)[1] if len(names) else np.empty(0, dtype=np.int64)
    away = values[scored][:, 1:] - values[scored][:, :1]
    if len(set(names)) < FEWEST or not (away.std(axis=0) > SAME).all():
        return None
    widest = int(away.std(axis=0).argmax())
    spread = Spread(
        source="measured",
        sentence=f"measured on {int(scored.sum()):,} dev queries, {len(set(names)):,} independent, in the result "
        f"{folder.name}; of the candidates, the difference of {arms[1 + widest]} to {arms[0]} spreads "
        "most",
        arms=len(arms),
        sd=float(away[:, widest].std()),
        unequal=float((np.abs(away[:, widest]) > SAME).mean()),
    )
    return Supposition(spread, lambda mix: Population.measured(values[scored], cluster, mix))


def _values(rows: pa.Table, arms: list[str], queries: list[str]) -> NDArray[np.float64]:
    """(queries, arms) float64, NaN where a query has no value."""
    at = {name: i for i, name in enumerate(queries)}
    found = np.full((len(queries), len(arms)), np.nan)
    for row in rows.select(["candidate", "query", "value"]).to_pylist():
        if row["candidate"] in arms and row["query"] in at and row["value"] is not None:
            found[at[row["query"]], arms.index(row["candidate"])] = row["value"]
    return found
