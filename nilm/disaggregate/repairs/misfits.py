"""Single rows that an estimator missed grossly, decoded again."""

import itertools

import numpy as np

from lfm import Solution
from lfm.arrays import FloatArray
from nilm.thresholds import HOUSE


def with_misfits_decoded(solution: Solution, X: FloatArray) -> Solution:
    """The solution with single rows put right that it misses grossly; W stays.

    An estimator that looks at runs of rows may take one row (a kettle of two minutes) for a disturbance. A
    row whose residual is above `misfit` of its own size takes the state of a neighbour with up to `max_flips`
    features switched, if that leaves less than a quarter of the residual: the fewest among those that fit
    within `as_good` of it, or within a quarter of the best. Drift of an amplitude is too small to change a
    state, and what is always on stays on.
    """
    missed = np.linalg.norm(X - solution.product(), axis=1)
    rows = np.flatnonzero(missed > HOUSE.misfit * np.linalg.norm(X, axis=1))
    switched = np.flatnonzero(~solution.Z.all(axis=0)).tolist()
    choices = [c for n in range(HOUSE.max_flips + 1) for c in itertools.combinations(switched, n)]
    flips = np.zeros((len(choices), solution.K), dtype=np.uint8)
    for n, chosen in enumerate(choices):
        flips[n, list(chosen)] = 1
    n_flipped = np.tile(flips.sum(axis=1), 2)
    Z = solution.Z.copy()
    for n in rows.tolist():
        states = np.concatenate([Z[max(n - 1, 0)] ^ flips, Z[min(n + 1, len(Z) - 1)] ^ flips])
        left = np.linalg.norm(X[n] - states.astype(np.float64) @ solution.W, axis=1)
        if left.min() < HOUSE.much_better * missed[n]:
            enough = max((1 + HOUSE.much_better) * left.min(), HOUSE.as_good * missed[n])
            good = np.flatnonzero(left <= enough)
            Z[n] = states[good[np.lexsort((left[good], n_flipped[good]))[0]]]
    return solution if np.array_equal(Z, solution.Z) else Solution(Z, solution.W)
