"""Top-k Jaccard and rank-biased overlap against the paper, by hand, and against a plain loop over sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from test_measures import run_of
from tiepoint.core.run import Run
from tiepoint.errors import InputError
from tiepoint.measures import agreement, kinds
from tiepoint.measures.agreement import entered, jaccard, rank_biased_overlap


def run(*rankings: Sequence[object], depth: int = 10) -> Run:
    """Rankings of letters or numbers by falling score."""
    rows = [[ord(d) - ord("a") if isinstance(d, str) else int(d) for d in ranking] for ranking in rankings]  # type: ignore[call-overload]
    return run_of([[(d, float(-place)) for place, d in enumerate(r)] for r in rows], depth, 40)


def rbo(one: Sequence[object], other: Sequence[object], p: float, k: int = 10) -> float:
    return float(rank_biased_overlap(run(one, depth=k), run(other, depth=k), k=k, persistence=p).values[0])


def plain_rbo(one: Sequence[int], other: Sequence[int], p: float) -> float | None:
    """Equation 32, one depth at a time, over sets."""
    short, long = sorted((list(one), list(other)), key=len)
    s, l = len(short), len(long)  # noqa: E741
    if l == 0:
        return None
    if s == 0:
        return 0.0

    def shared(d: int) -> int:
        return len(set(short[:d]) & set(long[:d]))

    total = sum(shared(d) / d * p**d for d in range(1, l + 1))
    total += sum(shared(s) * (d - s) / (s * d) * p**d for d in range(s + 1, l + 1))
    return (1 - p) / p * total + ((shared(l) - shared(s)) / l + shared(s) / s) * p**l


def plain_jaccard(one: Sequence[int], other: Sequence[int]) -> float | None:
    either = set(one) | set(other)
    return len(set(one) & set(other)) / len(either) if either else None


def test_the_paper_s_two_lists() -> None:
    """Webber, Moffat and Zobel 2010, figure 5: abcdefg and zcavwxy, whose average overlap at depth 1 to 7 is
    0, 0, .222, .292, .313, .317, .312: so they share 0, 0, 2, 2, 2, 2, 2 documents, and equation 32 is a sum by hand.
    """
    shared = [0, 0, 2, 2, 2, 2, 2]
    overlap = [sum(x / d for d, x in enumerate(shared[:n], 1)) / n for n in range(1, 8)]
    assert [round(o, 3) for o in overlap] == [0, 0, 0.222, 0.292, 0.313, 0.317, 0.312]
    weights = [0.9**d * x / d for d, x in enumerate(shared, 1)]
    assert rbo("abcdefg", "zcavwxy", 0.9) == pytest.approx(0.1 / 0.9 * sum(weights) + 2 / 7 * 0.9**7, abs=1e-12)
    assert rbo("abcdefg", "zcavwxy", 0.9) == pytest.approx(0.288217, abs=1e-6)


def test_by_hand() -> None:
    # X = 0, 1, 2, 4, 5: (1/9)(.81/2 + .729 * 2/3 + .6561 + .59049) + .59049
    assert rbo("abcde", "bcdae", 0.9) == pytest.approx(0.828, abs=1e-9)
    # Uneven, p = .5: shorter ab, longer bca. X = 0, 1, 2; X_s = 1, s = 2, l = 3.
    # (.5/.5)(0 + .25/2 + .125 * 2/3 + 1 * 1/(2 * 3) * .125) + ((2 - 1)/3 + 1/2) * .125
    assert rbo("ab", "bca", 0.5) == pytest.approx(0.125 + 0.25 / 3 + 0.125 / 6 + (1 / 3 + 1 / 2) * 0.125, abs=1e-12)
    assert jaccard(run("abc"), run("bcde"), k=10).values == pytest.approx([2 / 5])
    assert jaccard(run("abcd"), run("dcxy"), k=2).values == pytest.approx([0.0]), "only the first k"


def test_two_empty_rankings_are_undefined_and_one_is_zero() -> None:
    for column in (
        jaccard(run("", "", "ab"), run("", "ab", ""), k=3),
        rank_biased_overlap(run("", "", "ab"), run("", "ab", ""), k=3),
    ):
        assert column.defined.tolist() == [False, True, True]
        assert column.values[1:].tolist() == [0, 0]
        assert np.isnan(column.values[0])
        assert column.mean == 0


def test_hits_that_entered() -> None:
    assert entered(run("abc"), run("cdb"), k=3).tolist() == [[False, True, False]]
    assert entered(run("abc"), run("cdb"), k=2).tolist() == [[True, True]]
    assert entered(run(""), run("c"), k=2).tolist() == [[True, False]]


RANKINGS = st.lists(st.integers(0, 12), unique=True, max_size=9)


@settings(max_examples=150, deadline=None)
@given(
    pairs=st.lists(st.tuples(RANKINGS, RANKINGS), min_size=1, max_size=4), k=st.integers(1, 10), p=st.floats(0.05, 0.99)
)
def test_both_equal_a_plain_loop_lie_in_range_and_are_symmetric(
    pairs: list[tuple[list[int], list[int]]], k: int, p: float
) -> None:
    one, other = (run(*side) for side in zip(*pairs, strict=True))
    for found, back, plain in (
        (jaccard(one, other, k=k), jaccard(other, one, k=k), plain_jaccard),
        (
            rank_biased_overlap(one, other, k=k, persistence=p),
            rank_biased_overlap(other, one, k=k, persistence=p),
            lambda a, b: plain_rbo(a, b, p),
        ),
    ):
        assert np.array_equal(found.values, back.values, equal_nan=True)
        for value, (a, b) in zip(found.values, pairs, strict=True):
            expected = plain(a[:k], b[:k])
            assert np.isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-12)
            assert expected is None or 0 <= value <= 1
            if a[:k] == b[:k] and a:
                assert value == pytest.approx(1, abs=1e-12)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    one, other = (run(*(rng.permutation(12)[: rng.integers(0, 9)] for _ in range(50))) for _ in range(2))
    whole = [f(one, other, k=7).values for f in (jaccard, rank_biased_overlap)]
    came = entered(one, other, k=7)
    monkeypatch.setattr(agreement, "CELLS", 7 * 7 * 3)
    for f, before in zip((jaccard, rank_biased_overlap), whole, strict=True):
        assert np.array_equal(f(one, other, k=7).values, before, equal_nan=True)
    assert np.array_equal(entered(one, other, k=7), came)


def test_what_has_no_agreement_is_refused() -> None:
    with pytest.raises(InputError, match="first 11 hits"):
        jaccard(run("a"), run("b"), k=11)
    with pytest.raises(InputError, match="1 and of 2 queries"):
        rank_biased_overlap(run("a"), run("b", "c"), k=2)
    with pytest.raises(InputError, match="persistence"):
        rank_biased_overlap(run("a"), run("b"), k=2, persistence=1.0)
    assert not {"agreement", "jaccard"} & set(kinds()), "no measure against judgements"
