import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from lfm import enumerate_candidates, hamming_error, synthetic
from lfm.errors import InvalidInputError
from lfm.estimators.active_columns import ActiveColumns
from lfm.estimators.latent_lasso import LatentLasso


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([LatentLasso(n_components=3, max_iter=10, random_state=0)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def all_columns(N):
    return np.array(list(itertools.product([0, 1], repeat=N))[1:], dtype=float).T


def least_objective(X, tau, penalty):
    """The minimum over all 2^N columns, in the form of a group lasso that the objective is equal to.

    With B_j = √c_j V_j and the minimum over c_j taken in closed form:
    ½‖X − ZB‖² + √(2τλ) Σ_j ‖B_j‖. Solved by coordinate descent.
    """
    Z = all_columns(len(X))
    B = np.zeros((Z.shape[1], X.shape[1]))
    weight = np.sqrt(2 * tau * penalty)
    left = X.copy()
    for _ in range(1000):
        for j, z in enumerate(Z.T):
            left += np.outer(z, B[j])
            pull = z @ left
            B[j] = max(0.0, 1 - weight / (np.linalg.norm(pull) + 1e-300)) * pull / (z @ z)
            left -= np.outer(z, B[j])
    return 0.5 * np.sum(left**2) + weight * np.sum(np.linalg.norm(B, axis=1))


@pytest.mark.parametrize("seed", range(3))
def test_the_objective_reaches_the_minimum_over_every_binary_column(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (5, 3)) @ rng.standard_normal((3, 8)) * 2 + 0.1 * rng.standard_normal((5, 8))
    model = LatentLasso(3, penalty=0.2, tol=1e-9, n_steps=2000, max_iter=200, random_state=0).fit(X)
    assert model.objective_trace_[-1] == pytest.approx(least_objective(X, 1.0, 0.2), rel=2e-3)


def test_images_without_dependencies_are_recovered():
    data = synthetic.images(6, 200, 0, 0.1, np.random.default_rng(0))
    model = LatentLasso(6, max_iter=40, tol=1e-3, random_state=0).fit(data.X)
    assert hamming_error(model.Z_, data.truth.Z) == 0
    assert model.converged_


def test_dependent_features_are_explained_as_well_as_by_the_truth():
    data = synthetic.images(6, 200, 3, 0.1, np.random.default_rng(0))
    model = LatentLasso(6, max_iter=40, tol=1e-3, random_state=0).fit(data.X)
    assert model.solution_.residual(data.X) <= data.truth.residual(data.X)
    # No worse than the minimum over the columns of the truth and all their equivalents.
    columns = data.truth.Z @ enumerate_candidates(data.truth.Z).U.T
    start = ActiveColumns.of(columns.astype(np.uint8), np.ones(columns.shape[1]), data.X)
    reached = start.descended(1.0, 200.0, 5000).objective(1.0, 200.0) + 0.5 * np.sum(data.X**2)
    assert model.objective_trace_[-1] <= 1.001 * reached


def test_the_objective_never_rises_and_is_reported():
    data = synthetic.images(6, 100, 4, 0.1, np.random.default_rng(1))
    heard = []
    model = LatentLasso(6, tol=1e-3, random_state=0, callback=lambda *args: heard.append(args)).fit(data.X)
    assert np.all(np.diff(model.objective_trace_) <= 1e-6 * model.objective_trace_[0])
    assert heard == list(enumerate(model.objective_trace_, start=1))
    again = clone(model).set_params(callback=None).fit(data.X)
    np.testing.assert_array_equal(again.Z_, model.Z_)


def test_too_few_rounds_warn_and_zeros_are_survived():
    data = synthetic.images(6, 100, 0, 0.1, np.random.default_rng(2))
    with pytest.warns(ConvergenceWarning, match="raise max_iter = 2"):
        model = LatentLasso(6, max_iter=2, random_state=0).fit(data.X)
    assert model.Z_.shape == (100, 2)
    empty = LatentLasso(2, random_state=0).fit(np.zeros((10, 3)))
    np.testing.assert_array_equal(empty.solution_.product(), np.zeros((10, 3)))


@pytest.mark.parametrize("wrong", [{"tau": 0.0}, {"penalty": -1.0}, {"n_steps": 0}, {"tol": "small"}])
def test_wrong_options_are_refused_with_their_value(wrong):
    with pytest.raises(InvalidInputError, match=f"{next(iter(wrong))} must be.*{next(iter(wrong.values()))}"):
        LatentLasso(2, **wrong).fit(np.eye(4))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("tol", [1e-9, 1e-3, 0.05])
def test_the_rounds_end_at_the_first_that_gains_little_once_the_penalty_is_down(tol):
    data = synthetic.images(3, 60, 0, 0.3, np.random.default_rng(5))
    model = LatentLasso(3, max_iter=36, tol=tol, random_state=0).fit(data.X)
    trace, n_path = model.objective_trace_, int(5 / 6 * 36)
    gains = (trace[:-1] - trace[1:]) / trace[:-1]  # of the second round on
    little = [number for number in range(n_path + 1, len(trace)) if gains[number - 1] <= tol]
    assert little == ([len(trace) - 1] if model.converged_ else [])
    assert model.converged_ or len(trace) == 36
    assert model.converged_ == (tol == 0.05)
