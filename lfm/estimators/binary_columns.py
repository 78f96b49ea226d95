"""Binary columns to start from: those near the column space of the data, and sources cut into on and off.

Owns the search for single columns of Z and the choice among them: independent ones, or those that explain
the data best together. What a whole Z is worth is the business of the estimators. Y (N, r) is the data along
its r leading singular directions.
"""

import warnings

import numpy as np
from scipy.linalg import qr
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from lfm.arrays import BinaryArray, FloatArray
from lfm.compiled import compiled
from lfm.least_squares import least_squares
from lfm.thresholds import ESTIMATORS


@compiled
def _distances_to_binary(candidates: FloatArray, K: int) -> FloatArray:
    """For every b ∈ {0,1}^K, coded by its bits, the mean squared distance of `candidates`·b to binary.

    candidates is (n, K). Walks b in Gray code: each step adds or removes one column.
    """
    n = candidates.shape[0]
    distances = np.zeros(2**K)
    column = np.zeros(n)
    code = 0
    columns = candidates.T.copy()
    for step in range(1, 2**K):
        bit = 0
        while (step >> bit) & 1 == 0:
            bit += 1
        code ^= 1 << bit
        sign = 1.0 if (code >> bit) & 1 else -1.0
        total = 0.0
        changed = columns[bit]
        for i in range(n):
            value = column[i] + sign * changed[i]
            column[i] = value
            away = value if value < 0.5 else value - 1.0
            total += away * away
        distances[code] = total / n
    return distances


def _independent(directions: FloatArray, K: int) -> list[int]:
    """Indices of the first K linearly independent rows of `directions` (n, K)."""
    basis = np.zeros((0, K))
    chosen: list[int] = []
    for index, row in enumerate(directions):
        left = row - (row @ basis.T) @ basis
        left -= (left @ basis.T) @ basis
        norm = float(np.linalg.norm(left))
        if norm > 1e-6 * float(np.linalg.norm(row)):
            basis = np.vstack([basis, left / norm])
            chosen.append(index)
            if len(chosen) == K:
                break
    return chosen


def smallest_determinant(directions: FloatArray, chosen: list[int]) -> list[int]:
    """`chosen` after swaps that lower |det|: binary columns that generate the others by whole numbers.

    Columns with |det U| > 1 relative to the truth reach only a sublattice; a candidate whose coordinate in
    the present basis lies strictly between 0 and 1 brings the determinant down by that factor.
    """
    chosen = list(chosen)
    while True:
        coordinates = np.linalg.solve(directions[chosen].T, directions.T)  # (K, n)
        size = np.abs(coordinates)
        size[(size < 0.05) | (size > 0.95)] = np.inf
        k, new = np.unravel_index(int(np.argmin(size)), size.shape)
        if not np.isfinite(size[k, new]):
            return chosen
        chosen[int(k)] = int(new)


def cut_in_two(values: FloatArray) -> tuple[float, float, float]:
    """The lower centre, the upper centre and the threshold between them: exact 2-means of numbers."""
    ordered = np.sort(values)
    n = len(ordered)
    sums = np.cumsum(ordered)
    below = np.arange(1, n)
    between = sums[:-1] ** 2 / below + (sums[-1] - sums[:-1]) ** 2 / (n - below)
    cut = int(np.argmax(between)) + 1
    low, high = float(ordered[:cut].mean()), float(ordered[cut:].mean())
    return low, high, float((ordered[cut - 1] + ordered[cut]) / 2)


def split_in_two(values: FloatArray) -> BinaryArray:
    """One column of Z from N projections of rows: on is the cluster that lies further from zero."""
    low, high, threshold = cut_in_two(values)
    upper = values > threshold
    return np.asarray(upper if abs(high) >= abs(low) else ~upper, dtype=np.uint8)


def columns_near_space(Y: FloatArray) -> BinaryArray:
    """Z (N, r): independent binary columns closest to the column space of Y (N, r), all 2^r examined."""
    N, r = Y.shape
    pivots = qr(Y.T, mode="r", pivoting=True)[1][:r]
    to_pivots = np.linalg.inv(Y[pivots])
    screened = np.unique(np.linspace(0, N - 1, ESTIMATORS.screened_rows).astype(np.intp))
    distances = _distances_to_binary(np.ascontiguousarray(Y[screened] @ to_pivots), r)
    nearest = 1 + np.argsort(distances[1:], kind="stable")[: 64 * r]
    directions = ((nearest[:, None] >> np.arange(r)) & 1).astype(np.float64)
    chosen = _independent(directions, r)
    limit = 4 * distances[nearest[chosen[-1]]]  # squared: twice as far as the last one chosen
    directions = directions[distances[nearest] <= limit]
    chosen = smallest_determinant(directions, chosen)
    Z: BinaryArray = ((Y @ to_pivots @ directions[chosen].T) > 0.5).astype(np.uint8)
    return Z


