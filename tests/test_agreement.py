"""Jaccard and rank-biased overlap against the papers, by hand, and against plain loops over every order of tied documents."""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from measured import Hits, orders, run_of
from tiepoint.core.run import Run
from tiepoint.errors import InputError
from tiepoint.measures import agreement, agreements, kinds, overlap, parse, parse_agreement
from tiepoint.measures.agreement import entered
from tiepoint.measures.cut import drawn
from tiepoint.measures.jaccard import jaccard
from tiepoint.measures.measure import TieRange
from tiepoint.measures.rbo import rank_biased_overlap

GOLDEN = Path(__file__).parent / "golden"


def run(*rankings: Sequence[object], depth: int = 10) -> Run:
    """Rankings of letters or numbers by falling score."""
    rows = [[ord(d) - ord("a") if isinstance(d, str) else int(d) for d in ranking] for ranking in rankings]  # type: ignore[call-overload]
    return run_of([[(d, float(-place)) for place, d in enumerate(r)] for r in rows], depth, 40)


def grouped(groups: Sequence[Sequence[int]]) -> Hits:
    """A ranking of tied groups, best first."""
    return [(d, float(-place)) for place, group in enumerate(groups) for d in group]


def value(found: TieRange) -> float:
    assert found.expected is not None
    return float(found.expected.values[0])


def rbo(one: Sequence[object], other: Sequence[object], p: float, k: int = 10) -> float:
    return value(rank_biased_overlap(run(one, depth=k), run(other, depth=k), k, p))


def equation_32(one: Sequence[int], other: Sequence[int], p: float) -> float | None:
    """Of Webber, Moffat and Zobel 2010: one depth at a time, over sets."""
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


def plain_rbo(one: Sequence[object], other: Sequence[object], p: float) -> float | None:
    """Equation 32, with the shorter list filled up by what the other does not hold."""
    short, long = sorted((list(one), list(other)), key=len)
    return equation_32([*short, *(object() for _ in long[len(short) :])], long, p)


def plain_jaccard(one: Sequence[int], other: Sequence[int]) -> float | None:
    either = set(one) | set(other)
    return len(set(one) & set(other)) / len(either) if either else None


Plain = Callable[[Sequence[int], Sequence[int]], float | None]


def over_orders(plain: Plain, one: Hits, other: Hits, k: int, tolerance: float = 0.0) -> tuple[float, ...] | None:
    """Smallest, mean and largest over every order of tied documents of both rankings."""
    tops = [[order[:k] for order in orders(hits, tolerance)] for hits in (one, other)]
    values = [plain(a, b) for a, b in itertools.product(*tops)]
    known = [v for v in values if v is not None]
    return (min(known), math.fsum(known) / len(known), max(known)) if known else None


def test_the_paper_s_two_lists() -> None:
    """Webber, Moffat and Zobel 2010, figure 5: abcdefg and zcavwxy, whose average overlap at depth 1 to 7 is
    0, 0, .222, .292, .313, .317, .312: so they share 0, 0, 2, 2, 2, 2, 2 documents, and equation 32 is a sum by hand.
    """
    shared = [0, 0, 2, 2, 2, 2, 2]
    average = [sum(x / d for d, x in enumerate(shared[:n], 1)) / n for n in range(1, 8)]
    assert [round(o, 3) for o in average] == [0, 0, 0.222, 0.292, 0.313, 0.317, 0.312]
    weights = [0.9**d * x / d for d, x in enumerate(shared, 1)]
    assert rbo("abcdefg", "zcavwxy", 0.9) == pytest.approx(0.1 / 0.9 * sum(weights) + 2 / 7 * 0.9**7, abs=1e-12)
    assert rbo("abcdefg", "zcavwxy", 0.9) == pytest.approx(0.288217, abs=1e-6)


def test_by_hand() -> None:
    # X = 0, 1, 2, 4, 5: (1/9)(.81/2 + .729 * 2/3 + .6561 + .59049) + .59049
    assert rbo("abcde", "bcdae", 0.9) == pytest.approx(0.828, abs=1e-9)
    assert value(jaccard(run("abc"), run("bcde"), 10)) == pytest.approx(2 / 5)
    assert value(jaccard(run("abcd"), run("dcxy"), 2)) == 0, "only the first k"
    # A full tie of abc beside a, b, c, k = 2: two of the three pairs of documents hold one of a and b, one holds both.
    tied, strict = run_of([grouped([[0, 1, 2]])], 2, 3), run("abc", depth=2)
    assert value(jaccard(tied, strict, 2)) == pytest.approx((2 * 1 / 3 + 1) / 3)


