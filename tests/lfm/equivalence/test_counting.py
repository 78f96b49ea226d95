import itertools
import math

import numpy as np
import pytest

from lfm import InvalidInputError, Pdc, enumerate_candidates
from lfm.equivalence.counting import (
    _by_volume,
    _count_by_flats,
    _determinant,
    _is_graphic,
    _largest_minor,
    _log_largest_minor,
    _lower_bound,
    _parts,
    _upright,
    count_bases,
)
from lfm.synthetic import constrained_states, with_bias


def _with_units(seed: int) -> np.ndarray:
    """The unit vectors of up to four dimensions and a few small integer vectors, none parallel to another."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 5))
    vectors = np.vstack([np.eye(K, dtype=np.int64), rng.integers(-1, 3, size=(6, K))])
    return np.array(
        [v for n, v in enumerate(vectors) if v.any() and all(_apart(v, other) for other in vectors[:n])]
    )


def _apart(v: np.ndarray, other: np.ndarray) -> bool:
    return np.linalg.matrix_rank(np.vstack([v, other])) == 2 or not other.any()


def _brute_force(vectors: np.ndarray, weights: np.ndarray) -> int:
    chosen = np.array(list(itertools.combinations(range(len(vectors)), vectors.shape[1])))
    regular = np.abs(np.linalg.det(vectors[chosen].astype(float))) > 0.5
    return int(weights[chosen[regular]].prod(axis=1).sum())


@pytest.mark.parametrize("seed", range(30))
def test_bases_are_counted_as_by_listing_them(seed: int) -> None:
    vectors = _with_units(seed)
    ones = np.ones(len(vectors), dtype=np.int64)
    expected = _brute_force(vectors, ones)
    assert count_bases(vectors) == (expected, True, expected)


@pytest.mark.parametrize("seed", range(10))
def test_a_weight_counts_as_so_many_parallel_vectors(seed: int) -> None:
    vectors = _with_units(seed)
    weights = np.random.default_rng(seed).integers(1, 4, size=len(vectors))
    expected = _brute_force(vectors, weights)
    assert _count_by_flats(vectors, weights, 10_000) == expected
    repeated = np.repeat(vectors, weights, axis=0)
    assert _count_by_flats(repeated, np.ones(len(repeated), dtype=np.int64), 10_000) == expected


def test_more_flats_than_allowed_are_given_up() -> None:
    vectors = np.vstack([np.eye(4, dtype=np.int64), np.triu(np.ones((4, 4), dtype=np.int64))[:, 1:].T])
    ones = np.ones(len(vectors), dtype=np.int64)
    assert _count_by_flats(vectors, ones, 10) is None


@pytest.mark.parametrize("max_flats", [1, 8, 20])
def test_a_count_cut_short_is_a_lower_bound(max_flats: int, brute_force) -> None:
    for seed in range(60):
        columns = brute_force.columns(brute_force.full_rank_states(seed, K_max=4))
        doubled = np.rint(columns * 60).astype(np.int64)
        if not np.allclose(doubled, columns * 60):
            continue
        expected = sum(1 for _ in brute_force.bases(columns))
        counted = count_bases(doubled, 60, max_flats=max_flats)
        assert counted.n == expected if counted.exact else 1 <= counted.n <= expected
        assert expected <= counted.at_most


def test_a_house_has_more_solutions_than_can_be_counted_and_both_bounds_hold() -> None:
    """Against the exact count, which takes a while longer."""
    rng = np.random.default_rng(3)
    Z = with_bias(constrained_states(60, 6, [(0, 1, Pdc.DISJOINT), (1, 2, Pdc.DISJOINT)], rng, p=0.3))
    columns = enumerate_candidates(Z).numerators
    exact = count_bases(columns)
    assert exact.exact
    bounded = count_bases(columns, max_flats=200)
    assert not bounded.exact
    assert exact.n / 20 < bounded.n <= exact.n <= bounded.at_most < 20 * exact.n


@pytest.mark.parametrize("seed", range(20))
def test_a_determinant_is_exact_where_floating_point_is_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    V = (
        rng.integers(-3, 4, size=(9, int(rng.integers(1, 5))))
        + 4 * np.eye(9, dtype=np.int64)[:, : rng.integers(1, 2)]
    )
    gram = V.T @ V
    if np.linalg.matrix_rank(gram) == len(gram):
        assert _determinant(gram) == round(np.linalg.det(gram.astype(float)))
    large = 10**9 * np.eye(4, dtype=np.int64) + 1
    assert _determinant(large) == 10**27 * (10**9 + 4)  # of aI + 11ᵀ: a³(a + 4)


def _can_be_signed(vectors: np.ndarray) -> bool:
    """Whether some signs of the coordinates make every vector of two entries e_i − e_j, by trying all."""
    if np.abs(vectors).max() > 1 or np.count_nonzero(vectors, axis=1).max() > 2:
        return False
    pairs = vectors[np.count_nonzero(vectors, axis=1) == 2]
    signs = np.array(list(itertools.product((1, -1), repeat=vectors.shape[1])))
    return bool(np.any(np.all((signs @ pairs.T) == 0, axis=1)))


@pytest.mark.parametrize("seed", range(60))
def test_vectors_are_graphic_where_some_signs_make_them_edges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    K, n = int(rng.integers(2, 6)), int(rng.integers(1, 6))
    vectors = np.zeros((n, K), dtype=np.int64)
    for vector in vectors:
        vector[rng.choice(K, size=2, replace=False)] = rng.choice([-1, 1], size=2)
    vectors = np.vstack([np.eye(K, dtype=np.int64), vectors])
    if seed % 5 == 4:
        vectors[-1, : 2 + seed % 2] = 1 + (seed % 3 == 0)
    assert _is_graphic(vectors) == _can_be_signed(vectors)


def test_no_minor_exceeds_its_bounds_and_hadamard_matrices_reach_them() -> None:
    diagonal = np.array([[2, 0], [0, 3], [0, 0], [1, 0]])
    assert _largest_minor(diagonal) == pytest.approx(6)
    assert _largest_minor(np.array([[1, 1], [1, -1]])) == pytest.approx(2)
    # (K + 1)^((K + 1)/2) / 2^K is 2 for K = 3 and 32 for K = 7, and binary matrices reach both.
    assert _log_largest_minor(3, 1) == pytest.approx(np.log(2))
    assert _log_largest_minor(7, 1) == pytest.approx(np.log(32))
    assert _log_largest_minor(3, 5) == pytest.approx(np.log(2 * 5**3))


@pytest.mark.parametrize("seed", range(30))
def test_bounds_by_volume_and_by_contraction_hold_and_the_second_is_no_worse(seed: int) -> None:
    vectors = _with_units(seed)
    weights = np.random.default_rng(seed).integers(1, 4, size=len(vectors))
    K = vectors.shape[1]
    chosen = np.array(list(itertools.combinations(range(len(vectors)), K)))
    minors = np.rint(np.linalg.det(vectors[chosen].astype(float)))
    squares = float(weights[chosen].prod(axis=1) @ minors**2)
    largest = float(np.abs(minors).max())
    by_volume = _by_volume(vectors, weights, math.log(largest))
    neighbours = 1 + np.count_nonzero(vectors) - K
    assert by_volume in (neighbours, int(squares / largest**2), int(squares / largest**2) - 1)
    assert by_volume >= neighbours
    expected = _brute_force(vectors, weights)
    assert by_volume <= _lower_bound(vectors, weights, math.log(largest), 1, 3) <= expected
    assert _lower_bound(vectors, weights, math.log(largest), 1, 0) == by_volume


@pytest.mark.parametrize("seed", range(10))
def test_in_two_dimensions_the_contraction_counts_every_pair(seed: int) -> None:
    vectors = np.array([[1, 0], [0, 1], [1, 1], [1, -1]])
    weights = np.random.default_rng(seed).integers(1, 5, size=4)
    weights[0] = 1
    largest = math.log(2)  # of (1, 1) and (1, −1)
    assert _lower_bound(vectors, weights, largest, 1000, 1) == _brute_force(vectors, weights)


def test_each_row_is_turned_upright_by_its_first_entry() -> None:
    rows = np.array([[0, -2, 1], [3, -1, 0], [-1, 5, 5], [0, 0, -4]])
    assert _upright(rows).tolist() == [[0, 2, -1], [3, -1, 0], [1, -5, -5], [0, 0, 4]]


def test_parts_share_no_coordinate_and_their_counts_multiply() -> None:
    one = np.array([[1, 0], [0, 1], [1, 1]])
    both = np.zeros((6, 4), dtype=np.int64)
    both[:3, [0, 2]], both[3:, [1, 3]] = one, one
    parts = [(rows.tolist(), coordinates.tolist()) for rows, coordinates in _parts(both)]
    assert sorted(parts) == [([0, 1, 2], [0, 2]), ([3, 4, 5], [1, 3])]
    assert count_bases(both).n == count_bases(one).n ** 2 == 9


@pytest.mark.parametrize("vectors", [[[1, 0], [1, 1]], [[1, 0], [0, 0.5], [0, 1]], [[2, 0], [0, 2], [1, 1]]])
def test_vectors_without_every_unit_vector_are_refused(vectors: list[list[float]]) -> None:
    with pytest.raises(InvalidInputError, match="every unit vector, times the denominator"):
        count_bases(np.array(vectors))
