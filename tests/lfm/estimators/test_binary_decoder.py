import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from lfm import GaussianW, hamming_error, hop, lattice_index, synthetic
from lfm.errors import InvalidInputError
from lfm.estimators.base import Rounds
from lfm.estimators.binary_decoder import BinaryDecoder, _noise, _Search


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([BinaryDecoder(n_components=3, random_state=0)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def images(K, N, n_pdc, seed, noise=0.1):
    return synthetic.images(K, N, n_pdc, noise, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(3))
def test_images_without_dependencies_are_recovered_exactly(seed):
    data = images(8, 200, 0, seed)
    model = BinaryDecoder(8, random_state=0).fit(data.X)
    assert hamming_error(model.Z_, data.truth.Z) == 0
    assert model.converged_
    assert model.at_noise_floor_
    assert model.noise_ == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize(("K", "n_pdc"), [(8, 4), (14, 12), (35, 6)])
def test_with_dependencies_the_residual_is_no_larger_than_the_truth_s(K, n_pdc):
    data = images(K, 400, n_pdc, 1)
    model = BinaryDecoder(K, random_state=0).fit(data.X)
    assert model.at_noise_floor_
    assert model.solution_.residual(data.X) <= data.truth.residual(data.X)


@pytest.mark.parametrize("seed", range(5))
def test_no_other_binary_matrix_explains_a_tiny_set_better(seed):
    rng = np.random.default_rng(seed)
    truth = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]])
    X = truth @ rng.standard_normal((2, 5)) + 0.1 * rng.standard_normal((6, 5))
    codes = np.array(list(itertools.product([0, 1], repeat=2)), dtype=float)
    best = min(
        np.linalg.norm(X - Z @ np.linalg.lstsq(Z, X, rcond=None)[0])
        for Z in (codes[list(rows)] for rows in itertools.product(range(4), repeat=6))
    )
    model = BinaryDecoder(2, random_state=0).fit(X)
    assert model.solution_.residual(X) == pytest.approx(best)


def test_objective_is_the_squared_residual_and_never_rises():
    data = images(12, 60, 12, 3, noise=1.0)
    heard = []
    model = BinaryDecoder(12, random_state=0, callback=lambda *args: heard.append(args)).fit(data.X)
    assert np.all(np.diff(model.objective_trace_) <= 0)
    assert model.solution_.residual(data.X) ** 2 <= model.objective_trace_[-1] * (1 + 1e-9)
    assert heard == list(enumerate(model.objective_trace_, start=1))
    assert model.n_iter_ == len(heard)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_rows_of_z_generate_all_integer_vectors(seed):
    data = images(35, 1000, 12, seed)  # FastICA alone ends at index 2 and 8
    model = BinaryDecoder(35, random_state=0).fit(data.X)
    assert lattice_index(model.Z_) == 1
    assert model.at_noise_floor_


def test_collinear_features_are_survived_and_explained():
    rng = np.random.default_rng(0)
    Z = rng.integers(0, 2, (400, 4))
    shape = rng.standard_normal((2, 30))
    W = np.array([shape[0], 2.3 * shape[0], shape[1], 5.1 * shape[1]])
    X = Z @ W + 0.01 * rng.standard_normal((400, 30))
    model = BinaryDecoder(4, random_state=0).fit(X)
    assert np.linalg.norm(X - model.solution_.product()) < 2 * 0.01 * np.sqrt(X.size)


def test_more_features_than_the_data_has_and_constant_data():
    data = images(3, 60, 0, 0)
    model = BinaryDecoder(6, random_state=0).fit(data.X)
    assert model.solution_.residual(data.X) <= data.truth.residual(data.X)
    zeros = BinaryDecoder(2, random_state=0).fit(np.zeros((10, 4)))
    assert zeros.solution_.residual(np.zeros((10, 4))) == 0


def test_new_rows_are_decoded_like_the_old_ones():
    data = images(8, 300, 3, 5)
    model = BinaryDecoder(8, random_state=0).fit(data.X[:200])
    np.testing.assert_array_equal(model.transform(data.X[:200]), model.Z_)
    order = BinaryDecoder(8, random_state=0).fit(data.X)
    assert hamming_error(model.transform(data.X[200:]), order.Z_[200:]) < 0.1


def test_the_same_seed_gives_the_same_fit_on_one_thread_and_on_two():
    data = images(20, 150, 8, 6, noise=0.3)
    fits = []
    for threads in (1, 2, 2):
        with threadpool_limits(limits=threads):
            fits.append(clone(BinaryDecoder(20, random_state=7)).fit(data.X))
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.Z_, fits[0].Z_)
        np.testing.assert_array_equal(fit.W_, fits[0].W_)


def test_too_few_alternations_warn():
    data = images(10, 100, 10, 8, noise=2.0)
    with pytest.warns(ConvergenceWarning, match="raise max_iter = 1"):
        model = BinaryDecoder(10, max_iter=1, n_restarts=0, random_state=0).fit(data.X)
    assert not model.converged_


@pytest.mark.parametrize("wrong", [{"max_iter": 0}, {"n_restarts": -1}, {"n_components": 999}])
def test_wrong_options_are_refused_with_their_value(wrong):
    with pytest.raises(InvalidInputError, match=f"{next(iter(wrong))}.*{next(iter(wrong.values()))}"):
        BinaryDecoder(**wrong).fit(np.random.default_rng(0).standard_normal((20, 4)))


