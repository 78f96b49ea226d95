"""The binary column of steepest descent: argmax over z ∈ {0,1}^N of ‖Aᵀz‖², for LatentLasso.

A MAXCUT-like problem, relaxed to unit vectors of rank 10 and solved by the mixing method, then rounded by
random hyperplanes. AAᵀ is used as A times Aᵀ, never formed.
"""

import numpy as np

from lfm.arrays import BinaryArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.thresholds import ESTIMATORS


@compiled
def _sweep(A: FloatArray, x: FloatArray, sums: FloatArray, order: IntArray) -> float:
    """One sweep of the mixing method over the rows of A (N, q), in place; how much the objective rose.

    x (N, R) holds the unit vectors of the rows, sums = Aᵀ(x + x0) (q, R), x0 the dummy's. Each x_i
    becomes the unit vector along g_i = Σ_{j≠i} a_i·a_j x_j + (a_i·Σ_j a_j) x0.
    """
    q, rank = sums.shape
    g = np.empty(rank)
    risen = 0.0
    for i in order:
        square = 0.0
        for r in range(rank):
            g[r] = 0.0
        for d in range(q):
            a = A[i, d]
            square += a * a
            for r in range(rank):
                g[r] += a * sums[d, r]
        norm = 0.0
        for r in range(rank):
            g[r] -= square * x[i, r]
            norm += g[r] * g[r]
        norm = np.sqrt(norm)
        if norm == 0.0:
            continue
        for r in range(rank):
            new = g[r] / norm
            risen += g[r] * (new - x[i, r])
            g[r] = new - x[i, r]
            x[i, r] = new
        for d in range(q):
            a = A[i, d]
            for r in range(rank):
                sums[d, r] += a * g[r]
    return 2 * risen


def steepest_column(A: FloatArray, rng: np.random.Generator) -> BinaryArray:
    """A z ∈ {0,1}^N of large ‖Aᵀz‖², by the mixing method and random hyperplanes; A is (N, q)."""
    N = len(A)
    x = rng.standard_normal((N, ESTIMATORS.sdp_rank))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x0 = rng.standard_normal(ESTIMATORS.sdp_rank)
    x0 /= np.linalg.norm(x0)
    # With y = 2z − 1 and a dummy y₀: 4‖Aᵀz‖² = ‖Aᵀ(y + y₀1)‖²; the dummy keeps its vector, for only the
    # angles to it count.
    sums = A.T @ (x + x0)
    for _ in range(ESTIMATORS.max_sweeps):
        risen = _sweep(A, x, sums, rng.permutation(N))
        if risen <= ESTIMATORS.sweep_tolerance * float(np.sum(sums**2)):
            break
    planes = rng.standard_normal((ESTIMATORS.sdp_rank, ESTIMATORS.hyperplanes))
    sides = ((x @ planes >= 0) == (x0 @ planes >= 0)).astype(np.float64)
    best = int(np.argmax(np.sum((A.T @ sides) ** 2, axis=0)))
    z: BinaryArray = sides[:, best].astype(np.uint8)
    return z
