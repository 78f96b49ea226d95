import itertools

import numpy as np
import pytest

from lfm.estimators.steepest_column import _sweep, steepest_column


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


@pytest.mark.parametrize("seed", range(5))
def test_a_sweep_turns_every_vector_to_its_best_and_says_how_much_it_gained(seed):
    """The objective is ‖Aᵀ(x + x0)‖²; each x_i becomes the unit vector that maximises it, in turn."""
    rng = np.random.default_rng(seed)
    A, x = rng.standard_normal((6, 3)), rng.standard_normal((6, 4))
    A[2] = 0.0  # a row that nothing depends on
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x0 = rng.standard_normal(4)
    x0 /= np.linalg.norm(x0)
    order = rng.permutation(6)
    expected = x.copy()
    for i in order:
        others = A.T @ (expected + x0) - np.outer(A[i], expected[i])
        along = A[i] @ others
        if np.linalg.norm(along) > 0:
            expected[i] = along / np.linalg.norm(along)
    before = np.sum((A.T @ (x + x0)) ** 2)
    sums = A.T @ (x + x0)
    risen = _sweep(A, x, sums, order)
    np.testing.assert_allclose(x, expected)
    np.testing.assert_allclose(sums, A.T @ (x + x0))
    assert risen == pytest.approx(np.sum(sums**2) - before)


def test_rows_that_pull_one_way_are_all_chosen():
    A = np.abs(np.random.default_rng(0).standard_normal((40, 3))) + 0.1
    assert steepest_column(A, np.random.default_rng(1)).all()
    A[::2] *= -1  # two opposite halves: one of them
    z = steepest_column(A, np.random.default_rng(1))
    assert np.all(z[::2] == z[0])
    assert np.all(z[1::2] == 1 - z[0])


@pytest.mark.parametrize(("rises", "sweeps"), [([1e9, 1e9, 0.0, 1e9], 3), ([0.0], 1), ([1e9] * 200, 100)])
def test_sweeps_end_where_they_gain_little_or_are_a_hundred(monkeypatch, rises, sweeps):
    left = list(rises)
    monkeypatch.setattr("lfm.estimators.steepest_column._sweep", lambda *_: left.pop(0))
    steepest_column(np.random.default_rng(0).standard_normal((5, 2)), np.random.default_rng(0))
    assert len(rises) - len(left) == sweeps
