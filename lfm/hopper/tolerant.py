"""How much a hop tolerates: strict, or more and more wrong bits, whichever ends lowest in objective.

An estimate with wrong bits has few exact equivalents, or none but itself. How many bits are wrong is not
known beforehand, so several tolerances are tried. Owns that rule; each hop is `lfm.hopper.hop`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lfm.arrays import FloatArray
from lfm.checks import check_real
from lfm.equivalence.candidates import enumerate_candidates
from lfm.hopper.hop import Hop, hop
from lfm.priors import Prior
from lfm.solution import Solution
from lfm.thresholds import HOPPER


def hop_tolerantly(
    solution: Solution,
    *,
    X: ArrayLike,
    priors: Sequence[Prior],
    rng: np.random.Generator | None = None,
    residual_tolerance: float = HOPPER.residual_tolerance,
) -> Hop:
    """The best of a strict hop and of hops that tolerate wrong bits in Z, by ‖X − ZW‖² + Σ priors (Eq. 3).

    Columns of ZU may miss being binary in 0.1, 0.2, 0.5, 1 and 2% of the rows. Where the candidates of a
    tolerance are too many to be found in short time, it and larger ones are left out. The strict hop is kept
    unless another ends lower.

    Parameters
    ----------
    solution : Solution
        Where to start from; its Z has rank K.
    X : array of shape (N, D)
        The data.
    priors : sequence of Prior
        What makes a solution better. Their prices add up, and are weighed against ‖X − ZW‖².
    rng : numpy.random.Generator, optional
        Source of the randomness. Default: a fixed seed, so that the same call gives the same answer.
    residual_tolerance : float, default 0.01
        What comes back has a residual of at most (1 + residual_tolerance) times the start's, or is the start.

    Returns
    -------
    Hop
        As `lfm.hop` returns it. After a tolerant hop Z is a binary matrix near ZU, and W is refitted.

    Raises
    ------
    RankDeficientError
        Where Z has rank below K.
    InvalidInputError
        Where an argument is out of its range.

    Examples
    --------
    One bit in a thousand is wrong, in a feature that is inverted:

    >>> import lfm
    >>> import numpy as np
    >>> Z = np.tile([[1, 1], [1, 0], [1, 1], [1, 1]], (300, 1))
    >>> X = Z @ [[4.0, 2.0], [-1.0, -2.0]]
    >>> Z[0, 1] = 0
    >>> start = lfm.Solution(Z, [[4.0, 2.0], [-1.0, -2.0]])
    >>> priors = [lfm.BernoulliZ(0.1), lfm.NonNegativeW(1.0)]
    >>> found = lfm.hop_tolerantly(start, X=X, priors=priors).solution
    >>> found.W.round(3).tolist(), round(found.residual(X), 6)
    ([[3.0, 0.0], [1.0, 2.0]], 0.0)
    """
    rng = np.random.default_rng(0) if rng is None else rng
    data = check_real("X", X)
    best = hop(solution, priors=priors, rng=rng, X=data, residual_tolerance=residual_tolerance)
    lowest = _objective(best.solution, data, priors)
    for most in sorted({int(share * solution.N) for share in HOPPER.tolerances} - {0}):
        near = enumerate_candidates(solution.Z, max_nonbinarity=most, max_nodes=HOPPER.tolerant_nodes)
        if not near.complete:
            break
        found = hop(
            solution, priors=priors, candidates=near, rng=rng, X=data, residual_tolerance=residual_tolerance
        )
        value = _objective(found.solution, data, priors)
        if value < lowest - HOPPER.least_gain * (1 + abs(lowest)):
            best, lowest = found, value
    return best


def _objective(solution: Solution, X: FloatArray, priors: Sequence[Prior]) -> float:
    return solution.residual(X) ** 2 + sum(prior.value(solution) for prior in priors)
