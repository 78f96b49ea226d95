"""What the experiments compare: fits as they are, the paper's hopper, and ours under the paper's prior."""

import math
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lfm import GaussianW, RankDeficientError, Solution, enumerate_candidates, hop, sample_candidates
from lfm.arrays import FloatArray

N_SAMPLES = 1000  # N_s of Sec. 5
N_STEPS = 1000  # M of Sec. 5
WITHOUT, PAPERS, OURS = "without", "paper's hopper", "our hopper"
MAX_NODES = 100_000  # of our enumeration; where it ends there, a hop over all it found would take minutes
TOLERANCE = 0.01  # candidates may break about this share of the rows


def fitted(estimator: Any, X: FloatArray) -> Solution:
    """The solution that an estimator finds for X (N, D); a fit that stopped early is compared as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution: Solution = estimator.fit(X).solution_
    return solution


def papers_hopper(
    solution: Solution, X: FloatArray, rng: np.random.Generator, *, tolerance: float = TOLERANCE
) -> Solution:
    """Algorithm 1 (N_s = 1000) and Algorithm 2 (M = 1000, greedy, any regular U), ‖W‖² prior.

    First with strict candidates, λ → ∞; then, where there is a tolerance, with tolerant ones from there.
    """
    for decay in (math.inf, 4 / (tolerance * solution.N)) if tolerance else (math.inf,):
        candidates = sample_candidates(solution.Z, n_samples=N_SAMPLES, decay=decay, rng=rng)
        solution = hop(
            solution,
            priors=[GaussianW(1.0)],
            candidates=candidates,
            unimodular=False,
            beta=math.inf,
            n_steps=N_STEPS,
            rng=rng,
            X=X,
        ).solution
    return solution


def our_hopper(
    solution: Solution, X: FloatArray, rng: np.random.Generator, *, tolerance: float = TOLERANCE
) -> Solution:
    """Complete enumeration, unimodular hop, the same ‖W‖² prior."""
    candidates = enumerate_candidates(
        solution.Z, max_nonbinarity=int(tolerance * solution.N), max_nodes=MAX_NODES
    )
    return hop(
        solution, priors=[GaussianW(1.0)], candidates=candidates, n_steps=N_STEPS, rng=rng, X=X
    ).solution


def with_both(
    solution: Solution, X: FloatArray, rng: np.random.Generator, *, tolerance: float = TOLERANCE
) -> dict[str, Solution]:
    """The solution without, with the paper's and with our hopper.

    An estimate whose columns of Z are dependent has no finite class of equivalents: it is compared as it is.
    """
    hopped = {WITHOUT: solution}
    for name, hopper in ((PAPERS, papers_hopper), (OURS, our_hopper)):
        try:
            hopped[name] = hopper(solution, X, rng, tolerance=tolerance)
        except RankDeficientError:
            hopped[name] = solution
    return hopped