@pytest.mark.slow
@pytest.mark.parametrize("K", [14, 35])
@pytest.mark.parametrize("n_pdc", [0, 3, 6, 12])
def test_the_paper_s_images_are_exact_after_the_hop(K, n_pdc):
    exact = 0
    for seed in range(1100, 1105):
        data = images(K, 1000, n_pdc, seed)
        model = BinaryDecoder(K, random_state=0).fit(data.X)
        hopped = hop(model.solution_, priors=[GaussianW(1.0)])
        exact += hamming_error(hopped.solution.Z, data.truth.Z) == 0
    assert exact >= 4


@pytest.mark.parametrize(("N", "D"), [(200, 900), (900, 200)])
@pytest.mark.parametrize("scale", [1e-40, 1.0, 1e40])
def test_noise_is_exact_for_the_values_of_the_spiked_model(N, D, scale):
    """Squares (s² + Nσ²)(s² + Dσ²)/s² and what is left outside give σ² and the energy that leans on them."""
    variance = 0.3 * scale
    weak = 1.5 * np.sqrt(N * D) * variance  # the SVD sees no signal below a third less
    signal = np.array([36_000 * scale, 10_800 * scale, weak])
    squares = (signal + N * variance) * (signal + D * variance) / signal
    leaning = float(np.sum(N * D * variance**2 / signal))
    outside = variance * (N - 3) * (D - 3) - leaning
    found, taken = _noise(squares, outside, N, D)
    assert found == pytest.approx(variance, rel=1e-8)
    assert taken == pytest.approx(leaning, rel=1e-6)
    assert _noise(squares, 0.0, 3, D) == (0.0, 0.0)  # no direction is left to measure noise in


def test_without_signal_no_noise_leans_on_a_direction():
    found, taken = _noise(np.array([1.0, 0.5]), 60.0, 50, 40)
    assert taken == 0
    assert found == pytest.approx(60 / (48 * 38))


def search(X, K, seed=0):
    return _Search(X, K, 100, np.random.default_rng(seed), Rounds(None))


@pytest.mark.parametrize(("K", "N", "noise"), [(5, 150, 0.4), (8, 40, 0.05)])
def test_the_floor_is_what_noise_leaves_inside_and_a_little_more(K, N, noise):
    inside, floors = [], []
    for seed in range(20):
        data = images(K, N, 0, seed, noise=noise)
        one = search(data.X, K)
        assert one.r == K
        Z = data.truth.Z.astype(float)
        inside.append(np.sum((one.Y - Z @ np.linalg.lstsq(Z, one.Y)[0]) ** 2))
        floors.append(one.floor)
    assert np.all(np.array(inside) <= floors)
    spread = noise**2 * np.sqrt(2 * (N - K) * K)  # of a sum of so many squares of the noise
    # Six, less what more of the noise lies in the leading directions than `_noise` knows to second order.
    assert 4 < (np.mean(floors) - np.mean(inside)) / spread < 6.5


def test_dimensions_below_the_noise_are_not_counted():
    data = images(3, 200, 0, 1, noise=0.5)
    assert search(data.X, 8).r == 3
    assert search(data.X[:, :40], 40).variance == 0  # nothing is outside


@pytest.mark.parametrize("seed", range(4))
def test_features_are_ordered_by_what_the_residual_rises_without_them(seed):
    data = images(6, 100, 4, seed, noise=0.5)
    one = search(data.X, 6)
    one.Z = data.truth.Z.copy()

    def squares(Z):
        return np.sum((one.Y - Z @ np.linalg.lstsq(Z.astype(float), one.Y)[0]) ** 2)

    cost = [squares(np.delete(one.Z, k, axis=1)) for k in range(6)]
    assert [one._least_missed(place) for place in range(6)] == np.argsort(cost).tolist()


def test_a_seed_cuts_what_is_left_along_its_main_direction():
    data = images(4, 120, 0, 2, noise=0.05)
    one = search(data.X, 4)
    known = data.truth.Z[:, :3]
    for randomly in (False, True):
        column = one._seed(known, randomly)
        left = data.truth.Z[:, 3]
        assert max(np.mean(column == left), np.mean(column != left)) > 0.95
    assert np.all(one._seed(known[:, :0], False).shape == (120,))


def test_alternation_ends_where_neither_step_helps():
    data = images(5, 80, 3, 3, noise=0.3)
    one = search(data.X, 5)
    start = np.random.default_rng(0).integers(0, 2, (80, 5)).astype(np.uint8)
    Z, squares, stable = one._alternate(start, 10_000)
    W = np.linalg.lstsq(Z.astype(float), one.Y)[0]
    assert stable
    assert squares == pytest.approx(np.sum((one.Y - Z @ W) ** 2))
    codes = np.array(list(itertools.product([0, 1], repeat=5)))
    nearest = np.linalg.norm(one.Y[:, None] - codes @ W, axis=2).min(axis=1)
    np.testing.assert_allclose(np.linalg.norm(one.Y - Z @ W, axis=1), nearest)
