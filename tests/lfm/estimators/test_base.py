import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

from lfm import MEIBP, BinaryDecoder, KFeatures, LatentLasso
from lfm.errors import InvalidInputError
from lfm.estimators.base import LatentFeatureEstimator, Rounds
from lfm.solution import Solution
from lfm.synthetic import images


class Fixed(LatentFeatureEstimator):
    """Claims that the first rows of X are the features."""

    def __init__(self, n_components=2, *, converges=True, random_state=None, callback=None):
        self.n_components = n_components
        self.converges = converges
        self.random_state = random_state
        self.callback = callback

    def fit(self, X, y=None):
        X = self._rows(X)
        rounds = Rounds(self.callback)
        for objective in (3.0, 2.0):
            rounds.add(objective)
        W = X[: self.n_components]
        Z = np.eye(len(X), self.n_components, dtype=np.uint8)
        return self._keep(Solution(Z, W), rounds=rounds, converged=self.converges, advice="raise max_iter")


X = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 2.0, 0.0]])


def test_fit_sets_every_fitted_name_and_calls_back_once_a_round():
    heard = []
    model = Fixed(callback=lambda number, objective: heard.append((number, objective))).fit(X)
    assert heard == [(1, 3.0), (2, 2.0)]
    assert model.n_iter_ == 2
    assert model.converged_ is True
    np.testing.assert_array_equal(model.objective_trace_, [3.0, 2.0])
    assert model.solution_.K == 2
    np.testing.assert_array_equal(model.W_, X[:2])


def test_transform_decodes_new_rows_against_the_features():
    model = Fixed().fit(X)
    Z = model.transform(X + 0.1)
    assert Z.dtype == np.uint8
    np.testing.assert_array_equal(Z, [[1, 0], [0, 1], [1, 1]])
    assert list(model.get_feature_names_out()) == ["fixed0", "fixed1"]


def test_not_converging_is_a_warning_with_advice_and_a_field():
    with pytest.warns(ConvergenceWarning, match=r"2 rounds \(objective 2\); raise max_iter"):
        model = Fixed(converges=False).fit(X)
    assert model.converged_ is False


@pytest.mark.parametrize("n_components", [0, -1, 2.0, True, None, "auto"])
def test_a_number_of_features_that_is_none_is_refused(n_components):
    with pytest.raises(InvalidInputError, match=f"n_components must be an integer.*{n_components}"):
        Fixed(n_components).fit(X)


def test_more_features_than_rows_are_refused():
    with pytest.raises(InvalidInputError, match=r"n_components = 4 .* n_samples = 3"):
        Fixed(4).fit(X)


def test_transform_before_fit_is_an_error():
    with pytest.raises(NotFittedError):
        Fixed().transform(X)


@pytest.mark.parametrize("random_state", [5, np.int64(5), np.random.RandomState(5)])
def test_a_seed_gives_the_same_generator_twice(random_state):
    state = random_state.get_state() if isinstance(random_state, np.random.RandomState) else None
    first = Fixed(random_state=random_state)._rng().random(3)
    if state is not None:
        random_state.set_state(state)
    np.testing.assert_array_equal(first, Fixed(random_state=random_state)._rng().random(3))


def test_a_generator_is_used_itself():
    rng = np.random.default_rng(0)
    assert Fixed(random_state=rng)._rng() is rng


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [LatentLasso, MEIBP, KFeatures])
def test_a_fit_has_the_same_bits_on_one_thread_and_on_two(kind):
    data = images(6, 400, 4, 0.1, np.random.default_rng(0), nonnegative=True)
    fits = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            fits.append(kind(6, random_state=3, max_iter=10).fit(data.X))
    np.testing.assert_array_equal(fits[0].Z_, fits[1].Z_)
    np.testing.assert_array_equal(fits[0].W_, fits[1].W_)


def test_inverse_transform_and_score_say_what_the_features_explain():
    model = Fixed().fit(X)
    np.testing.assert_array_equal(model.components_, model.W_)
    np.testing.assert_array_equal(
        model.inverse_transform([[1, 1], [0, 1]]), [[1.0, 2.0, 0.0], [0.0, 2.0, 0.0]]
    )
    assert model.score(X) == 1.0
    # Half of the energy of this row lies in a direction that no feature has.
    assert model.score([[1.0, 0.0, 1.0]]) == pytest.approx(0.5)
    assert model.score(np.zeros((2, 3))) == 1.0
    with pytest.raises(InvalidInputError, match="Z has 3 columns; this Fixed has 2 features"):
        model.inverse_transform([[1, 0, 1]])


def test_grid_search_needs_no_scorer_of_ones_own():
    data = images(K=3, N=90, n_pdc=0, noise=0.05, rng=np.random.default_rng(0))
    search = GridSearchCV(BinaryDecoder(random_state=0), {"n_components": [1, 2, 3]}, cv=3).fit(data.X)
    assert search.best_params_ == {"n_components": 3}
    assert search.best_score_ > 0.95


def test_verbose_logs_each_round(caplog):
    data = images(K=2, N=40, n_pdc=0, noise=0.05, rng=np.random.default_rng(0))
    with caplog.at_level("INFO", logger="lfm.estimators"):
        KFeatures(2, n_init=2, random_state=0).fit(data.X)
        assert not caplog.messages
        KFeatures(2, n_init=2, random_state=0, verbose=1).fit(data.X)
    assert [message.split(":")[0] for message in caplog.messages] == ["round 1", "round 2"]
