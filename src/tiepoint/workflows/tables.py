"""The owner's tables of a result: per query, per hit, per judged document. They name every id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tiepoint.core.study import Study
from tiepoint.measures import parse
from tiepoint.measures.graded import NO_HIT
from tiepoint.workflows.figures import ArmRun, Measured
from tiepoint.workflows.slices import Slice

PER_QUERY = pa.schema(
    [
        ("candidate", pa.string()),
        ("slice", pa.string()),
        ("query", pa.string()),
        ("measure", pa.string()),
        ("value", pa.float64()),
        ("weight", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("unjudged", pa.bool_()),
    ]
)
RANKINGS = pa.schema(
    [
        ("candidate", pa.string()),
        ("slice", pa.string()),
        ("query", pa.string()),
        ("rank", pa.int32()),
        ("document", pa.string()),
        ("score", pa.float64()),
        ("grade", pa.int8()),
        ("shown", pa.bool_()),
    ]
)
GOLD = pa.schema(
    [
        ("slice", pa.string()),
        ("query", pa.string()),
        ("document", pa.string()),
        ("grade", pa.int8()),
        ("state", pa.string()),
        ("found_by", pa.list_(pa.string())),
        ("shown", pa.bool_()),
    ]
)
QUERIES = pa.schema(
    [
        ("query", pa.string()),
        ("cluster", pa.string()),
        ("split", pa.string()),
        ("subgroups", pa.list_(pa.string())),
        ("regions", pa.list_(pa.string())),
        ("rare", pa.bool_()),
        ("no_answer", pa.bool_()),
    ]
)


def per_query_table(study: Study, arms: Sequence[ArmRun], parts: Sequence[Slice]) -> pa.Table:
    """One row for each arm, slice, query and measure; value null where the query is not scored.

    A figure is sum(value * weight) / sum(weight); every weight is 1 but for pooled measures. low and high are the smallest and
    the largest value over all orders of documents that tie or that noise of encoding alone tells apart. unjudged: see
    _unjudged_may_stand.
    """
    ids = np.array(study.queries.ids, dtype=object)
    tables = []
    for arm in arms:
        for part in parts:
            measured = arm.views[part.view.name]
            for name, column in measured.columns.items():
                taken, ties = column.take(part.queries), (measured.over_noise or measured.ties)[name]
                low, high = (of.take(part.queries).values for of in (ties.smallest, ties.largest))
                tables.append(
                    pa.table(
                        {
                            "candidate": [arm.id] * len(part.queries),
                            "slice": [part.name] * len(part.queries),
                            "query": ids[part.queries],
                            "measure": [name] * len(part.queries),
                            "value": pa.array(taken.values, pa.float64(), from_pandas=True),
                            "weight": pa.array(taken.bottom, pa.float64(), mask=~taken.defined),
                            "low": pa.array(low, pa.float64(), from_pandas=True),
                            "high": pa.array(high, pa.float64(), from_pandas=True),
                            "unjudged": _unjudged_may_stand(measured, name)[part.queries],
                        },
                        schema=PER_QUERY,
                    )
                )
    return pa.concat_tables(tables).combine_chunks() if tables else PER_QUERY.empty_table()


def _unjudged_may_stand(measured: Measured, name: str) -> NDArray[np.bool_]:
    """(queries,) True where the judgements are pooled, the measure can decide, and an unjudged document stands in its first k in
    some order of tied documents: what that document is could move the value.
    """
    measure = parse(name)
    if measured.tied is None or not measure.kind.decides:
        return np.zeros(len(measured.run), dtype=bool)
    k = measure.cutoff
    tied = measured.tied.at(k)
    found = np.asarray(measured.graded.unjudged(k).any(axis=1), dtype=np.bool_)
    stands = (tied.unjudged[:, :k] > 0) & (tied.graded.grade[:, :k] != NO_HIT)
    found[tied.groups.rows] = stands.any(axis=1)
    return found


def rankings_table(study: Study, arms: Sequence[ArmRun], parts: Sequence[Slice]) -> pa.Table:
    """One row for each hit; grade null where the document is not judged for the query."""
    documents = pa.array(study.corpus.units.ids, pa.string())
    queries = pa.array(study.queries.ids, pa.string())
    shown = study.shown_units
    tables = []
    for arm in arms:
        for part in parts:
            measured = arm.views[part.view.name]
            run = measured.run
            chosen = run.document[part.queries]
            query, place = np.nonzero(chosen >= 0)
            row = chosen[query, place]
            position = part.queries[query]
            grade = measured.grade[position, place]
            tables.append(
                pa.table(
                    {
                        "candidate": pa.repeat(arm.id, len(row)),
                        "slice": pa.repeat(part.name, len(row)),
                        "query": queries.take(pa.array(position)),
                        "rank": pa.array(place + 1, pa.int32()),
                        "document": documents.take(pa.array(row)),
                        "score": pa.array(run.score[position, place]),
                        "grade": pa.array(grade, pa.int8(), mask=grade < 0),
                        "shown": pa.array(shown[row]),
                    },
                    schema=RANKINGS,
                )
            )
    return pa.concat_tables(tables).combine_chunks() if tables else RANKINGS.empty_table()


def gold_table(study: Study, arms: Sequence[ArmRun], parts: Sequence[Slice]) -> pa.Table:
    """One row for each slice and relevant document: found within k (by whom), missed, filtered or absent."""
    qrels, shown = study.qrels, study.shown_units
    tables = []
    for part in parts:
        inside = np.zeros(len(study.queries), dtype=bool)
        inside[part.queries] = True
        gold = np.flatnonzero(inside[qrels.query] & (qrels.grade >= 1))
        found = {arm.id: _found(arm, part, qrels.query[gold], qrels.document[gold], study.k) for arm in arms}
        absent = qrels.document[gold] < 0
        filtered = ~part.view.counted[gold] & ~absent
        by = [[arm.id for arm in arms if found[arm.id][i]] for i in range(len(gold))]
        states = np.where(
            absent, "absent", np.where(filtered, "filtered", np.where([bool(b) for b in by], "found", "missed"))
        )
        tables.append(
            pa.table(
                {
                    "slice": [part.name] * len(gold),
                    "query": [study.queries.ids[q] for q in qrels.query[gold]],
                    "document": [qrels.document_id[i] for i in gold],
                    "grade": pa.array(qrels.grade[gold]),
                    "state": [str(s) for s in states],
                    "found_by": by,
                    "shown": pa.array(np.where(absent, study.corpus.public, shown[qrels.document[gold]])),
                },
                schema=GOLD,
            )
        )
    return pa.concat_tables(tables).combine_chunks()


def queries_table(study: Study) -> pa.Table:
    """One row for each query: all that grouping and pairing its values takes, so that two results can be compared."""
    queries = study.queries
    return pa.table(
        {
            "query": list(queries.ids),
            "cluster": list(queries.cluster),
            "split": list(queries.split),
            "subgroups": [list(names) for names in queries.subgroups],
            "regions": [list(names) for names in queries.regions],
            "rare": pa.array(queries.rare),
            "no_answer": pa.array(queries.no_answer),
        },
        schema=QUERIES,
    )


def _found(
    arm: ArmRun, part: Slice, queries: NDArray[np.int64], documents: NDArray[np.int64], k: int
) -> NDArray[np.bool_]:
    """(pairs,) True where the document stands in the query's first k hits."""
    top = arm.views[part.view.name].run.document[:, :k]
    found: NDArray[np.bool_] = (top[queries] == documents[:, None]).any(axis=1) & (documents >= 0)
    return found
