"""The closest binary combination of features for each row: argmin over z ∈ {0,1}^K of ‖x − zW‖².

Owns the exact Z step that every estimator's `transform` and the decoders' `fit` share. Where W comes from
is the estimators' business.

The method is a depth-first sphere decoder. With Wᵀ = QR the distance is a sum over levels,
‖x − zW‖² = ‖Qᵀx − Rz‖² + const, and level k depends only on z_k, z_{k+1}, …; a branch is cut where its
partial sum, plus a bound on what the levels below must still cost, reaches the best point found. The bound is
the distance from what each lower level still lacks to the interval that its undecided features can reach.
This keeps collinear features (a subset-sum problem) tractable.

Rank-deficient W costs nothing extra: z_k² = z_k, so δ Σ (z_k − ½)² is the same constant for every z, and
QR of [Wᵀ; √δ I] with the target [x; √δ/2] has the same minimiser and is always regular.
"""

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lfm.arrays import BinaryArray, BoolArray, FloatArray
from lfm.checks import check_real, check_whole
from lfm.compiled import compiled
from lfm.errors import InvalidInputError
from lfm.thresholds import ESTIMATORS


class InexactDecodingWarning(UserWarning):
    """Some rows ran out of nodes: their z is the best one found, not proved to be the closest."""


class Decoding(NamedTuple):
    """The outcome of decoding N rows."""

    Z: BinaryArray  # (N, K), the closest binary combination of each row
    proved: BoolArray  # (N,), False where the node budget ended the search before the proof
    nodes: int  # branches visited, all rows together


def _sorted_qr(A: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.intp]]:
    """Q, R, order with A[:, order] = QR, weakest column first: the search decides the strongest first."""
    remaining = A.copy()
    order = np.arange(A.shape[1])
    for k in range(A.shape[1]):
        pick = k + int(np.argmin(np.sum(remaining[:, k:] ** 2, axis=0)))
        order[[k, pick]] = order[[pick, k]]
        remaining[:, [k, pick]] = remaining[:, [pick, k]]
        direction = remaining[:, k] / np.linalg.norm(remaining[:, k])
        remaining[:, k + 1 :] -= np.outer(direction, direction @ remaining[:, k + 1 :])
    Q, R = np.linalg.qr(A[:, order])
    return Q, R, order


@compiled
def _search(R: FloatArray, targets: FloatArray, max_nodes: int) -> tuple[BinaryArray, BoolArray, int]:
    """The z of smallest ‖target − Rz‖² for each row of targets, whether proved, and the nodes visited."""
    N, K = targets.shape
    Z = np.zeros((N, K), dtype=np.uint8)
    proved = np.ones(N, dtype=np.bool_)
    total = 0
    # low[k, i], high[k, i]: the span of Σ_{j<k} R_ij z_j for level i, over all undecided z_j.
    low = np.zeros((K + 1, K))
    high = np.zeros((K + 1, K))
    for k in range(K):
        for i in range(K):
            low[k + 1, i] = low[k, i] + min(R[i, k], 0.0)
            high[k + 1, i] = high[k, i] + max(R[i, k], 0.0)
    missing = np.zeros((K + 1, K))  # missing[k, i]: target_i − Σ_{j≥k} R_ij z_j, for levels i < k
    partial = np.zeros(K + 1)  # partial[k]: cost of levels ≥ k
    z = np.zeros(K, dtype=np.uint8)
    visits = np.zeros(K, dtype=np.int64)
    for n in range(N):
        if n > 0 and np.array_equal(targets[n], targets[n - 1]):
            Z[n] = Z[n - 1]
            proved[n] = proved[n - 1]
            continue
        missing[K] = targets[n]
        best = np.inf
        nodes = 0
        k = K - 1
        visits[k] = 0
        while k < K:
            if visits[k] == 2:
                k += 1
                continue
            if nodes >= max_nodes and best < np.inf:
                proved[n] = False
                break
            nodes += 1
            if visits[k] == 0:  # the nearer of the two first; 0 where they are equally near
                z[k] = 1 if abs(missing[k + 1, k] - R[k, k]) < abs(missing[k + 1, k]) else 0
            else:
                z[k] = 1 - z[k]
            visits[k] += 1
            here = missing[k + 1, k] - z[k] * R[k, k]
            partial[k] = partial[k + 1] + here * here
            bound = partial[k]
            for i in range(k):
                left = missing[k + 1, i] - z[k] * R[i, k]
                missing[k, i] = left
                if left < low[k, i]:
                    bound += (low[k, i] - left) ** 2
                elif left > high[k, i]:
                    bound += (left - high[k, i]) ** 2
            if bound >= best:
                continue
            if k == 0:
                best = bound
                Z[n] = z
                continue
            k -= 1
            visits[k] = 0
        total += nodes
    return Z, proved, total


