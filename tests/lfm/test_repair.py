import numpy as np
import pytest

from lfm.repair import repaired
from lfm.synthetic import images


@pytest.mark.parametrize("refit", [False, True])
def test_flipped_bits_are_set_right_by_the_data(refit: bool) -> None:
    rng = np.random.default_rng(0)
    data = images(6, 300, 2, 0.1, rng)
    Z = data.truth.Z ^ (rng.random(data.truth.Z.shape) < 0.02)
    W = np.linalg.lstsq(Z.astype(float), data.X, rcond=None)[0] if refit else data.truth.W
    found = repaired(Z, W, data.X)
    assert found is not None
    np.testing.assert_array_equal(found.Z, data.truth.Z)
    assert found.residual(data.X) <= data.truth.residual(data.X)


def test_nothing_comes_back_where_nothing_has_full_rank() -> None:
    Z = np.array([[1, 1], [1, 1], [0, 0]], dtype=np.uint8)
    X = np.array([[2.0], [2.0], [0.0]])
    assert repaired(Z, np.array([[1.0], [1.0]]), X) is None
