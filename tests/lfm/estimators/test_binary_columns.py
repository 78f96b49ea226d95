import itertools

import numpy as np
import pytest

from lfm import hamming_error
from lfm.estimators.binary_columns import (
    _distances_to_binary,
    _independent,
    columns_near_space,
    combined_columns,
    cut_in_two,
    exchanged,
    independent_sources,
    nearest_columns,
    smallest_determinant,
    split_in_two,
)


def space(K, seed, noise=0.0):
    """A random binary Z of rank K and a Y with the same column space, up to noise."""
    rng = np.random.default_rng(seed)
    Z = rng.integers(0, 2, (100, K)).astype(np.uint8)
    Y = Z @ rng.standard_normal((K, K)) * 3
    return Z, Y + noise * rng.standard_normal(Y.shape)


def test_distances_are_those_of_every_code():
    rng = np.random.default_rng(0)
    candidates = rng.standard_normal((7, 4))
    distances = _distances_to_binary(candidates, 4)
    for code in range(1, 16):
        b = np.array([(code >> bit) & 1 for bit in range(4)])
        value = candidates @ b
        expected = np.mean(np.minimum(value**2, (value - 1) ** 2))
        assert distances[code] == pytest.approx(expected)


@pytest.mark.parametrize("K", [1, 3, 8])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_the_binary_columns_of_a_space_are_found(K, noise):
    Z, Y = space(K, K, noise)
    assert hamming_error(columns_near_space(Y), Z) == 0


def test_swaps_end_where_every_candidate_is_a_whole_combination():
    directions = np.array(list(itertools.product([0.0, 1.0], repeat=3))[1:])
    large = [
        int(np.flatnonzero((directions == row).all(axis=1))[0]) for row in ([1, 1, 0], [1, 0, 1], [0, 1, 1])
    ]
    assert abs(np.linalg.det(directions[large])) == pytest.approx(2)
    chosen = smallest_determinant(directions, large)
    assert abs(np.linalg.det(directions[chosen])) == pytest.approx(1)


def test_the_true_columns_are_picked_out_of_a_crowd():
    Z, Y = space(6, 3, 0.02)
    wrong = np.random.default_rng(4).integers(0, 2, (100, 40)).astype(np.uint8)
    crowd = np.column_stack([wrong, Z, wrong[:, :3], np.zeros((100, 1), np.uint8)])
    assert hamming_error(nearest_columns(Y, crowd), Z) == 0


def test_independent_sources_are_separated():
    Z, Y = space(4, 5, 0.02)
    assert hamming_error(independent_sources(Y, "logcosh", 0), Z) < 0.1


def test_the_cluster_further_from_zero_is_on():
    values = np.array([0.1, -0.1, 2.0, 2.2, 0.0])
    np.testing.assert_array_equal(split_in_two(values), [0, 0, 1, 1, 0])
    np.testing.assert_array_equal(split_in_two(-values), [0, 0, 1, 1, 0])


def squared_residual(Z, X):
    return float(np.sum((X - Z @ np.linalg.lstsq(Z.astype(float), X)[0]) ** 2))


@pytest.mark.parametrize("seed", range(6))
def test_exchanged_columns_cannot_be_bettered_by_one_more_exchange(seed):
    rng = np.random.default_rng(seed)
    every = rng.integers(0, 2, (30, 9)).astype(np.uint8)
    X = every[:, 5:] @ rng.standard_normal((4, 6)) + 0.3 * rng.standard_normal((30, 6))
    before, pool = every[:, :4], every[:, 4:]
    after = exchanged(before, pool, X)
    assert squared_residual(after, X) < squared_residual(before, X)
    for old, column in itertools.product(range(4), every.T):
        other = after.copy()
        other[:, old] = column
        assert squared_residual(other, X) >= (1 - 1.1e-3) * squared_residual(after, X)


def test_a_repeated_column_is_exchanged_first_and_the_truth_is_left_alone():
    rng = np.random.default_rng(0)
    Z = rng.integers(0, 2, (40, 4)).astype(np.uint8)
    X = Z @ rng.standard_normal((4, 8)) + 0.01 * rng.standard_normal((40, 8))
    doubled = Z[:, [0, 1, 2, 2]]
    np.testing.assert_array_equal(np.unique(exchanged(doubled, Z[:, 3:], X), axis=1), np.unique(Z, axis=1))
    assert exchanged(Z, rng.integers(0, 2, (40, 20)).astype(np.uint8), X) is Z
    assert exchanged(Z, Z[:, :0], X) is Z


