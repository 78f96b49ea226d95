"""The most probable sequence of codes for a sequence of segments, given the features.

Owns step 6 of the switching decoder. A code says which features are on; a segment of n rows with mean m costs
n‖m − b − zG‖²/2 (units of the noise), a feature that switches between neighbours costs `switch_nats`.

Not all 2^J codes are visited. Each distinct level has a list: the exactly closest code (sphere decoder of
`lfm.estimators.decoding`) and every code within three flips of it that is not hopelessly far; a segment
also lists the closest codes of its neighbours. Viterbi's recursion runs over the lists, so time
and memory grow with J³ and not with 2^J.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.estimators.decoding import decode
from lfm.switching.segments import Segments, States, is_transition
from lfm.switching.thresholds import THRESHOLDS
from lfm.thresholds import ESTIMATORS


class Path(NamedTuple):
    """The codes of a sequence of segments."""

    Z: BinaryArray  # (S, J)
    cost: float  # misfit plus switches
    glitch: BoolArray  # (S,) segments of one row that fit no code


@compiled
def _nearby(
    best: IntArray, product: FloatArray, gram: FloatArray, weight: FloatArray, margin: float, n_codes: int
) -> tuple[IntArray, FloatArray, IntArray]:
    """Codes within three flips of the best one, their excess misfit, and how many, for each level.

    `product` (M, J) holds (m − b)·g_k. Flipping z_k by s_k = 1 − 2 z_k changes ½‖m − b − zG‖² by
    −s_k (p_k − (zQ)_k) + ½Q_kk, plus s_j s_k Q_jk for each pair flipped.
    """
    M, J = product.shape
    codes = np.zeros((M, n_codes), dtype=np.int64)
    excess = np.full((M, n_codes), np.inf)
    count = np.zeros(M, dtype=np.int64)
    sign = np.empty(J)
    single = np.empty(J)
    for m in range(M):
        for k in range(J):
            sign[k] = 1.0 - 2.0 * ((best[m] >> k) & 1)
        for k in range(J):
            drive = product[m, k]
            for j in range(J):
                if (best[m] >> j) & 1:
                    drive -= gram[j, k]
            single[k] = weight[m] * (0.5 * gram[k, k] - sign[k] * drive)
        _insert(codes, excess, count, m, best[m], 0.0)
        for a in range(J):
            if single[a] <= margin:
                _insert(codes, excess, count, m, best[m] ^ (1 << a), single[a])
            for b in range(a + 1, J):
                two = single[a] + single[b] + weight[m] * sign[a] * sign[b] * gram[a, b]
                flipped = (1 << a) | (1 << b)
                if two <= margin:
                    _insert(codes, excess, count, m, best[m] ^ flipped, two)
                for c in range(b + 1, J):
                    three = (
                        two + single[c] + weight[m] * sign[c] * (sign[a] * gram[a, c] + sign[b] * gram[b, c])
                    )
                    if three <= margin:
                        _insert(codes, excess, count, m, best[m] ^ flipped ^ (1 << c), three)
    return codes, excess, count


@compiled
def _insert(codes: IntArray, excess: FloatArray, count: IntArray, m: int, code: int, value: float) -> None:
    """Keeps the list of level m sorted by excess, at most as long as there is room for."""
    n, room = count[m], codes.shape[1]
    if n == room:
        if value >= excess[m, n - 1]:
            return
        n -= 1
    while n > 0 and excess[m, n - 1] > value:
        codes[m, n] = codes[m, n - 1]
        excess[m, n] = excess[m, n - 1]
        n -= 1
    codes[m, n] = code
    excess[m, n] = value
    if count[m] < room:
        count[m] += 1


@compiled
def _ones(code: int) -> int:
    """Number of bits set."""
    n = 0
    while code:
        code &= code - 1
        n += 1
    return n


@compiled
def _recursion(
    codes: IntArray, misfit: FloatArray, count: IntArray, follows: BoolArray, switch: float
) -> tuple[IntArray, float]:
    """Index into each segment's list on the cheapest path, and its cost."""
    S, L = codes.shape
    back = np.zeros((S, L), dtype=np.int64)
    cost = np.zeros(L)
    now = np.zeros(L)
    for s in range(S):
        if s == 0:
            now[: count[0]] = misfit[0, : count[0]]
        else:
            cheapest = int(np.argmin(cost[: count[s - 1]]))
            for i in range(count[s]):
                pick, least = cheapest, cost[cheapest]
                if follows[s]:
                    least += switch * _ones(codes[s, i] ^ codes[s - 1, cheapest])
                    for j in range(count[s - 1]):
                        if cost[j] < least:
                            total = cost[j] + switch * _ones(codes[s, i] ^ codes[s - 1, j])
                            if total < least:
                                pick, least = j, total
                now[i] = least + misfit[s, i]
                back[s, i] = pick
        cost[: count[s]] = now[: count[s]]
    path = np.zeros(S, dtype=np.int64)
    path[S - 1] = int(np.argmin(cost[: count[S - 1]]))
    for s in range(S - 1, 0, -1):
        path[s - 1] = back[s, path[s]]
    return path, cost[path[S - 1]]


