import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfm import InvalidInputError, RankDeficientError, lattice_index
from lfm.equivalence.hermite import (
    _binary_determinant,
    _coordinates,
    _determinant_modulo,
    _extended_gcd,
    _insert,
    _some_minors,
    row_lattice,
)


def _minors(Z: np.ndarray) -> list[int]:
    rows = np.unique(Z, axis=0).astype(float)
    return [
        round(np.linalg.det(rows[list(chosen)]))
        for chosen in itertools.combinations(range(len(rows)), Z.shape[1])
    ]


@given(st.integers(0, 10_000))
@settings(max_examples=150, deadline=None)
def test_the_index_is_the_gcd_of_all_minors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 6))
    Z = (rng.random((int(rng.integers(K, K + 5)), K)) < 0.6).astype(np.uint8)
    if np.linalg.matrix_rank(Z.astype(float)) < K:
        with pytest.raises(RankDeficientError):
            lattice_index(Z)
        return
    assert lattice_index(Z) == math.gcd(*_minors(Z))
    lattice = row_lattice(Z)
    H = lattice.basis.astype(int)
    assert np.array_equal(H, np.triu(H))
    assert math.prod(np.diag(H)) == lattice.index
    assert lattice.coordinates is not None
    distinct = {tuple(row) for row in lattice.coordinates @ H}
    assert distinct == {tuple(row) for row in Z}


@given(st.integers(0, 10_000))
@settings(max_examples=150, deadline=None)
def test_rows_of_any_whole_numbers_join_the_lattice_of_a_basis(seed: int) -> None:
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 4))
    rows = rng.integers(-9, 10, size=(3, K))
    basis = [12 * row for row in np.eye(K, dtype=np.int64).astype(object)]
    for row in rows:
        _insert(basis, row.astype(object))
    H = np.array(basis, dtype=object).astype(np.int64)
    assert np.array_equal(H, np.triu(H))
    everything = np.vstack([12 * np.eye(K, dtype=np.int64), rows])
    minors = [round(np.linalg.det(everything[list(c)])) for c in itertools.combinations(range(K + 3), K)]
    assert abs(math.prod(np.diag(H).tolist())) == math.gcd(*minors)
    np.testing.assert_allclose(np.mod(everything @ np.linalg.inv(H) + 0.5, 1), 0.5, atol=1e-9)


def test_a_large_index_of_a_square_matrix_is_its_determinant() -> None:
    K = 30  # the complement of the identity has determinant ±(K − 1)
    assert lattice_index(1 - np.eye(K, dtype=int)) == K - 1


def test_blocks_with_index_two_multiply() -> None:
    pairs = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=np.uint8)  # determinant −2
    Z = np.kron(np.eye(15, dtype=np.uint8), pairs)
    assert lattice_index(Z) == 2**15


def test_an_index_beyond_int64_is_exact_too() -> None:
    pairs = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=np.uint8)
    Z = np.kron(np.eye(34, dtype=np.uint8), pairs)
    assert lattice_index(Z) == 2**34
    more = np.vstack([Z, np.eye(Z.shape[1], dtype=np.uint8)[0]])
    assert lattice_index(more) == 2**33


def test_real_features_that_come_and_go_generate_every_integer_vector() -> None:
    Z = (np.random.default_rng(0).random((500, 30)) < 0.5).astype(np.uint8)
    assert lattice_index(Z) == 1


def test_nan_and_non_binary_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="Z holds 1 entries that are NaN"):
        lattice_index([[1.0, np.nan], [0.0, 1.0]])
    with pytest.raises(InvalidInputError, match="Z must hold only 0 and 1"):
        lattice_index([[1, 2], [0, 1]])


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_determinants_modulo_a_prime_and_by_remainders_are_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 7))
    matrix = rng.integers(0, 7, size=(K, K))
    exact = round(np.linalg.det(matrix.astype(float)))
    for p in (7, 13, 10007):
        assert _determinant_modulo(matrix % p, p) == exact % p
    binary = matrix % 2
    assert _binary_determinant(binary) == abs(round(np.linalg.det(binary.astype(float))))


@given(st.integers(1, 10**6), st.integers(-(10**6), 10**6))
@settings(max_examples=60, deadline=None)
def test_the_extended_gcd_is_a_combination_of_both_numbers(a: int, b: int) -> None:
    g, x, y = _extended_gcd(a, b)
    assert g == math.gcd(a, b) == x * a + y * b


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_a_normal_form_is_reduced_and_coordinates_tell_what_is_inside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    Z = (rng.random((K + 1, K)) < 0.7).astype(np.uint8)
    if np.linalg.matrix_rank(Z.astype(float)) < K:
        return
    H = row_lattice(Z).basis.astype(int)
    for i, j in itertools.combinations(range(K), 2):
        assert 0 <= H[i, j] < H[j, j]
    vectors = rng.integers(-4, 5, size=(20, K))
    A, inside = _coordinates(H, vectors)
    whole = np.linalg.solve(H.T.astype(float), vectors.T.astype(float)).T
    np.testing.assert_array_equal(inside, np.all(np.abs(whole - np.rint(whole)) < 1e-9, axis=1))
    np.testing.assert_array_equal(A[inside] @ H, vectors[inside])


def test_a_few_minors_find_that_the_index_is_one_and_name_independent_rows() -> None:
    rng = np.random.default_rng(0)
    pairs = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    rows = np.vstack([pairs, np.eye(3, dtype=np.int64), [[1, 1, 1]]])
    gcd, chosen = _some_minors(rows)
    assert gcd == 1
    assert chosen.tolist() == [0, 1, 2]  # those of the first minor, which is 2
    assert _some_minors(pairs)[0] == 2
    wide = (rng.random((40, 8)) < 0.5).astype(np.int64)
    gcd, chosen = _some_minors(wide)
    assert np.linalg.matrix_rank(wide[chosen]) == 8
    assert gcd % lattice_index(wide) == 0
