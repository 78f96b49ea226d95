"""What one hypothesis about the code believes, and how a segment changes that: innovation and filter update.

Owns the records of `lfm.switching.tracking`, which carries the hypotheses along. What a change of the code
costs is `lfm.switching.tracks.changes`. While a feature k is on,
a hypothesis believes that its level is N(V_k, around_k · I + along_k · g_k g_kᵀ). The innovation of a
segment is its mean less all that is believed to be on. A change of feature k adds w_k to the innovation: V_k
where k switches off, −g_k where it switches on.
"""

from typing import NamedTuple

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.switching.tracks.beam import evidence


class Model(NamedTuple):
    """What is the same for all segments: features, and how much their activations vary."""

    G: FloatArray  # (J, r) features
    gram: FloatArray  # (J, J) their inner products
    level: FloatArray  # (r,) with all features off
    along: float  # variance of a new activation along its feature, relative to its size
    around: FloatArray  # (J,) variance of a new activation in every direction
    wander: float  # what `along` grows by from segment to segment
    singles: IntArray  # (J + 1, 4) the changes of no feature and of one; −1 stands for none
    pairs: IntArray  # (J(J − 1)/2, 4) the changes of two


class Hypotheses(NamedTuple):
    """B hypotheses: their codes, what they cost so far, and what they believe about the features' levels."""

    code: IntArray  # (B,)
    cost: FloatArray  # (B,) nats
    chi2: FloatArray  # (B,) Σ of squared innovations in units of their covariance
    V: FloatArray  # (B, J, r)
    along: FloatArray  # (B, J)
    around: FloatArray  # (B, J)


class Beam(NamedTuple):
    """The best successors found so far, sorted by cost, one for each code."""

    code: IntArray  # (B,)
    cost: FloatArray  # (B,)
    parent: IntArray  # (B,)
    skipped: BoolArray  # (B,) whether the segment was skipped


class Scratch(NamedTuple):
    """Room for the numbers of one hypothesis and one segment."""

    u: FloatArray  # (r,) innovation
    w: FloatArray  # (J, r) what a change of feature k adds to it
    u_inner: FloatArray  # (2, J) u·w_k and u·g_k
    w_inner: FloatArray  # (2, J, J) w_k·w_j and g_k·w_j
    flip: FloatArray  # (J,) what a change of feature k adds to the variance of u in every direction
    products: FloatArray  # (J,) g_k·u after the change
    terms: IntArray  # (J,) features that are on
    variances: FloatArray  # (J,) theirs
    matrix: FloatArray  # (J, J + 1) of the linear system
    kept: IntArray  # (P, 4) the best changes of so many features
    kept_cost: FloatArray  # (P,)


@compiled
def innovate(
    model: Model, hypotheses: Hypotheses, h: int, mean: FloatArray, noise: float, scratch: Scratch
) -> tuple[float, float]:
    """(‖u‖², variance of u in every direction) if hypothesis h keeps its code; u, w and products in scratch.

    One more segment has passed, so `along` of what is on grows.
    """
    G, V, u, w = model.G, hypotheses.V, scratch.u, scratch.w
    J, r = G.shape
    u_inner, w_inner, flip, around = scratch.u_inner, scratch.w_inner, scratch.flip, hypotheses.around
    code = hypotheses.code[h]
    for i in range(r):
        u[i] = mean[i] - model.level[i]
    scale = noise
    for k in range(J):
        if code >> k & 1:
            hypotheses.along[h, k] += model.wander
            scale += around[h, k]
            flip[k] = -around[h, k]
            for i in range(r):
                u[i] -= V[h, k, i]
                w[k, i] = V[h, k, i]
        else:
            flip[k] = model.around[k]
            for i in range(r):
                w[k, i] = -G[k, i]
    square = 0.0
    for i in range(r):
        square += u[i] ** 2
    for k in range(J):
        uw, ug = 0.0, 0.0
        for i in range(r):
            uw += u[i] * w[k, i]
            ug += u[i] * G[k, i]
        u_inner[0, k], u_inner[1, k] = uw, ug
        for j in range(J):
            ww, gw = 0.0, 0.0
            for i in range(r):
                ww += w[k, i] * w[j, i]
                gw += G[k, i] * w[j, i]
            w_inner[0, k, j], w_inner[1, k, j] = ww, gw
    return square, scale


