"""Every integer u with f(Zu) ≤ F, and whether the search was complete.

f(Zu) = ½(uᵀGu − uᵀZᵀ1) with G = ZᵀZ (Eq. 5) is at most F exactly where ‖Ru − c‖² ≤ ‖c‖² + 2F, with G = RᵀR
and c = ½R⁻ᵀZᵀ1: an ellipsoid with finitely many integer points. Schnorr-Euchner depth-first enumeration
visits each of them once and knows when it has finished. Owns f and the search; what a candidate is belongs to
`lfm.equivalence.candidates`.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from lfm.arrays import FloatArray, IntArray
from lfm.checks import check_binary, check_real
from lfm.compiled import compiled
from lfm.equivalence.ranks import distinct_rows
from lfm.errors import InvalidInputError
from lfm.thresholds import EQUIVALENCE


def nonbinarity(Z: ArrayLike, U: ArrayLike) -> IntArray:
    """f(Zu) = ½ Σ_n (Zu)_n((Zu)_n − 1) for each column u of U: how far Zu is from binary (Eq. 5).

    Parameters
    ----------
    Z : array of shape (N, K)
        Zeros and ones.
    U : array of shape (K, n)
        One vector per column. It may hold fractions as long as ZU is integer.

    Returns
    -------
    array of int, shape (n,)
        0 where Zu is binary, else the larger the further.

    Raises
    ------
    InvalidInputError
        Where ZU is not integer, or the shapes do not agree.

    Examples
    --------
    >>> import lfm
    >>> lfm.nonbinarity([[1, 0], [1, 1]], [[1, 1], [-1, 1]]).tolist()
    [0, 1]
    """
    Z = check_binary("Z", Z)
    U = check_real("U", U)
    if U.shape[0] != Z.shape[1]:
        raise InvalidInputError(
            f"U has {U.shape[0]} rows; a Z with K = {Z.shape[1]} columns needs K rows, a column per vector"
        )
    rows, counts, _ = distinct_rows(Z)
    ZU = rows.astype(np.float64) @ U
    whole = np.rint(ZU)
    if np.abs(whole).max(initial=0.0) > 2.0**31 / math.sqrt(len(Z)):
        raise InvalidInputError(
            f"Z·U has entries up to {np.abs(whole).max():g}, too large for f to be an exact integer; "
            "are these the columns of U?"
        )
    if np.any(np.abs(ZU - whole) > 1e-6):
        column = int(np.argmax(np.abs(ZU - whole).max(axis=0)))
        raise InvalidInputError(
            f"Z·U must be integer for f to measure anything; column {column} of U gives fractions"
        )
    integers = whole.astype(np.int64)
    f: IntArray = counts @ (integers * (integers - 1)) // 2
    return f


@compiled
def _lll(R: FloatArray) -> IntArray:
    """T unimodular such that the columns of RT are LLL-reduced (δ = 0.99); R, triangular, is overwritten."""
    K = R.shape[0]
    T = np.eye(K, dtype=np.int64)
    k = 1
    while k < K:
        for j in range(k - 1, -1, -1):
            q = np.rint(R[j, k] / R[j, j])
            if q != 0:
                for i in range(j + 1):
                    R[i, k] -= q * R[i, j]
                for i in range(K):
                    T[i, k] -= np.int64(q) * T[i, j]
        if R[k, k] ** 2 + R[k - 1, k] ** 2 < 0.99 * R[k - 1, k - 1] ** 2:
            for i in range(K):
                R[i, k], R[i, k - 1] = R[i, k - 1], R[i, k]
                T[i, k], T[i, k - 1] = T[i, k - 1], T[i, k]
            # A Givens rotation makes R upper triangular again.
            length = np.hypot(R[k - 1, k - 1], R[k, k - 1])
            c, s = R[k - 1, k - 1] / length, R[k, k - 1] / length
            for i in range(k - 1, K):
                upper, lower = R[k - 1, i], R[k, i]
                R[k - 1, i] = c * upper + s * lower
                R[k, i] = c * lower - s * upper
            k = max(k - 1, 1)
        else:
            k += 1
    return T


def _reduced_basis(G: IntArray) -> IntArray:
    """T unimodular: LLL, then the column order in which each next column is the nearest to those before it.

    The search fixes the last column first, so large diagonals at the end cut the tree early.
    """
    T = _lll(np.linalg.cholesky(G.astype(np.float64)).T.copy())
    reduced = (T.T @ G @ T).astype(np.float64)
    K = len(G)
    order: list[int] = []
    left = list(range(K))
    schur = reduced.copy()
    for _ in range(K):
        best = min(left, key=lambda j: schur[j, j])
        left.remove(best)
        order.append(best)
        schur -= np.outer(schur[:, best], schur[best]) / schur[best, best]
    permuted: IntArray = T[:, order]
    return permuted


@compiled
def _enter(k: int, R: FloatArray, c: FloatArray, y: IntArray, centre: FloatArray, step: IntArray) -> None:
    """Puts y_k at the integer nearest to the centre of its level, given the levels above k."""
    total = c[k]
    for j in range(k + 1, len(y)):
        total -= R[k, j] * y[j]
    centre[k] = total / R[k, k]
    y[k] = np.int64(np.rint(centre[k]))
    step[k] = 1 if centre[k] >= y[k] else -1


@compiled
def _next_value(k: int, y: IntArray, step: IntArray) -> None:
    """Moves y_k to the next nearest integer: on either side of the centre in turn."""
    y[k] += step[k]
    step[k] = -step[k] - 1 if step[k] > 0 else -step[k] + 1


@compiled
def _decided(
    k: int, y: IntArray, rows: IntArray, first: IntArray, weights: IntArray, known: int, limit: int
) -> int:
    """`known` plus the part of f in the rows that y_k decides; the sum stops once it is above the limit."""
    for r in range(first[k], first[k + 1]):
        entry = 0
        for j in range(k, len(y)):
            entry += rows[r, j] * y[j]
        known += weights[r] * (entry * (entry - 1) // 2)
        if known > limit:
            break
    return known


@compiled
def _enumerate(
    R: FloatArray,
    c: FloatArray,
    radius: float,
    rows: IntArray,
    first: IntArray,
    weights: IntArray,
    limit: int,
    max_nodes: int,
) -> tuple[IntArray, int, int]:
    """All integer y with ‖Ry − c‖² ≤ radius, their number, and the nodes visited (> max_nodes: cut short).

    `rows[first[k]:first[k + 1]]` are rows of the matrix that are zero before column k: once y_k is fixed they
    are known, and where their part of f alone is above `limit` the branch is left.
    """
    K = R.shape[0]
    found = np.empty((64, K), dtype=np.int64)
    n_found = 0
    y = np.zeros(K, dtype=np.int64)
    step = np.zeros(K, dtype=np.int64)
    centre = np.zeros(K)
    above = np.zeros(K + 1)  # squared distance of the levels above
    known = np.zeros(K + 1, dtype=np.int64)  # f of the rows that the levels above decide
    nodes = 0
    k = K - 1
    _enter(k, R, c, y, centre, step)
    while True:
        nodes += 1
        if nodes > max_nodes:
            break
        offset = R[k, k] * (y[k] - centre[k])
        distance = above[k + 1] + offset * offset
        if distance <= radius:
            known[k] = _decided(k, y, rows, first, weights, known[k + 1], limit)
            if known[k] > limit:
                _next_value(k, y, step)
                continue
            if k > 0:
                above[k] = distance
                k -= 1
                _enter(k, R, c, y, centre, step)
                continue
            if n_found == len(found):
                larger = np.empty((2 * n_found, K), dtype=np.int64)
                larger[:n_found] = found
                found = larger
            found[n_found] = y
            n_found += 1
        else:  # values come nearest first, so the rest of this level is farther still
            k += 1
            if k == K:
                break
        _next_value(k, y, step)
    return found, n_found, nodes


def _early_rows(rows: IntArray, weights: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Rows that are known before the last level of the search, by level: (rows, where each begins, weights).

    At most `EQUIVALENCE.early_per_level` for each level, since any of them may be left out. In a sparse Z
    they cut the tree where the ellipsoid does not; in a dense one there are few.
    """
    K = rows.shape[1]
    lead = np.argmax(rows != 0, axis=1)
    lead[~np.any(rows, axis=1)] = 0
    order = np.argsort(lead, kind="stable")
    begins = np.searchsorted(lead[order], np.arange(K + 1))
    kept = [
        order[begins[k] : min(begins[k + 1], begins[k] + EQUIVALENCE.early_per_level)] for k in range(1, K)
    ]
    sizes = [0, 0, *(len(part) for part in kept)]
    chosen = np.concatenate([order[:0], *kept])
    return np.ascontiguousarray(rows[chosen]), np.cumsum(sizes), weights[chosen]