@pytest.mark.parametrize("name", sorted(agreements()))
def test_every_measure_of_agreement_has_golden_values(name: str) -> None:
    cases = tomllib.loads((GOLDEN / f"{name}.toml").read_text(encoding="utf-8"))
    assert cases["source"]
    for case in cases["case"]:
        one, other = (run_of([grouped(case[side])], case["depth"], 40) for side in ("one", "other"))
        more = [case["persistence"]] if "persistence" in case else []
        found = agreements()[name].compute(one, other, case["depth"], *more)
        assert value(found) == pytest.approx(case["value"], abs=1e-12 if "persistence" in case else 5e-5)


def test_a_list_that_ends_early_agrees_with_nothing_further_on() -> None:
    """Equation 32 supposes that it would have gone on agreeing, and gives 1."""
    assert equation_32([0], list(range(10)), 0.9) == pytest.approx(1)
    # One shared document at every depth: (1/9)(.9/1 + .81/2 + ... + .9^10/10) + .9^10/10
    by_hand = sum(0.9**d / d for d in range(1, 11)) / 9 + 0.9**10 / 10
    assert rbo("a", "abcdefghij", 0.9) == pytest.approx(by_hand, abs=1e-12)
    assert rbo("a", "abcdefghij", 0.9) < 0.28
    assert rbo("abc", "abc", 0.9) == pytest.approx(1, abs=1e-12), "both end: nothing is missing"


