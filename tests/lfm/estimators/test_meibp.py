import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from lfm import hamming_error, synthetic
from lfm.errors import InvalidInputError
from lfm.estimators.base import Rounds
from lfm.estimators.ibp_evidence import Posterior, State, update_all_rows, update_features, update_scales
from lfm.estimators.meibp import MEIBP, _Search, _start


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([MEIBP(n_components=3, random_state=0)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def nonnegative_images(K, N, n_pdc, seed, noise=0.1):
    return synthetic.images(K, N, n_pdc, noise, np.random.default_rng(seed), nonnegative=True)


def test_a_feature_that_no_row_uses_is_deleted_and_the_number_only_falls():
    rng = np.random.default_rng(2)
    X = np.maximum(
        rng.integers(0, 2, (200, 1)) * rng.random(30) * 3 + 0.05 * rng.standard_normal((200, 30)), 0
    )
    model = MEIBP(12, random_state=0).fit(X)
    assert model.Z_.shape[1] < 12
    assert np.all(model.Z_.sum(axis=0) > 0)
    assert model.W_.shape == (model.Z_.shape[1], 30)


def test_images_are_recovered_and_features_are_nonnegative():
    data = nonnegative_images(6, 300, 0, 3)
    model = MEIBP(6, random_state=0).fit(data.X)
    assert hamming_error(model.Z_, data.truth.Z) == 0
    assert model.converged_
    assert np.all(model.W_ >= 0)
    assert np.all(np.diff(model.objective_trace_) >= 0)


def test_negative_data_are_refused_with_their_number():
    X = np.ones((10, 3))
    X[2, 1] = -0.25
    with pytest.raises(InvalidInputError, match=r"1 entries of X, the least -0\.25.*LatentLasso"):
        MEIBP(2).fit(X)


def test_data_of_zeros_end_without_features():
    model = MEIBP(2, random_state=0).fit(np.zeros((20, 3)))
    assert model.solution_.residual(np.zeros((20, 3))) < 1e-3


def test_seed_callback_and_convergence():
    data = nonnegative_images(5, 100, 2, 4)
    heard = []
    one = MEIBP(5, random_state=3, n_init=1, callback=lambda *args: heard.append(args)).fit(data.X)
    two = clone(one).set_params(callback=None).fit(data.X)
    np.testing.assert_array_equal(one.Z_, two.Z_)
    assert heard == list(enumerate(one.objective_trace_, start=1))
    with pytest.warns(ConvergenceWarning, match="raise max_iter = 1"):
        MEIBP(5, random_state=0, max_iter=1).fit(data.X)
    with pytest.raises(InvalidInputError, match="n_init must be an integer of at least 1, got 0"):
        MEIBP(5, n_init=0).fit(data.X)


def bound_of_truth(data, K):
    """The bound that the updates reach from the true Z and W."""
    alpha = (1 + K) / (1 + np.sum(1 / np.arange(1, len(data.X) + 1)))
    state = State(data.X, data.truth.Z.copy(), Posterior.at(data.truth.W, np.full(K, 0.01)), 1.0)
    for _ in range(20):
        update_features(state)
        update_scales(state, data.X, 1e-9)
        update_all_rows(state, data.X, alpha, np.random.default_rng(0))
    return state.bound(data.X, alpha)


@pytest.mark.parametrize("seed", range(4))
def test_dependent_features_reach_the_bound_of_the_truth(seed):
    data = nonnegative_images(8, 300, 6, seed)
    model = MEIBP(8, random_state=0).fit(data.X)
    assert model.objective_trace_[-1] >= bound_of_truth(data, 8) - 1e-3 * abs(model.objective_trace_[-1])
    assert np.all(np.diff(model.objective_trace_) >= 0)


def test_features_that_share_a_column_are_put_right():
    rng = np.random.default_rng(1)
    data = nonnegative_images(4, 200, 0, 5)
    search = _Search(data.X, 4, 100, 1e-3, rng)
    halves = data.truth.W[[0, 0, 1, 2]] * np.array([[0.4], [0.6], [1.0], [1.0]])
    stuck = State(data.X, data.truth.Z[:, [0, 0, 1, 2]].copy(), Posterior.at(halves, np.full(4, 0.01)), 0.3)
    update_features(stuck)
    moved = search._with_exchanges(stuck)
    assert moved is not None
    search._climb(moved, Rounds(None))
    assert hamming_error(moved.Z, data.truth.Z) == 0


def test_the_strength_of_the_buffet_follows_from_rows_and_features():
    X = np.abs(np.random.default_rng(0).standard_normal((20, 6)))
    search = _Search(X, 4, 10, 1e-3, np.random.default_rng(0))
    assert search.alpha == pytest.approx(5 / (1 + sum(1 / n for n in range(1, 21))))
    assert search.least == pytest.approx(1e-6 * np.sqrt(np.mean(X**2)))
    assert _Search(0 * X, 4, 10, 1e-3, np.random.default_rng(0)).least == 1.0
    leading = np.linalg.svd(X, full_matrices=False)[2][:4]
    np.testing.assert_allclose(search.Y @ search.Y.T, X @ leading.T @ leading @ X.T, atol=1e-6)


def test_a_start_has_every_feature_on_somewhere_and_shares_out_the_mean():
    X = 5 + np.abs(np.random.default_rng(1).standard_normal((200, 6)))
    state = _start(X, 50, np.random.default_rng(0))
    assert state.Z.any(axis=0).all()
    assert state.Z.mean() == pytest.approx(0.5, abs=0.02)
    # Half of the features are on in a row, each with half of (4/K) of the mean on average: the mean itself.
    np.testing.assert_allclose((state.Z @ state.q.first).mean(axis=0), X.mean(axis=0), rtol=0.3)
    assert state.sigma_x == pytest.approx(np.sqrt(np.mean(X**2)))


def test_a_new_feature_takes_up_what_is_left_and_the_least_missed_goes():
    data = nonnegative_images(4, 200, 0, 6, noise=0.02)
    search = _Search(data.X, 3, 100, 1e-3, np.random.default_rng(2))
    weak = data.truth.W[[0, 1]] * 1.0
    idle = np.full((1, data.X.shape[1]), 1e-3)
    Z = np.column_stack([data.truth.Z[:, :2], np.random.default_rng(3).integers(0, 2, 200)]).astype(np.uint8)
    state = State(data.X, Z, Posterior.at(np.vstack([weak, idle]), np.full(3, 0.01)), 0.3)
    update_features(state)
    before = state.bound(data.X, search.alpha)
    moved = search._with_new_feature(state)
    assert moved.Z.shape[1] <= 3
    search._climb(moved, Rounds(None))
    assert moved.bound(data.X, search.alpha) > before


def test_a_perfect_fit_leaves_nothing_to_seed_from():
    X = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [0.0, 0.0]])
    search = _Search(X, 1, 10, 1e-3, np.random.default_rng(0))
    Z = np.array([[1], [0], [1], [0]], dtype=np.uint8)
    state = State(X, Z, Posterior(X[:1], np.ones(1), X[:1], X[:1] ** 2), 1.0)
    same = search._with_new_feature(state)
    np.testing.assert_array_equal(same.Z, Z)
    np.testing.assert_array_equal(same.q.first, X[:1])


@pytest.mark.parametrize("rise", [0.9, 1.1])
def test_a_climb_ends_where_the_bound_rises_by_less_than_its_share(monkeypatch, rise):
    """Bounds −1000, −500, and then a rise of a little less, or more, than a hundredth of that."""
    X = np.abs(np.random.default_rng(0).standard_normal((20, 6)))
    search = _Search(X, 4, 3, 0.01, np.random.default_rng(0))
    bounds = iter([-1000.0, -500.0, -500.0 + 5 * rise])
    monkeypatch.setattr(State, "bound", lambda *_: next(bounds))
    assert search._climb(_start(X, 4, np.random.default_rng(0)), Rounds(None)) == (rise < 1)
