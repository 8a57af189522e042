"""What noise of encoding does to orders: it ties what it could exchange, values stay within the range told, no depth counts."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiepoint as tp
from encoding_kit import contract
from measured import NAMES, everything, qrels_of, run_of
from studies import tables_text
from tiepoint.core.gates import Gates
from tiepoint.core.run import Run
from tiepoint.core.space import Space, Vectors
from tiepoint.core.study import Study
from tiepoint.encoding import noise
from tiepoint.measures import parse
from tiepoint.measures.graded import GradedRun
from tiepoint.measures.jaccard import jaccard
from tiepoint.measures.measure import Column
from tiepoint.measures.rbo import rank_biased_overlap
from tiepoint.measures.ties import TiedRun, TiedRuns, TieGroups, cut_at
from tiepoint.search.rank import assemble, tie_groups, without_noise
from tiepoint.workflows.audit.agreement import audit_agreement
from tiepoint.workflows.audit.pair import rank_both
from tiepoint.workflows.audit.quality import audit_quality
from tiepoint.workflows.bench.noise import with_noise
from tiepoint.workflows.evidence import value_range
from tiepoint.workflows.figures import drowned, measure_run


def vectors_of(values: np.ndarray) -> Vectors:
    return Vectors(values, np.arange(len(values)))


def chained(tmp_path: Path, *measures: str, pooled: bool = False) -> tuple[Study, Space]:
    """40 documents, each 0.9 floors below the one before, of which the first ten are relevant; one question, k = 10."""
    folder = tmp_path / f"chain{len(measures)}{pooled}"
    folder.mkdir()
    ids = [f"d{i:02}" for i in range(40)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps({"_id": d, "text": d}) + "\n" for d in ids), "utf-8")
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "ask"}) + "\n", "utf-8")
    gold = "".join(f"q\t{d}\t1\n" for d in ids[:10])
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + gold, "utf-8")
    tables = {
        "study": {"name": "chain", "k": 10, "measures": list(measures), "seed": 7},
        "corpus": {"path": "corpus.jsonl", "id": "_id", "text": "{text}"},
        "queries": {"path": "queries.jsonl", "id": "_id", "text": "text"},
        "qrels": {"path": "qrels.tsv", "pooled": pooled},
        "access": {"public": True},
        "decision": {"measure": "recall@10", "slice": "unfiltered", "gap": 0.05, "prefer": ["dimension"]},
    }
    (folder / "study.toml").write_text(tables_text(tables), "utf-8")
    documents = np.zeros((40, 2), dtype=np.float32)
    documents[:, 0] = 40 - 0.9 * np.arange(40)
    space = Space(
        contract(metric="dot", normalized=False, dimension=2),
        vectors_of(documents),
        vectors_of(np.array([[1.0, 0.0]], dtype=np.float32)),
        noise=0.5,
    )
    return tp.load_study(folder), space


@pytest.mark.parametrize("pooled", [False, True])
def test_a_deeper_measure_moves_no_bound_of_another_one(tmp_path: Path, pooled: bool) -> None:
    """What lies further than the floor below the tenth hit cannot be among the first ten, however deep one looks."""
    told = []
    for more in ((), ("recall@20",), ("recall@20", "recall@40")):
        study, space = chained(tmp_path, "recall@10", "nDCG@10", *more, pooled=pooled)
        pair = rank_both(study, space, space, Gates(measure="recall@10", slice="unfiltered"))
        (part,) = (part for part in pair.parts if part.name == "unfiltered")
        measured, at = pair.source.measured(part), np.array([0])
        assert measured.ties["recall@10"].smallest.values.tolist() == [0.9]
        view = pair.by_view[part.view.name]
        run, plain = measured.run, measure_run(study, view, without_noise(measured.run), [parse("recall@10")])
        benched_ = with_noise(study, view, plain, run, space, [parse("recall@10")])
        assert benched_.over_noise is not None
        assert benched_.over_noise["recall@10"].smallest.values.tolist() == [0.9]
        agreement = audit_agreement(pair)
        (summary,) = (one for one in agreement.slices if one.slice == "unfiltered")
        values = value_range(measured, "recall@10", at, questioned=[measured, measured])
        row = [r for r in audit_quality(pair).per_query.to_pylist() if r["measure"] == "recall@10"]
        told.append(
            (
                summary,
                [(r["worst"], r["best"]) for r in row],
                [of.tolist() for of in (values.low, values.mid, values.high)],
                [measured.ties["nDCG@10"].smallest.values[0], measured.unjudged["nDCG@10"].smallest.values[0]],
                measured.judged_ties.smallest.values[0],
                measured.tied_pairs.tolist(),
                benched_.by_noise is not None and benched_.by_noise.tolist(),
            )
        )
    assert told[0] == told[1] == told[2]
    assert told[0][0].jaccard_low == pytest.approx(9 / 11)
    assert told[0][0].jaccard > 0.8
    assert told[0][5] == [10]


def test_beside_a_side_whose_order_is_all_noise_unjudged_documents_may_be_missed(tmp_path: Path) -> None:
    """Such a side may hold any of them: where they are in question, the other's least value is 0."""
    study, space = chained(tmp_path, "recall@10", pooled=True)
    pair = rank_both(study, space, space, Gates(measure="recall@10", slice="unfiltered"))
    measured = next(pair.source.measured(part) for part in pair.parts if part.name == "unfiltered")
    # The eleventh is unjudged: where it is relevant and ranks within the first ten or not, nine of eleven at least are found.
    for other, least in ((measured, 9 / 11), (drowned(measured), 0.0)):
        values = value_range(measured, "recall@10", np.array([0]), questioned=[measured, other])
        assert values.low[0] == pytest.approx(least)
    assert value_range(measured, "recall@10", np.array([0]), questioned=()).low[0] == 0.9


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_sample_that_tells_whether_noise_orders_a_space_is_the_same_in_any_order_of_its_rows(
    monkeypatch: pytest.MonkeyPatch, dtype: type[np.floating]
) -> None:
    """Every third of 3,000 documents is near the best: of those evenly spaced by position all are, or none."""
    rng = np.random.default_rng(3)
    near = np.arange(3000) % 3 == 0
    documents = np.column_stack([np.where(near, 1.0, 0.0), rng.random(3000) / 100]).astype(dtype)
    documents[:90:3] = documents[0]  # equal vectors are told apart by how many stood before
    questions = np.tile(np.array([[1.0, 0.0]], dtype=dtype), (30, 1))
    seen = set()
    for order in (np.arange(3000), rng.permutation(3000), np.argsort(~near, kind="stable")):
        space = Space(
            contract(metric="dot", normalized=False, dimension=2),
            vectors_of(documents[order]),
            vectors_of(questions),
            noise=0.1,
        )
        drawn = space.documents.array[noise._drawn(space.documents.array, space.documents.row, 1000)]
        assert len(drawn) == 1000
        seen.add(drawn.tobytes())
        for most, floor in ((700, 0.0), (1300, space.floor)):
            monkeypatch.setattr(noise, "MOST", most)
            assert noise.searchable_floor(space) == floor
    assert len(seen) == 1


