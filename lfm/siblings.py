"""Siblings: features of one shape that differ in size only, told apart by the size of each activation.

Two collinear features (heaters all draw the same shape) may come out as one whose activations have two sizes,
or as two that share their activations out wrongly. The size of an activation shows in its edges, in which
everything that stays on cancels: s = (x_t − x_{t−1} − what else switches)·w/‖w‖². Owns the sizes and the
cut between them; that activations of one size are one feature is `lfm.twins`.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lfm.binary_columns import cut_in_two
from lfm.errors import BinaryMatrix, FloatMatrix, InvalidInputError, check_real
from lfm.solution import Solution

SPLIT = 4.0  # distance of two sizes over their spread: one feature whose sizes scatter shows 2.7
SHARE_OUT = 3.2  # the same, where two features are known to be there
COLLINEAR = 0.998  # cosine of two shapes that are one
NEAR = 1.3  # ratio of two sizes that may be mixed up
LEAST_DRIFT = 0.005  # relative: no house's activations repeat better
MIN_RUNS = 2
MIN_SHARE = 0.05  # of a feature's activations: fewer are accidents


def separate_siblings(solution: Solution, X: ArrayLike, *, gap_before: NDArray[np.bool_]) -> Solution:
    """The solution with activations of different size in different features.

    A feature whose activations have two sizes far apart becomes two (the new one is last); two collinear
    features share their activations out anew by size. X (N, D); gap_before (N,) as for SwitchingZ. A change
    is kept only if ‖X − ZW‖ falls.
    """
    X = check_real("X", X)
    if gap_before.shape != (solution.N,):
        raise InvalidInputError(
            f"gap_before has shape {gap_before.shape}; one boolean per row of X is needed"
        )
    for i, j in _collinear_pairs(solution.W):
        solution = _better(_shared_out(solution, X, gap_before, i, j), solution, X)
    k, spreads = 0, _spreads(solution, X, gap_before)
    while k < solution.K:
        drift = _median_of([spread for other, spread in spreads.items() if other != k])
        halved = _better(_split(solution, X, gap_before, k, drift), solution, X)
        if halved is solution:
            k += 1
        else:  # the half that stays in place is looked at again
            solution, spreads = halved, _spreads(halved, X, gap_before)
    return solution


def _better(changed: Solution | None, solution: Solution, X: FloatMatrix) -> Solution:
    """The changed solution if there is one and it fits better, else the solution itself."""
    if changed is not None and changed.residual(X) < solution.residual(X):
        return changed
    return solution


def _runs(column: BinaryMatrix, gap_before: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """(first, end) of each run of ones; a gap in time ends a run."""
    on = np.concatenate([[0], column, [0]]).astype(np.int64)
    starts = np.flatnonzero((on[1:-1] == 1) & ((on[:-2] == 0) | gap_before))
    stops = np.flatnonzero((on[1:-1] == 1) & ((on[2:] == 0) | np.append(gap_before[1:], True))) + 1
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def _edges(
    solution: Solution, X: FloatMatrix, gap_before: NDArray[np.bool_], k: int
) -> tuple[list[tuple[int, int]], FloatMatrix]:
    """The runs of feature k that have an edge of their own, and the mean change (R, D) at those edges.

    An edge in which something else switches too is passed over: that one's drift would look like a size.
    """
    Z = solution.Z
    left = X - solution.product() + np.outer(Z[:, k], solution.W[k])
    others_switch = np.append(
        (np.delete(Z[1:] != Z[:-1], k, axis=1)).any(axis=1), True
    )  # from row t to t + 1
    runs, changes = [], []
    for first, end in _runs(Z[:, k], gap_before):
        seen = []
        if first > 0 and not gap_before[first] and not others_switch[first - 1]:
            seen.append(left[first] - left[first - 1])
        if end < solution.N and not gap_before[end] and not others_switch[end - 1]:
            seen.append(left[end - 1] - left[end])
        if seen:
            runs.append((first, end))
            changes.append(np.mean(seen, axis=0))
    return runs, np.array(changes).reshape(len(runs), solution.D)


def _spreads(solution: Solution, X: FloatMatrix, gap_before: NDArray[np.bool_]) -> dict[int, float]:
    """How much each feature's activations differ in size, relative; without features of few runs."""
    spreads = {}
    for k in range(solution.K):
        if solution.Z[:, k].all() or not solution.W[k].any():
            continue
        sizes = _sizes(_edges(solution, X, gap_before, k)[1], solution.W[k])
        if len(sizes) >= 2 * MIN_RUNS:
            spreads[k] = 1.4826 * float(np.median(np.abs(sizes - np.median(sizes))))
    return spreads


