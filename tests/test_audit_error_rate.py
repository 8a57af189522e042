"""How often an audit's gates fail a move that loses just what is tolerated, in samples from populations whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from gates_kit import DELTA, GOOD, quality, ruled
from tiepoint.core.audit_quality import Delta
from tiepoint.core.gates import Gates
from tiepoint.workflows.audit.loss import Sampled

LOSS = 0.05
GATES = Gates(loss=LOSS, subgroup_loss=LOSS)


def wrongly_failed(groups: int, studies: int, *, clusters: bool = False) -> float:
    """The share of studies whose gate calls a group lost, of groups that all lose exactly what is tolerated."""
    rng = np.random.default_rng(groups)
    failed = 0
    for _ in range(studies):
        deltas = [group(f"g{i}", drawn(rng), rng if clusters else None) for i in range(groups)]
        found = ruled("subgroups", replace(GOOD, quality=quality(DELTA, *deltas), loss=LOSS), GATES)
        assert found is not None
        failed += found.outcome == "fail"
    return failed / studies


def drawn(rng: np.random.Generator) -> NDArray[np.float64]:
    """200 to 300 differences with a mean of -LOSS and a standard deviation of 0.3, inside -1 to 1: a beta, stretched."""
    mean, spread = (1 - LOSS) / 2, 0.15
    total = mean * (1 - mean) / spread**2 - 1
    return 2 * rng.beta(mean * total, (1 - mean) * total, size=rng.integers(200, 301)) - 1


def group(name: str, away: NDArray[np.float64], rng: np.random.Generator | None) -> Delta:
    """What the gate looks at. rng: questions stand in clusters of one to four, alike within."""
    cluster = np.arange(len(away))
    if rng is not None:
        sizes = rng.integers(1, 5, size=len(away))
        away, cluster = np.repeat(away, sizes), np.repeat(cluster, sizes)
    p = Sampled(cluster, 4.0 if rng is not None else 1.0).p_below(away, -LOSS)
    return replace(DELTA, subgroup=name, worst=-0.2, p_lost=p)


def test_twelve_groups_that_lose_what_is_tolerated_seldom_fail_the_gate() -> None:
    """Uncorrected 28 in 100 studies fail, and as many where Holm corrects the p of another hypothesis, no loss at all."""
    assert wrongly_failed(12, 60) <= 0.05 + 3 * (0.05 * 0.95 / 60) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "clusters"), [(12, False), (20, False), (12, True)])
def test_no_more_than_5_in_100_studies_fail_wrongly(groups: int, *, clusters: bool) -> None:
    studies = 400
    assert wrongly_failed(groups, studies, clusters=clusters) <= 0.05 + 2 * (0.05 * 0.95 / studies) ** 0.5


def test_the_drawn_differences_are_what_they_are_said_to_be() -> None:
    values = np.concatenate([drawn(np.random.default_rng(i)) for i in range(400)])
    assert values.mean() == pytest.approx(-LOSS, abs=0.004)
    assert values.std() == pytest.approx(0.3, abs=0.005)
    assert np.abs(values).max() <= 1


def test_a_mean_of_one_is_missed_by_any_query_below_it() -> None:
    alone = Sampled(np.arange(30), 1.0)
    assert alone.p_below(np.ones(30), 1.0) == 1
    assert alone.p_below(np.where(np.arange(30) == 7, 0.9, 1.0), 1.0) == 0
