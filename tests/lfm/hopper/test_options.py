import numpy as np
import pytest

from lfm import (
    GaussianW,
    InvalidInputError,
    RankDeficientError,
    Solution,
    enumerate_candidates,
    hop,
)
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
    with pytest.raises(InvalidInputError, match="whose square is no number any more"):
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