def test_two_empty_rankings_are_undefined_and_one_is_zero() -> None:
    for compute in (jaccard, rank_biased_overlap):
        found = compute(run("", "", "ab"), run("", "ab", ""), 3)
        for column in (found.smallest, found.expected, found.largest):
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
def test_without_ties_both_equal_a_plain_loop_and_are_symmetric(
    pairs: list[tuple[list[int], list[int]]], k: int, p: float
) -> None:
    one, other = (run(*side) for side in zip(*pairs, strict=True))
    for found, back, plain in (
        (jaccard(one, other, k), jaccard(other, one, k), plain_jaccard),
        (rank_biased_overlap(one, other, k, p), rank_biased_overlap(other, one, k, p), lambda a, b: plain_rbo(a, b, p)),
    ):
        for column in (found.smallest, found.expected, found.largest):
            assert np.array_equal(column.values, back.expected.values, equal_nan=True)
            for got, (a, b) in zip(column.values, pairs, strict=True):
                expected = plain(a[:k], b[:k])
                assert np.isnan(got) if expected is None else got == pytest.approx(expected, abs=1e-12)
                if a[:k] == b[:k] and a:
                    assert got == pytest.approx(1, abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(
    rankings=st.integers(1, 9).flatmap(
        lambda n: st.tuples(st.permutations(range(12)), st.permutations(range(12))).map(lambda ab: [s[:n] for s in ab])
    ),
    p=st.floats(0.05, 0.99),
)
def test_rbo_of_lists_of_one_length_is_equation_32(rankings: list[list[int]], p: float) -> None:
    assert rbo(*rankings, p) == pytest.approx(equation_32(*rankings, p), abs=1e-12)


# Ties

SCORED = st.dictionaries(st.integers(0, 7), st.integers(0, 3).map(float), max_size=5).map(
    lambda hits: list(hits.items())
)


@settings(max_examples=150, deadline=None)
@given(
    pairs=st.lists(st.tuples(SCORED, SCORED), min_size=1, max_size=3),
    depth=st.integers(1, 5),
    cutoff=st.integers(1, 5),
    tolerance=st.sampled_from([0.0, 1.0]),
)
@example(pairs=[([(d, 1.0) for d in range(5)],) * 2], depth=3, cutoff=3, tolerance=0.0)
@example(
    pairs=[([(d, float(d < 2)) for d in range(5)], [(d, float(d > 2)) for d in range(1, 6)])],
    depth=4,
    cutoff=3,
    tolerance=0.0,
)
def test_both_equal_every_order_of_tied_documents(
    pairs: list[tuple[Hits, Hits]], depth: int, cutoff: int, tolerance: float
) -> None:
    """Smallest, mean and largest, of documents beyond the depth too."""
    k = min(cutoff, depth)
    one, other = (run_of(side, depth, 8, tolerance=tolerance) for side in zip(*pairs, strict=True))
    for found, plain in (
        (jaccard(one, other, k), plain_jaccard),
        (rank_biased_overlap(one, other, k, 0.8), lambda a, b: plain_rbo(a, b, 0.8)),
    ):
        for query, (a, b) in enumerate(pairs):
            expected = over_orders(plain, a, b, k, tolerance)
            got = [column.values[query] for column in (found.smallest, found.expected, found.largest)]
            assert np.isnan(got).all() if expected is None else got == pytest.approx(expected, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(
    pair=st.tuples(*[st.dictionaries(st.integers(0, 14), st.integers(0, 4).map(float), min_size=1)] * 2),
    names=st.permutations(range(15)),
    k=st.integers(1, 6),
)
def test_renaming_documents_moves_neither(
    pair: tuple[dict[int, float], dict[int, float]], names: list[int], k: int
) -> None:
    for compute in (jaccard, rank_biased_overlap):
        plain, renamed = (
            compute(*(run_of([[(to[d], s) for d, s in hits.items()]], 6, 15) for hits in pair), k)
            for to in (list(range(15)), names)
        )
        for part in ("smallest", "expected", "largest"):
            assert getattr(plain, part).values == pytest.approx(getattr(renamed, part).values, abs=1e-12)


def test_V001_a_full_tie_neither_agrees_nor_disagrees_by_its_ids() -> None:
    """Twenty documents tied, beside a strict order of ten whose ids rise, and one whose ids fall from the other end."""
    tied = run_of([[(d, 1.0) for d in range(20)]], 10, 20)
    # Of the d documents in the first d of the strict order d / 20 are expected each.
    by_hand = sum(0.9**d * d / 20 for d in range(1, 11)) / 9 + 0.9**10 * 10 / 20
    ways = [math.comb(10, x) * math.comb(10, 10 - x) for x in range(11)]
    shared = sum(w * x / (20 - x) for x, w in enumerate(ways)) / math.comb(20, 10)
    for strict in (range(10), range(19, 9, -1)):
        found = rank_biased_overlap(tied, run(strict), 10)
        assert value(found) == pytest.approx(by_hand, abs=1e-12)
        assert (found.smallest.values[0], found.largest.values[0]) == (0, pytest.approx(1))
        assert value(jaccard(tied, run(strict), 10)) == pytest.approx(shared, abs=1e-12)


def test_chances_of_many_draws_keep_their_digits() -> None:
    """A million documents tied: products of factorials would overflow, their logarithms lose nine digits."""
    found = drawn(np.array([1_000_000]), np.array([400_000]), np.array([10]))[0]
    exact = [math.comb(400_000, x) * math.comb(600_000, 10 - x) / math.comb(1_000_000, 10) for x in range(11)]
    assert found == pytest.approx(exact, rel=1e-12)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    one, other = (run(*(rng.permutation(12)[: rng.integers(0, 9)] for _ in range(50))) for _ in range(2))
    tied = run_of([[(int(d), float(rng.integers(0, 3))) for d in rng.permutation(12)] for _ in range(50)], 10, 40)
    whole = [f(one, beside, 7) for f in (jaccard, rank_biased_overlap) for beside in (other, tied)]
    came = entered(one, other, k=7)
    for module in (agreement, overlap):
        monkeypatch.setattr(module, "CELLS", 7 * 7 * 3)
    again = [f(one, beside, 7) for f in (jaccard, rank_biased_overlap) for beside in (other, tied)]
    for before, after in zip(whole, again, strict=True):
        for part in ("smallest", "expected", "largest"):
            assert getattr(after, part).values == pytest.approx(getattr(before, part).values, abs=1e-12, nan_ok=True)
    assert np.array_equal(entered(one, other, k=7), came)


# Names and refusals


@given(name=st.sampled_from(sorted(agreements())), k=st.integers(1, 10_000))
def test_names_parse_and_print_alike(name: str, k: int) -> None:
    measure = parse_agreement(f"{name}@{k}")
    assert str(measure) == f"{name}@{k}"
    assert parse_agreement(str(measure)) == measure


def test_a_name_computes_what_it_says() -> None:
    one, other = run("abcd"), run("dcxy")
    assert value(parse_agreement("Jaccard@2")(one, other)) == 0
    assert value(parse_agreement("Jaccard@4")(one, other)) == pytest.approx(2 / 6)
    assert value(parse_agreement("RBO@4")(one, other)) == pytest.approx(plain_rbo("abcd", "dcxy", 0.9))


def test_a_name_that_compares_two_rankings_is_no_measure_against_judgements() -> None:
    for name in ("RBO@10", "Jaccard@10", "rbo@5"):
        with pytest.raises(InputError, match="compares two rankings") as caught:
            parse(name)
        assert "tiepoint audit" in caught.value.problems[0].fix
    for name in ("nDCG@10", "RBO(p=9)@10", "RBO@0", "RBO", "RBO@10001"):
        with pytest.raises(InputError):
            parse_agreement(name)
    assert not set(agreements()) & set(kinds())


def test_what_has_no_agreement_is_refused() -> None:
    with pytest.raises(InputError, match="first 11 hits"):
        jaccard(run("a"), run("b"), 11)
    with pytest.raises(InputError, match="1 and of 2 queries"):
        rank_biased_overlap(run("a"), run("b", "c"), 2)
    with pytest.raises(InputError, match="persistence"):
        rank_biased_overlap(run("a"), run("b"), 2, 1.0)
    with pytest.raises(InputError, match="first 11 hits"):
        entered(run("a"), run("b"), k=11)
