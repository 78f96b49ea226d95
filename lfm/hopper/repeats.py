"""Rows of X that repeat one another up to noise, and what the rows of Z say where they do.

X = ZW + noise, so rows with the same states are equal but for noise. Where states recur (a house passes
through a few dozen of them in a week) the many rows that share one outvote the few whose bits are wrong,
whichever equivalent solution those bits are written in. Where no state recurs there is nothing to vote on.
Owns groups of rows, their votes and the features that most groups agree on; what is done with them is the
business of `lfm.hopper.repair`.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.stats import chi2

from lfm.arrays import BinaryArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.least_squares import least_squares
from lfm.thresholds import HOPPER


@compiled
def _group(Y: FloatArray, radius: float, max_groups: int) -> tuple[IntArray, int]:
    """(group of each row, number of groups): a row joins the first group whose first row is within √radius.

    The group of the row before is tried first, as states last. The number is max_groups + 1 where the search
    was given up.
    """
    N, K = Y.shape
    group = np.zeros(N, dtype=np.int64)
    first = np.zeros(max_groups, dtype=np.int64)
    n_groups = 0
    for n in range(N):
        found = -1
        for attempt in range(n_groups + 1 if n > 0 else 0):
            g = group[n - 1] if attempt == 0 else attempt - 1
            distance = 0.0
            for k in range(K):
                distance += (Y[n, k] - Y[first[g], k]) ** 2
                if distance > radius:
                    break
            if distance <= radius:
                found = g
                break
        if found < 0:
            if n_groups == max_groups:
                return group, max_groups + 1
            first[n_groups] = n
            found = n_groups
            n_groups += 1
        group[n] = found
    return group, n_groups


def repeated_rows(X: FloatArray, K: int) -> IntArray | None:
    """The group (N,) of each row of X (N, D): the same number where two rows differ by noise alone.

    ZW has rank K at most, so what X holds beyond its K strongest directions is noise and says how large it
    is; rows are compared within those K directions. None where that cannot be said (N or D at most K) or
    where states recur too seldom.
    """
    N, D = X.shape
    if min(N, D) <= K:
        return None
    gram = X.T @ X
    strongest, directions = eigh(gram, subset_by_index=(D - K, D - 1))
    total = float(np.trace(gram))
    if total == 0:
        return np.zeros(N, dtype=np.int64)
    rounding = 1e-15 * total  # of the residual where X = ZW exactly
    variance = max(total - float(strongest.sum()), rounding) / ((N - K) * (D - K))
    group, n_groups = _group(
        X @ directions, 2 * variance * float(chi2.isf(HOPPER.told_apart, K)), HOPPER.max_groups
    )
    return None if n_groups > HOPPER.max_groups else group


def majority(Z: BinaryArray, group: IntArray) -> BinaryArray:
    """Z (N, K) with each bit set to what most rows of its group say; a tie leaves the bits as they are."""
    sizes = np.bincount(group)
    voted = np.empty_like(Z)
    for k in range(Z.shape[1]):
        ones = np.bincount(group, weights=Z[:, k])
        balance = (2 * ones - sizes)[group]
        voted[:, k] = np.where(balance == 0, Z[:, k], balance > 0)
    return voted


def group_means(X: FloatArray, group: IntArray) -> FloatArray:
    """The mean row (G, D) of each group; `group` (N,) counts from 0 and leaves out no number."""
    share = 1.0 / np.bincount(group)[group]
    return np.asarray(csr_array((share, (group, np.arange(len(group))))) @ X, dtype=np.float64)


def agreed_features(Z: BinaryArray, X: FloatArray, group: IntArray) -> FloatArray:
    """W (K, D) that minimises Σ over groups of size × ‖mean row − zW‖, z being the states of its first row.

    Norms, not squares: the few groups whose vote went wrong (small ones) then hardly move W. Found by
    iteratively reweighted least squares.
    """
    sizes = np.bincount(group)
    means = group_means(X, group)
    states = Z[np.unique(group, return_index=True)[1]]
    weights = sizes.astype(np.float64)
    last = np.inf
    for _ in range(HOPPER.max_reweightings):
        W = least_squares(states, means, weight=weights).W
        distances = np.linalg.norm(means - states @ W, axis=1)
        cost = float(sizes @ distances)
        if cost >= last * (1 - HOPPER.reweighting_gain):
            break
        last = cost
        # A group that fits exactly may not take all the weight.
        weights = sizes / np.maximum(distances, 1e-3 * np.median(distances) + 1e-300)
        weights /= weights.max()
    return W
