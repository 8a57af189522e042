"""The directions of `tiepoint compare`: what shows one, what ties and names do to it, and how often they are wrong."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiepoint as tp
from command import Command
from sample import contract, hashing, write_sample
from tiepoint.report.shown import movements, sides
from tiepoint.report.table import Section
from tiepoint.stats import direction
from tiepoint.stats.direction import Spans, in_order_of_values, least_for_direction
from tiepoint.workflows.tables import PER_QUERY, QUERIES

PARTED = "No tie ranges"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tp.Result:
    """A result whose rows the tests write anew."""
    study = tp.load_study(write_sample(tmp_path_factory.mktemp("base") / "sample", public=True))
    result = tp.bench(study, candidates=[hashing(16)])
    names = ("RR@3",)
    return dataclasses.replace(result, summary=dataclasses.replace(result.summary, measures=names))


def valued(
    base: tp.Result,
    value: Sequence[float],
    *,
    low: Sequence[float | None] | None = None,
    high: Sequence[float | None] | None = None,
    ids: Sequence[str] | None = None,
    cluster: Sequence[str] | None = None,
    unjudged: Sequence[bool] | None = None,
) -> tp.Result:
    """The result with these values of RR@3 in the slice without a filter, one query each."""
    n = len(value)
    ids = [f"q{i:04d}" for i in range(n)] if ids is None else ids
    rows = {
        "candidate": ["hash-16"] * n,
        "slice": ["unfiltered"] * n,
        "query": list(ids),
        "measure": ["RR@3"] * n,
        "value": list(value),
        "weight": [1.0] * n,
        "low": list(value if low is None else low),
        "high": list(value if high is None else high),
        "unjudged": [False] * n if unjudged is None else list(unjudged),
    }
    order = np.argsort(np.array(ids, dtype=object))
    queries = {
        "query": list(ids), "cluster": list(ids if cluster is None else cluster), "split": [""] * n, "subgroups": [[]] * n,
        "regions": [[]] * n, "rare": [False] * n, "no_answer": [False] * n,
    }  # fmt: skip
    return dataclasses.replace(
        base,
        per_query=pa.table(rows, schema=PER_QUERY).take(order),
        queries=pa.table(queries, schema=QUERIES).take(order),
    )


def moved(before: tp.Result, after: tp.Result) -> tp.Movement:
    """The only figure that both hold."""
    (found,) = [m for m in tp.compare(before, after).movements if m.n]
    return found


def test_two_queries_show_no_direction_and_it_is_said_how_many_would(base: tp.Result) -> None:
    found = moved(valued(base, [0.0, 0.0]), valued(base, [0.1, 0.05]))
    assert found.low is not None
    assert found.low > 0, "the interval of the two alone leaves out 0"
    assert (found.direction, found.least, found.clusters) == ("too few", 6, 2)
    page = movements(tp.compare(valued(base, [0.0, 0.0]), valued(base, [0.1, 0.05])))
    text = page.tables[0]
    assert "Too few: at least 6 independent queries." in text.note
    assert text.rows[0][-1] == "too few"
    assert text.rows[0][5].endswith("]?"), "an interval of two queries is not trusted"
    assert any("question mark" in line for line in page.lines)


def test_the_least_number_is_the_first_at_which_all_gaining_all_is_shown(base: tp.Result) -> None:
    for n in range(2, 9):
        found = moved(valued(base, [0.0] * n), valued(base, [1.0] * n))
        assert found.least == 6
        assert found.direction == ("higher" if n >= 6 else "too few")
        assert moved(valued(base, [1.0] * n), valued(base, [0.0] * n)).direction == ("lower" if n >= 6 else "too few")


def test_V026_a_small_constant_gain_is_shown(base: tp.Result) -> None:
    value = np.linspace(0.1, 0.8, 100)
    found = moved(valued(base, value), valued(base, value + 0.1))
    assert (found.low, found.high, found.trusted) == (None, None, True), "without spread there is no bootstrap interval"
    assert found.direction == "higher"
    assert found.at_least is not None
    assert 0 < found.at_least < 0.1
    assert moved(valued(base, value + 0.1), valued(base, value)).direction == "lower"


def test_a_tie_decides_no_direction_whichever_document_it_ranks_first(base: tp.Result) -> None:
    before, ends = [0.5] * 40, {"low": [0.0] * 40, "high": [1.0] * 40}
    for ranked in (0.0, 1.0):
        found = moved(valued(base, before), valued(base, [ranked] * 40, **ends))
        assert found.direction == "not shown"
        assert found.difference == ranked - 0.5
        assert (found.at_least, found.at_most) == (pytest.approx(-0.55, abs=0.05), pytest.approx(0.55, abs=0.05))
    found = moved(valued(base, [0.0] * 40), valued(base, [1.0] * 40, low=[0.5] * 40, high=[1.0] * 40))
    assert found.direction == "higher", "in the worst order too"
    for after in (0.0, 1.0):
        same = moved(valued(base, [0.0] * 40, **ends), valued(base, [after] * 40, **ends))
        assert same.direction == "not shown", "the same range is not the same value"
        assert same.up == 40 * after
        assert (same.at_least, same.at_most) == (-1, 1)


@pytest.mark.parametrize("relevant", ["a", "z"])
def test_an_id_decides_no_direction(tmp_path: Path, relevant: str) -> None:
    """40 questions whose document `after` ties with one other: with the one id it is ranked first, with the other last."""
    other = "z" if relevant == "a" else "a"
    place = tmp_path / relevant
    place.mkdir()

    def write(name: str, rows: list[dict[str, object]]) -> None:
        (place / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    write("corpus.jsonl", [{"_id": f"{n:02d}{w}", "text": f"{n} {w == relevant}"} for n in range(40) for w in "az"])
    write("queries.jsonl", [{"_id": f"q{n:02d}", "text": f"{n} asked"} for n in range(40)])
    lines = [f"q{n:02d}\t{n:02d}{relevant}\t1\n" for n in range(40)]
    (place / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines), encoding="utf-8")
    (place / "study.toml").write_text(
        """[study]
