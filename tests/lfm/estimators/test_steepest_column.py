import itertools

import numpy as np
import pytest

from lfm.estimators.steepest_column import steepest_column


@pytest.mark.parametrize("seed", range(5))
def test_the_new_column_is_close_to_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((10, 3))
    z = steepest_column(A, rng)
    every = np.array(list(itertools.product([0, 1], repeat=10)), dtype=float).T
    best = np.max(np.sum((A.T @ every) ** 2, axis=0))
    assert (
        np.sum((A.T @ z) ** 2) >= 0.87 * best
    )  # 100 hyperplanes do no worse than the bound of one in the mean
