"""The sizes of all shapes in all rows: Gaussian rows, heavy-tailed changes, sizes that are not negative.

Minimises, over sizes a (N, K) with rows y_t and shapes B (K, r), all in units of the noise, ½ Σ_t ‖y_t − a_t
B‖² + Σ_t Σ_k log(1 + (Δa_k(t))²) + ½ κ Σ min(a, 0)² + μ Σ a by reweighted least squares: each round is one
block-tridiagonal solve, O(N K³). Changes across a gap are free.
"""

import numpy as np

from lfm.arrays import BoolArray, FloatArray
from lfm.compiled import compiled

NEGATIVE = 0.05  # κ, per squared unit of noise: soft, for a base that is a little too high in some rows
SMALL = 0.004  # μ, per unit of noise: of two explanations that fit alike, the smaller
_SETTLE = 4  # rounds that find which sizes are negative before changes are weighed anew
_LEAST = 1e-6  # keeps a size without any evidence at zero


def solve_amplitudes(
    Y: FloatArray, shapes: FloatArray, gap_before: BoolArray, changes: FloatArray, *, rounds: int
) -> FloatArray:
    """(N, K) sizes of the `shapes` (K, r) in rows Y (N, r); `changes` (N, K) are a first guess of Δa."""
    gram, along = shapes @ shapes.T, Y @ shapes.T
    weight = _weights(changes, gap_before)
    sizes = _solve(gram, along, weight, np.full(changes.shape, _LEAST))
    for _ in range(_SETTLE):
        sizes = _solve(gram, along, weight, np.where(sizes < 0, NEGATIVE, _LEAST))
    for _ in range(rounds):
        change = np.zeros_like(sizes)
        change[1:] = np.diff(np.maximum(sizes, 0), axis=0)
        weight = _weights(change, gap_before)
        sizes = _solve(gram, along, weight, np.where(sizes < 0, NEGATIVE, _LEAST))
    return sizes


def objective(Y: FloatArray, shapes: FloatArray, gap_before: BoolArray, sizes: FloatArray) -> float:
    """What `solve_amplitudes` minimises, in nats."""
    change = np.diff(sizes, axis=0)[~gap_before[1:]]
    return float(
        np.sum((Y - sizes @ shapes) ** 2) / 2
        + np.sum(np.log1p(change**2))
        + NEGATIVE / 2 * np.sum(np.minimum(sizes, 0) ** 2)
        + SMALL * np.sum(sizes)
    )


def _weights(change: FloatArray, gap_before: BoolArray) -> FloatArray:
    """(N, K) weights of squared changes that touch the heavy-tailed price at `change`."""
    weight = 2 / (1 + change**2)
    weight[0] = 0
    weight[gap_before] = 0
    return np.asarray(weight)


@compiled
def _solve(gram: FloatArray, along: FloatArray, weight: FloatArray, penalty: FloatArray) -> FloatArray:
    """The minimiser for given weights: forward elimination over rows, then back substitution."""
    N, K = along.shape
    inverse = np.empty((N, K, K))
    right = np.empty((N, K))
    for t in range(N):
        block = gram.copy()
        for k in range(K):
            block[k, k] += weight[t, k] + penalty[t, k]
            if t + 1 < N:
                block[k, k] += weight[t + 1, k]
            right[t, k] = along[t, k] - SMALL
        if t > 0:
            for i in range(K):
                for j in range(K):
                    block[i, j] -= weight[t, i] * inverse[t - 1, i, j] * weight[t, j]
            right[t] += weight[t] * (inverse[t - 1] @ right[t - 1])
        inverse[t] = np.linalg.inv(block)
    sizes = np.empty((N, K))
    sizes[N - 1] = inverse[N - 1] @ right[N - 1]
    for t in range(N - 2, -1, -1):
        sizes[t] = inverse[t] @ (right[t] + weight[t + 1] * sizes[t + 1])
    return sizes
