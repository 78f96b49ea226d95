import itertools

import numpy as np
import pytest

from lfm import Pdc, enumerate_candidates
from lfm.equivalence.counting import _count_by_flats, count_bases
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
