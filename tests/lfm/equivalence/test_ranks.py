from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfm import RankDeficientError
from lfm.equivalence.ranks import (
    Dependence,
    _solve_exactly,
    check_independent,
    column_dependences,
    distinct_rows,
    independent_rows,
    inverse_modulo,
    primes,
)


def _random(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    N, K = rng.integers(1, 9), rng.integers(1, 6)
    return (rng.random((N, K)) < rng.uniform(0.2, 0.8)).astype(np.uint8)


@given(st.integers(0, 10_000))
@settings(max_examples=200, deadline=None)
def test_dependences_hold_and_their_number_is_the_rank_deficit(seed: int) -> None:
    Z = _random(seed)
    found = column_dependences(Z)
    assert len(found) == Z.shape[1] - np.linalg.matrix_rank(Z.astype(float))
    for dependence in found:
        combined = sum((float(c) * Z[:, k].astype(float) for k, c in dependence.terms), np.zeros(len(Z)))
        np.testing.assert_allclose(combined, Z[:, dependence.column], atol=1e-12)


def test_distinct_rows_with_their_counts_are_z_in_another_order() -> None:
    Z = (np.random.default_rng(0).random((200, 4)) < 0.5).astype(np.uint8)
    rows, counts, of = distinct_rows(Z)
    np.testing.assert_array_equal(rows[of], Z)
    again = np.repeat(rows, counts, axis=0)
    assert sorted(map(tuple, again)) == sorted(map(tuple, Z))
    assert len(np.unique(rows, axis=0)) == len(rows)


@pytest.mark.parametrize(
    ("Z", "message"),
    [
        ([[1, 0], [1, 0], [0, 0]], r"rank\(Z\) = 1 < K = 2: column 1 is zero"),
        ([[1, 1], [0, 0], [1, 1]], "columns 0 and 1 are equal"),
        ([[1, 0, 1], [0, 1, 1], [0, 0, 0], [1, 0, 1]], r"column 2 = column 0 \+ column 1"),
        ([[1, 1, 0]], "N = 1 rows and K = 3"),
    ],
)
def test_dependent_columns_are_named(Z: list[list[int]], message: str) -> None:
    with pytest.raises(RankDeficientError, match=message):
        check_independent(np.array(Z, dtype=np.uint8))


def test_the_primes_are_the_largest_below_two_to_the_31() -> None:
    assert primes(3) == (2**31 - 1, 2**31 - 19, 2**31 - 61)


@given(st.integers(1, 10**9), st.sampled_from([5, 97, 2**31 - 1]))
@settings(max_examples=50, deadline=None)
def test_an_inverse_modulo_a_prime_multiplies_to_one(a: int, p: int) -> None:
    if a % p:
        assert inverse_modulo(a % p, p) * a % p == 1


@given(st.integers(0, 10_000))
@settings(max_examples=100, deadline=None)
def test_independent_rows_are_the_first_that_raise_the_rank(seed: int) -> None:
    rows = np.random.default_rng(seed).integers(-2, 3, size=(7, 4))
    expected: list[int] = []
    for r in range(7):
        if np.linalg.matrix_rank(rows[[*expected, r]]) == len(expected) + 1:
            expected.append(r)
    assert independent_rows(rows % primes(1)[0], primes(1)[0]).tolist() == expected


def test_rows_with_few_ones_come_first() -> None:
    Z = (np.random.default_rng(1).random((60, 9)) < 0.5).astype(np.uint8)
    assert np.all(np.diff(distinct_rows(Z).rows.sum(axis=1, dtype=int)) >= 0)


def test_a_relation_is_written_with_its_signs_and_fractions() -> None:
    terms = ((0, Fraction(-1)), (2, Fraction(1, 2)), (4, Fraction(1)))
    assert str(Dependence(5, terms)) == "column 5 = − column 0 + 1/2·column 2 + column 4"
    assert str(Dependence(1, ((0, Fraction(2)),))) == "column 1 = 2·column 0"
    assert (
        str(Dependence(3, ((1, Fraction(1)),))) == "columns 1 and 3 are equal (features always on together)"
    )


@given(st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_equations_are_solved_in_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, right = rng.integers(-4, 5, size=(4, 4)), rng.integers(-9, 10, size=4)
    if round(np.linalg.det(matrix)):
        x = _solve_exactly(matrix, right)
        assert [sum(int(a) * b for a, b in zip(row, x, strict=True)) for row in matrix] == right.tolist()


def test_a_column_that_is_half_a_sum_of_others_is_named() -> None:
    """Three columns of which each row has two, and their half sum, which is always on."""
    Z = np.array([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]] * 2)
    half = Fraction(1, 2)
    assert column_dependences(Z) == [Dependence(3, ((0, half), (1, half), (2, half)))]