def test_exchanges_end_on_data_without_noise_where_many_columns_do_as_well():
    rng = np.random.default_rng(0)
    Z = rng.integers(0, 2, (50, 5)).astype(np.uint8)
    Z[:, 1] |= Z[:, 0]
    X = Z @ rng.standard_normal((5, 7))
    pool = combined_columns(Z, X)
    after = exchanged(pool[:, :5], np.column_stack([pool[:, 5:], Z, Z]), X)
    assert squared_residual(after, X) <= 1e-6 * np.sum(X**2)
    assert exchanged(Z, pool, X) is Z


def test_combined_columns_hold_every_pair_and_what_is_left():
    Z = np.array([[1, 0], [1, 1], [0, 1], [0, 0], [0, 0]], dtype=np.uint8)
    Y = np.array([[1.0], [2.0], [1.0], [0.0], [5.0]])  # the last row is explained by neither
    columns = {tuple(column) for column in combined_columns(Z, Y).T}
    pairs = {(1, 1, 1, 0, 0), (0, 1, 0, 0, 0), (1, 0, 0, 0, 0), (0, 0, 1, 0, 0)}
    assert columns == pairs | {(0, 0, 0, 0, 1)}


@pytest.mark.parametrize("seed", range(6))
def test_a_cut_is_the_best_of_all_cuts(seed):
    values = np.random.default_rng(seed).normal(size=12) * 3 + (seed % 2) * np.arange(12)
    low, high, threshold = cut_in_two(values)
    ordered = np.sort(values)
    costs = [np.var(ordered[:n]) * n + np.var(ordered[n:]) * (12 - n) for n in range(1, 12)]
    n = 1 + int(np.argmin(costs))
    assert (low, high) == pytest.approx((ordered[:n].mean(), ordered[n:].mean()))
    assert threshold == pytest.approx((ordered[n - 1] + ordered[n]) / 2)


def test_the_first_independent_rows_are_chosen_and_as_many_as_asked():
    rows = np.array([[1.0, 0, 0], [2, 0, 0], [1, 1e-9, 0], [1, 1, 0], [0, 1, 0], [0, 0, 3], [1, 2, 3]])
    assert _independent(rows, 3) == [0, 3, 5]
    assert _independent(rows[:5], 3) == [0, 3]
    assert _independent(1e-12 * rows, 3) == [0, 3, 5]  # whatever the unit


def test_fewer_columns_than_directions_are_taken_as_they_are():
    Z, Y = space(5, 7, 0.01)
    np.testing.assert_array_equal(
        np.unique(nearest_columns(Y, Z[:, [1, 1, 3]]), axis=1), np.unique(Z[:, [1, 3]], axis=1)
    )


def test_of_columns_that_are_near_those_that_generate_the_others_are_kept():
    """Sums of pairs are as near as the features themselves, and three of them have determinant 2."""
    Z = np.array(list(itertools.product([0, 1], repeat=3)), dtype=np.uint8)
    Z = np.tile(Z[Z.sum(axis=1) < 2], (5, 1))  # never two on together: sums of columns are binary
    Y = Z @ np.random.default_rng(0).standard_normal((3, 3))
    sums = Z[:, [0, 0, 1]] + Z[:, [1, 2, 2]]
    chosen = nearest_columns(Y, np.column_stack([sums, Z[:, :1]]))
    whole = np.linalg.lstsq(Z.astype(float), chosen.astype(float))[0]
    assert abs(np.linalg.det(whole)) == pytest.approx(1)


def test_an_exchange_must_gain_a_thousandth_of_what_is_left():
    """Columns that differ from Z in one bit of 400 gain a little more than that, a little less, or lose."""
    rng = np.random.default_rng(3)
    Z = rng.integers(0, 2, (400, 1)).astype(np.uint8)
    X = Z @ rng.standard_normal((1, 5)) + rng.standard_normal((400, 5))
    before = squared_residual(Z, X)
    gains = []
    for n in range(400):
        other = Z.copy()
        other[n] ^= 1
        gain = 1 - squared_residual(other, X) / before
        if abs(gain - 1e-3) > 1e-5:
            gains.append(gain)
            np.testing.assert_array_equal(exchanged(Z, other, X), other if gain > 1e-3 else Z)
    assert 0.05 < np.mean(np.array(gains) > 1e-3) < 0.5
    assert np.mean((np.array(gains) > 0) & (np.array(gains) < 1e-3)) > 0.02
