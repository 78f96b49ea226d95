import numpy as np

from lfm.least_squares import least_squares


def test_it_is_numpys_solution_also_with_weights_and_dependent_columns():
    rng = np.random.default_rng(0)
    for K in (1, 3, 6):
        Z = (rng.random((40, K)) < 0.5).astype(np.uint8)
        Z[:, -1] = Z[:, 0]  # for K > 1 the columns are dependent: the smallest norm decides
        X = rng.standard_normal((40, 5))
        weight = rng.uniform(0.1, 10.0, 40)
        for given in (None, weight):
            root = np.ones((40, 1)) if given is None else np.sqrt(given)[:, None]
            expected, _, rank, _ = np.linalg.lstsq(root * Z, root * X, rcond=None)
            found = least_squares(Z, X, weight=given)
            np.testing.assert_allclose(found.W, expected, atol=1e-10)
            assert found.rank == rank


def test_a_row_without_weight_says_nothing():
    Z = np.array([[1, 0], [0, 1], [1, 1]])
    X = np.array([[1.0], [2.0], [99.0]])
    np.testing.assert_allclose(least_squares(Z, X, weight=np.array([1, 1, 0])).W, [[1.0], [2.0]])


def test_no_features_explain_nothing():
    found = least_squares(np.zeros((4, 0)), np.ones((4, 2)))
    assert found.W.shape == (0, 2)
    assert found.rank == 0


def test_without_negative_numbers_no_better_solution_exists():
    rng = np.random.default_rng(0)
    Z = rng.integers(0, 2, (60, 4))
    X = Z @ rng.standard_normal((4, 12)) + 0.1 * rng.standard_normal((60, 12))
    weight = rng.random(60)
    W, rank = least_squares(Z, X, weight=weight, nonnegative=True)
    assert rank == 4
    assert (W >= 0).all()
    slope = Z.T @ (weight[:, None] * (Z @ W - X))  # of the error: 0 where W is free, upwards where it is 0
    np.testing.assert_allclose(slope[W > 0], 0, atol=1e-8)
    assert (slope[W == 0] >= -1e-8).all()


def test_columns_that_are_positive_anyway_do_not_change():
    Z, X = np.array([[1, 0], [1, 1]]), np.array([[3.0, 3.0], [4.0, 2.0]])
    free, bound = least_squares(Z, X).W, least_squares(Z, X, nonnegative=True).W
    assert free[:, 0].tolist() == bound[:, 0].tolist()
    np.testing.assert_allclose(bound[:, 1], [2.5, 0])
