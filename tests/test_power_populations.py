"""What samples are drawn from before a run: stated and measured populations, and the search for a number in them."""

from __future__ import annotations

import numpy as np
import pytest

from tiepoint.stats.measured import MOST_ROWS, Measured
from tiepoint.stats.population import Mix
from tiepoint.stats.power import Supposed
from tiepoint.stats.resample import stream
from tiepoint.stats.settle import how_often, rounded_up
from tiepoint.stats.stated import Stated
from tiepoint.stats.units import ArmValues
from tiepoint.workflows.spreads import ASSUMED


def test_uneven_clusters_are_as_uneven_in_the_samples_as_in_the_study() -> None:
    """190 single queries and 10 clusters of 4: with fewer than 200 clusters nothing can be in, so no chance says it could."""
    mix = Mix.of(np.repeat([1.0, 4.0], [190, 10]), 4.0)
    for sd, unequal in ASSUMED:
        supposed = Supposed(Stated(sd, unequal, 2, 1, mix), 0.05, 0.95)
        assert supposed.fewest == 200
        chances = [supposed.chance(n, 0.0, rng=stream(2), samples=400).decides for n in (100, 150, 199, 200)]
        assert chances[:3] == [0, 0, 0]
        assert 0.1 < chances[3] < 0.5
        assert supposed.needed(0.0, rng=stream(3)) > 200
    wider = Mix.of(mix.sizes, 6.0)
    supposed = Supposed(Stated(0.2, 0.5, 2, 1, wider), 0.05, 0.95)
    assert supposed.fewest > 250, "another split has a cluster of 6"
    assert supposed.chance(250, 0.0, rng=stream(2)).decides == 0


def test_samples_have_no_more_large_clusters_than_their_share() -> None:
    mix = Mix.of(np.repeat([1.0, 2.0, 5.0], [7, 2, 1]), 5.0)
    assert mix.numbers(10).tolist() == [7, 2, 1]
    assert mix.numbers(9).tolist() == [7, 2, 0]
    assert mix.numbers(1).tolist() == [1, 0, 0]
    for difference in (0.0, 0.05):
        found = Stated(0.2, 0.5, 3, 1, mix).at(difference)
        counts = found.drawn(40, rng=stream(2), samples=50)
        of_size = [counts[:, found.units.size == size].sum(axis=1) for size in (1, 2, 5)]
        assert [set(of.tolist()) for of in of_size] == [{28}, {8}, {4}]
        means = (found.share @ found.units.mid[:, 1:]) / (found.share @ found.units.size)
        assert means == pytest.approx(difference, abs=1e-8)


def test_the_measured_spread_is_around_the_mean() -> None:
    """One that is always 0.3 ahead, give or take 0.05, spreads with 0.05 and not with 0.3."""
    away = np.random.default_rng(1).normal(0.3, 0.05, 120)
    values = np.stack([np.zeros(120), away], axis=1)
    population = Measured.of(plain(values), np.arange(120))
    found = population.at(0.0)
    assert np.sqrt(found.share @ found.units.mid[:, 1] ** 2) == pytest.approx(away.std())
    assert Supposed(population, 0.05, 0.95).needed(0.0, rng=stream(1)) < 80


def plain(values: np.ndarray) -> ArmValues:
    return ArmValues(values, values, values)


@pytest.mark.parametrize("arms", [2, 3, 9])
@pytest.mark.parametrize(
    ("sd", "unequal", "difference"), [(0.1, 0.2, 0.03), (0.2, 0.5, -0.15), (0.3, 0.95, 0.2), (0.03, 0.0012, 0.001)]
)
def test_what_is_stated_holds_around_any_mean(arms: int, sd: float, unequal: float, difference: float) -> None:
    """To the bit but for nine candidates, whose population is drawn."""
    found = Stated(sd, unequal, arms, 1).at(difference)
    away = found.units.mid[:, 1:]
    near = 1e-9 if arms < 9 else 0.06
    assert found.share.sum() == pytest.approx(1)
    assert found.share @ away == pytest.approx(np.full(arms - 1, difference), abs=1e-8)
    assert found.share @ (away != 0) == pytest.approx(np.full(arms - 1, unequal), rel=near)
    assert np.sqrt(found.share @ (away - difference) ** 2) == pytest.approx(np.full(arms - 1, sd), rel=near)
    assert np.abs(away).max() <= 1


def test_what_cannot_be_as_stated_is_no_population() -> None:
    assert Stated(0.1, 0.2, 2, 1).furthest == pytest.approx(0.05), "all of a fifth lose 0.25"
    assert Stated(0.1, 0.01, 2, 1).furthest == 0, "one in a hundred differs by 1 already, either way"
    assert Stated(0.6, 1.0, 2, 1).furthest == pytest.approx(0.8), "0.8 by 1 one way, 0.1 of them the other"
    for sd, unequal in ((0.1, 0.2), (0.6, 1.0), (0.3, 0.8)):
        for arms in (2, 9):
            population = Stated(sd, unequal, arms, 1)
            for way in (-1, 1):
                assert population.at(way * population.furthest) is not None
                assert population.at(way * (population.furthest + 1e-6)) is None


