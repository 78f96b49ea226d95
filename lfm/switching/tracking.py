"""The most probable sequence of codes where each activation has a size of its own.

Owns the decode under drift. A feature k that switches on does so at a level v_k ~ N(g_k, C_k) with
C_k = δ² g_k g_kᵀ + η²‖g_k‖² I/r: `drift` δ along itself, `shape` η across. While it is on, its level is
known from the rows, and it must leave by the same amount when it switches off. That tells collinear features
apart whose sizes overlap. A segment of n rows has mean b + Σ v_k + N(0, I/n). Each hypothesis about the code
carries a Kalman filter of the v_k, which treats the features as independent of each other.

A beam of hypotheses, one for each code, is carried from segment to segment. What one hypothesis does with one
segment is `lfm.switching.tracks.hypotheses`, and what it tries `lfm.switching.tracks.changes`.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.switching.segments import Segments
from lfm.switching.thresholds import THRESHOLDS, SwitchingThresholds
from lfm.switching.tracks.beam import offer
from lfm.switching.tracks.changes import offer_changes
from lfm.switching.tracks.hypotheses import (
    Beam,
    Hypotheses,
    Model,
    Scratch,
    inherit,
    innovate,
    learn,
    start_over,
)
from lfm.switching.viterbi import closest_codes, code_numbers, skip_costs


class Variation(NamedTuple):
    """How much the activations of a feature differ, relative to its size."""

    drift: float  # δ, along the feature
    shape: float  # η, across it


class Track(NamedTuple):
    """The codes of a sequence of segments."""

    Z: BinaryArray  # (S, J)
    cost: float  # −log evidence of the segment means above noise alone, plus switches
    chi2: float  # Σ of squared innovations in units of their covariance
    glitch: BoolArray  # (S,) single rows that were skipped
    paid: FloatArray  # (S,) what each segment adds to the cost


@compiled
def _empty_hypotheses(n: int, J: int, r: int) -> Hypotheses:
    """Room for n hypotheses; the first one has everything off and costs nothing."""
    return Hypotheses(
        np.zeros(n, dtype=np.int64),
        np.zeros(n),
        np.zeros(n),
        np.zeros((n, J, r)),
        np.zeros((n, J)),
        np.zeros((n, J)),
    )


@compiled
def _empty_scratch(J: int, r: int, n_kept: int) -> Scratch:
    """Room for the numbers of one hypothesis and one segment."""
    return Scratch(
        np.zeros(r),
        np.zeros((J, r)),
        np.zeros((2, J)),
        np.zeros((2, J, J)),
        np.zeros(J),
        np.zeros(J),
        np.zeros(J, dtype=np.int64),
        np.zeros(J),
        np.zeros((J, J + 1)),
        np.zeros((n_kept, 4), dtype=np.int64),
        np.zeros(n_kept),
    )


@compiled
def _track(
    means: FloatArray,
    length: IntArray,
    follows: BoolArray,
    closest: IntArray,
    skip_cost: FloatArray,
    model: Model,
    limits: SwitchingThresholds,
) -> tuple[IntArray, BoolArray, FloatArray, float]:
    """(codes, skipped segments, cost up to each segment) of the best hypothesis, and its chi²."""
    S, r = means.shape
    J, width, hopeless = len(model.G), limits.beam, limits.hopeless_nats
    now, then = _empty_hypotheses(width + 1, J, r), _empty_hypotheses(width + 1, J, r)
    scratch = _empty_scratch(J, r, limits.extended_changes)
    beam = Beam(
        np.zeros(width, dtype=np.int64),
        np.zeros(width),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.bool_),
    )
    codes = np.zeros((S, width), dtype=np.int64)
    parents = np.zeros((S, width), dtype=np.int64)
    skipped = np.zeros((S, width), dtype=np.bool_)
    costs = np.zeros((S, width))
    H = 1
    for s in range(S):
        noise = 1.0 / length[s]
        switch = limits.switch_nats if follows[s] else 0.0  # much may switch in a gap
        prices = (switch, r * np.log(noise))
        n_before, leader = H, 0
        if not follows[s]:  # anything may have happened: the closest code joins the hypotheses
            leader = int(np.argmin(now.cost[:H]))
            start_over(model, now, H, closest[s], leader)
            H += 1
        reach = now.cost[:H].min() + hopeless
        n = 0
        for h in range(H):
            if now.cost[h] > reach:
                continue
            innovation = innovate(model, now, h, means[s], noise, scratch)
            more = h < limits.extended_hypotheses
            n = offer_changes(model, now, h, beam, n, innovation, prices, hopeless, more, scratch)
            if skip_cost[s] < np.inf:
                cost = now.cost[h] + skip_cost[s]
                n = offer(beam.code, beam.cost, beam.parent, beam.skipped, n, now.code[h], cost, h, True)
        for i in range(n):
            h = beam.parent[i]
            inherit(now, h, then, i, beam.code[i], beam.cost[i])
            if not beam.skipped[i]:
                learn(model, then, i, now.code[h], means[s], noise, scratch)
            parents[s, i] = h if h < n_before else leader
        codes[s], skipped[s], costs[s] = beam.code, beam.skipped, beam.cost
        H = n
        now, then = then, now
    best = int(np.argmin(now.cost[:H]))
    path, glitch, cost = _trace_back(codes, parents, skipped, costs, best)
    return path, glitch, cost, now.chi2[best]


@compiled
def _trace_back(
    codes: IntArray, parents: IntArray, skipped: BoolArray, costs: FloatArray, best: int
) -> tuple[IntArray, BoolArray, FloatArray]:
    """(codes (S,), skipped (S,), costs (S,)) on the way that ends in the hypothesis `best`."""
    S = len(codes)
    path = np.zeros(S, dtype=np.int64)
    glitch = np.zeros(S, dtype=np.bool_)
    cost = np.zeros(S)
    h = best
    for s in range(S - 1, -1, -1):
        path[s] = codes[s, h]
        glitch[s] = skipped[s, h]
        cost[s] = costs[s, h]
        h = parents[s, h]
    return path, glitch, cost


def track_segments(
    segments: Segments,
    G: FloatArray,
    level: FloatArray,
    variation: Variation,
) -> Track:
    """The best sequence of codes found for features G (J, r) above the level (r,) with all off."""
    S, (J, r) = len(segments.start), G.shape
    closest = np.zeros(S, dtype=np.int64)
    after_gap = ~segments.follows
    if J:
        closest[after_gap] = code_numbers(closest_codes(segments.mean[after_gap] - level, G))
    G = np.ascontiguousarray(G)
    gram = G @ G.T
    model = Model(
        G,
        gram,
        level,
        max(variation.drift**2, 1e-12),
        variation.shape**2 * np.diag(gram) / max(r, 1),
        (THRESHOLDS.wander * variation.drift) ** 2,
        np.array([(a, -1, -1, -1) for a in range(-1, J)], dtype=np.int64),
        np.array([(a, b, -1, -1) for a in range(J) for b in range(a + 1, J)], dtype=np.int64).reshape(-1, 4),
    )
    path, glitch, cost, chi2 = _track(
        segments.mean,
        segments.length,
        segments.follows,
        closest,
        skip_costs(segments),
        model,
        THRESHOLDS,
    )
    Z = ((path[:, None] >> np.arange(J)) & 1).astype(np.uint8)
    return Track(Z, float(cost[-1]), float(chi2), glitch, np.diff(cost, prepend=0.0))