def independent_sources(Y: FloatArray, contrast: str, seed: int) -> BinaryArray:
    """Z (N, r): the sources of FastICA of Y (N, r), each cut in two."""
    ica = FastICA(whiten="unit-variance", fun=contrast, random_state=seed, max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # it is only a start, and is judged by its residual
        ica.fit(Y)
    # Without the centring that ICA does: the source of a feature that is off is then at zero.
    return np.column_stack([split_in_two(source) for source in (Y @ ica.components_.T).T])


def nearest_columns(Y: FloatArray, columns: BinaryArray) -> BinaryArray:
    """Z (N, ≤ r): of `columns` (N, m) the independent ones closest to the column space of Y (N, r).

    A column of the true Z lies in that space up to noise, wherever it was found; a wrong one does not.
    """
    columns = np.unique(columns, axis=1)
    columns = columns[:, columns.any(axis=0)]
    directions: FloatArray = np.asarray(np.linalg.lstsq(Y, columns.astype(np.float64))[0], dtype=np.float64)
    distances = np.mean((columns - Y @ directions) ** 2, axis=0)
    order = np.argsort(distances, kind="stable")
    chosen = _independent(directions.T[order], Y.shape[1])
    if len(chosen) == Y.shape[1]:
        order = order[distances[order] <= 4 * distances[order[chosen[-1]]]]
        chosen = smallest_determinant(directions.T[order], chosen)
    return columns[:, order[chosen]]


def combined_columns(Z: BinaryArray, Y: FloatArray) -> BinaryArray:
    """Columns (N, m) a step away from Z: of each pair the union, the common part and both differences.

    And what Z leaves of Y (N, r), cut in two along its main directions. Empty and repeated ones are left out.
    """
    i, j = np.triu_indices(Z.shape[1], 1)
    one, other = Z[:, i], Z[:, j]
    left = Y - Z @ least_squares(Z, Y).W
    directions = np.linalg.svd(left.T @ left, hermitian=True)[2][: ESTIMATORS.residual_directions]
    cuts = [split_in_two(left @ direction)[:, None] for direction in directions]
    columns = np.hstack([one | other, one & other, one & (1 - other), other & (1 - one), *cuts])
    columns = np.unique(columns[:, columns.any(axis=0)], axis=1)
    return np.ascontiguousarray(columns)


def exchanged(Z: BinaryArray, pool: BinaryArray, X: FloatArray) -> BinaryArray:
    """Z (N, K) with columns exchanged for those of `pool` (N, m) that explain X (N, D) better together.

    One at a time, the best exchange first, while the squared residual of least squares falls by more than a
    thousandth. Z itself comes back where no exchange does that.
    """
    if Z.shape[1] == 0 or pool.shape[1] == 0:
        return Z
    inside, outside = Z.astype(np.float64), pool.astype(np.float64)
    cross, cross_outside = inside.T @ X, outside.T @ X
    shared, own = outside.T @ inside, np.sum(outside, axis=0)[:, None]
    energy = float(np.sum(X**2))
    swapped = False
    while True:
        gram = inside.T @ inside
        inverse = np.linalg.inv(
            gram + ESTIMATORS.ridge * max(np.trace(gram) / len(gram), 1.0) * np.eye(len(gram))
        )
        W = inverse @ cross
        # Without column i inside, and with P = inverse_ii: the residual rises by ‖W_i‖²/P, the part of
        # column j outside that the others do not span becomes own_j − shared_j·T_j + T_ji²/P, and its product
        # with what is then left of X becomes left_j + T_ji W_i/P.
        T = shared @ inverse
        left = cross_outside - shared @ W
        P, squares = np.diag(inverse), np.sum(W**2, axis=1)
        apart = own - np.sum(T * shared, axis=1, keepdims=True) + T**2 / P
        explained = np.sum(left**2, axis=1, keepdims=True) + 2 * T * (left @ W.T) / P + T**2 * squares / P**2
        gain = np.where(apart > 1e-6 * own, explained / np.maximum(apart, 1e-300), 0.0) - squares / P
        new, old = np.unravel_index(int(np.argmax(gain)), gain.shape)
        residual = max(energy - float(np.sum(W * cross)), ESTIMATORS.least_residual * energy)
        if gain[new, old] <= ESTIMATORS.worth_an_exchange * residual:
            return np.ascontiguousarray(inside.astype(np.uint8)) if swapped else Z
        swapped = True
        column = inside[:, old].copy()
        inside[:, old], outside[:, new] = outside[:, new], column
        cross[old], cross_outside[new] = cross_outside[new].copy(), cross[old].copy()
        shared[:, old] = outside.T @ inside[:, old]
        shared[new] = inside.T @ column
        own[new] = column.sum()
