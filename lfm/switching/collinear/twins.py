"""Twins: two features that are one, seen at slightly different sizes, put together again.

Where activations vary in size, an estimator may split a feature in two of nearly equal waveform: each takes
some of the activations, or one takes the place of the always-on level while the other fills its holes. With
w_j ≈ s·w_i (s = ±1) the two add up to (z_i + s·z_j)·w_i; if that sum takes two neighbouring values m and
m + 1 in nearly all rows, one feature with z = z_i + s·z_j − m says the same, and m·w_i goes to the always-on
feature. This is no equivalent solution (K falls by one), so it is no business of the hopper.
"""

import numpy as np
from numpy.typing import ArrayLike

from lfm.arrays import FloatArray
from lfm.checks import check_real, check_weight
from lfm.estimators.decoding import decode
from lfm.solution import Solution
from lfm.switching.thresholds import THRESHOLDS


def merge_twins(solution: Solution, X: ArrayLike, *, tolerance: float, slack: float = 0.02) -> Solution:
    """The solution with every pair of twins joined, nearest pair first; itself if there is none.

    Twins are two features of nearly the same waveform (up to sign) that share the activations of one
    appliance.

    Parameters
    ----------
    solution : Solution
        What an estimator found.
    X : array of shape (N, D)
        The data.
    tolerance : float
        Largest difference (or sum) of two twins, as a share of the smaller one's size.
    slack : float, default 0.02
        Share by which ‖X − ZW‖ may grow with each pair that is joined.

    Returns
    -------
    Solution
        With fewer features where twins were joined; the others keep their order.

    Raises
    ------
    InvalidInputError
        Where X does not have the solution's shape, or tolerance or slack is negative or not finite.

    Examples
    --------
    One feature that was taken for two:

    >>> import lfm
    >>> split = lfm.Solution([[1, 0], [0, 1], [0, 0]], [[5.0], [5.1]])
    >>> joined = lfm.merge_twins(split, [[5.2], [4.9], [0.0]], tolerance=0.05)
    >>> joined.Z.tolist()
    [[1], [1], [0]]
    """
    X = check_real("X", X)
    check_weight("tolerance", tolerance)
    check_weight("slack", slack)
    limit = (1 + slack) * solution.residual(X)
    while True:
        for i, j, sign in twin_pairs(solution.W, tolerance):
            merged = _merged(solution, X, i, j, sign)
            if merged is not None and merged.residual(X) <= limit:
                solution = merged
                break
        else:
            return solution


def twin_pairs(W: FloatArray, tolerance: float) -> list[tuple[int, int, int]]:
    """(i, j, s) with i < j and ‖w_j − s·w_i‖ ≤ tolerance · the smaller norm, s = ±1, the nearest first."""
    size = np.linalg.norm(W, axis=1)
    found = []
    for i in range(len(W)):
        for j in range(i + 1, len(W)):
            for sign in (1, -1):
                distance = float(np.linalg.norm(W[j] - sign * W[i]))
                smaller = float(min(size[i], size[j]))
                if distance <= tolerance * smaller:
                    found.append((distance / smaller, i, j, sign))
    return [(i, j, sign) for _, i, j, sign in sorted(found)]


def _merged(solution: Solution, X: FloatArray, i: int, j: int, sign: int) -> Solution | None:
    """The solution with features i and j as one in the place of i; None where their sum is no such column."""
    Z, W = solution.Z, solution.W
    total = Z[:, i].astype(np.int64) + sign * Z[:, j].astype(np.int64)
    values, counts = np.unique(total, return_counts=True)
    lowest = _lower_of_two(values, counts)
    if lowest is None:
        return None
    always_on = [k for k in np.flatnonzero(Z.all(axis=0)).tolist() if k not in (i, j)]
    if lowest != 0 and not always_on:
        return None
    column = np.clip(total - lowest, 0, 1).astype(np.uint8)
    if column.all() or not column.any():
        return None
    used = np.array([Z[:, i].sum(dtype=np.int64), Z[:, j].sum(dtype=np.int64)], dtype=np.float64)
    feature = (used[0] * W[i] + used[1] * sign * W[j]) / used.sum()
    joined_Z, joined_W = Z.copy(), W.copy()
    joined_Z[:, i], joined_W[i] = column, feature
    if lowest != 0:
        joined_W[always_on[0]] += lowest * feature
    joined_Z, joined_W = np.delete(joined_Z, j, axis=1), np.delete(joined_W, j, axis=0)
    broken = np.flatnonzero((total < lowest) | (total > lowest + 1))
    if len(broken):
        switched = ~joined_Z.all(axis=0)
        level = joined_W[~switched].sum(axis=0)
        joined_Z[np.ix_(broken, switched)] = decode(X[broken] - level, joined_W[switched]).Z
    return Solution(joined_Z, joined_W)


def _lower_of_two(values: np.ndarray, counts: np.ndarray) -> int | None:
    """M where nearly all of the counts lie at the neighbouring values m and m + 1."""
    for m in values.tolist():
        inside = counts[(values == m) | (values == m + 1)].sum()
        if inside >= (1 - THRESHOLDS.max_broken) * counts.sum():
            return int(m)
    return None
