import numpy as np
import pytest

from lfm import Solution, hamming_error, merge_twins
from lfm.switching.collinear.twins import twin_pairs


def _house(seed: int = 0) -> tuple[Solution, np.ndarray]:
    """An always-on level and three features, the second of which differs by 2% between activations."""
    rng = np.random.default_rng(seed)
    Z = np.column_stack([np.ones(400), rng.random((400, 3)) < 0.3]).astype(np.uint8)
    W = rng.standard_normal((4, 12))
    size = np.where(np.arange(400) < 200, 0.98, 1.02)
    X = Z @ W + np.outer((size - 1) * Z[:, 2], W[2]) + 0.01 * rng.standard_normal((400, 12))
    return Solution(Z, W), X


def test_a_feature_split_by_the_size_of_its_activations_is_one_again() -> None:
    truth, X = _house()
    early = (np.arange(400) < 200).astype(np.uint8)
    Z = np.column_stack([truth.Z, truth.Z[:, 2] * (1 - early)])
    Z[:, 2] *= early
    W = np.vstack([truth.W, 1.02 * truth.W[2]])
    W[2] *= 0.98
    merged = merge_twins(Solution(Z, W), X, tolerance=0.06, slack=1.0)
    assert hamming_error(merged.Z, truth.Z) == 0
    np.testing.assert_allclose(merged.W[2], truth.W[2], rtol=0.02)


def test_a_twin_in_the_place_of_the_always_on_level_gives_it_back() -> None:
    truth, X = _house()
    # z_2 = a + b − 1 with a on nearly always and b filling in; the level is short of one w_2.
    rng = np.random.default_rng(1)
    hole = (rng.random(400) < 0.1) & (truth.Z[:, 2] == 0)
    a = 1 - hole.astype(np.uint8)
    b = np.where(hole, 1, truth.Z[:, 2]).astype(np.uint8)
    Z = np.column_stack([truth.Z[:, [0, 1]], b, truth.Z[:, 3], a])
    W = np.vstack([truth.W, truth.W[2]])
    W[0] -= truth.W[2]
    start = Solution(Z, W)
    assert start.residual(X) == pytest.approx(truth.residual(X))
    merged = merge_twins(start, X, tolerance=0.05)
    assert hamming_error(merged.Z, truth.Z) == 0
    np.testing.assert_allclose(merged.W, truth.W, atol=1e-9)


def test_an_inverted_twin_is_recognised() -> None:
    truth, X = _house()
    rng = np.random.default_rng(2)
    extra = ((rng.random(400) < 0.1) & (truth.Z[:, 2] == 0)).astype(np.uint8)
    Z = np.column_stack([truth.Z, extra])
    Z[:, 2] = truth.Z[:, 2] + extra
    start = Solution(Z, np.vstack([truth.W, -truth.W[2]]))
    merged = merge_twins(start, X, tolerance=0.05)
    assert merged.K == truth.K
    assert hamming_error(merged.Z, truth.Z) == 0


def test_rows_with_a_third_value_are_decoded_anew() -> None:
    truth, X = _house()
    early = (np.arange(400) < 200).astype(np.uint8)
    Z = np.column_stack([truth.Z, truth.Z[:, 2] * (1 - early)])
    Z[:, 2] *= early
    Z[7, [2, 4]] = 1  # both at once, which one appliance cannot
    merged = merge_twins(Solution(Z, np.vstack([truth.W, truth.W[2]])), X, tolerance=0.05, slack=1.0)
    assert hamming_error(merged.Z, truth.Z) == 0


def test_two_alike_that_run_together_stay_two() -> None:
    truth, X = _house()
    W = truth.W.copy()
    W[3] = 1.01 * W[2]
    solution = Solution(truth.Z, W)
    assert merge_twins(solution, solution.product(), tolerance=0.05) is solution
    del X


def test_different_features_and_worse_fits_are_left_alone() -> None:
    truth, X = _house()
    assert merge_twins(truth, X, tolerance=0.05) is truth
    early = (np.arange(400) < 200).astype(np.uint8)
    Z = np.column_stack([truth.Z, truth.Z[:, 2] * (1 - early)])
    Z[:, 2] *= early
    W = np.vstack([truth.W, 1.04 * truth.W[2]])
    solution = Solution(Z, W)
    assert merge_twins(solution, solution.product(), tolerance=0.05) is solution


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_twins_are_named_once_by_their_relative_distance_the_nearest_first(scale: float) -> None:
    W = np.array([[10.0, 0.0], [10.2, 0.0], [0.0, 1.0], [0.0, -1.01], [7.0, 7.0], [0.0, 1.05]])
    # 1% between 2 and 3 (turned), 2% between 0 and 1, 4% between 3 and 5 (turned), 5% between 2 and 5
    pairs = [(2, 3, -1), (0, 1, 1), (3, 5, -1), (2, 5, 1)]
    assert twin_pairs(scale * W, 0.06) == pairs
    assert twin_pairs(scale * W, 0.045) == pairs[:3]


def test_twins_are_joined_where_nothing_is_always_on() -> None:
    rng = np.random.default_rng(5)
    on, early = rng.random(300) < 0.4, np.arange(300) < 150
    other = rng.random(300) < 0.3
    W = rng.standard_normal((2, 8))
    X = np.outer(on, W[0]) + np.outer(other, W[1]) + 0.01 * rng.standard_normal((300, 8))
    split = Solution(np.column_stack([on & early, other, on & ~early]).astype(np.uint8), W[[0, 1, 0]])
    merged = merge_twins(split, X, tolerance=0.05, slack=0.1)
    np.testing.assert_array_equal(merged.Z, np.column_stack([on, other]))
    np.testing.assert_allclose(merged.W, W)


def test_twins_that_take_turns_all_the_time_do_not_become_a_feature_that_is_never_on() -> None:
    truth, _ = _house()
    turn = np.random.default_rng(6).random(400) < 0.5
    Z = np.column_stack([truth.Z, turn, ~turn]).astype(np.uint8)
    W = np.vstack([truth.W, truth.W[1] + 1, 1.001 * (truth.W[1] + 1)])
    solution = Solution(Z, W)
    assert merge_twins(solution, solution.product(), tolerance=0.05, slack=1.0) is solution


def test_only_rows_with_a_third_value_are_decoded_anew() -> None:
    truth, X = _house()
    early = (np.arange(400) < 200).astype(np.uint8)
    Z = np.column_stack([truth.Z, truth.Z[:, 2] * (1 - early)])
    Z[:, 2] *= early
    Z[7, [2, 4]] = 1
    Z[300, 1] ^= 1  # wrong, but no matter of the twins
    merged = merge_twins(Solution(Z, np.vstack([truth.W, truth.W[2]])), X, tolerance=0.05, slack=1.0)
    expected = truth.Z.copy()
    expected[300, 1] ^= 1
    np.testing.assert_array_equal(merged.Z, expected)
