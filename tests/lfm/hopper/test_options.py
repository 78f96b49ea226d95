from dataclasses import replace

import numpy as np
import pytest

from lfm import (
    BernoulliZ,
    GaussianW,
    InvalidInputError,
    RankDeficientError,
    Solution,
    enumerate_candidates,
    hop,
)
from lfm.hopper.options import HopOptions, residual_limit
from lfm.synthetic import constrained_states, images, with_bias


def test_mistakes_are_named() -> None:
    data = images(4, 100, 1, 0.1, np.random.default_rng(0))
    solution, priors = data.truth, [GaussianW(1.0)]
    with pytest.raises(InvalidInputError, match="priors is empty"):
        hop(solution, priors=[])
    with pytest.raises(InvalidInputError, match=r"priors must hold Prior objects, got 1\.0"):
        hop(solution, priors=[1.0])
    with pytest.raises(InvalidInputError, match="priors must be a list of Prior objects"):
        hop(solution, priors=priors[0])
    with pytest.raises(InvalidInputError, match=r"wrap it as Solution\(Z, W\)"):
        hop(solution.Z, priors=priors)
    with pytest.raises(InvalidInputError, match="beta must be positive"):
        hop(solution, priors=priors, beta=-1.0)
    with pytest.raises(InvalidInputError, match="n_steps must be a whole number of at least 1, got 0"):
        hop(solution, priors=priors, n_steps=0)
    with pytest.raises(InvalidInputError, match="gamma"):
        hop(solution, priors=priors, gamma=-1.0)
    with pytest.raises(InvalidInputError, match=r"beta must be positive .* got '1'"):
        hop(solution, priors=priors, beta="1")
    with pytest.raises(InvalidInputError, match=r"n_steps must be a whole number .* got 10\.5"):
        hop(solution, priors=priors, n_steps=10.5)
    with pytest.raises(InvalidInputError, match="n_restarts must be a whole number of at least 0, got -1"):
        hop(solution, priors=priors, n_restarts=-1)
    with pytest.raises(InvalidInputError, match="residual_tolerance must be a finite share"):
        hop(solution, priors=priors, residual_tolerance=float("nan"))
    with pytest.raises(InvalidInputError, match=r"rng must be a numpy\.random\.Generator, got 3"):
        hop(solution, priors=priors, rng=3)
    with pytest.raises(InvalidInputError, match="candidates must be a Candidates, got ndarray"):
        hop(solution, priors=priors, candidates=np.eye(4))
    with pytest.raises(InvalidInputError, match="whose square is lost in float64"):
        hop(Solution(solution.Z, 1e200 * solution.W), priors=priors)
    with pytest.raises(InvalidInputError, match=r"X has shape \(3, 3\)"):
        hop(solution, priors=priors, X=np.ones((3, 3)))
    with pytest.raises(InvalidInputError, match=r"candidates have length 3.*K = 4"):
        hop(solution, priors=priors, candidates=enumerate_candidates(np.eye(3)))
    other = with_bias(constrained_states(100, 3, [], np.random.default_rng(1)))
    with pytest.raises(InvalidInputError, match="do not belong to this solution's Z"):
        hop(solution, priors=priors, candidates=enumerate_candidates(other))
    tolerant = enumerate_candidates(solution.Z, max_nonbinarity=30)
    with pytest.raises(InvalidInputError, match="give X, or strict candidates"):
        hop(solution, priors=priors, candidates=tolerant)
    doubled = Solution(np.column_stack([solution.Z, solution.Z[:, 0]]), np.ones((5, 3)))
    with pytest.raises(RankDeficientError, match="columns 0 and 4 are equal"):
        hop(doubled, priors=priors)


def test_the_value_is_the_sum_of_the_priors_and_of_the_fit_where_a_hop_may_change_it() -> None:
    solution = Solution([[1, 0], [1, 1]], [[3.0], [1.0]])
    X = np.array([[3.5], [4.0]])
    options = HopOptions(
        priors=(GaussianW(2.0), BernoulliZ(0.5)),
        unimodular=True,
        gamma=0.0,
        beta=1.0,
        n_steps=1,
        n_restarts=0,
        rng=np.random.default_rng(0),
        X=X,
        residual_limit=1.0,
        tolerant=False,
        repair=False,
        nonnegative=False,
        group=None,
    )
    assert options.value(solution) == pytest.approx(2 * 10 + 0.5)
    assert replace(options, tolerant=True).value(solution) == pytest.approx(0.25 + 20.5)
    assert replace(options, tolerant=True, X=None).value(solution) == pytest.approx(20.5)


def test_a_residual_may_grow_by_its_tolerance_and_by_rounding() -> None:
    solution = Solution([[1, 0], [1, 1]], [[3.0], [1.0]])
    X = np.array([[3.0], [8.0]])  # a residual of 4
    norm = np.linalg.norm(X)
    assert residual_limit(solution, X, 0.5) == pytest.approx(6 + 1e-9 * norm, rel=1e-12)
    assert residual_limit(solution, X, -1.0) == pytest.approx(1e-9 * norm)
    assert residual_limit(solution, None, 0.5) == np.inf
