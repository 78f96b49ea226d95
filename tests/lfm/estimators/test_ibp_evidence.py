import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from lfm.estimators.ibp_evidence import (
    Posterior,
    State,
    _update_rows,
    _value,
    log_ibp,
    update_all_rows,
    update_features,
    update_scales,
)
from lfm.estimators.meibp import _start


def truncated(q):
    s = q.scale[:, None]
    return stats.truncnorm(-q.location / s, np.inf, loc=q.location, scale=s)


@pytest.fixture
def posterior():
    rng = np.random.default_rng(0)
    return Posterior.at(rng.normal(0, 2, (3, 4)), np.array([0.3, 1.0, 2.0]))


def test_moments_and_entropy_are_those_of_truncated_gaussians(posterior):
    reference = truncated(posterior)
    np.testing.assert_allclose(posterior.first, reference.mean(), rtol=1e-6)
    np.testing.assert_allclose(posterior.second, reference.var() + reference.mean() ** 2, rtol=1e-6)
    entropy = np.zeros(3)
    for k, d in np.ndindex(3, 4):
        s = posterior.scale[k]
        one = stats.truncnorm(-posterior.location[k, d] / s, np.inf, loc=posterior.location[k, d], scale=s)
        entropy[k] -= integrate.quad(lambda a, q=one: q.pdf(a) * q.logpdf(a), 0, 30)[0]
    np.testing.assert_allclose(posterior.entropy(), entropy, rtol=1e-6)


def test_moments_survive_both_tails():
    q = Posterior.at(np.array([[-1e5, 1e5, 0.0]]), np.array([1.0]))
    np.testing.assert_allclose(q.first[0], [1e-5, 1e5, math.sqrt(2 / math.pi)], rtol=1e-4, atol=1e-9)


def test_bound_is_its_definition_summed_term_by_term(posterior):
    rng = np.random.default_rng(1)
    Z = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=np.uint8)
    X = rng.random((5, 4))
    state = State(X, Z, posterior, 0.7)
    state.sigma_a = 1.3
    alpha, N, K = 0.9, 5, 3
    reference = truncated(posterior)
    prior = stats.halfnorm(scale=1.3)
    expected = 0.0
    for n in range(N):
        for d in range(4):
            mean, variance = Z[n] @ reference.mean()[:, d], Z[n] @ reference.var()[:, d]
            expected += stats.norm(mean, 0.7).logpdf(X[n, d]) - variance / (2 * 0.7**2)
    for k in range(K):
        m = int(Z[:, k].sum())
        expected += math.log(alpha) - math.lgamma(N + 1) + math.lgamma(N - m + 1) + math.lgamma(m)
        for d in range(4):
            one = stats.truncnorm(
                -posterior.location[k, d] / posterior.scale[k],
                np.inf,
                loc=posterior.location[k, d],
                scale=posterior.scale[k],
            )
            expected += integrate.quad(lambda a, q=one: q.pdf(a) * (prior.logpdf(a) - q.logpdf(a)), 0, 30)[0]
    expected -= alpha * sum(1 / n for n in range(1, N + 1)) + math.log(math.factorial(K))
    assert state.bound(X, alpha) == pytest.approx(expected, rel=1e-6)


def test_with_one_feature_the_bound_is_the_evidence():
    X = np.array([[0.5], [1.4], [1.1], [0.1]])
    Z = np.array([[0], [1], [1], [0]], dtype=np.uint8)
    state = State(X, Z, Posterior.at(np.array([[0.5]]), np.array([1.0])), 0.4)
    update_features(state)
    evidence, _ = integrate.quad(
        lambda a: np.prod(stats.norm(Z * a, 0.4).pdf(X)) * stats.halfnorm(scale=0.4).pdf(a), 0, 10
    )
    assert state.bound(X, 1.0) == pytest.approx(math.log(evidence) + log_ibp(np.array([2]), 4, 1.0))