def _median_of(spreads: list[float]) -> float:
    """The usual drift: the median spread, never below what houses have."""
    return max(float(np.median(spreads)) if spreads else 0.0, LEAST_DRIFT)


def _sizes(changes: FloatMatrix, w: FloatMatrix) -> FloatMatrix:
    """The size of each change (R,) in units of the feature w."""
    return np.asarray(changes @ w / float(w @ w), dtype=np.float64)


def _distance(sizes: FloatMatrix, threshold: float, drift: float) -> float:
    """How far the two clusters lie apart, over their spread or the usual drift; 0 if one is too small."""
    high = sizes > threshold
    if min(np.count_nonzero(high), np.count_nonzero(~high)) < max(MIN_RUNS, MIN_SHARE * len(sizes)):
        return 0.0
    gap = float(sizes[high].mean() - sizes[~high].mean())
    within = np.where(high, sizes - sizes[high].mean(), sizes - sizes[~high].mean())
    return gap / max(float(np.sqrt(np.mean(within**2))), drift * abs(float(sizes.mean())))


def _split(
    solution: Solution, X: FloatMatrix, gap_before: NDArray[np.bool_], k: int, drift: float
) -> Solution | None:
    """The solution with feature k as two of different size; None where its activations have one."""
    if solution.Z[:, k].all() or not solution.W[k].any():
        return None
    runs, changes = _edges(solution, X, gap_before, k)
    if len(runs) < 2 * MIN_RUNS:
        return None
    sizes = _sizes(changes, solution.W[k])
    threshold = cut_in_two(sizes)[2]
    if _distance(sizes, threshold, drift) < SPLIT:
        return None
    fewer = sizes > threshold
    if np.count_nonzero(fewer) > len(sizes) / 2:
        fewer = ~fewer
    column = np.zeros(solution.N, dtype=np.uint8)
    for (first, end), is_new in zip(runs, fewer, strict=True):
        column[first:end] = is_new
    Z = np.column_stack([solution.Z, column])
    Z[:, k] = solution.Z[:, k] & (1 - column)  # with the runs whose size is not known
    W = np.vstack([solution.W, changes[fewer].mean(axis=0)])
    W[k] = changes[~fewer].mean(axis=0)
    return Solution(Z, W)


def _collinear_pairs(W: FloatMatrix) -> list[tuple[int, int]]:
    """Pairs i < j of one shape whose sizes are near each other."""
    size = np.linalg.norm(W, axis=1)
    return [
        (i, j)
        for i in range(len(W))
        for j in range(i + 1, len(W))
        if min(size[i], size[j]) > 0
        and W[i] @ W[j] >= COLLINEAR * size[i] * size[j]
        and max(size[i], size[j]) <= NEAR * min(size[i], size[j])
    ]


def _shared_out(
    solution: Solution, X: FloatMatrix, gap_before: NDArray[np.bool_], i: int, j: int
) -> Solution | None:
    """The solution with the activations of i and j shared out by size; None where that changes nothing."""
    if solution.Z[:, [i, j]].all(axis=0).any():
        return None
    parts = [_edges(solution, X, gap_before, k) for k in (i, j)]
    runs = parts[0][0] + parts[1][0]
    if len(runs) < 2 * MIN_RUNS:
        return None
    changes = np.concatenate([parts[0][1], parts[1][1]])
    sizes = _sizes(changes, solution.W[i])
    threshold = cut_in_two(sizes)[2]
    if _distance(sizes, threshold, LEAST_DRIFT) < SHARE_OUT:
        return None
    i_is_high = float(np.linalg.norm(solution.W[i])) > float(np.linalg.norm(solution.W[j]))
    to_i = (sizes > threshold) == i_is_high
    Z, W = solution.Z.copy(), solution.W.copy()
    n_i = len(parts[0][0])
    moved = np.flatnonzero(to_i != (np.arange(len(runs)) < n_i))
    if len(moved) == 0:
        return None
    for r in moved:
        first, end = runs[r]
        giver, taker = (j, i) if to_i[r] else (i, j)
        if Z[first:end, taker].any():  # both at once: it is no mix-up
            return None
        Z[first:end, giver], Z[first:end, taker] = 0, 1
    W[i], W[j] = changes[to_i].mean(axis=0), changes[~to_i].mean(axis=0)
    return Solution(Z, W)
