"""What one hypothesis about the code does with one segment: innovation, price of a change, filter update.

Owns the arithmetic of `lfm.switching.tracking`, which carries the hypotheses along. While a feature k is on,
a hypothesis believes that its level is N(V_k, around_k · I + along_k · g_k g_kᵀ). The innovation of a
segment is its mean less all that is believed to be on. A change of feature k adds w_k to the innovation: V_k
where k switches off, −g_k where it switches on.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.switching.beam import evidence, offer


class Model(NamedTuple):
    """What is the same for all segments: features, and how much their activations vary."""

    G: FloatArray  # (J, r) features
    gram: FloatArray  # (J, J) their inner products
    level: FloatArray  # (r,) with all features off
    along: float  # variance of a new activation along its feature, relative to its size
    around: FloatArray  # (J,) variance of a new activation in every direction
    wander: float  # what `along` grows by from segment to segment
    negligible: float  # share of the other variance below which `along` is left out
    singles: IntArray  # (J + 1, 3) the changes of no feature and of one; −1 stands for none
    pairs: IntArray  # (J(J − 1)/2, 3) the changes of two


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
    terms: IntArray  # (J,) features whose `along` matters
    variances: FloatArray  # (J,) theirs
    matrix: FloatArray  # (J, J + 1) of the linear system
    pairs: IntArray  # (P, 2) the best changes of two features
    pair_cost: FloatArray  # (P,)


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
def _explain(
    code: int,
    changes: tuple[int, int, int],
    innovation: tuple[float, float],
    along: FloatArray,
    fresh: float,
    negligible: float,
    gram: FloatArray,
    u_inner: FloatArray,
    w_inner: FloatArray,
    flip: FloatArray,
    products: FloatArray,
    terms: IntArray,
    variances: FloatArray,
    matrix: FloatArray,
    rank: int,
) -> tuple[int, float, float]:
    """(code, uᵀS⁻¹u, log det S) after up to three features changed (−1: none).

    `innovation` is what `innovate` returned, `along` (J,) the hypothesis's row and `fresh` that of a new
    activation; the arrays are fields of `Model` and `Scratch`. They come one by one because taking a field
    out of a record costs as much here as a third of the arithmetic.
    """
    a, b, c = changes
    square, scale = innovation
    changed = 0
    for k in changes:
        if k >= 0:
            changed |= 1 << k
            square += 2 * u_inner[0, k] + w_inner[0, k, k]
            scale += flip[k]
    if b >= 0:
        square += 2 * w_inner[0, a, b]
    if c >= 0:
        square += 2 * (w_inner[0, a, c] + w_inner[0, b, c])
    after = code ^ changed
    m = 0
    for k in range(len(gram)):
        if after >> k & 1:
            variance = fresh if changed >> k & 1 else along[k]
            if variance * gram[k, k] > negligible * scale:
                terms[m] = k
                variances[m] = variance
                product = u_inner[1, k]
                if a >= 0:
                    product += w_inner[1, k, a]
                if b >= 0:
                    product += w_inner[1, k, b]
                if c >= 0:
                    product += w_inner[1, k, c]
                products[k] = product
                m += 1
    misfit, determinant = evidence(max(square, 0.0), products, gram, terms, variances, m, scale, rank, matrix)
    return after, misfit, determinant


@compiled
def offer_changes(
    model: Model,
    hypotheses: Hypotheses,
    h: int,
    beam: Beam,
    n: int,
    innovation: tuple[float, float],
    prices: tuple[float, float],
    plausible: float,
    scratch: Scratch,
) -> int:
    """The length of the beam after the successors of hypothesis h were offered to it.

    No change is tried, then every change of one feature, of two where the misfit of none so far is below
    `plausible`, and then the best ones of two with each third. `innovation` is what `innovate` returned;
    `prices` are what a switch costs and log det of the noise alone.
    """
    J, rank = model.G.shape
    switch, baseline = prices
    code, cost, along = hypotheses.code[h], hypotheses.cost[h], hypotheses.along[h]
    fresh, negligible, gram = model.along, model.negligible, model.gram
    u_inner, w_inner, flip = scratch.u_inner, scratch.w_inner, scratch.flip
    products, terms = scratch.products, scratch.terms
    variances, matrix = scratch.variances, scratch.matrix
    codes, costs, parents, skipped = beam.code, beam.cost, beam.parent, beam.skipped
    pairs, pair_cost = scratch.pairs, scratch.pair_cost
    pair_cost[:] = np.inf
    least = np.inf
    for stage in range(3):
        if stage > 0 and least < plausible:
            break
        tried = model.singles
        if stage == 1:
            tried = model.pairs
        elif stage == 2:
            tried = _with_a_third(pairs, pair_cost, J)
        for q in range(len(tried)):
            changes = (tried[q, 0], tried[q, 1], tried[q, 2])
            after, misfit, determinant = _explain(
                code,
                changes,
                innovation,
                along,
                fresh,
                negligible,
                gram,
                u_inner,
                w_inner,
                flip,
                products,
                terms,
                variances,
                matrix,
                rank,
            )
            least = min(least, misfit)
            n_changed = (changes[0] >= 0) + (changes[1] >= 0) + (changes[2] >= 0)
            total = cost + 0.5 * (misfit + determinant - baseline) + switch * n_changed
            n = offer(codes, costs, parents, skipped, n, after, total, h, False)
            if stage == 1:
                _keep_pair(pairs, pair_cost, changes[0], changes[1], total)
    return n


@compiled
def _with_a_third(pairs: IntArray, costs: FloatArray, J: int) -> IntArray:
    """(n, 3) each kept pair of features with each third one."""
    found = np.empty((len(pairs) * J, 3), dtype=np.int64)
    n = 0
    for p in range(len(pairs)):
        for c in range(J):
            if costs[p] < np.inf and c != pairs[p, 0] and c != pairs[p, 1]:
                found[n, 0], found[n, 1], found[n, 2] = pairs[p, 0], pairs[p, 1], c
                n += 1
    return found[:n]


@compiled
def _keep_pair(pairs: IntArray, costs: FloatArray, a: int, b: int, cost: float) -> None:
    """Puts the pair (a, b) into the sorted list of the cheapest ones, if it belongs there."""
    p = len(costs) - 1
    if cost >= costs[p]:
        return
    while p > 0 and costs[p - 1] > cost:
        costs[p] = costs[p - 1]
        pairs[p] = pairs[p - 1]
        p -= 1
    costs[p] = cost
    pairs[p, 0] = a
    pairs[p, 1] = b


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

    The features are filtered as if they were independent of each other.
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
        if code >> k & 1 and along[k] * model.gram[k, k] > model.negligible * scale:
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
            # gᵀS⁻¹g, with this term alone beside the noise
            along[k] /= 1.0 + along[k] * model.gram[k, k] / scale
