"""The two inner parts of tracking: what an innovation is worth, and the beam that hypotheses compete for.

Owns no state: `lfm.switching.tracking` keeps the hypotheses and calls these in its innermost loop.
"""

import numpy as np

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.compiled import compiled


@compiled
def evidence(
    square: float,
    products: FloatArray,
    gram: FloatArray,
    terms: IntArray,
    along: FloatArray,
    m: int,
    scale: float,
    rank: int,
    work: FloatArray,
) -> tuple[float, float]:
    """uᵀS⁻¹u and log det S for S = scale·I + Σ along_t g_t g_tᵀ over m terms.

    By Woodbury in the Gram matrix: `square` = ‖u‖², products[k] = g_k·u. Column m of `work` (m, m + 1) ends
    as x = M⁻¹ G u with M = diag(1/along) + Q/scale.
    """
    if m == 0:
        return square / scale, rank * np.log(scale)
    determinant = rank * np.log(scale)
    for i in range(m):
        determinant += np.log(along[i])
        for j in range(m):
            work[i, j] = gram[terms[i], terms[j]] / scale
        work[i, i] += 1.0 / along[i]
        work[i, m] = products[terms[i]]
    for i in range(m):  # Gauss-Jordan: M is symmetric and positive definite, no pivoting is needed
        determinant += np.log(work[i, i])
        for j in range(m):
            if j != i:
                factor = work[j, i] / work[i, i]
                for c in range(i, m + 1):
                    work[j, c] -= factor * work[i, c]
    explained = 0.0
    for i in range(m):
        work[i, m] /= work[i, i]
        explained += work[i, m] * products[terms[i]]
    return (square - explained / scale) / scale, determinant


@compiled
def offer(
    codes: IntArray,
    costs: FloatArray,
    parents: IntArray,
    skipped: BoolArray,
    n: int,
    code: int,
    cost: float,
    parent: int,
    skips: bool,
) -> int:
    """The length of the sorted beam, one hypothesis for each code, after a hypothesis was offered to it.

    n is its length before; the arrays have room for as many as the beam may hold.
    """
    room = len(codes)
    if n == room and cost >= costs[n - 1]:
        return n
    at = n if n < room else n - 1
    for i in range(n):
        if codes[i] == code:
            if costs[i] <= cost:
                return n
            at = i
            break
    length = max(n, at + 1)
    while at > 0 and costs[at - 1] > cost:
        codes[at], costs[at] = codes[at - 1], costs[at - 1]
        parents[at], skipped[at] = parents[at - 1], skipped[at - 1]
        at -= 1
    codes[at], costs[at], parents[at], skipped[at] = code, cost, parent, skips
    return length
