import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from lfm import hamming_error, synthetic
from lfm.errors import InvalidInputError
from lfm.estimators.kfeatures import KFeatures, _descend


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([KFeatures(n_components=3, n_init=2, random_state=0)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def images(K, N, seed):
    return synthetic.images(K, N, 0, 0.1, np.random.default_rng(seed))


def sparse_set(K, seed):
    """Rows with few features on, and features that do not overlap: where flips one at a time suffice."""
    rng = np.random.default_rng(seed)
    Z = (rng.random((200, K)) < 0.2).astype(np.uint8)
    W = np.kron(np.eye(K), np.ones(8)) * rng.uniform(1, 2, (K, 8 * K))
    return Z @ W + 0.1 * rng.standard_normal((200, 8 * K)), Z


def test_separate_features_are_found():
    X, Z = sparse_set(4, 0)
    model = KFeatures(4, random_state=0).fit(X)
    assert hamming_error(model.Z_, Z) == 0
    assert model.converged_
    assert model.objective_trace_[-1] == pytest.approx(model.solution_.residual(X) ** 2)
    assert np.all(np.diff(model.objective_trace_) <= 0)
    assert model.n_iter_ == 10


def test_the_penalty_chooses_the_number_of_features():
    X, _ = sparse_set(4, 1)
    model = KFeatures(10, penalty=50.0, random_state=0).fit(X)
    assert model.Z_.shape[1] == 4
    assert model.objective_trace_[-1] == pytest.approx(model.solution_.residual(X) ** 2 + 4 * 50.0)
    assert KFeatures(10, penalty=1e9, random_state=0).fit(X).Z_.shape[1] == 1


def test_seed_callback_warning_and_wrong_options():
    data = images(6, 100, 2)
    heard = []
    one = KFeatures(6, n_init=2, random_state=1, callback=lambda *args: heard.append(args)).fit(data.X)
    two = clone(one).set_params(callback=None).fit(data.X)
    np.testing.assert_array_equal(one.Z_, two.Z_)
    assert heard == list(enumerate(one.objective_trace_, start=1))
    with pytest.warns(ConvergenceWarning, match="raise max_iter = 1"):
        KFeatures(20, n_init=1, max_iter=1, random_state=0).fit(np.random.default_rng(0).random((300, 10)))
    with pytest.raises(InvalidInputError, match="penalty must be a finite number above 0, got -2"):
        KFeatures(6, penalty=-2).fit(data.X)


def test_zeros_are_explained_by_features_that_stay_off():
    model = KFeatures(2, random_state=0).fit(np.zeros((10, 3)))
    assert model.objective_trace_[-1] == 0


def test_a_descent_ends_where_neither_a_flip_nor_a_refit_helps():
    X, _ = sparse_set(3, 4)
    rng = np.random.default_rng(0)
    Z, W, error, stable = _descend(X, rng.integers(0, 2, (200, 3)).astype(np.uint8), X[:3], 300)
    assert stable
    assert error == pytest.approx(np.sum((X - Z @ W) ** 2))
    np.testing.assert_allclose(W, np.linalg.lstsq(Z.astype(float), X)[0], atol=1e-9)
    for k in range(3):
        flipped = Z.copy()
        flipped[:, k] ^= 1
        assert np.all(np.sum((X - flipped @ W) ** 2, axis=1) >= np.sum((X - Z @ W) ** 2, axis=1) - 1e-6)
    assert not _descend(X, 1 - Z, W, 1)[3]


def test_a_feature_must_be_worth_its_penalty():
    """Two features of energies 200 and 50: with a penalty between them one is kept, below both."""
    Z = np.zeros((100, 2), np.uint8)
    Z[:50, 0], Z[50:, 1] = 1, 1
    X = Z @ np.array([[2.0, 0.0], [0.0, 1.0]])
    for penalty, K in ((30.0, 2), (70.0, 1)):
        model = KFeatures(5, penalty=penalty, random_state=0).fit(X)
        assert model.Z_.shape[1] == K
        assert model.objective_trace_[-1] == pytest.approx(penalty * K + (50.0 if K == 1 else 0.0))
