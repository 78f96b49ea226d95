import math

import numpy as np
import pytest
from scipy import integrate, stats

from lfm.estimators.ibp_evidence import (
    Posterior,
    State,
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
