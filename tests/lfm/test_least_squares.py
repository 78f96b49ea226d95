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