def test_a_loss_that_no_query_could_make_is_not_shown() -> None:
    supposed = Supposed(Stated(0.02, 0.5, 2, 1), 0.05, 0.95)
    assert supposed.population.furthest == pytest.approx(0.02)
    assert supposed.shown_inside(150, rng=stream(2)) == supposed.population.furthest
    assert supposed.shown_outside(150, rng=stream(2)) is None


def test_a_loss_is_found_outside_where_there_is_one() -> None:
    """The edge lies within what is possible, however near to the end of it."""
    supposed = Supposed(Stated(0.2, 0.5, 3, 1), 0.05, 0.95)
    found = supposed.shown_outside(122, rng=stream(2))
    assert 0.1 < found < supposed.population.furthest == pytest.approx(0.2)
    assert supposed.chance(122, found, rng=stream(3), samples=1_000).settled == pytest.approx(0.8, abs=0.1)
    assert supposed.chance(122, found - 0.03, rng=stream(3), samples=1_000).settled < 0.7


def test_ties_that_were_measured_stand_in_the_samples() -> None:
    rng = np.random.default_rng(1)
    mid = np.round(rng.random((200, 2)), 1)
    tied = ArmValues(np.maximum(mid - np.array([0.0, 0.1]), 0), mid, np.minimum(mid + np.array([0.2, 0.0]), 1))
    one, other = (Measured.of(values, np.arange(200)).at(0.0) for values in (tied, plain(mid)))
    assert one.share @ one.units.mid[:, 1] == pytest.approx(other.share @ other.units.mid[:, 1], abs=1e-9)
    spare = tied.high[:, 0] - mid[:, 0] + mid[:, 1] - tied.low[:, 1]
    assert one.share @ (one.units.deficit(1, 0) + one.units.mid[:, 1]) == pytest.approx(spare.mean() / 2)
    assert one.share @ (one.units.deficit(0, 1) - one.units.mid[:, 1]) == pytest.approx(spare.mean() / 2), "mirrored"
    needs = [
        Supposed(Measured.of(v, np.arange(200)), 0.35, 0.95).needed(0.0, rng=stream(1)) for v in (tied, plain(mid))
    ]
    assert needs[0] > needs[1]


def test_measured_clusters_are_queries_of_one_dev_cluster() -> None:
    values = np.stack([np.zeros(6), [0.0, 0.0, 0.0, 0.6, 0.6, -0.3]], axis=1)  # their mean is 0.15
    mix = Mix.of(np.array([1.0, 2.0, 4.0]), 4.0)
    units = Measured.of(plain(values), np.array([0, 0, 0, 1, 1, 2]), mix).centred.units
    of_size = [units.mid[units.size == size, 1] for size in (1, 2, 4)]
    for size, sums in zip((1, 2, 4), of_size, strict=True):
        assert sums == pytest.approx(size * np.array([-0.45, -0.15, 0.15, 0.45])[[0, 1, 2, 3]])
    mixed = Measured.of(plain(values), np.array([0, 0, 1, 1, 1, 2]), mix).centred.units
    sums = mixed.mid[mixed.size == 2, 1]
    assert np.isclose(sums, 0.9).any(), "the two of 0.6 next to each other"
    assert np.isclose(sums, 0.3).any(), "0.6 and the 0 of its own cluster"
    many = np.random.default_rng(2).random((4_000, 2))
    assert len(Measured.of(plain(many), np.arange(4_000), mix).centred.share) <= MOST_ROWS


def test_a_number_is_rounded_up_by_less_than_a_twentieth_and_looked_at_closer_only_where_in_doubt() -> None:
    told = {
        7: 7,
        59: 59,
        99.5: 100,
        101: 105,
        149: 150,
        199: 200,
        201: 210,
        1_920: 1_950,
        27_887: 28_000,
        999_999: 1_000_000,
    }
    assert {n: rounded_up(n) for n in told} == told
    assert all(n <= rounded_up(n) < 1.05 * n + 1 for n in range(1, 20_000))
    asked: list[int] = []

    def holding(share: float) -> float:
        def held(samples: int) -> np.ndarray:
            asked.append(samples)
            return np.arange(samples) < share * samples

        return how_often(held)

    assert [holding(share) for share in (0.3, 1.0, 0.75, 0.85)] == pytest.approx([0.3, 1.0, 0.75, 0.85])
    assert asked == [60, 60, 60, 140, 60, 140]