def skip_costs(segments: Segments) -> FloatArray:
    """(S,) what skipping each segment costs, in nats: infinite for all that are longer than one row."""
    between = 0.5 * segments.mean.shape[1] + THRESHOLDS.mixed_row_nats
    spoilt = THRESHOLDS.spoilt_row_nats
    costs = np.where(is_transition(segments), min(between, spoilt), spoilt)
    return np.where(segments.length == 1, costs, np.inf)


def code_numbers(Z: BinaryArray) -> IntArray:
    """The codes (M, J) as integers, feature k at bit k."""
    return Z.astype(np.int64) @ (1 << np.arange(Z.shape[1], dtype=np.int64))


def closest_codes(levels: FloatArray, G: FloatArray) -> BinaryArray:
    """The code whose sum of features is closest to each level (M, r): the best one found."""
    return decode(levels, G, max_nodes=ESTIMATORS.quick_nodes).Z


def decode_segments(segments: Segments, states: States, G: FloatArray, level: FloatArray) -> Path:
    """The cheapest path of codes for features G (J, r) above the level (r,) with all off."""
    S, J = len(segments.start), len(G)
    switch, n_listed = THRESHOLDS.switch_nats, THRESHOLDS.codes_per_level
    if J == 0:
        misfit = 0.5 * segments.length @ np.sum((segments.mean - level) ** 2, axis=1)
        return Path(np.zeros((S, 0), dtype=np.uint8), float(misfit), np.zeros(S, dtype=np.bool_))
    relative = states.mean - level
    nearest = code_numbers(closest_codes(relative, G))
    gram = G @ G.T
    # A code that costs more than all features switching twice is on no cheapest path.
    shortest = np.full(len(states.rows), np.inf)
    np.minimum.at(shortest, states.label, segments.length.astype(np.float64))
    codes, _, count = _nearby(nearest, relative @ G.T, gram, shortest, 2 * switch * J, n_listed)
    listed = np.zeros((S, n_listed + 2), dtype=np.int64)
    listed[:, :n_listed] = codes[states.label]
    lengths = count[states.label].copy()
    own = nearest[states.label]
    for other in (np.roll(own, 1), np.roll(own, -1)):
        listed[np.arange(S), lengths] = other
        lengths += 1
    on = (listed[:, :, None] >> np.arange(J)) & 1
    on = on.astype(np.float64)
    quadratic = 0.5 * np.einsum("slj,jk,slk->sl", on, gram, on, optimize=True)
    above = segments.mean - level
    linear = np.einsum("slj,sj->sl", on, above @ G.T, optimize=True)
    misfit = segments.length[:, None] * (0.5 * np.sum(above**2, axis=1)[:, None] - linear + quadratic)
    limit = skip_costs(segments)
    capped = np.minimum(misfit, limit[:, None])
    path, cost = _recursion(listed, capped, lengths, segments.follows, switch)
    chosen = listed[np.arange(S), path]
    glitch = misfit[np.arange(S), path] > limit
    Z = ((chosen[:, None] >> np.arange(J)) & 1).astype(np.uint8)
    return Path(Z, float(cost), glitch)
