import numpy as np
import pytest

from lfm.hopper.repair import (
    _group,
    agreed_features,
    group_means,
    majority,
    projected,
    repaired,
    repeated_rows,
)
from lfm.synthetic import constrained_states, images
from lfm.thresholds import HOPPER


@pytest.mark.parametrize("refit", [False, True])
def test_flipped_bits_are_set_right_by_the_data(refit: bool) -> None:
    rng = np.random.default_rng(0)
    data = images(6, 300, 2, 0.1, rng)
    Z = data.truth.Z ^ (rng.random(data.truth.Z.shape) < 0.02)
    W = np.linalg.lstsq(Z.astype(float), data.X, rcond=None)[0] if refit else data.truth.W
    found = projected(Z, W, data.X)
    assert found is not None
    np.testing.assert_array_equal(found.Z, data.truth.Z)
    assert found.residual(data.X) <= data.truth.residual(data.X)


def test_a_feature_with_more_wrong_bits_than_right_ones_is_found_by_the_votes() -> None:
    """On in 12 rows of 1500, and flipped on in some 45 others: no fit to these bits alone can see it."""
    rng = np.random.default_rng(0)
    Z = np.repeat((rng.random((30, 4)) < 0.4).astype(np.uint8), 50, axis=0)
    Z[:, 3] = 0
    Z[700:712, 3] = 1
    W = np.outer([1.0, 2.2, 4.1, 7.5], rng.standard_normal(40))  # three of them collinear
    W[0] = rng.standard_normal(40)
    X = Z @ W + 0.05 * rng.standard_normal((1500, 40))
    noisy = Z ^ (rng.random(Z.shape) < 0.03)
    assert noisy[Z[:, 3] == 0, 3].sum() > 30
    start = np.linalg.lstsq(noisy.astype(float), X, rcond=None)[0]
    alone, voted = repaired(noisy, start, X, None), repaired(noisy, start, X, repeated_rows(X, 4))
    assert alone is not None
    assert voted is not None
    assert alone.residual(X) > 2 * voted.residual(X)
    np.testing.assert_array_equal(voted.Z, Z)


def test_nothing_comes_back_where_nothing_has_full_rank() -> None:
    Z = np.array([[1, 1], [1, 1], [0, 0]], dtype=np.uint8)
    X = np.array([[2.0], [2.0], [0.0]])
    W = np.array([[1.0], [1.0]])
    assert projected(Z, W, X) is None
    assert repaired(Z, W, X, np.array([0, 0, 1])) is None


def _recurring(
    seed: int, *, noise: float = 0.05, N: int = 600
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Twelve different states of four features, each many times over: (X, Z, W, which state)."""
    rng = np.random.default_rng(seed)
    states = np.unique(constrained_states(200, 4, [], rng), axis=0)[1:13]
    which = rng.integers(len(states), size=N)
    Z, W = states[which], rng.standard_normal((4, 30))
    return Z @ W + noise * rng.standard_normal((N, 30)), Z, W, which


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2])
def test_rows_are_in_one_group_exactly_where_their_states_agree(noise: float) -> None:
    X, _, _, which = _recurring(0, noise=noise)
    group = repeated_rows(X, 4)
    assert group is not None
    np.testing.assert_array_equal(group[:, None] == group, which[:, None] == which)


def test_the_unit_of_x_does_not_matter() -> None:
    X = _recurring(1)[0]
    np.testing.assert_array_equal(repeated_rows(X, 4), repeated_rows(1e6 * X, 4))


def test_nothing_is_said_where_noise_cannot_be_told_from_signal() -> None:
    rng = np.random.default_rng(0)
    assert repeated_rows(rng.standard_normal((50, 4)), 4) is None
    assert repeated_rows(rng.standard_normal((4, 50)), 4) is None
    np.testing.assert_array_equal(repeated_rows(np.zeros((5, 3)), 1), 0)


def test_rows_that_hardly_recur_are_given_up() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((HOPPER.max_groups + 1, 2)) @ rng.standard_normal((2, 5))
    assert repeated_rows(X, 2) is None


def test_the_majority_decides_and_a_tie_changes_nothing() -> None:
    Z = np.array([[1, 0], [1, 1], [0, 1], [1, 0], [0, 1]], dtype=np.uint8)
    group = np.array([0, 0, 0, 1, 1])
    np.testing.assert_array_equal(majority(Z, group), [[1, 1], [1, 1], [1, 1], [1, 0], [0, 1]])


def test_groups_that_voted_wrongly_hardly_move_the_features() -> None:
    X, Z, W, which = _recurring(2, noise=1e-3)
    wrong = Z.copy()
    wrong[which == 0] ^= 1  # one state of twelve has all of its bits inverted
    robust = agreed_features(wrong, X, which)
    squares = np.linalg.lstsq(wrong.astype(float), X, rcond=None)[0]
    assert np.abs(robust - W).max() < 0.01
    assert np.abs(squares - W).max() > 0.3


@pytest.mark.parametrize("share", [0.01, 0.1])
def test_votes_set_right_what_was_flipped(share: float) -> None:
    X, Z, _, _ = _recurring(3)
    flipped = Z ^ (np.random.default_rng(3).random(Z.shape) < share)
    group = repeated_rows(X, 4)
    assert group is not None
    np.testing.assert_array_equal(majority(flipped, group), Z)


@pytest.mark.parametrize("seed", range(5))
def test_a_row_joins_the_group_before_it_or_the_first_within_reach(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Y = np.repeat(rng.normal(0, 1.5, (30, 2)), rng.integers(1, 4, 30), axis=0) + rng.normal(0, 0.2, (1, 2))
    expected: list[int] = []
    leaders: list[np.ndarray] = []
    for row in Y:
        within = [float(np.sum((row - leader) ** 2)) <= 1.0 for leader in leaders]
        if expected and within[expected[-1]]:
            expected.append(expected[-1])
        elif any(within):
            expected.append(within.index(True))
        else:
            expected.append(len(leaders))
            leaders.append(row)
    group, n_groups = _group(Y, 1.0, 100)
    assert group.tolist() == expected
    assert n_groups == len(leaders)
    assert _group(Y, 1.0, len(leaders))[1] == len(leaders)
    assert _group(Y, 1.0, len(leaders) - 1)[1] == len(leaders)  # one more than allowed: given up


def test_means_are_those_of_each_group() -> None:
    X = np.arange(10.0).reshape(5, 2)
    np.testing.assert_allclose(group_means(X, np.array([1, 0, 1, 1, 0])), [[5.0, 6.0], [10 / 3, 13 / 3]])


def test_agreed_features_minimise_the_sum_of_norms_and_not_of_squares() -> None:
    """One feature, on in three groups of sizes 5, 3 and 2: the weighted median of their means."""
    Z = np.ones((10, 1), dtype=np.uint8)
    group = np.repeat([0, 1, 2], [6, 3, 1])
    X = np.array([1.0, 4.0, 30.0])[group][:, None]
    assert agreed_features(Z, X, group)[0, 0] == pytest.approx(1.0, abs=0.05)
