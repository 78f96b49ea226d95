import math

import numpy as np
import pytest

from lfm import (
    InvalidInputError,
    Pdc,
    RankDeficientError,
    enumerate_candidates,
    nonbinarity,
    sample_candidates,
)
from lfm.synthetic import constrained_states, with_bias


@pytest.mark.parametrize("seed", range(60))
def test_the_enumeration_is_brute_force(seed: int, brute_force) -> None:
    Z = brute_force.full_rank_states(seed)
    found = enumerate_candidates(Z)
    assert found.complete
    assert brute_force.as_set(found.U) == brute_force.as_set(brute_force.columns(Z))
    assert len(brute_force.as_set(found.U)) == len(found)


@pytest.mark.parametrize("pdc", list(Pdc))
def test_every_pdc_adds_its_own_column(pdc: Pdc, brute_force) -> None:
    Z = constrained_states(300, 5, [(1, 3, pdc)], np.random.default_rng(0))
    found = enumerate_candidates(Z)
    assert brute_force.as_set(found.U) == brute_force.as_set(brute_force.columns(Z))
    extra = {Pdc.DISJOINT: [0, 1, 0, 1, 0], Pdc.IMPLIES: [0, -1, 0, 1, 0], Pdc.IMPLIED_BY: [0, 1, 0, -1, 0]}
    others = set(map(tuple, found.numerators)) - set(map(tuple, np.eye(5, dtype=int)))
    assert others == {tuple(extra[pdc])}


def test_fractions_are_found_where_the_lattice_index_is_two() -> None:
    Z = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    found = enumerate_candidates(Z)
    assert found.index == 2
    assert found.denominator == 2
    assert len(found) == 7  # any three bits can be had
    assert [0.5, 0.5, -0.5] in found.U.tolist()
    assert not nonbinarity(Z, found.U.T).any()


def test_tolerant_candidates_are_all_below_the_limit() -> None:
    rng = np.random.default_rng(1)
    Z = constrained_states(60, 4, [(0, 1, Pdc.DISJOINT)], rng)
    Z[0, :2] = 1  # one row breaks the condition
    assert len(enumerate_candidates(Z)) == 4
    found = enumerate_candidates(Z, max_nonbinarity=2)
    np.testing.assert_array_equal(found.f, nonbinarity(Z, found.U.T))
    assert found.f.max() <= 2
    assert [1, 1, 0, 0] in found.U.tolist()
    box = np.stack(np.meshgrid(*[np.arange(-3, 4)] * 4), axis=-1).reshape(-1, 4)
    inside = box[(nonbinarity(Z, box.T) <= 2) & box.any(axis=1)]
    assert set(map(tuple, inside)) == set(map(tuple, found.numerators))


def test_candidates_are_sorted_by_f_then_by_their_entries() -> None:
    Z = with_bias(constrained_states(40, 4, [], np.random.default_rng(0)))
    found = enumerate_candidates(Z, max_nonbinarity=30)
    assert found.numerators.min() < 0
    rows = [(f, *u) for f, u in zip(found.f.tolist(), found.numerators.tolist(), strict=True)]
    assert rows == sorted(rows)


def test_column_order_changes_nothing(brute_force) -> None:
    rng = np.random.default_rng(2)
    Z = with_bias(constrained_states(80, 6, [(0, 1, Pdc.IMPLIES)], rng))
    order = rng.permutation(7)
    assert brute_force.as_set(enumerate_candidates(Z[:, order]).U) == brute_force.as_set(
        enumerate_candidates(Z).U[:, order]
    )


def test_sixty_features_that_are_seldom_on_are_searched_to_the_end() -> None:
    """Rows known early cut the tree: by the ellipsoid alone two million nodes do not suffice."""
    Z = (np.random.default_rng(1).random((6000, 60)) < 0.03).astype(np.uint8)
    found = enumerate_candidates(Z, max_nodes=50_000)
    assert found.complete
    assert not nonbinarity(Z, found.U.T).any()
    assert len(found) > 60


def test_unit_vectors_stay_when_the_budget_is_spent() -> None:
    Z = with_bias(constrained_states(50, 8, [], np.random.default_rng(0)))
    found = enumerate_candidates(Z, max_nodes=5)
    assert not found.complete
    np.testing.assert_array_equal(found.U[found.unit_positions()], np.eye(9))


def test_algorithm_1_finds_only_true_columns_and_many_of_them() -> None:
    rng = np.random.default_rng(0)
    Z = with_bias(constrained_states(100, 6, [], rng))
    everything = set(map(tuple, enumerate_candidates(Z).numerators))
    sampled = sample_candidates(Z, n_samples=5000, rng=rng)
    assert not sampled.complete
    assert not sampled.f.any()
    assert set(map(tuple, sampled.numerators)) == everything
    few = sample_candidates(Z, n_samples=1, rng=rng)
    np.testing.assert_array_equal(few.U[few.unit_positions()], np.eye(7))