def _product(A: IntArray, B: IntArray) -> IntArray:
    """A·B for integers, in floating point (many times faster) where that is exact."""
    largest = float(np.abs(A).max(initial=0)) * float(np.abs(B).max(initial=0)) * A.shape[1]
    if largest < 2.0**53:
        return np.asarray(np.rint(A.astype(np.float64) @ B.astype(np.float64)), dtype=np.int64)
    return A @ B


def short_vectors(
    rows: IntArray, counts: IntArray, max_nonbinarity: int, max_nodes: int
) -> tuple[IntArray, IntArray, int, bool]:
    """All integer y ≠ 0 with f(Ay) ≤ F, as (Y (n, K), f (n,), nodes, complete), in no particular order.

    `rows` (R, K) are the distinct rows of an integer matrix A of rank K and `counts` (R,) how often each
    occurs.
    """
    # Whether f is zero does not depend on the counts, and without them the ellipsoid is rounder.
    weights = np.ones_like(counts) if max_nonbinarity == 0 else counts
    G = _product((rows * weights[:, None]).T, rows)
    linear = weights @ rows
    T = _reduced_basis(G)
    R = np.linalg.cholesky((T.T @ G @ T).astype(np.float64)).T.copy()
    c: FloatArray = 0.5 * np.linalg.solve(R.T, (linear @ T).astype(np.float64)).astype(np.float64)
    # f is an integer: half a unit of room (2 · ¼) keeps rounding from losing a point on the boundary.
    radius = float(c @ c) + 2 * max_nonbinarity + 0.5
    early, first, its_weights = _early_rows(_product(rows, T), weights)
    found, n_found, nodes = _enumerate(R, c, radius, early, first, its_weights, max_nonbinarity, max_nodes)
    Y = _product(found[:n_found], T.T)
    f = ((_product(Y, G) * Y).sum(axis=1) - Y @ linear) // 2  # exact, in integers
    keep = (f <= max_nonbinarity) & np.any(Y != 0, axis=1)
    return Y[keep], f[keep], nodes, nodes <= max_nodes
