"""Holm's correction against a hand example and against the closed test that it is a short form of."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiepoint.stats.holm import holm


def closed(p: list[float]) -> list[float]:
    """Bonferroni on every set of hypotheses: one is rejected when every set that holds it is."""
    everyone = range(len(p))
    sets = [s for n in range(1, len(p) + 1) for s in itertools.combinations(everyone, n)]
    return [max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in everyone]


def test_by_hand() -> None:
    # Sorted: .005 * 4 = .02, .01 * 3 = .03, .03 * 2 = .06, and .04 * 1, which may not lie below the one before.
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.6, 0.9])) == pytest.approx([1.0, 1.0])
    assert holm(np.array([0.2])) == pytest.approx([0.2])
    assert len(holm(np.array([]))) == 0


@settings(max_examples=200, deadline=None)
@given(p=st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), min_size=1, max_size=7))
def test_it_is_the_closed_test_of_bonferroni(p: list[float]) -> None:
    adjusted = holm(np.array(p))
    assert adjusted == pytest.approx(closed(p), abs=1e-12)
    assert (adjusted >= p).all()
    assert (adjusted <= len(p) * np.array(p) + 1e-12).all(), "never harder than Bonferroni"


@pytest.mark.parametrize("bad", [np.nan, -0.1, 1.1])
def test_what_is_no_p_value_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="outside"):
        holm(np.array([0.1, bad]))
