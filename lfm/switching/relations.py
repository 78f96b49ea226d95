"""How edge types are made of each other: every signed sum of two or three candidates that equals a type.

Owns the first half of step 4 of the switching decoder. Appliances that switch in the same row make an edge
that is a sum or a difference of features. Which candidates are the features is `lfm.switching.features`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lfm.arrays import FloatArray, IntArray
from lfm.compiled import compiled
from lfm.switching.edges import EdgeTypes
from lfm.switching.segments import distance_limit
from lfm.switching.thresholds import THRESHOLDS

Relation = tuple[int, int, int, float]  # type, members, negative members (one bit each), surplus


class Relations(NamedTuple):
    """Ways to write a type as a signed sum of one, two or three candidates, sorted by type, then by price."""

    first: IntArray  # (T + 1,) relations of type t are first[t] : first[t + 1]
    members: NDArray[np.uint64]  # bit c set: candidate c takes part
    negative: NDArray[np.uint64]  # bit c set: with a minus
    surplus: FloatArray  # nats that it costs each time, beside the switches of its members


class _Tolerance(NamedTuple):
    """How far a type may be from a sum of others."""

    drift: float  # relative standard deviation of one edge along its type
    noise: float  # variance of one edge
    limit: float  # squared distance, in units of its variance, that noise does not exceed
    reach: float  # standard deviations of drift that are allowed


@compiled
def _surplus(
    t: int,
    members: tuple[int, int, int],
    signs: tuple[float, float, float],
    distance: float,
    gram: FloatArray,
    variance: FloatArray,
    times: IntArray,
    tolerance: _Tolerance,
) -> float:
    """What writing type t as the signed sum of members (−1: none) costs each time, in nats, beyond itself.

    −1 where the sum is too far from the type; `distance` is ‖t − sum‖². Without drift a sum within the noise
    is free. With drift each member brings its own: a small edge that is often seen with little scatter is not
    the difference of two large ones.
    """
    drift = tolerance.drift
    reach = variance[t]
    for k in members:
        if k >= 0:
            reach += variance[k]
    reach *= tolerance.limit
    if drift == 0:
        return 0.0 if distance <= reach else -1.0
    loose = 0.0
    for k in members:
        if k >= 0:
            loose += (1.0 / times[t] + 1.0 / times[k]) * gram[k, k]
    if distance > reach + (tolerance.reach * drift) ** 2 * loose:
        return -1.0
    total = 0.0
    slack = 0.0  # Σ δ²(1/n_t + 1/n_k) (g_k·d)²/‖d‖²
    for k in members:
        if k < 0:
            continue
        total += gram[k, k]
        product = gram[t, k]
        for i in range(3):
            if members[i] >= 0:
                product -= signs[i] * gram[members[i], k]
        if distance > 0:
            slack += (1.0 / times[t] + 1.0 / times[k]) * product**2 / distance
    slack *= drift**2
    if distance > reach + tolerance.reach**2 * slack:
        return -1.0
    misfit = distance / (reach / tolerance.limit + slack)
    # log det(I + δ²Σggᵀ/noise), bounded from below by the trace: equal where the members are collinear
    own = np.log1p(drift**2 * gram[t, t] / tolerance.noise)
    return float(0.5 * max(np.log1p(drift**2 * total / tolerance.noise) - own, 0.0) + 0.5 * misfit / times[t])


@compiled
def _signed(i: int) -> tuple[int, float]:
    """The candidate and its sign that stand at place i of the list +0, −0, +1, −1, +2 and so on."""
    return i // 2, 1.0 - 2.0 * (i % 2)


@compiled
def _add_triples(
    t: int,
    i: int,
    j: int,
    two: float,
    n_candidates: int,
    gram: FloatArray,
    variance: FloatArray,
    times: IntArray,
    tolerance: _Tolerance,
    found: list[Relation],
) -> None:
    """Adds every relation of type t that has the signed candidates i and j and a third one after them.

    `two` is the squared distance of the type from the sum of the first two.
    """
    (a, sa), (b, sb) = _signed(i), _signed(j)
    members = (1 << a) | (1 << b)
    negative = (i % 2 << a) | (j % 2 << b)
    for c in range(b + 1, n_candidates):
        if c == t:
            continue
        base = two + gram[c, c]
        cross = sa * gram[a, c] + sb * gram[b, c] - gram[t, c]
        for minus in range(2):
            sc = 1.0 - 2.0 * minus
            price = _surplus(
                t, (a, b, c), (sa, sb, sc), base + 2 * sc * cross, gram, variance, times, tolerance
            )
            if price >= 0:
                found.append((t, members | (1 << c), negative | (minus << c), price))


@compiled
def _relate(
    gram: FloatArray, variance: FloatArray, times: IntArray, n_candidates: int, tolerance: _Tolerance
) -> list[Relation]:
    """Every relation of two candidates, and of three where the first two are not enough."""
    found = [(0, 0, 0, 0.0)]  # so that the compiler knows its type; left out below
    for t in range(len(gram)):
        for i in range(2 * n_candidates):
            a, sa = _signed(i)
            if a == t:
                continue
            one = gram[t, t] + gram[a, a] - 2 * sa * gram[t, a]
            for j in range(2 * (a + 1), 2 * n_candidates):
                b, sb = _signed(j)
                if b == t:
                    continue
                two = one + gram[b, b] - 2 * sb * gram[t, b] + 2 * sa * sb * gram[a, b]
                price = _surplus(t, (a, b, -1), (sa, sb, 0.0), two, gram, variance, times, tolerance)
                if price >= 0:
                    found.append((t, (1 << a) | (1 << b), (i % 2 << a) | (j % 2 << b), price))
                else:
                    _add_triples(t, i, j, two, n_candidates, gram, variance, times, tolerance, found)
    return found[1:]


def find_relations(types: EdgeTypes) -> Relations:
    """Every relation between edge types that holds within their noise and drift."""
    T = min(len(types.times), THRESHOLDS.max_types)
    C = types.n_candidates
    vector = types.vector[:T]
    tolerance = _Tolerance(types.drift, types.noise, distance_limit(vector.shape[1]), THRESHOLDS.reach_sigmas)
    found = [(c, 1 << c, 0, 0.0) for c in range(C)]
    found += _relate(vector @ vector.T, types.variance[:T], types.times[:T], C, tolerance)
    target = np.array([relation[0] for relation in found], dtype=np.int64)
    members = np.array([relation[1] for relation in found], dtype=np.uint64)
    negative = np.array([relation[2] for relation in found], dtype=np.uint64)
    surplus = np.array([relation[3] for relation in found], dtype=np.float64)
    # Before it is known how often each candidate is used, all of them cost the same.
    typical = np.log(THRESHOLDS.rows_per_use) * np.bitwise_count(members)
    order = np.lexsort((surplus + typical, target))
    first = np.searchsorted(target[order], np.arange(T + 1))
    return Relations(first, members[order], negative[order], surplus[order])