@pytest.mark.parametrize("seed", range(8))
def test_no_step_ever_lowers_the_bound(seed):
    rng = np.random.default_rng(seed)
    X = np.abs(rng.normal(0, 1, (30, 5)) + rng.integers(0, 2, (30, 3)) @ rng.random((3, 5)) * 3)
    alpha, K = 0.5, 8
    state = _start(X, K, rng)
    update_features(state)
    bound = state.bound(X, alpha)
    for _ in range(30):
        for step in (
            lambda: update_scales(state, X, 1e-9),
            lambda: update_all_rows(state, X, alpha, rng),
            lambda: update_features(state),
        ):
            step()
            if state.Z.shape[1] == 0:
                return
            after = state.bound(X, alpha)
            assert after >= bound - 1e-9 * abs(bound)
            bound = after


def _row_update(seed, K, N=6, rare=False):
    """A state, what `update_all_rows` hands to `_update_rows` for it (linear, Q, ones, birth), alpha, X."""
    rng = np.random.default_rng(seed)
    first = rng.random((K, 3)) * 2
    Z = rng.integers(0, 2, (N, K)).astype(np.uint8)
    Z[1:3] = 1  # at least two rows use each feature,
    if rare:
        Z[1:, 0], Z[0, 0] = 0, 1  # or row 0 alone uses feature 0
    X = Z @ first * rng.random() + rng.normal(0, 0.5, (N, 3))
    state = State(X, Z, Posterior.at(first, rng.uniform(0.2, 0.6, K)), 0.6)
    q, precision, alpha = state.q, 1 / 0.6**2, 0.8
    linear = (X @ q.first.T - 0.5 * q.second.sum(axis=1)) * precision
    birth = math.log(alpha) - math.log(N) + q.log_prior(state.sigma_a) + q.entropy()
    ones = Z.sum(axis=0, dtype=np.int64)
    return state, (linear, -(q.first @ q.first.T) * precision, ones, birth), alpha, X


def _bound_with_row(state, n, z, alpha, X):
    """The evidence bound with another row n, and without the features that nobody uses then."""
    Z = state.Z.copy()
    Z[n] = z
    alive = Z.any(axis=0)
    q = state.q
    kept = Posterior(q.location[alive], q.scale[alive], q.first[alive], q.second[alive])
    return State(X, np.ascontiguousarray(Z[:, alive]), kept, 0.6).bound(X, alpha)


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_the_value_of_a_row_is_its_part_of_the_bound(seed, rare):
    state, (linear, Q, ones, birth), alpha, X = _row_update(seed, 3, rare=rare)
    others = ones - state.Z[0]
    single = others == 0
    with np.errstate(divide="ignore"):
        omega = linear[0] + np.where(single, birth, np.log(others / (len(X) - others)))
    every = [np.array(z, dtype=np.uint8) for z in itertools.product((0, 1), repeat=3)]
    values = np.array([_value(z, omega, Q, single, 3) for z in every])
    bounds = np.array([_bound_with_row(state, 0, z, alpha, X) for z in every])
    np.testing.assert_allclose(values - values[0], bounds - bounds[0], atol=1e-9)


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_with_two_features_a_row_ends_at_the_best_of_its_four_values(seed, rare):
    state, (linear, Q, ones, birth), alpha, X = _row_update(seed, 2, rare=rare)
    every = [_bound_with_row(state, 0, z, alpha, X) for z in itertools.product((0, 1), repeat=2)]
    Z = state.Z.copy()
    _update_rows(Z, linear, Q, ones, birth, np.array([0]))
    if not (rare and max(every) - sorted(every)[-2] < math.log(3)):  # ln K₊! is searched to first order
        assert _bound_with_row(state, 0, Z[0], alpha, X) == pytest.approx(max(every))
    np.testing.assert_array_equal(ones, Z.sum(axis=0))
    np.testing.assert_array_equal(Z[1:], state.Z[1:])


