"""The most probable sequence of codes where each activation has a size of its own.

Owns the decode under drift. A feature k that switches on does so at a level v_k ~ N(g_k, C_k) with
C_k = δ² g_k g_kᵀ + η²‖g_k‖² I/r: `drift` δ along itself, `shape` η across. While it is on its level is
known from the rows, and it must leave by the same amount when it switches off: that tells collinear features
apart whose sizes overlap. A segment of n rows has mean b + Σ v_k + N(0, I/n), and each hypothesis about the
code carries a Kalman filter of the v_k (diagonal in k: filtered as if independent of each other).

A beam of hypotheses, one per code, is carried along; from each the changes of one feature are tried, of two
where none of them explains the segment, and then the most promising ones of three.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.switching.beam import BEAM, evidence, offer
from lfm.switching.segments import Segments
from lfm.switching.viterbi import SWITCH, closest_codes, code_numbers, glitch_costs

_PAIRS_EXTENDED = 4  # changes of two that are tried with a third
_WITHIN = (
    0.15  # change inside an activation from segment to segment, as a share of the drift between activations
)
_HOPELESS = 60.0  # nats behind the best at which a hypothesis is given up
_GAP_SWITCH = 1.0  # what a change costs across a gap in time


class Variation(NamedTuple):
    """How much the activations of a feature differ, relative to its size."""

    drift: float  # δ, along the feature
    shape: float  # η, across it


class Track(NamedTuple):
    """The codes of a sequence of segments."""

    Z: BinaryArray  # (S, J)
    cost: float  # −log evidence of the segment means above noise alone, plus switches
    chi2: float  # Σ of squared innovations in units of their covariance
    glitch: BoolArray  # (S,) single rows that were passed over


@compiled
def _track(
    means: FloatArray,
    length: IntArray,
    follows: BoolArray,
    G: FloatArray,
    level: FloatArray,
    closest: IntArray,
    glitch_cost: FloatArray,
    drift: float,
    shape: float,
    thorough: bool,
) -> tuple[IntArray, BoolArray, float, float]:
    """Codes and passed-over rows of the best hypothesis, its cost and chi²."""
    S, r = means.shape
    J = len(G)
    gram = G @ G.T
    size = np.empty(J)
    for k in range(J):
        size[k] = gram[k, k]
    within = (_WITHIN * drift) ** 2
    # chi² that fewer changes must exceed before more are tried
    plausible = 0.0 if thorough else r + np.sqrt(2.0 * r)
    fresh_along = max(drift**2, 1e-12)
    # Hypotheses: code, cost, chi², and for each feature its level V, variance `around` · I + `along` · g gᵀ.
    code = np.zeros(BEAM + 1, dtype=np.int64)
    cost = np.zeros(BEAM + 1)
    chi2 = np.zeros(BEAM + 1)
    V = np.zeros((BEAM + 1, J, r))
    along = np.zeros((BEAM + 1, J))
    around = np.zeros((BEAM + 1, J))
    next_V = np.zeros_like(V)
    next_along = np.zeros_like(along)
    next_around = np.zeros_like(around)
    next_chi2 = np.zeros_like(chi2)
    codes = np.zeros((S, BEAM), dtype=np.int64)
    back = np.zeros((S, BEAM), dtype=np.int64)
    passed = np.zeros((S, BEAM), dtype=np.bool_)
    new_code = np.zeros(BEAM, dtype=np.int64)
    new_cost = np.zeros(BEAM)
    new_from = np.zeros(BEAM, dtype=np.int64)
    new_pass = np.zeros(BEAM, dtype=np.bool_)
    u = np.zeros(r)
    w = np.zeros((J, r))  # what a change of feature k adds to the innovation
    uw = np.zeros(J)
    ww = np.zeros((J, J))
    ug = np.zeros(J)
    gw = np.zeros((J, J))  # gw[k, j] = g_k · w_j
    products = np.zeros(J)
    terms = np.zeros(J, dtype=np.int64)
    variances = np.zeros(J)
    work = np.zeros((J, J + 1))
    pairs = np.zeros((_PAIRS_EXTENDED, 2), dtype=np.int64)
    pair_cost = np.zeros(_PAIRS_EXTENDED)
    H = 1
    for s in range(S):
        switch = SWITCH if follows[s] else (0.0 if s == 0 else _GAP_SWITCH)
        noise = 1.0 / length[s]
        leader = 0
        if not follows[s]:  # anything may have happened: the closest code joins the hypotheses
            leader = int(np.argmin(cost[:H]))
            code[H] = closest[s]
            cost[H] = cost[leader]
            chi2[H] = chi2[leader]
            for k in range(J):
                V[H, k] = G[k]
                along[H, k] = fresh_along
                around[H, k] = shape**2 * size[k] / r
            H += 1
        n_new = 0
        n_before = H if follows[s] else H - 1
        reach = cost[:H].min() + _HOPELESS
        for h in range(H):
            if cost[h] > reach:
                continue
            for i in range(r):
                u[i] = means[s, i] - level[i]
            base = noise
            for k in range(J):
                if code[h] >> k & 1:
                    along[h, k] += within
                    base += around[h, k]
                    for i in range(r):
                        u[i] -= V[h, k, i]
                        w[k, i] = V[h, k, i]
                else:
                    for i in range(r):
                        w[k, i] = -G[k, i]
            square = 0.0
            for i in range(r):
                square += u[i] ** 2
            for k in range(J):
                uw[k] = 0.0
                ug[k] = 0.0
                for i in range(r):
                    uw[k] += u[i] * w[k, i]
                    ug[k] += u[i] * G[k, i]
                for j in range(J):
                    ww[k, j] = 0.0
                    gw[k, j] = 0.0
                    for i in range(r):
                        ww[k, j] += w[k, i] * w[j, i]
                        gw[k, j] += G[k, i] * w[j, i]
            pair_cost[:] = np.inf
            least = np.inf
            stage = 0
            a, b, c = -1, -1, -1
            third = 0
            while True:
                # The changes in order: none, each one, each two, then the best twos with each third.
                if stage == 0:
                    a, b, c = -1, -1, -1
                elif stage == 1:
                    a += 1
                    if a == J:
                        if least < plausible:
                            break
                        stage, a, b = 2, 0, 0
                if stage == 2:
                    b += 1
                    if b >= J:
                        a += 1
                        b = a + 1
                    if a >= J - 1:
                        if least < plausible:
                            break
                        stage, third, c = 3, 0, -1
                if stage == 3:
                    c += 1
                    if c == J:
                        third += 1
                        c = 0
                    if third == _PAIRS_EXTENDED or pair_cost[third] == np.inf:
                        break
                    a, b = pairs[third, 0], pairs[third, 1]
                    if c in (a, b):
                        continue
                changed = 0
                distance = square
                scale = base
                n_changed = 0
                for k in (a, b, c):
                    if k < 0 or (k == b and stage < 2) or (k == c and stage < 3):
                        continue
                    changed |= 1 << k
                    n_changed += 1
                    distance += 2 * uw[k] + ww[k, k]
                    if code[h] >> k & 1:
                        scale -= around[h, k]
                    else:
                        scale += shape**2 * size[k] / r
                if n_changed >= 2:
                    distance += 2 * ww[a, b]
                if n_changed == 3:
                    distance += 2 * (ww[a, c] + ww[b, c])
                after = code[h] ^ changed
                m = 0
                for k in range(J):
                    if after >> k & 1:
                        variance = fresh_along if changed >> k & 1 else along[h, k]
                        if variance * size[k] > 0.05 * scale:
                            terms[m] = k
                            variances[m] = variance
                            m += 1
                for i in range(m):
                    k = terms[i]
                    products[k] = ug[k]
                    if n_changed >= 1:
                        products[k] += gw[k, a]
                    if n_changed >= 2:
                        products[k] += gw[k, b]
                    if n_changed == 3:
                        products[k] += gw[k, c]
                misfit, determinant = evidence(
                    max(distance, 0.0), products, gram, terms, variances, m, scale, r, work
                )
                least = min(least, misfit)
                total = cost[h] + 0.5 * (misfit + determinant - r * np.log(noise)) + switch * n_changed
                n_new = offer(new_code, new_cost, new_from, new_pass, n_new, after, total, h, False)
                if stage == 2 and total < pair_cost[_PAIRS_EXTENDED - 1]:
                    p = _PAIRS_EXTENDED - 1
                    while p > 0 and pair_cost[p - 1] > total:
                        pair_cost[p] = pair_cost[p - 1]
                        pairs[p] = pairs[p - 1]
                        p -= 1
                    pair_cost[p] = total
                    pairs[p, 0] = a
                    pairs[p, 1] = b
                if stage == 0:
                    stage, a = 1, -1
            if glitch_cost[s] < np.inf:
                n_new = offer(
                    new_code, new_cost, new_from, new_pass, n_new, code[h], cost[h] + glitch_cost[s], h, True
                )
        # The chosen hypotheses take over their parents' filters and update them.
        for i in range(n_new):
            h = new_from[i]
            next_V[i] = V[h]
            next_along[i] = along[h]
            next_around[i] = around[h]
            next_chi2[i] = chi2[h]
            codes[s, i] = new_code[i]
            back[s, i] = h if h < n_before else leader
            passed[s, i] = new_pass[i]
            if new_pass[i]:
                continue
            scale = noise
            m = 0
            for j in range(r):
                u[j] = means[s, j] - level[j]
            for k in range(J):
                if new_code[i] >> k & 1:
                    if not code[h] >> k & 1:
                        next_V[i, k] = G[k]
                        next_along[i, k] = fresh_along
                        next_around[i, k] = shape**2 * size[k] / r
                    scale += next_around[i, k]
                    for j in range(r):
                        u[j] -= next_V[i, k, j]
            for k in range(J):
                if new_code[i] >> k & 1 and next_along[i, k] * size[k] > 0.05 * scale:
                    terms[m] = k
                    variances[m] = next_along[i, k]
                    products[k] = 0.0
                    for j in range(r):
                        products[k] += u[j] * G[k, j]
                    m += 1
            square = 0.0
            for j in range(r):
                square += u[j] ** 2
            misfit, _ = evidence(square, products, gram, terms, variances, m, scale, r, work)
            next_chi2[i] += misfit
            for j in range(r):  # u becomes S⁻¹u
                for t in range(m):
                    u[j] -= G[terms[t], j] * work[t, m] / scale
                u[j] /= scale
            for k in range(J):
                if new_code[i] >> k & 1:
                    gain = 0.0
                    for j in range(r):
                        gain += u[j] * G[k, j]
                    for j in range(r):
                        next_V[i, k, j] += next_around[i, k] * u[j] + next_along[i, k] * gain * G[k, j]
                    next_around[i, k] *= 1.0 - next_around[i, k] / scale
                    # gᵀS⁻¹g, with this term alone beside the noise
                    next_along[i, k] /= 1.0 + next_along[i, k] * size[k] / scale
        H = n_new
        V, next_V = next_V, V
        along, next_along = next_along, along
        around, next_around = next_around, around
        chi2, next_chi2 = next_chi2, chi2
        code[:H] = new_code[:H]
        cost[:H] = new_cost[:H]
    best_hypothesis = int(np.argmin(cost[:H]))
    path = np.zeros(S, dtype=np.int64)
    glitch = np.zeros(S, dtype=np.bool_)
    h = best_hypothesis
    for s in range(S - 1, -1, -1):
        path[s] = codes[s, h]
        glitch[s] = passed[s, h]
        h = back[s, h]
    return path, glitch, cost[best_hypothesis], chi2[best_hypothesis]


def track_segments(
    segments: Segments,
    G: FloatArray,
    level: FloatArray,
    variation: Variation,
    *,
    thorough: bool = False,
) -> Track:
    """The best sequence of codes found for features G (J, r) above the level (r,) with all off.

    `thorough` tries changes of two and three features even where one explains a segment: ten times slower.
    """
    S, J = len(segments.start), len(G)
    closest = np.zeros(S, dtype=np.int64)
    after_gap = ~segments.follows
    if J:
        closest[after_gap] = code_numbers(closest_codes(segments.mean[after_gap] - level, G))
    path, glitch, cost, chi2 = _track(
        segments.mean,
        segments.length,
        segments.follows,
        np.ascontiguousarray(G),
        level,
        closest,
        glitch_costs(segments),
        variation.drift,
        variation.shape,
        thorough,
    )
    Z = ((path[:, None] >> np.arange(J)) & 1).astype(np.uint8)
    return Track(Z, float(cost), float(chi2), glitch)