def test_algorithm_1_tolerant_reaches_columns_that_are_not_binary() -> None:
    rng = np.random.default_rng(0)
    Z = constrained_states(40, 4, [], rng)
    found = sample_candidates(Z, n_samples=3000, decay=0.5, rng=rng)
    np.testing.assert_array_equal(found.f, nonbinarity(Z, found.U.T))
    assert found.f.max() > 0
    again = sample_candidates(Z, n_samples=3000, decay=0.5, rng=np.random.default_rng(9))
    same = sample_candidates(Z, n_samples=3000, decay=0.5, rng=np.random.default_rng(9))
    np.testing.assert_array_equal(again.numerators, same.numerators)


def test_sampled_points_lie_on_the_corrected_sphere() -> None:
    """Erratum E1: ½‖s − μ‖² − ½‖μ‖² = f exactly where the radius is √(‖μ‖² + 2f), not √(‖μ‖² + 2f²)."""
    Z = constrained_states(40, 3, [], np.random.default_rng(0)).astype(float)
    Lambda_inverse = np.linalg.cholesky(Z.T @ Z).T
    mu = 0.5 * np.linalg.solve(Lambda_inverse.T, Z.sum(axis=0))
    u = np.array([2.0, -1.0, 1.0])
    f = 0.5 * (u @ Z.T @ Z @ u - u @ Z.sum(axis=0))
    assert f > 1
    radius = np.linalg.norm(Lambda_inverse @ u - mu)
    assert math.isclose(radius, math.sqrt(mu @ mu + 2 * f))


@pytest.mark.parametrize(
    ("Z", "error", "message"),
    [
        (np.zeros((3, 0)), InvalidInputError, r"Z has shape \(3, 0\)"),
        ([[1, 0], [np.nan, 1]], InvalidInputError, "NaN"),
        ([[1, 0], [0.5, 1]], InvalidInputError, "row 1, column 0 is .*0.5.*threshold"),
        ([1, 0, 1], InvalidInputError, "shape"),
        (None, InvalidInputError, r"shape \(\)"),
        ([[1, 0], [1]], InvalidInputError, "Z must be an array: .*inhomogeneous"),
        ([[1, 0], [0, 1j]], InvalidInputError, "real numbers, got complex128"),
        ([["a"]], InvalidInputError, "real numbers"),
        ([[1, 0, 1]], RankDeficientError, "N = 1 rows and K = 3"),
        ([[1, 0], [1, 0]], RankDeficientError, "column 1 is zero"),
        ([[1, 1], [0, 0]], RankDeficientError, "columns 0 and 1 are equal"),
    ],
)
def test_bad_states_are_named(Z, error, message) -> None:
    with pytest.raises(error, match=message):
        enumerate_candidates(Z)
    with pytest.raises(error, match=message):
        sample_candidates(Z, n_samples=10, rng=np.random.default_rng(0))


def test_bad_options_are_named() -> None:
    Z = np.eye(2)
    with pytest.raises(
        InvalidInputError, match="max_nonbinarity must be a whole number of at least 0, got -1"
    ):
        enumerate_candidates(Z, max_nonbinarity=-1)
    with pytest.raises(InvalidInputError, match="for a share of the rows give"):
        enumerate_candidates(Z, max_nonbinarity=0.5)
    with pytest.raises(InvalidInputError, match="max_nodes must be a whole number of at least 1, got 0"):
        enumerate_candidates(Z, max_nodes=0)
    for bad in (math.nan, math.inf, "a", None):
        with pytest.raises(InvalidInputError, match="max_nonbinarity must be a whole number"):
            enumerate_candidates(Z, max_nonbinarity=bad)
    for bad in (0, 1.5, math.nan):
        with pytest.raises(InvalidInputError, match="n_samples"):
            sample_candidates(Z, n_samples=bad, rng=np.random.default_rng(0))
    for bad in (None, 3, np.random.RandomState(0)):
        with pytest.raises(InvalidInputError, match=r"write numpy\.random\.default_rng\(seed\)"):
            sample_candidates(Z, n_samples=5, rng=bad)
    with pytest.raises(InvalidInputError, match="decay = 1e-20 draws vectors too large"):
        sample_candidates(Z, n_samples=5, decay=1e-20, rng=np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="decay must be positive"):
        sample_candidates(Z, n_samples=5, decay=0.0, rng=np.random.default_rng(0))
