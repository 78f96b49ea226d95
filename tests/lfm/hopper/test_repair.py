import numpy as np
import pytest

from lfm.hopper.repair import projected, repaired
from lfm.hopper.repeats import repeated_rows
from lfm.synthetic import images


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