name = "tied"
k = 1
measures = ["Success@1"]
[corpus]
path = "corpus.jsonl"
id = "_id"
text = "{text}"
[queries]
path = "queries.jsonl"
id = "_id"
text = "text"
provenance = "synthetic"
[qrels]
path = "qrels.tsv"
[access]
public = true
[decision]
measure = "Success@1"
slice = "unfiltered"
""",
        encoding="utf-8",
    )

    def encoder(at_relevant: float) -> tp.Candidate:
        def encode(texts: Sequence[str]) -> np.ndarray:
            vectors = np.zeros((len(texts), 40), dtype=np.float32)
            for row, text in enumerate(texts):
                number, _, what = text.partition(" ")
                place = int(number) if number.isdigit() else 0
                vectors[row, place] = at_relevant if what == "True" else 1.0
            return vectors

        return tp.Candidate("mine", encode=encode, contract=contract(40, metric="dot"))

    study = tp.load_study(place)
    assert study.corpus.ids[0] == f"00{min(relevant, other)}"
    before, after = (tp.bench(study, candidates=[encoder(at)]) for at in (0.5, 1.0))
    assert [c.reason for c in before.summary.candidates] == [None]
    (found,) = [m for m in tp.compare(before, after).movements if m.slice == "unfiltered"]
    assert (found.up, found.down) == ((40, 0) if relevant == "a" else (0, 0)), "as ranked"
    assert found.direction == "not shown"
    rows = after.per_query.filter(pa.compute.field("candidate") == "mine").to_pylist()
    assert {(row["low"], row["high"], row["unjudged"]) for row in rows if row["slice"] == "unfiltered"} == {
        (0.0, 1.0, False)
    }


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, list[int], list[int]]:
    """(queries, 6) low, value and high before and after, with the cluster of each query, and other names."""
    n = draw(st.integers(2, 24))
    cells = st.lists(st.sampled_from([0.0, 1 / 3, 0.5, 0.7123, 1.0]), min_size=3, max_size=3).map(sorted)
    rows = [draw(cells) + draw(cells) for _ in range(n)]
    cluster = draw(st.lists(st.integers(0, n // 2), min_size=n, max_size=n))
    return np.array(rows), cluster, draw(st.permutations(range(n)))


@given(tables())
@settings(max_examples=25, deadline=None)
def test_renaming_queries_and_documents_moves_no_direction_and_no_bound(
    base: tp.Result, drawn: tuple[np.ndarray, list[int], list[int]]
) -> None:
    rows, cluster, turned = drawn

    def of(ids: Sequence[str], names: Sequence[str], at: int) -> list[tp.Movement]:
        sides_of = [
            valued(base, rows[:, s + at], low=rows[:, s], high=rows[:, s + 2], ids=ids, cluster=names) for s in (0, 3)
        ]
        return [m for m in tp.compare(*sides_of).movements if m.n]

    plain = [f"q{i:03d}" for i in range(len(rows))]
    shuffled = [plain[i] for i in turned]
    (first,) = of(plain, [f"c{c}" for c in cluster], 1)
    (other,) = of(shuffled, [shuffled[c] for c in cluster], 1)
    assert other == first, "other names of queries and clusters: every figure to the last bit, the interval too"
    for at in (0, 2):  # other names of documents: another order of what ties
        (other,) = of(plain, [f"c{c}" for c in cluster], at)
        assert (other.direction, other.at_least, other.at_most, other.p_holm, other.least) == (
            first.direction, first.at_least, first.at_most, first.p_holm, first.least,
        )  # fmt: skip


def test_whole_clusters_are_the_units_and_the_imagined_one_is_as_large_as_the_largest(base: tp.Result) -> None:
    gain = valued(base, [0.0] * 30), valued(base, [0.4] * 30)
    assert moved(*gain).direction == "higher"
    pairs = [str(i // 10) for i in range(30)]
    clustered = [dataclasses.replace(side, queries=valued(base, [0.0] * 30, cluster=pairs).queries) for side in gain]
    found = moved(*clustered)
    assert (found.direction, found.clusters, found.least) == ("too few", 3, 6)
    uneven = [str(max(i - 9, 0)) for i in range(30)]
    clustered = [dataclasses.replace(side, queries=valued(base, [0.0] * 30, cluster=uneven).queries) for side in gain]
    found = moved(*clustered)
    assert (found.direction, found.clusters) == ("too few", 21), "another cluster of ten queries may be unseen"
    assert (found.largest, found.least) == (10, 30)
    assert "imagined cluster of 10 queries" in movements(tp.compare(*clustered)).tables[0].note


def test_the_imagined_cluster_is_as_large_as_the_largest_scored_one_of_the_slice(base: tp.Result) -> None:
    """30 single queries gain; 12 that share a cluster are not scored in their slice, though they are in another."""
    ids, cluster = [f"q{i:04d}" for i in range(42)], [str(min(i, 30)) for i in range(42)]

    def of(value: float, *, elsewhere: bool = False) -> tp.Result:
        found = valued(base, [value] * 42, ids=ids, cluster=cluster)
        scored = [i < 30 for i in range(42)]
        rows = {
            column: pa.array(
                [v if s else None for v, s in zip(found.per_query[column].to_pylist(), scored, strict=True)]
            )
            for column in ("value", "weight", "low", "high")
        }
        table = found.per_query
        for column, values in rows.items():
            table = table.set_column(table.schema.get_field_index(column), column, values)
        if elsewhere:
            other = found.per_query.slice(30)
            table = pa.concat_tables([table, other.set_column(1, "slice", pa.array(["filtered"] * 12))])
        return dataclasses.replace(found, per_query=table)

    for elsewhere in (False, True):
        found = tp.compare(of(0.0, elsewhere=elsewhere), of(0.4, elsewhere=elsewhere)).movements
        (one,) = [m for m in found if m.n and m.slice == "unfiltered"]
        assert (one.n, one.direction, one.largest) == (30, "higher", 1)
        assert [m.largest for m in found if m.n and m.slice == "filtered"] == [12] * elsewhere


def test_the_imagined_cluster_is_of_whatever_split(base: tp.Result) -> None:
    cluster = ["tuned"] * 12 + [str(i) for i in range(30)]

    def of(value: float) -> tp.Result:
        found = valued(base, [value] * 42, cluster=cluster)
        split = pa.array(["tune"] * 12 + ["test"] * 30)
        return dataclasses.replace(found, queries=found.queries.set_column(2, "split", split))

    found = {m.split: m for m in tp.compare(of(0.0), of(0.4)).movements if m.n}
    assert (found["test"].n, found["test"].largest, found[None].largest) == (30, 12, 12)
    assert found["test"].direction == "too few", "a cluster of twelve is in the study"


def test_directions_are_counted_and_corrected_within_their_table(tmp_path: Path) -> None:
    study = tp.load_study(write_sample(tmp_path / "sample", public=True))
    one = tp.bench(study, candidates=[dataclasses.replace(hashing(4), id="mine"), hashing(64)])
    other = tp.bench(study, candidates=[dataclasses.replace(hashing(256), id="mine"), hashing(64)])
    found = tp.compare(one, other)
    asked = [m for m in found.movements if m.p_holm is not None]
    assert found.tests == len(asked)
    assert {m.measure for m in found.movements if m.p_holm is None} == {"pooled_recall@3", "Judged@3"}
    assert {m.direction for m in found.movements if m.p_holm is None} <= {"not tested", "equal"}
    page = movements(found)
    assert sum("two-sided, 95 % for all of one table together (Holm)" in line for line in page.lines) == 1
    for table in page.tables:
        assert table.note.startswith("8 directions asked, with one imagined ")
    assert f"{found.tests} directions are asked in {len(page.tables)} tables" in " ".join(sides(found).lines)
    (least,) = {m.least for m in asked if m.slice == "filtered"}
    even = Spans(np.zeros(2), np.zeros(2), np.arange(2))
    of_even = [least_for_direction(even, tests, level=0.95, largest=1) for tests in (1, 8)]
    assert of_even == [6, 9], "the more are asked, the more queries it takes"
    assert least is not None
    assert least > of_even[1], "uneven clusters take more"


def test_what_holds_for_every_table_is_printed_once(base: tp.Result) -> None:
    one = moved(valued(base, [0.0] * 40), valued(base, [0.5] * 40))
    found = tp.compare(valued(base, [0.0] * 40), valued(base, [0.5] * 40))

    def page(*tables: tp.Movement) -> Section:
        return movements(dataclasses.replace(found, movements=tables))

    other = dataclasses.replace(one, slice="rare")
    same = page(one, other)
    assert same.lines[-1] == "In every table: 1 direction asked, with one imagined query."
    assert [table.note for table in same.tables] == ["", ""]
    apart = page(one, dataclasses.replace(other, largest=3))
    assert apart.lines == same.lines[:-1]
    notes = [
        "1 direction asked, with one imagined query.",
        "1 direction asked, with one imagined cluster of 3 queries.",
    ]
    assert [table.note for table in apart.tables] == notes
    alone = page(one)
    assert (alone.lines, alone.tables[0].note) == (apart.lines, notes[0])


def test_a_family_hides_what_one_test_alone_would_show(base: tp.Result) -> None:
    summary = dataclasses.replace(base.summary, measures=("RR@3", "Success@1", "recall@3", "nDCG@5"))
    wide = dataclasses.replace(base, summary=summary)

    def many(value: Sequence[float]) -> tp.Result:
        found = valued(wide, value)
        rest = [
            found.per_query.set_column(3, "measure", pa.array([name] * len(value))).set_column(
                4, "value", pa.array([0.5] * len(value))
            )
            for name in summary.measures[1:]
        ]
        rest = [of.set_column(6, "low", of["value"]).set_column(7, "high", of["value"]) for of in rest]
        return dataclasses.replace(found, per_query=pa.concat_tables([found.per_query, *rest]))

    alone = moved(valued(base, [0.0] * 7), valued(base, [1.0] * 7))
    found = tp.compare(many([0.0] * 7), many([1.0] * 7))
    (among,) = [m for m in found.movements if m.measure == "RR@3" and m.n]
    assert (alone.direction, among.direction, among.least) == ("higher", "too few", 8)
    assert {m.direction for m in found.movements if m.n and m.measure != "RR@3"} == {"equal"}


def test_a_result_without_tie_ranges_compares_without_directions(
    base: tp.Result, tmp_path: Path, command: Command
) -> None:
    study = tp.load_study(write_sample(tmp_path / "sample", public=True))
    place = tp.record(tp.bench(study, candidates=[hashing(16)]), tmp_path / "results")
    rows = place / "rows" / "per_query.parquet"
    pq.write_table(pq.read_table(rows).drop_columns(["low", "high", "unjudged"]), rows)
    again = tp.bench(study, candidates=[hashing(16)])
    found = tp.compare(tp.load_result(place), again)
    assert {m.direction for m in found.movements} == {"no tie ranges"}
    assert found.tests == 0
    page = movements(found)
    assert PARTED in " ".join(page.lines)
    assert "Directions" not in " ".join(page.lines)
    assert {table.note for table in page.tables} == {""}


OLDER = {
    "recall@3": "share of a query's relevant documents (grade 1 or better, eligible or absent from the corpus) among its first "
    "k hits; mean over queries",
    "interval": "two-sided at 0.95, BCa bootstrap over queries (whole clusters), 4,000 resamples; exact binomial for "
    "unclustered 0/1 measures; not to be trusted (a question mark) where fewer than 10 independent queries have "
    "another value than most",
    "tests": "of each candidate that the walk comes to, against each other one: in where every hypothesis of losing more "
    "than the gap is rejected, each at 1 - confidence, since all must be; out where one of not losing more is "
    "rejected, at 1 - confidence divided among the others (Holm's first step). p: the chance that the mean exceeds "
    "the gap under random weights of the independent queries and of an imagined worst one, as large as the largest "
    "cluster. No other test is made: intervals of figures, of subgroups and of regions are not corrected for their "
    "number",
}
"""What results said that were recorded before rows/per_query.parquet held tie ranges, where the words are others now."""


def older(place: Path, **words: str) -> tp.Result:
    """A recorded result as it was before tie ranges: other columns, other definitions."""
    rows = place / "rows" / "per_query.parquet"
    table = pq.read_table(rows)
    pq.write_table(table.drop_columns([c for c in ("low", "high", "unjudged") if c in table.column_names]), rows)
    for name in ("result", "conditions"):
        path = place / f"{name}.json"
        told = json.loads(path.read_text(encoding="utf-8"))
        for later in ("noise", "settle_queries"):
            told["definitions"].pop(later, None)
        told["definitions"] |= OLDER | words
        path.write_text(json.dumps(told), encoding="utf-8")
    return tp.load_result(place)


def test_an_older_result_in_its_older_words_compares_without_directions(tmp_path: Path, command: Command) -> None:
    study = tp.load_study(write_sample(tmp_path / "sample", public=True))
    result = tp.bench(study, candidates=[hashing(16)])
    assert set(OLDER) < set(result.summary.definitions)
    old, new = (tp.record(result, tmp_path / name) for name in ("old", "new"))
    for sides_of in ((older(old), tp.load_result(new)), (tp.load_result(new), older(old))):
        found = tp.compare(*sides_of)
        assert {m.direction for m in found.movements} == {"no tie ranges"}
        assert {m.difference for m in found.movements} == {0}
        (note,) = [note for note in found.notes if note.startswith("worded differently")]
        assert note.endswith("interval, tests")
    answer = command("compare", old, new)
    assert answer.code == 0, answer.err
    assert PARTED in " ".join(answer.out.split())


@pytest.mark.parametrize("name", ["recall@3", "RR@3", "ties", "mean", "random"])
def test_a_definition_that_says_what_a_figure_is_must_be_the_same(tmp_path: Path, name: str) -> None:
    study = tp.load_study(write_sample(tmp_path / "sample", public=True))
    result = tp.bench(study, candidates=[hashing(16)])
    old = older(tp.record(result, tmp_path / "old"), **{name: "another figure"})
    with pytest.raises(tp.InputError) as refusal:
        tp.compare(old, result)
    assert [problem.what for problem in refusal.value.problems] == [f"the definitions of {name} differ"]
    told = {key: text for key, text in result.summary.definitions.items() if key != name}
    without = dataclasses.replace(result, summary=dataclasses.replace(result.summary, definitions=told))
    if name in ("recall@3", "RR@3"):
        assert tp.compare(without, result).movements
        return
    with pytest.raises(tp.InputError, match=f"only one of the results defines {name}"):
        tp.compare(without, result)


def test_what_pooled_judgements_leave_open_may_turn_a_difference(base: tp.Result) -> None:
    few, many = [i < 3 for i in range(40)], [i < 30 for i in range(40)]
    gain = [0.9] * 40
    assert moved(valued(base, [0.1] * 40), valued(base, gain, unjudged=few)).direction == "higher"
    for before, after in ((None, many), (many, None)):
        found = tp.compare(valued(base, [0.1] * 40, unjudged=before), valued(base, gain, unjudged=after))
        (one,) = [m for m in found.movements if m.n]
        assert (one.direction, one.unjudged) == ("not shown", 30)
        assert "of up to 30 queries an unjudged document stands" in movements(found).tables[0].note
    for unjudged in (few, [True] * 40):
        same = moved(valued(base, gain, unjudged=unjudged), valued(base, gain, unjudged=unjudged))
        assert same.direction == "not shown", "the same value, and what is unjudged could turn it either way"
    assert moved(valued(base, gain), valued(base, gain)).direction == "equal"


def test_rows_say_where_an_unjudged_document_may_stand(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "sample", public=True)
    plain = tp.bench(tp.load_study(folder), candidates=[hashing(16)])
    assert not any(plain.per_query["unjudged"].to_pylist())
    text = (folder / "study.toml").read_text(encoding="utf-8")
    pooled = text.replace('path = "qrels.tsv"', 'path = "qrels.tsv"\npooled = true')
    (folder / "study.toml").write_text(pooled, encoding="utf-8")
    found = tp.bench(tp.load_study(folder), candidates=[hashing(16)])
    rows = {(r["candidate"], r["slice"], r["query"], r["measure"]): r for r in found.per_query.to_pylist()}
    seen = set()
    for hit in found.rankings.to_pylist():
        key = hit["candidate"], hit["slice"], hit["query"]
        if hit["grade"] is None and hit["rank"] <= 3:
            assert rows[(*key, "RR@3")]["unjudged"], "as ranked is one of the orders"
            assert not rows[(*key, "Judged@3")]["unjudged"]
            seen.add(key)
    said = {key[:3] for key, row in rows.items() if key[3] == "RR@3" and row["unjudged"]}
    assert seen < said or seen == said
    assert all(r["low"] <= r["value"] <= r["high"] for r in rows.values() if r["value"] is not None)


def test_a_measure_that_is_gone_is_not_tested(base: tp.Result) -> None:
    gone = dataclasses.replace(base, summary=dataclasses.replace(base.summary, measures=("Gone@3",)))

    def of(value: float) -> tp.Result:
        found = valued(gone, [value] * 40)
        return dataclasses.replace(found, per_query=found.per_query.set_column(3, "measure", pa.array(["Gone@3"] * 40)))

    assert moved(of(0.1), of(0.9)).direction == "not tested"
    assert moved(of(0.1), of(0.1)).direction == "equal"


@pytest.mark.parametrize("units", [2, 3, 8, 12])
def test_where_there_is_no_difference_a_direction_is_rarely_shown(units: int) -> None:
    rng = np.random.default_rng(units)
    populations = (
        lambda: rng.choice([-1.0, 0.0, 1.0], size=units, p=[0.2, 0.6, 0.2]),
        lambda: rng.normal(0, 0.2, units).clip(-1, 1),
        lambda: rng.choice([0.05, -0.95], size=units, p=[0.95, 0.05]),  # many small gains, a rare whole loss: mean 0
    )
    for population in populations:
        wrong = 0
        for _ in range(100):
            away = population()
            found = direction.tested(Spans(away, away, np.arange(units)), level=0.95, largest=1)
            wrong += min(found.p_up, found.p_down) <= 0.025
        assert wrong <= 0.05 * 100


def test_bounds_leave_out_0_where_p_says_so() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        away = rng.normal(0.1, 0.3, 60).clip(-1, 1)
        found = direction.tested(Spans(away - 0.02, away + 0.02, np.arange(60)), level=0.9, largest=1)
        assert (found.at_least > 0) == (found.p_up < 0.05)
        assert (found.at_most < 0) == (found.p_down < 0.05)
        assert found.at_least < away.mean() < found.at_most


def test_queries_without_any_have_no_order() -> None:
    assert in_order_of_values(np.empty((0, 3)), np.empty(0, dtype=np.int64)).tolist() == []