def loose(scores: list[float], tolerance: float, noise: float) -> list[int]:
    """The tie group of each hit, in a plain loop: groups of the tolerance, joined where noise links one to the next."""
    groups, head = [0], scores[0]
    for above, score in pairwise(scores):
        begins = head - score > tolerance
        groups.append(groups[-1] + (begins and above - score > noise))
        head = score if begins else head
    return groups


def test_what_ties_without_noise_ties_with_it() -> None:
    """Noise links the first group to the hit at 0.58, which is the head of the next one by tolerance."""
    scores = np.array([0.90, 0.62, 0.58, 0.30])
    assert tie_groups(scores, 0.3).tolist() == [0, 0, 1, 1]
    assert tie_groups(scores, 0.3, 0.1).tolist() == [0, 0, 0, 0]
    plain, noisy = (ranked(scores, depth=3, tolerance=0.3, noise=noise) for noise in (0.0, 0.1))
    assert plain.tied.tolist() == noisy.tied.tolist() == without_noise(noisy).tied.tolist() == [3]


@pytest.mark.parametrize(("tolerance", "noise"), [(0.0, 0.0), (0.0, 0.11), (0.15, 0.0), (0.15, 0.11), (0.3, 0.11)])
def test_noise_ties_neighbour_by_neighbour_and_without_it_nothing_is_changed(tolerance: float, noise: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        scores = np.sort(rng.integers(0, 30, 12) / 10)[::-1]
        assert tie_groups(scores, tolerance, noise).tolist() == loose(scores.tolist(), tolerance, noise)
        run = run_of([list(enumerate(scores.tolist()))], 12, 12, tolerance=tolerance)
        object.__setattr__(run, "noise", noise)
        groups = TieGroups.of(run)
        of_run = groups.start[0].tolist() if len(groups.rows) else list(range(12))
        expected = loose(scores.tolist(), tolerance, noise)
        assert of_run == [expected.index(group) for group in expected]
        assert without_noise(run).noise == 0.0


def ranked(scores: np.ndarray, *, depth: int, tolerance: float, noise: float = 0.0) -> Run:
    """One query's run over every document, as the search puts it together."""
    return assemble(
        np.zeros(len(scores), dtype=np.int64),
        np.arange(len(scores)),
        scores,
        eligible=np.array([len(scores)]),
        depth=depth,
        tolerance=tolerance,
        noise=noise,
        failed={},
    )


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 40), min_size=3, max_size=14),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.sampled_from([0.02, 0.1, 0.25]),
    st.randoms(use_true_random=False),
)
def test_whatever_noise_makes_of_the_scores_stays_within_the_range_that_is_told(
    tenths: list[int], tolerance: float, noise: float, chance: Random
) -> None:
    """Each score moved by the noise at most, so two of them by twice that: every value lies within the range over both."""
    scores = np.array(tenths) / 10 + np.array([chance.random() for _ in tenths]) * 0.3
    depth = chance.randint(1, len(scores))
    qrels = qrels_of([{i: chance.randint(0, 3) for i in range(len(scores))}], len(scores))
    run = ranked(scores, depth=depth, tolerance=tolerance, noise=2 * noise)
    graded = GradedRun.of(run, qrels, everything(qrels))
    tied = TiedRuns(graded, run, qrels)
    moved = scores + np.array([chance.uniform(-noise, noise) for _ in scores]) * 0.999999
    other = GradedRun.of(ranked(moved, depth=depth, tolerance=0.0), qrels, everything(qrels))
    k = chance.randint(1, depth)
    for name in NAMES:
        measure = parse(f"{name}@{k}")
        told, value = measure.over_ties(measure(graded), tied.at(k)), measure(other).values[0]
        if measure(graded).defined[0]:
            assert told.smallest.values[0] - 1e-9 <= value <= told.largest.values[0] + 1e-9
    again = ranked(scores + np.array([chance.uniform(-noise, noise) for _ in scores]), depth=depth, tolerance=0.0)
    for kind in (jaccard, rank_biased_overlap):
        agreed, value = kind(run, run, k), kind(ranked(moved, depth=depth, tolerance=0.0), again, k).smallest.values[0]
        assert agreed.smallest.values[0] - 1e-9 <= value <= agreed.largest.values[0] + 1e-9
    plain, without = ranked(scores, depth=depth, tolerance=tolerance), without_noise(run)
    for column in ("document", "score", "tied_start", "tied"):
        assert getattr(plain, column).tobytes() == getattr(without, column).tobytes()


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 40), min_size=0, max_size=14), min_size=1, max_size=3),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.sampled_from([0.0, 0.04, 0.2, 0.5]),
    st.randoms(use_true_random=False),
)
def test_every_measure_at_k_is_the_same_however_deep_one_searched(
    tenths: list[list[int]], tolerance: float, noise: float, chance: Random
) -> None:
    """A run cut at k is, to the bit, the run of a search of depth k."""
    sizes = [len(of) for of in tenths]
    query, unit = np.repeat(np.arange(len(tenths)), sizes), np.concatenate([np.arange(n) for n in sizes])
    scores = np.array([s for of in tenths for s in of], dtype=np.float64) / 10
    scores += np.array([chance.choice([0.0, 0.03, 0.15]) for _ in scores])
    asked = [{i: chance.randint(0, 3) for i in range(n) if chance.random() < 0.6} for n in sizes]
    qrels = qrels_of(asked, 14)

    def searched(depth: int) -> Run:
        return assemble(
            query, unit, scores, eligible=np.array(sizes), depth=depth, tolerance=tolerance, noise=noise, failed={}
        )

    deep = searched(8)
    graded = GradedRun.of(deep, qrels, everything(qrels))
    tied = TiedRuns(graded, deep, qrels)
    for k in (chance.randint(1, 8), chance.randint(1, 4)):
        shallow, cut = searched(k), cut_at(deep, k)
        if noise and k < 8:
            for column in ("document", "score", "tied_start", "tied", "tied_score"):
                assert getattr(cut, column).tobytes() == getattr(shallow, column).tobytes()
        else:
            assert cut is deep
        own = GradedRun.of(shallow, qrels, everything(qrels))
        own_tied = TiedRun.of(own, TieGroups.of(shallow), shallow, qrels)
        for measure in (parse(f"{name}@{k}") for name in NAMES):
            one, other = measure.over_ties(measure(graded), tied.at(k)), measure.over_ties(measure(own), own_tied)
            assert equal(one.smallest, other.smallest)
            assert equal(one.largest, other.largest)
            assert (one.expected is None) == (other.expected is None)
            assert one.expected is None or other.expected is None or equal(one.expected, other.expected)
            far = measure.over_ties_and_unjudged(measure(graded), graded, tied.at(k))
            near = measure.over_ties_and_unjudged(measure(own), own, own_tied)
            assert equal(far.smallest, near.smallest)
            assert equal(far.largest, near.largest)
        for kind in (jaccard, rank_biased_overlap):
            one, other = kind(deep, deep, k), kind(shallow, shallow, k)
            assert equal(one.smallest, other.smallest)
            assert one.expected is not None
            assert other.expected is not None
            assert equal(one.expected, other.expected)
            assert equal(one.largest, other.largest)


def equal(one: Column, other: Column) -> bool:
    return np.allclose(one.values, other.values, rtol=0, atol=1e-12, equal_nan=True)
