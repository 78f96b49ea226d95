"""Which changes of level are the features themselves: relations between edge types, and the choice.

Owns steps 4 and 5 of the switching decoder. In units of the noise, as `lfm.switching.segments` hands them
over. An edge is a change of level; appliances that switch one at a time make every feature an edge (collinear
ones too, for their sizes differ), and simultaneous switches make sums and differences of features.

The choice of generators minimises the length of a description of all edges: each is written as the fewest
generators, with signs, that add up to it, and generator k, used n_k times in N rows, costs log(N/n_k) a
time. So a sum that is seen as often as chance makes two frequent features switch together stays a sum.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.switching.edges import REACH, EdgeTypes
from lfm.switching.segments import States, distance_limit

MAX_TYPES = 240  # edge types that are explained at all; rarer ones are left to the decoder


class Relations(NamedTuple):
    """Ways to write a type as a signed sum of one, two or three candidates, sorted by type, then by price."""

    first: IntArray  # (T + 1,) relations of type t are first[t] : first[t + 1]
    members: NDArray[np.uint64]  # bit c set: candidate c takes part
    negative: NDArray[np.uint64]  # bit c set: with a minus
    surplus: FloatArray  # nats that it costs each time, beside the switches of its members


@compiled
def _surplus(
    t: int,
    members: tuple[int, int, int],
    signs: tuple[float, float, float],
    distance: float,
    gram: FloatArray,
    variance: FloatArray,
    times: IntArray,
    drift: float,
    noise: float,
    limit: float,
) -> float:
    """What writing type t as the signed sum of members (−1: none) costs each time beyond itself.

    −1 where the sum is out of reach; `distance` is ‖t − sum‖². Without drift it is free. With drift each
    member brings its own: a small edge often seen with little scatter is no difference of two large ones.
    """
    reach = variance[t]
    for i in range(3):
        if members[i] >= 0:
            reach += variance[members[i]]
    reach *= limit
    if drift == 0:
        return 0.0 if distance <= reach else -1.0
    loose = 0.0
    for q in range(3):
        if members[q] >= 0:
            loose += (1.0 / times[t] + 1.0 / times[members[q]]) * gram[members[q], members[q]]
    if distance > reach + (REACH * drift) ** 2 * loose:
        return -1.0
    total = 0.0
    slack = 0.0  # Σ δ²(1/n_t + 1/n_k) (g_k·d)²/‖d‖²
    for q in range(3):
        k = members[q]
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
    if distance > reach + REACH**2 * slack:
        return -1.0
    misfit = distance / (reach / limit + slack)
    # log det(I + δ²Σggᵀ/noise), bounded from below by the trace: equal where the members are collinear
    own = np.log1p(drift**2 * gram[t, t] / noise)
    return float(0.5 * max(np.log1p(drift**2 * total / noise) - own, 0.0) + 0.5 * misfit / times[t])


@compiled
def _relate(
    gram: FloatArray,
    variance: FloatArray,
    times: IntArray,
    n_candidates: int,
    drift: float,
    noise: float,
    limit: float,
) -> tuple[list[int], list[int], list[int], list[float]]:
    """Target, members, negative and surplus of each relation of two or three candidates."""
    targets, members, negative, surplus = [0], [0], [0], [0.0]
    C = n_candidates
    for t in range(len(gram)):
        for a in range(C):
            if a == t:
                continue
            for sa in (1.0, -1.0):
                one = gram[t, t] + gram[a, a] - 2 * sa * gram[t, a]
                for b in range(a + 1, C):
                    if b == t:
                        continue
                    for sb in (1.0, -1.0):
                        two = one + gram[b, b] - 2 * sb * gram[t, b] + 2 * sa * sb * gram[a, b]
                        bits = (1 << a) | (1 << b)
                        minus = (int(sa < 0) << a) | (int(sb < 0) << b)
                        price = _surplus(
                            t, (a, b, -1), (sa, sb, 0.0), two, gram, variance, times, drift, noise, limit
                        )
                        if price >= 0:
                            targets.append(t)
                            members.append(bits)
                            negative.append(minus)
                            surplus.append(price)
                            continue
                        for c in range(b + 1, C):
                            if c == t:
                                continue
                            base = two + gram[c, c]
                            cross = sa * gram[a, c] + sb * gram[b, c] - gram[t, c]
                            for sc in (1.0, -1.0):
                                price = _surplus(
                                    t,
                                    (a, b, c),
                                    (sa, sb, sc),
                                    base + 2 * sc * cross,
                                    gram,
                                    variance,
                                    times,
                                    drift,
                                    noise,
                                    limit,
                                )
                                if price >= 0:
                                    targets.append(t)
                                    members.append(bits | (1 << c))
                                    negative.append(minus | (int(sc < 0) << c))
                                    surplus.append(price)
    return targets[1:], members[1:], negative[1:], surplus[1:]


def find_relations(types: EdgeTypes) -> Relations:
    """Every relation between edge types that holds within their noise and drift."""
    T = min(len(types.times), MAX_TYPES)
    C = types.n_candidates
    vector = types.vector[:T]
    found = _relate(
        vector @ vector.T,
        types.variance[:T],
        types.times[:T],
        C,
        types.drift,
        types.noise,
        distance_limit(vector.shape[1]),
    )
    itself = np.arange(C)
    target = np.concatenate([itself, np.asarray(found[0], dtype=np.int64)])
    members = np.concatenate([1 << itself, np.asarray(found[1], dtype=np.int64)]).astype(np.uint64)
    negative = np.concatenate([0 * itself, np.asarray(found[2], dtype=np.int64)]).astype(np.uint64)
    surplus = np.concatenate([np.zeros(C), np.asarray(found[3], dtype=np.float64)])
    typical = np.log(20.0) * np.bitwise_count(members)  # before it is known how often each is used
    order = np.lexsort((surplus + typical, target))
    first = np.searchsorted(target[order], np.arange(T + 1))
    return Relations(first, members[order], negative[order], surplus[order])


def description_length(types: EdgeTypes) -> float:
    """Nats that say one more vector of the kind of these edges, as precisely as the noise allows."""
    if not len(types.times):
        return 0.0
    spread = np.linalg.eigvalsh(types.vector.T @ types.vector / len(types.vector))
    return float(0.5 * np.sum(np.log1p(np.maximum(spread, 0.0) / np.median(types.variance))))


@compiled
def _charge(
    chosen: np.uint64,
    first: IntArray,
    members: NDArray[np.uint64],
    surplus: FloatArray,
    times: IntArray,
    price: float,
    n_rows: int,
    n_candidates: int,
) -> float:
    """Length in nats of all edges, written with the generators in `chosen`, and of the generators."""
    used = np.zeros(n_candidates)
    one = np.uint64(1)
    unexplained = price + np.log(n_rows)  # it is written out in full, and so is the row that holds it
    total = 0.0
    for t in range(len(first) - 1):
        found = False
        for i in range(first[t], first[t + 1]):
            if members[i] & ~chosen == 0:
                found = True
                total += surplus[i] * times[t]
                for c in range(n_candidates):
                    if members[i] >> np.uint64(c) & one:
                        used[c] += times[t]
                break
        if not found:
            total += unexplained * times[t]
    for c in range(n_candidates):
        if chosen >> np.uint64(c) & one:
            total += price + used[c] * np.log(n_rows / max(used[c], 1.0))
    return total


@compiled
def _descend(
    first: IntArray,
    members: NDArray[np.uint64],
    surplus: FloatArray,
    times: IntArray,
    price: float,
    n_rows: int,
    n_candidates: int,
    most: int,
) -> tuple[NDArray[np.uint64], FloatArray]:
    """The best set found of each size 0 … most, as a mask, and its charge: greedy, then 1-swaps."""
    sets = np.zeros(most + 1, dtype=np.uint64)
    charges = np.zeros(most + 1)
    one = np.uint64(1)
    chosen = np.uint64(0)
    charges[0] = _charge(chosen, first, members, surplus, times, price, n_rows, n_candidates)
    for k in range(1, most + 1):
        best, pick = np.inf, chosen
        for c in range(n_candidates):
            bit = one << np.uint64(c)
            if chosen & bit == 0:
                charge = _charge(chosen | bit, first, members, surplus, times, price, n_rows, n_candidates)
                if charge < best:
                    best, pick = charge, chosen | bit
        chosen = pick
        moved = True
        while moved:
            moved = False
            for out in range(n_candidates):
                without = chosen & ~(one << np.uint64(out))
                if without == chosen:
                    continue
                for c in range(n_candidates):
                    bit = one << np.uint64(c)
                    if chosen & bit == 0:
                        charge = _charge(
                            without | bit, first, members, surplus, times, price, n_rows, n_candidates
                        )
                        if charge < best - 1e-9:
                            best, pick = charge, without | bit
            if pick != chosen:
                chosen = pick
                moved = True
        sets[k] = chosen
        charges[k] = best
    return sets, charges


class Choice(NamedTuple):
    """Generators for each number of them."""

    sets: NDArray[np.uint64]  # (J + 1,) entry j: the best j candidates found, as a mask
    charges: FloatArray  # (J + 1,) the description length with them, nats


def choose(types: EdgeTypes, relations: Relations, *, price: float, n_rows: int, most: int) -> Choice:
    """The generators for 0, 1, …, `most` of them (as many as there are candidates at the most).

    `price` is what one more generator costs (see `description_length`).
    """
    T = len(relations.first) - 1
    C = types.n_candidates
    sets, charges = _descend(
        relations.first, relations.members, relations.surplus, types.times[:T], price, n_rows, C, min(most, C)
    )
    return Choice(sets, charges)


def starting_features(
    types: EdgeTypes,
    relations: Relations,
    chosen: np.uint64,
    states: States,
    toward: FloatArray,
    follows: BoolArray,
) -> tuple[FloatArray, FloatArray]:
    """Features G (J, r), each turned towards the vector `toward` (r,), and the level b (r,) with all off.

    The commonest state is b plus the features that are on in it. Who is on in it is a vote: over all
    visits, the last change of a feature before and the next one after say whether it is on in between.
    """
    index = [c for c in range(types.n_candidates) if int(chosen) >> c & 1]
    G = types.vector[index]
    turn = np.where(G @ toward < 0, -1, 1)
    T = len(relations.first) - 1
    moves = np.zeros((T + 1, len(index)), dtype=np.int64)  # the last row: no known change
    for t in range(T):
        for i in range(relations.first[t], relations.first[t + 1]):
            members, negative = int(relations.members[i]), int(relations.negative[i])
            if members & ~int(chosen) == 0:
                moves[t] = [(members >> c & 1) * (1 - 2 * (negative >> c & 1)) for c in index]
                break
    known = np.where(types.of_segment < T, types.of_segment, -1)
    steps = moves[known] * types.sign[:, None] * turn[None, :]
    common = int(np.argmax(states.rows))
    on = _votes(steps, follows, states.label == common) > 0
    G = G * turn[:, None]
    return G, states.mean[common] - on.astype(np.float64) @ G


@compiled
def _votes(steps: IntArray, follows: BoolArray, asked: BoolArray) -> IntArray:
    """For each feature, on-votes minus off-votes of the changes next to the segments that are asked."""
    S, J = steps.shape
    votes = np.zeros(J, dtype=np.int64)
    for k in range(J):
        last = 0
        for s in range(S):
            if not follows[s]:
                last = 0
            if steps[s, k] != 0:
                last = steps[s, k]
            if asked[s]:
                votes[k] += last
        following = 0
        for s in range(S - 1, -1, -1):
            if asked[s]:
                votes[k] -= following
            if steps[s, k] != 0:
                following = steps[s, k]
            if not follows[s]:
                following = 0
    return votes
