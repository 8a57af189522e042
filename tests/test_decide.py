"""The decision rule on made evidence with known truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tiepoint.core.result import Decision
from tiepoint.core.study import Rule
from tiepoint.decide import Arm, Evidence, cost_order, decide, rule_in_words, timing_alone
from tiepoint.stats.resample import stream

RULE = Rule(measure="nDCG@10", slice="filtered", gap=0.05, confidence=0.95, prefer=("dimension", "-documents_per_s"))


def arm(name: str, values: np.ndarray, **costs: float | None) -> Arm:
    return Arm(name, values, values, values, {"dimension": 256, "documents_per_s": 100.0, **costs})


def evidence(*arms: Arm, **changes: object) -> Evidence:
    queries = len(arms[0].mid) if arms else 0
    plain = Evidence(arms=arms, cluster=np.arange(queries), largest=1, split=None, excluded={}, bm25=0.1)
    return replace(plain, **changes)


def verdict(*arms: Arm, rule: Rule = RULE, **changes: object) -> Decision:
    return decide(evidence(*arms, **changes), rule, rng=stream(1, "decision"))


def around(mean: float, queries: int = 400, spread: float = 0.1, seed: int = 0) -> np.ndarray:
    values = np.random.default_rng(seed).normal(0, spread, size=queries)
    return mean + values - values.mean()


def test_a_cheaper_candidate_inside_the_gap_is_chosen() -> None:
    found = verdict(arm("small", around(0.60), dimension=256), arm("large", around(0.61, seed=1), dimension=768))
    assert (found.verdict, found.choice, found.point_choice) == ("decided", "small", "small")
    assert found.standings[0].state == "in"
    assert found.standings[1].state == "not tested"
    assert 0.01 < found.standings[0].may_lose_at_most <= 0.05
    assert found.sentence.startswith(
        "Choose small: on 400 filtered queries it is the cheapest candidate within the gap"
    )
    assert "BM25 and random are baselines" in found.sentence


def test_a_cheaper_candidate_outside_the_gap_is_passed_over() -> None:
    found = verdict(arm("small", around(0.40), dimension=256), arm("large", around(0.60, seed=1), dimension=768))
    assert (found.verdict, found.choice) == ("decided", "large")
    assert [s.state for s in found.standings] == ["out", "in"]
    assert "small is cheaper but loses more than the gap" in found.sentence


def test_too_few_queries_are_undecided_and_say_so() -> None:
    found = verdict(
        arm("small", around(0.60, 30), dimension=256), arm("large", around(0.60, 30, seed=1), dimension=768)
    )
    assert (found.verdict, found.choice, found.point_choice) == ("undecided", None, "small")
    assert found.open == ("small",)
    assert found.least_queries == 59
    assert "at least 59 independent queries, here are 30" in found.sentence
    assert found.settle_queries is not None
    assert found.settle_queries >= 59
    assert found.settle_gap is not None


def test_fewer_than_20_independent_queries_are_undecided_whatever_the_gap() -> None:
    loose = replace(RULE, gap=0.3, confidence=0.51)
    arms = (arm("small", around(0.60, 19), dimension=256), arm("large", around(0.60, 19, seed=1), dimension=768))
    found = verdict(*arms, rule=loose)
    assert (found.verdict, found.choice, found.open) == ("undecided", None, ("small",))
    assert (found.least_queries, found.settle_queries, found.settle_gap) == (20, None, None)
    assert found.tests == 0, "without a walk no hypothesis is tested"
    assert "Fewer than 20 independent queries decide nothing" in found.sentence
    assert "here are 19" in found.sentence
    assert verdict(*arms, rule=replace(loose, confidence="point")).verdict == "decided"
    enough = [arm(a.id, np.append(a.mid, 0.6), **a.costs) for a in arms]
    assert verdict(*enough, rule=loose).verdict == "decided"
    assert verdict(*enough, rule=loose).tests == 2


def test_the_number_that_would_settle_it_says_how_far_it_moves_and_on_what_condition() -> None:
    arms = (arm("small", around(0.58, 100), dimension=256), arm("large", around(0.60, 100, seed=1), dimension=768))
    found = verdict(*arms, rule=replace(RULE, gap=0.04))
    assert found.settle_low is not None
    assert found.settle_high is not None
    assert found.settle_low < found.settle_queries < found.settle_high
    numbers = f"Roughly {found.settle_queries:,} queries ({found.settle_low:,} to {found.settle_high:,})"
    assert f"{numbers} would settle it four times in five, if means and spreads are as in these" in found.sentence
    assert found == verdict(*arms, rule=replace(RULE, gap=0.04)), "a fixed seed says the same"
    far = replace(found, settle_high=None)
    assert f"({found.settle_low:,} to more than a million)" in far.settling()
    same = np.full(30, 0.6)
    sure = verdict(arm("small", same, dimension=256), arm("large", same, dimension=768))
    assert sure.settle_low == sure.settle_queries == sure.settle_high == 59
    assert "Roughly 59 queries would settle it" in sure.sentence


def test_the_largest_cluster_stands_beside_the_verdict() -> None:
    arms = (arm("small", around(0.60), dimension=256), arm("large", around(0.60, seed=1), dimension=768))
    assert verdict(*arms).largest_cluster == 1
    found = verdict(*arms, largest=8)
    assert (found.verdict, found.largest_cluster) == ("undecided", 8)
    assert found.settle_queries > verdict(*arms).settle_queries


def test_at_the_settling_gap_the_same_queries_decide_and_just_below_they_do_not() -> None:
    arms = (arm("small", around(0.60, 80), dimension=256), arm("large", around(0.63, 80, seed=1), dimension=768))
    gap = verdict(*arms, rule=replace(RULE, gap=0.04)).settle_gap
    assert gap is not None
    assert verdict(*arms, rule=replace(RULE, gap=gap)).verdict == "decided"
    assert verdict(*arms, rule=replace(RULE, gap=gap - 0.0002)).verdict == "undecided"


def test_an_open_candidate_stops_the_walk() -> None:
    found = verdict(
        arm("small", around(0.56, spread=0.4), dimension=128),
        arm("middle", around(0.60, spread=0.001, seed=1), dimension=256),
        arm("large", around(0.60, spread=0.001, seed=2), dimension=768),
    )
    assert found.verdict == "undecided"
    assert found.open == ("small",)
    assert [s.state for s in found.standings] == ["open", "not tested", "not tested"]


def test_ties_never_decide() -> None:
    small, large = around(0.60), around(0.60, seed=1)
    sure = verdict(arm("small", small, dimension=256), arm("large", large, dimension=768))
    tied = Arm("small", small - 0.2, small, small + 0.2, {"dimension": 256})
    assert sure.verdict == "decided"
    assert verdict(tied, arm("large", large, dimension=768)).verdict == "undecided"
    point = verdict(tied, arm("large", large, dimension=768), rule=replace(RULE, confidence="point"))
    assert (point.verdict, point.choice) == ("undecided", None)


def test_point_confidence_takes_the_point_choice_and_says_so() -> None:
    found = verdict(
        arm("small", around(0.60, 10), dimension=256),
        arm("large", around(0.62, 10, seed=1), dimension=768),
        rule=replace(RULE, confidence="point"),
    )
    assert (found.verdict, found.choice) == ("decided", "small")
    assert "by point estimate alone" in found.sentence
    assert any("point estimates" in line for line in found.warnings)


def test_of_a_pooled_measure_nothing_is_said_that_only_a_test_by_query_could_say() -> None:
    pooled = replace(RULE, measure="pooled_recall@10", confidence="point")
    weight = np.random.default_rng(3).pareto(1.2, 200)
    weight *= len(weight) / weight.sum()
    small, large = weight * around(0.60, 200), weight * around(0.62, 200, seed=1)
    assert small.max() > 1, "a query that weighs more than the imagined one"
    first, second = Arm("small", small, small, small, {"dimension": 256}), arm("large", large, dimension=768)
    found = verdict(first, second, rule=pooled)
    assert (found.verdict, found.choice) == ("decided", "small")
    in_question = Arm("small", small - 0.1 * weight, small, small, first.costs)
    undecided = verdict(in_question, second, rule=pooled)
    assert (undecided.verdict, undecided.point_choice) == ("undecided", "small")
    for decision in (found, undecided):
        assert [s.may_lose_at_most for s in decision.standings] == [None, None]
        assert decision.least_queries is decision.settle_queries is decision.settle_low is decision.settle_high is None
        assert decision.settle_gap is None
        assert "settle" not in decision.sentence
        assert "at most" not in decision.sentence
        assert "queries decide" not in decision.sentence
    of_means = verdict(in_question, second, rule=replace(pooled, measure="recall@10"))
    assert of_means.settle_gap is not None, "of a mean over queries they are bounds"


@pytest.mark.parametrize("clustered", [False, True])
def test_the_order_in_which_queries_stand_moves_no_bit(*, clustered: bool) -> None:
    rng = np.random.default_rng(11)
    mids = [np.round(rng.beta(3, 2, 150), 2) for _ in range(3)]
    spans = [np.where(rng.random(150) < 0.2, 0.1, 0.0) for _ in mids]
    cluster = rng.integers(0, 60, 150) if clustered else np.arange(150)
    cluster = np.unique(cluster, return_inverse=True)[1]

    def of(order: np.ndarray, ranked: float) -> Decision:
        """Queries in this order; ranked: where between its ends a value in question lies as ranked."""
        names = np.unique(cluster[order], return_index=True, return_inverse=True)
        again = np.argsort(np.argsort(names[1]))[names[2]]  # clusters are numbered as they come
        arms = [
            Arm(f"a{i}", low[order], (low + ranked * span)[order], (low + span)[order], {"dimension": 64 * (i + 1)})
            for i, (low, span) in enumerate(zip(mids, spans, strict=True))
        ]
        return verdict(*arms, rule=replace(RULE, gap=0.04), cluster=again, largest=int(np.bincount(cluster).max()))

    straight = of(np.arange(150), 0.0)
    assert straight.settle_queries is not None
    assert straight.settle_low < straight.settle_high
    for seed in range(5):
        shuffled = np.random.default_rng(seed).permutation(150)
        assert of(shuffled, 0.0) == straight
        tied = of(shuffled, 1.0)
        for name in ("verdict", "choice", "settle_queries", "settle_low", "settle_high", "settle_gap", "least_queries"):
            assert getattr(tied, name) == getattr(straight, name), name
        assert [s.may_lose_at_most for s in tied.standings] == [s.may_lose_at_most for s in straight.standings]


def test_failed_and_unexecuted_candidates_are_named_and_never_chosen() -> None:
    found = verdict(
        arm("a", around(0.6)), arm("b", around(0.6, seed=1), dimension=512), excluded={"broken": "failed: cannot load"}
    )
    assert "broken (failed: cannot load)" in found.sentence
    assert "broken" not in found.order


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_candidates_make_no_decision(count: int) -> None:
    found = verdict(*[arm("only", around(0.6))][:count])
    assert (found.verdict, found.choice, found.settle_gap) == ("not executed", None, None)
    assert "at least two measured candidates" in found.sentence


def test_no_scored_query_makes_no_decision() -> None:
    nothing = np.empty(0)
    found = verdict(arm("a", nothing), arm("b", nothing))
    assert (found.verdict, found.point_choice) == ("not executed", None)
    assert found.standings[0].mean is None
    assert "no query of the slice" in found.sentence


def test_it_warns_when_the_choice_does_not_beat_bm25() -> None:
    found = verdict(arm("a", around(0.6)), arm("b", around(0.6, seed=1), dimension=512), bm25=0.7)
    assert any("does not beat BM25" in line for line in found.warnings)


def test_cost_order_sorts_by_keys_then_tiers_then_id() -> None:
    nothing = np.empty(0)
    arms = [
        arm("slow", nothing, dimension=256, documents_per_s=10.0),
        arm("fast-b", nothing, dimension=256, documents_per_s=95.0),
        arm("fast-a", nothing, dimension=256, documents_per_s=100.0),
        arm("unknown", nothing, dimension=None),
        arm("big", nothing, dimension=768, documents_per_s=1000.0),
    ]
    assert [a.id for a in cost_order(arms, RULE.prefer)] == ["fast-a", "fast-b", "slow", "big", "unknown"]
    assert [a.id for a in cost_order(arms, ("-documents_per_s",))] == ["big", "fast-a", "fast-b", "unknown", "slow"]


def test_a_tier_is_within_ten_per_cent_of_its_best_not_of_its_neighbour() -> None:
    nothing = np.empty(0)
    arms = [arm(name, nothing, documents_per_s=speed) for name, speed in (("c", 100.0), ("b", 91.0), ("a", 83.0))]
    assert [a.id for a in cost_order(arms, ("-documents_per_s",))] == ["b", "c", "a"]


def test_the_sentence_says_when_time_alone_broke_the_order() -> None:
    same = (arm("a", around(0.6)), arm("b", around(0.6, seed=1), documents_per_s=10.0))
    assert timing_alone(cost_order(same, RULE.prefer), RULE.prefer)
    assert "Measured times alone" in verdict(*same).sentence
    other = (same[0], arm("b", around(0.6, seed=1), dimension=512, documents_per_s=10.0))
    assert not timing_alone(cost_order(other, RULE.prefer), RULE.prefer)
    near = (same[0], arm("b", around(0.6, seed=1), documents_per_s=95.0))
    assert not timing_alone(cost_order(near, RULE.prefer), RULE.prefer)
    nothing = np.empty(0)
    tiers = [arm(name, nothing, documents_per_s=speed) for name, speed in (("a", 100.0), ("b", 91.0), ("c", 89.0))]
    assert timing_alone(tiers, RULE.prefer), "c is near b, but not in its tier"
    assert not timing_alone([tiers[0], arm("d", nothing, documents_per_s=None)], RULE.prefer), "unknown is not slow"


def test_the_rule_is_told_in_words() -> None:
    assert rule_in_words(RULE) == (
        "Take the first candidate in the order of least dimension, then most documents_per_s, then id, that loses at "
        "most 0.05 of nDCG@10 (filtered) against every other candidate, with 95% confidence."
    )


def test_a_confidence_is_printed_as_it_was_written() -> None:
    assert "with 97.5% confidence" in rule_in_words(replace(RULE, confidence=0.975))
