import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from lfm import InvalidInputError, hamming_error
from lfm.estimators.base import Rounds
from lfm.switching.decoder import SwitchingDecoder
from lfm.switching.search import Fit
from lfm.switching.segments import Segments

NOISE = 0.01


def house(rng, N=700, noise=NOISE):
    """Rows in time of seven loads (always on, three collinear heaters, three others), their Z and W."""
    phase = 2 * np.pi * np.arange(40) / 40
    W = np.stack(
        [
            0.4 * np.cos(phase),
            8.0 * np.sin(phase),
            9.5 * np.sin(phase),
            12.0 * np.sin(phase),
            0.6 * np.sin(phase - 0.9),
            0.5 * np.clip(np.sin(phase), 0.8, None) + 0.1 * np.sin(3 * phase),
            0.7 * np.sin(phase) * (phase % np.pi > 1.2),
        ]
    )
    Z = np.zeros((N, len(W)), dtype=np.uint8)
    Z[:, 0] = 1
    for k, (every, lasts) in enumerate([(60, 3), (90, 8), (80, 5), (30, 12), (150, 50), (130, 40)], start=1):
        start = int(rng.integers(1, every))
        while start < N - 2:
            Z[start : start + int(rng.integers(lasts // 2 + 1, lasts + 2)), k] = 1
            start += lasts + int(rng.integers(every // 2, every))
    return Z @ W + noise * rng.standard_normal((N, W.shape[1])), Z, W


@parametrize_with_checks([SwitchingDecoder()])
def test_scikit_learns_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # data that do not switch are no failure of the checks
        check(estimator)


@pytest.mark.parametrize("seed", range(4))
def test_a_house_is_recovered_from_its_rows_alone(seed):
    X, Z, W = house(np.random.default_rng(seed))
    model = SwitchingDecoder().fit(X)
    assert model.solution_.K == 7
    assert hamming_error(model.Z_, Z) == 0
    assert model.at_noise_floor_
    assert model.converged_
    assert model.noise_ == pytest.approx(NOISE, rel=0.02)
    assert model.solution_.residual(X) <= np.linalg.norm(X - Z @ W)


def test_a_number_of_features_is_an_upper_bound():
    X, Z, _ = house(np.random.default_rng(1))
    assert hamming_error(SwitchingDecoder(12).fit(X).Z_, Z) == 0
    few = SwitchingDecoder(4).fit(X)
    assert few.solution_.K <= 4
    assert not few.at_noise_floor_


def test_new_rows_are_decoded_against_the_features_of_old_ones():
    rng = np.random.default_rng(2)
    X, _, _ = house(rng)
    model = SwitchingDecoder().fit(X)
    X_new, Z_new, _ = house(rng)
    assert hamming_error(model.transform(X_new), Z_new) == 0
    gaps = np.zeros(len(X_new), dtype=bool)
    gaps[[100, 350]] = True
    assert hamming_error(model.transform(X_new, gap_before=gaps), Z_new) == 0


def test_missing_rows_are_gaps_and_not_switches():
    rng = np.random.default_rng(3)
    X, Z, _ = house(rng)
    kept = np.sort(rng.permutation(len(X))[: int(0.93 * len(X))])
    gap_before = np.concatenate([[True], np.diff(kept) != 1])
    model = SwitchingDecoder().fit(X[kept], gap_before=gap_before)
    assert hamming_error(model.Z_, Z[kept]) == 0


def test_a_load_that_runs_twice_for_two_rows_is_found():
    X, Z, _ = house(np.random.default_rng(4))
    rare = np.zeros(len(X), dtype=np.uint8)
    rare[[200, 201, 480, 481]] = 1
    X += np.outer(rare, 0.2 * np.sign(np.arange(40) % 9 - 4.5))
    model = SwitchingDecoder().fit(X)
    assert hamming_error(model.Z_, np.column_stack([Z, rare])) == 0


def test_rows_that_hold_a_switch_take_the_code_of_a_neighbour():
    rng = np.random.default_rng(5)
    X, Z, _ = house(rng)
    switches = 1 + np.flatnonzero((np.diff(Z.astype(int), axis=0) != 0).any(axis=1))
    mixed = rng.choice(switches, 4, replace=False)
    X[mixed] = 0.3 * X[mixed - 1] + 0.7 * X[mixed]
    model = SwitchingDecoder().fit(X)
    assert model.solution_.K == 7
    assert 0 < model.n_outlier_rows_ <= 4
    right = np.ones(len(X), dtype=bool)
    right[mixed] = False
    assert hamming_error(model.Z_[right], Z[right]) == 0


@pytest.mark.parametrize("X", [np.full((1, 5), 2.0), np.full((60, 5), 2.0), np.full((60, 1), -3.0)])
def test_constant_rows_are_one_feature_that_is_always_on(X):
    model = SwitchingDecoder().fit(X)
    np.testing.assert_array_equal(model.Z_, np.ones((len(X), 1)))
    np.testing.assert_allclose(model.W_, X[:1])


def test_rows_of_zeros_and_of_noise_alone():
    zeros = SwitchingDecoder().fit(np.zeros((30, 4)))
    assert zeros.solution_.residual(np.zeros((30, 4))) == 0
    noise = np.random.default_rng(6).standard_normal((300, 50))
    model = SwitchingDecoder().fit(noise)
    assert model.solution_.K == 1
    assert model.at_noise_floor_


def test_two_hours_of_a_house():
    X, _, _ = house(np.random.default_rng(7), N=60)
    model = SwitchingDecoder().fit(X)
    assert model.at_noise_floor_
    assert model.solution_.residual(X) <= 1.05 * NOISE * np.sqrt(X.size)


def test_no_level_is_invented_where_nothing_is_always_on():
    X, Z, W = house(np.random.default_rng(8))
    model = SwitchingDecoder().fit(X - W[0])
    assert hamming_error(model.Z_, Z[:, 1:]) == 0


def test_callback_hears_every_round_and_the_fit_is_reproducible():
    X, _, _ = house(np.random.default_rng(9))
    heard = []
    model = SwitchingDecoder(callback=lambda number, objective: heard.append((number, objective))).fit(X)
    assert heard == list(enumerate(model.objective_trace_, start=1))
    np.testing.assert_array_equal(clone(model).fit(X).W_, model.W_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": "many"}, "n_components must be 'auto' or an integer.*'many'"),
        ({"n_components": 0}, "n_components must be an integer of at least 1, got 0"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1, got 0"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        SwitchingDecoder(**options).fit(np.ones((5, 2)))


@pytest.mark.parametrize("gap_before", [[True, False], [0, 1, 0], [[True], [False], [True]]])
def test_gaps_are_one_boolean_per_row(gap_before):
    with pytest.raises(InvalidInputError, match="gap_before must hold one boolean for each of the 3 rows"):
        SwitchingDecoder().fit(np.ones((3, 2)), gap_before=gap_before)


def test_a_drift_that_is_no_number_is_refused():
    with pytest.raises(InvalidInputError, match=r"'auto' or a number in \[0, 1\), got 'large'"):
        SwitchingDecoder(drift="large").fit(house(np.random.default_rng(0))[0])


def some_fit(*, objective, J=3, misfit=0.0, twins=False):
    """A fit of J features in five segments, of which three pairs are nearly equal if `twins`."""
    G = 1000 * np.eye(6)[:J]
    if twins:
        G[1], G[2] = G[0] + 1, G[0] - 1
    Z = np.zeros((5, J), np.uint8)
    return Fit(G, np.zeros(6), Z, np.zeros(5, bool), objective, misfit, True, None)


@pytest.mark.parametrize(
    ("exact", "varying", "drift", "kept"),
    [
        (some_fit(objective=5.0), some_fit(objective=1.0), None, "exact"),  # certified: nothing else is tried
        (some_fit(objective=5.0, misfit=9.0), some_fit(objective=4.0), None, "varying"),
        (some_fit(objective=5.0, misfit=9.0), some_fit(objective=6.0), None, "exact"),
        (some_fit(objective=5.0, misfit=9.0), some_fit(objective=4.0), 0.0, "exact"),  # none may vary
        (some_fit(objective=5.0, twins=True), some_fit(objective=6.0, J=2), None, "varying"),  # splinters
        (some_fit(objective=5.0, twins=True), some_fit(objective=6.0, J=2, misfit=9.0), None, "exact"),
        (some_fit(objective=5.0, twins=True), some_fit(objective=6.0, J=3), None, "exact"),
        (None, some_fit(objective=6.0, misfit=9.0), None, "varying"),
        (None, some_fit(objective=6.0), 0.0, "exact"),
    ],
)
def test_which_of_two_fits_is_kept(monkeypatch, exact, varying, drift, kept):
    monkeypatch.setattr("lfm.switching.decoder.search_exact", lambda *_, **__: exact)
    monkeypatch.setattr("lfm.switching.decoder.search_varying", lambda *_, **__: varying)
    mean = np.zeros((5, 6))
    segments = Segments(np.arange(5), np.ones(5, int), mean, np.arange(5) > 0)
    found = SwitchingDecoder()._search(segments, 5, drift, Rounds(None))
    assert found is (exact if kept == "exact" else varying)


@pytest.mark.parametrize("sign", [1, -1])
def test_features_point_to_the_side_of_the_mean_and_the_rows_stay_explained(sign):
    rng = np.random.default_rng(10)
    X, Z, W = house(rng)
    model = SwitchingDecoder().fit(sign * X)
    mean = sign * X.mean(axis=0)
    cosine = model.W_ @ mean / np.linalg.norm(model.W_, axis=1) / np.linalg.norm(mean)
    assert np.all(cosine[np.abs(cosine) > 0.05] > 0)
    assert hamming_error(model.Z_, Z) == 0
    assert model.solution_.residual(sign * X) <= np.linalg.norm(X - Z @ W)


def test_noise_is_at_least_what_is_said():
    X, _, _ = house(np.random.default_rng(11))
    assert SwitchingDecoder(min_noise=0.05).fit(X).noise_ == 0.05
    assert SwitchingDecoder(min_noise=1e-9).fit(X).noise_ == pytest.approx(NOISE, rel=0.02)