@pytest.mark.parametrize("seed", range(20))
def test_no_single_flip_of_an_updated_row_is_better(seed):
    state, (linear, Q, ones, birth), alpha, X = _row_update(seed, 5, N=12)
    Z = state.Z.copy()
    Z[0] = 0
    ones -= state.Z[0]
    state.use(Z.copy(), X)
    _update_rows(Z, linear, Q, ones, birth, np.array([0]))
    best = _bound_with_row(state, 0, Z[0], alpha, X)
    for k in range(5):
        flipped = Z[0].copy()
        flipped[k] ^= 1
        assert _bound_with_row(state, 0, flipped, alpha, X) <= best + 1e-9
    assert ones.tolist() == Z.sum(axis=0).tolist()


def test_a_feature_that_no_row_uses_stays_off_and_goes():
    state, _, alpha, X = _row_update(3, 3)
    state.Z[:, 1] = 0
    state.use(state.Z, X)
    kept = state.q.first[[0, 2]]
    update_all_rows(state, X, alpha, np.random.default_rng(0))
    assert state.Z.shape[1] <= 2
    assert all(any(np.array_equal(row, one) for one in kept) for row in state.q.first)
    real = state.Z.astype(float)
    np.testing.assert_allclose(state.gram, real.T @ real)
    np.testing.assert_allclose(state.cross, real.T @ X)


def test_scales_are_where_the_bound_is_highest_and_not_below_the_least():
    state, _, alpha, X = _row_update(4, 3)
    update_scales(state, X, 1e-9)
    best = state.bound(X, alpha)
    at = state.sigma_x, state.sigma_a
    for x, a in itertools.product((0.97, 1.0, 1.03), repeat=2):
        state.sigma_x, state.sigma_a = at[0] * x, at[1] * a
        assert state.bound(X, alpha) <= best
    update_scales(state, X, 50.0)
    assert (state.sigma_x, state.sigma_a) == (50.0, 50.0)


def test_a_state_without_a_feature_is_that_of_the_others():
    state, _, _, X = _row_update(5, 3)
    fewer = state.without(1, X)
    np.testing.assert_array_equal(fewer.Z, state.Z[:, [0, 2]])
    np.testing.assert_array_equal(fewer.q.first, state.q.first[[0, 2]])
    np.testing.assert_array_equal(fewer.q.second, fewer.q.first**2)
    np.testing.assert_array_equal(fewer.q.scale, [0.6, 0.6])


def test_a_feature_that_one_row_needs_alone_stays_and_another_row_may_share_it():
    """Row 0 alone uses feature 0, and shows it clearly; row 1, where it is there, shows it as clearly."""
    rng = np.random.default_rng(0)
    first = np.array([[9.0, 0.0, 0.0], [0.0, 5.0, 0.0]])
    Z = np.array([[1, 0], [0, 1], [0, 1], [0, 0], [0, 1], [0, 0]], dtype=np.uint8)
    X = Z @ first + 0.05 * rng.standard_normal((6, 3))
    X[1] += first[0]
    for rows in (np.arange(6), np.array([0, 2, 3, 4, 5])):
        state = State(X[rows], Z[rows], Posterior.at(first, np.array([0.1, 0.1])), 0.6)
        state.sigma_a = 6.0
        update_all_rows(state, X[rows], 0.8, np.random.default_rng(1))
        np.testing.assert_array_equal(state.Z[:, 0], np.isin(rows, [0, 1]))
        np.testing.assert_array_equal(state.Z[:, 1], Z[rows, 1])


def test_a_feature_that_was_taken_first_goes_when_others_explain_the_row_better():
    """A wide feature gains most by itself, 1.02; four narrow ones explain (1, 1, 1, 1), and it goes."""
    first = np.vstack([np.full(4, 0.3), np.eye(4)])
    x = np.ones(4)
    linear = (first @ x - 0.5 * np.sum(first**2, axis=1))[None]
    Z = np.array([[0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], dtype=np.uint8)  # row 1 gives even odds to row 0
    ones = Z.sum(axis=0, dtype=np.int64)
    _update_rows(Z, np.repeat(linear, 2, axis=0), -(first @ first.T), ones, np.zeros(5), np.array([0]))
    assert Z[0].tolist() == [0, 1, 1, 1, 1]
    assert ones.tolist() == [1, 2, 2, 2, 2]
