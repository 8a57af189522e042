"""The owner's tables of an audit's quality: every query's values on both sides, and every hit. They name every id."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tiepoint.measures import parse
from tiepoint.workflows.audit.loss import questioned
from tiepoint.workflows.audit.pair import Pair, Part
from tiepoint.workflows.evidence import value_range
from tiepoint.workflows.tables import RANKINGS, rankings_table

PER_QUERY = pa.schema(
    [
        ("slice", pa.string()),
        ("query", pa.string()),
        ("measure", pa.string()),
        ("source", pa.float64()),
        ("target", pa.float64()),
        ("difference", pa.float64()),
        ("weight", pa.float64()),
        ("worst", pa.float64()),
        ("best", pa.float64()),
        ("shown", pa.bool_()),
    ]
)
SIDE_RANKINGS = RANKINGS.set(0, RANKINGS.field(0).with_name("side"))


def per_query_rows(pair: Pair) -> pa.Table:
    """One row for each slice, query and measure, of every split; null where either side does not score the query.

    shown: false where the query has an answer that the readers may not see; its values are for the owner alone.
    The means of a slice are sum(value * weight) / sum(weight) over the queries of Pair.whole.
    """
    ids = pa.array(pair.study.queries.ids, pa.string())
    tables, told = [PER_QUERY.empty_table()], pair.told()
    for part in pair.parts:
        sides = [side.measured(part) for side in pair.sides]
        unjudged = sides if questioned(pair, part) else ()
        for name in pair.study.measures:
            pairs, kind = pair.pairs(Part(part, part.queries), name), parse(name).kind
            worst, best = np.full((2, len(part.queries)), np.nan)
            scored = pairs.scored
            if kind.decides and not kind.pooled:
                source, target = (value_range(m, name, part.queries[scored], questioned=unjudged) for m in sides)
                worst[scored], best[scored] = target.low - source.high, target.high - source.low
            columns = [pairs.first, pairs.second, pairs.away, pairs.weight, worst, best]
            tables.append(
                pa.table(
                    {
                        "slice": pa.repeat(part.name, len(part.queries)),
                        "query": ids.take(pa.array(part.queries)),
                        "measure": pa.repeat(name, len(part.queries)),
                        **{
                            field: pa.array(column, pa.float64(), mask=~scored | np.isnan(column))
                            for field, column in zip(PER_QUERY.names[3:-1], columns, strict=True)
                        },
                        "shown": pa.array(told[part.queries]),
                    },
                    schema=PER_QUERY,
                )
            )
    return pa.concat_tables(tables).combine_chunks()


def ranking_rows(pair: Pair) -> pa.Table:
    """The rankings of both sides: side, slice, query, rank, document, score, grade, shown."""
    table = rankings_table(pair.study, [side.arm for side in pair.sides], pair.parts)
    return table.rename_columns(["side", *table.column_names[1:]])