def decode(X: ArrayLike, W: ArrayLike, *, max_nodes: int = ESTIMATORS.max_nodes) -> Decoding:
    """The closest binary combination of the features W (K, D) for each row of X (N, D), with its proof.

    A row whose search visits `max_nodes` branches keeps the best point found by then (the first one is
    successive rounding, strongest feature first) and is marked as not proved. Among equally close
    combinations the one that comes first in the search is returned.
    """
    X, W = check_real("X", X), check_real("W", W)
    if W.shape[0] == 0:
        raise InvalidInputError("W has no features; at least one row is needed to decode against")
    if X.shape[1] != W.shape[1]:
        raise InvalidInputError(
            f"X has rows of length {X.shape[1]} and W of length {W.shape[1]}; they must agree"
        )
    max_nodes = check_whole("max_nodes", max_nodes, least=1)
    K, D = W.shape
    strongest = float(np.max(np.sum(W**2, axis=1)))
    if strongest == 0:
        return Decoding(np.zeros((len(X), K), dtype=np.uint8), np.ones(len(X), dtype=np.bool_), 0)
    root = np.sqrt(ESTIMATORS.regularisation * strongest)
    Q, R, order = _sorted_qr(np.vstack([W.T, root * np.eye(K)]))
    targets = X @ Q[:D] + (root / 2) * Q[D:].sum(axis=0)
    decided, proved, nodes = _search(np.ascontiguousarray(R), targets, max_nodes)
    Z = np.empty_like(decided)
    Z[:, order] = decided
    return Decoding(Z, proved, nodes)


def decode_rows(X: ArrayLike, W: ArrayLike, *, max_nodes: int = ESTIMATORS.max_nodes) -> BinaryArray:
    """Z (N, K): for each row of X the exact argmin over z ∈ {0,1}^K of ‖x − zW‖.

    Parameters
    ----------
    X : array of shape (N, D)
        Rows to explain.
    W : array of shape (K, D)
        Features, one per row.
    max_nodes : int, optional
        Most nodes of the search for one row. A row that needs more keeps the best combination found by then.

    Returns
    -------
    array of uint8, shape (N, K)
        Zeros and ones.

    Raises
    ------
    InvalidInputError
        Where the lengths of rows do not agree, or W has no rows.

    Warns
    -----
    InexactDecodingWarning
        Where rows ran out of nodes; it says how many.

    Examples
    --------
    >>> import lfm
    >>> lfm.decode_rows([[3.1, 4.0], [4.0, 4.1]], [[3.0, 4.0], [1.0, 0.0]]).tolist()
    [[1, 0], [1, 1]]
    """
    decoding = decode(X, W, max_nodes=max_nodes)
    unproved = int(np.count_nonzero(~decoding.proved))
    if unproved:
        warnings.warn(
            f"{unproved} of {len(decoding.Z)} rows were not decoded exactly within max_nodes = {max_nodes}: "
            "they carry the best combination found; raise max_nodes, or use fewer or less collinear features",
            InexactDecodingWarning,
            stacklevel=2,
        )
    return decoding.Z
