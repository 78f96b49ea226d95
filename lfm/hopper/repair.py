"""Wrong bits of Z set right by the data: the step between the walks of a tolerant hop.

X = ZW + noise, so rows with the same states are equal but for noise. Where states recur (a house passes
through a few dozen of them in a week) the many rows that share one outvote the few whose bits are wrong,
whichever equivalent solution those bits are written in. Where no state recurs there is nothing to vote on.

With `nonnegative` no feature that comes back has a negative number.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.stats import chi2

from lfm.arrays import BinaryArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.equivalence.ranks import distinct_rows
from lfm.estimators.bit_flips import flip_bits
from lfm.estimators.decoding import decode
from lfm.least_squares import LeastSquares, least_squares
from lfm.solution import Solution
from lfm.thresholds import HOPPER


def projected(Z: BinaryArray, W: FloatArray, X: FloatArray, *, nonnegative: bool = False) -> Solution | None:
    """The solution near (Z, W) with the lowest residual, W refitted; None if none has rank K.

    Tried are Z itself and each row's nearest combination of the features W or of those that fit Z best: a
    wrong bit in Z harms the refit, a wrong W the decoding.
    """
    best = _best(_near(Z, W, X), X, nonnegative)
    return None if best is None else best[1]


def repaired(
    Z: BinaryArray, W: FloatArray, X: FloatArray, group: IntArray | None, *, nonnegative: bool = False
) -> Solution | None:
    """As `projected`, with votes of the rows of X that repeat one another (`group`, see `repeated_rows`).

    Tried are also Z after the vote, and each row's nearest combination of the features that most groups agree
    on. From the best on, decoding and refitting take turns while the residual falls.
    """
    tried = _near(Z, W, X)
    if group is not None:
        voted = majority(Z, group)
        tried += [voted, _nearest(voted, agreed_features(voted, X, group), X)]
    best = _best(tried, X, nonnegative)
    if best is None:
        return None
    for _ in range(HOPPER.max_passes):
        further = _best([_nearest(best[1].Z, best[1].W, X)], X, nonnegative)
        if further is None or further[0] >= best[0] * (1 - 1e-12):
            break
        best = further
    return best[1]


def _near(Z: BinaryArray, W: FloatArray, X: FloatArray) -> list[BinaryArray]:
    return [Z, _nearest(Z, W, X), _nearest(Z, _best_features(Z, X).W, X)]


def _nearest(Z: BinaryArray, W: FloatArray, X: FloatArray) -> BinaryArray:
    """Each row's nearest combination of the features W; of many features the nearest by single flips of Z."""
    if Z.shape[1] <= HOPPER.most_decoded:
        return decode(X, W).Z
    flipped = Z.copy()
    flip_bits(flipped, X @ W.T, W @ W.T)
    return flipped


def _best(tried: list[BinaryArray], X: FloatArray, nonnegative: bool) -> tuple[float, Solution] | None:
    """(residual, solution) of the states that fit best, W refitted; None where all have rank below K."""
    found = [near for near in (_fitted(states, X, nonnegative) for states in tried) if near is not None]
    return min(found, key=lambda pair: pair[0]) if found else None


def _fitted(Z: BinaryArray, X: FloatArray, nonnegative: bool) -> tuple[float, Solution] | None:
    """(residual, solution) of the best features for Z; None where rank(Z) < K."""
    W, rank = _best_features(Z, X, nonnegative=nonnegative)
    if rank < Z.shape[1]:
        return None
    solution = Solution(Z, W)
    return solution.residual(X), solution


def _best_features(Z: BinaryArray, X: FloatArray, *, nonnegative: bool = False) -> LeastSquares:
    """The W that minimises ‖X − ZW‖, and the rank of Z: one equation for each distinct row of Z."""
    rows, counts, of = distinct_rows(Z)
    return least_squares(rows, group_means(X, of), weight=counts, nonnegative=nonnegative)


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