@compiled
def start_over(model: Model, hypotheses: Hypotheses, h: int, code: int, like: int) -> None:
    """Makes hypothesis h one that has `code`, costs as much as hypothesis `like`, and has seen no rows."""
    hypotheses.code[h] = code
    hypotheses.cost[h] = hypotheses.cost[like]
    hypotheses.chi2[h] = hypotheses.chi2[like]
    for k in range(len(model.G)):
        hypotheses.V[h, k] = model.G[k]
        hypotheses.along[h, k] = model.along
        hypotheses.around[h, k] = model.around[k]


@compiled
def inherit(before: Hypotheses, h: int, after: Hypotheses, i: int, code: int, cost: float) -> None:
    """Makes hypothesis i of `after` a copy of hypothesis h of `before`, with a new code and cost."""
    after.code[i] = code
    after.cost[i] = cost
    after.chi2[i] = before.chi2[h]
    after.V[i] = before.V[h]
    after.along[i] = before.along[h]
    after.around[i] = before.around[h]


@compiled
def learn(
    model: Model,
    hypotheses: Hypotheses,
    i: int,
    before: int,
    mean: FloatArray,
    noise: float,
    scratch: Scratch,
) -> None:
    """Updates what hypothesis i believes, and its chi², by a segment's mean; its code was `before` until now.

    Each feature keeps a variance of its own; what is known of sums of them is forgotten.
    """
    J, r = model.G.shape
    V, along, around = hypotheses.V[i], hypotheses.along[i], hypotheses.around[i]
    code, u = hypotheses.code[i], scratch.u
    scale = noise
    for j in range(r):
        u[j] = mean[j] - model.level[j]
    for k in range(J):
        if code >> k & 1:
            if not before >> k & 1:
                V[k] = model.G[k]
                along[k] = model.along
                around[k] = model.around[k]
            scale += around[k]
            for j in range(r):
                u[j] -= V[k, j]
    m = 0
    for k in range(J):
        if code >> k & 1:
            scratch.terms[m] = k
            scratch.variances[m] = along[k]
            scratch.products[k] = 0.0
            for j in range(r):
                scratch.products[k] += u[j] * model.G[k, j]
            m += 1
    square = 0.0
    for j in range(r):
        square += u[j] ** 2
    matrix = scratch.matrix
    misfit, _ = evidence(
        square, scratch.products, model.gram, scratch.terms, scratch.variances, m, scale, r, matrix
    )
    hypotheses.chi2[i] += misfit
    for j in range(r):  # u becomes S⁻¹u
        for t in range(m):
            u[j] -= model.G[scratch.terms[t], j] * matrix[t, m] / scale
        u[j] /= scale
    for k in range(J):
        if code >> k & 1:
            gain = 0.0
            for j in range(r):
                gain += u[j] * model.G[k, j]
            for j in range(r):
                V[k, j] += around[k] * u[j] + along[k] * gain * model.G[k, j]
            around[k] *= 1.0 - around[k] / scale
    _shrink(along, model.gram, scratch.terms, m, scale, matrix)


@compiled
def _shrink(
    along: FloatArray, gram: FloatArray, terms: IntArray, m: int, scale: float, work: FloatArray
) -> None:
    """Brings `along` (J,) of the m terms to what it is after a segment.

    That is the diagonal of (diag(1/along) + Q/scale)⁻¹, where Q is the Gram matrix of the terms.
    Two features that switched together are known by their sum alone, and each of them stays as uncertain.
    """
    for i in range(m):
        for j in range(m):
            work[i, j] = gram[terms[i], terms[j]] / scale
        work[i, i] += 1.0 / along[terms[i]]
    for i in range(m):  # the inverse in place; the matrix is symmetric and positive definite
        pivot = 1.0 / work[i, i]
        work[i, i] = 1.0
        for c in range(m):
            work[i, c] *= pivot
        for j in range(m):
            if j != i:
                factor = work[j, i]
                work[j, i] = 0.0
                for c in range(m):
                    work[j, c] -= factor * work[i, c]
    for i in range(m):
        along[terms[i]] = work[i, i]
