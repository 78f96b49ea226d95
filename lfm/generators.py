"""Which differences between consecutive levels are the features themselves: edges, relations, the choice.

Owns steps 3 to 5 of the switching decoder. In units of the noise, as `lfm.segments` hands them over. An edge
is a change of level; appliances that switch one at a time make every feature an edge (collinear ones
too, for their sizes differ), and simultaneous switches make sums and differences of features.

The choice of generators minimises the length of a description of all edges: each is written as the fewest
generators, with signs, that add up to it, and generator k, used n_k times in N rows, costs log(N/n_k) a
time. So a sum that is seen as often as chance makes two frequent features switch together stays a sum.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lfm.compiled import compiled
from lfm.errors import FloatMatrix, IntMatrix
from lfm.segments import States, distance_limit, group

MAX_CANDIDATES = 48  # edge types that may become generators: the most frequent (one bit each in a mask)
MAX_TYPES = 240  # edge types that are explained at all; rarer ones are left to the decoder


class EdgeTypes(NamedTuple):
    """Changes of level that are equal up to sign, the most frequent first."""

    vector: FloatMatrix  # (T, r)
    variance: FloatMatrix  # (T,): covariance of a vector is variance · I
    times: IntMatrix  # (T,) how often it is seen
    of_segment: IntMatrix  # (S,) type of the change before each segment, −1 where there is none
    sign: IntMatrix  # (S,) its direction, +1 or −1


class Relations(NamedTuple):
    """Ways to write a type as a signed sum of one, two or three candidates, sorted by type, then by size."""

    first: IntMatrix  # (T + 1,) relations of type t are first[t] : first[t + 1]
    members: NDArray[np.uint64]  # bit c set: candidate c takes part
    negative: NDArray[np.uint64]  # bit c set: with a minus
    size: IntMatrix


def edge_types(states: States, follows: NDArray[np.bool_]) -> EdgeTypes:
    """The edge types of a record: `follows` (S,) says which segments directly follow the one before.

    Segments in which a switch may be under way (`is_transition`) are better left out beforehand.
    """
    S = len(follows)
    before, after = states.label[:-1], states.label[1:]
    at = 1 + np.flatnonzero(follows[1:] & (before != after))
    of_segment, sign = np.full(S, -1), np.ones(S, dtype=np.int64)
    rank = states.mean.shape[1]
    if not len(at):
        return EdgeTypes(np.zeros((0, rank)), np.zeros(0), np.zeros(0, dtype=np.int64), of_segment, sign)
    low, high = np.minimum(before, after)[at - 1], np.maximum(before, after)[at - 1]
    pairs, pair_of, seen = np.unique(np.stack([low, high]), axis=1, return_inverse=True, return_counts=True)
    change = states.mean[pairs[1]] - states.mean[pairs[0]]
    precision = 1.0 / (1.0 / states.rows[pairs[0]] + 1.0 / states.rows[pairs[1]])
    groups = group(change, precision, up_to_sign=True)
    count = np.bincount(groups.label, weights=seen).astype(np.int64)
    order = np.argsort(-count, kind="stable")
    rename = np.empty_like(order)
    rename[order] = np.arange(len(order))
    pair_of = pair_of.reshape(-1)
    of_segment[at] = rename[groups.label[pair_of]]
    sign[at] = groups.sign[pair_of] * np.where(after[at - 1] == high, 1, -1)
    return EdgeTypes(groups.centre[order], 1.0 / groups.weight[order], count[order], of_segment, sign)


@compiled
def _relate(
    gram: FloatMatrix, variance: FloatMatrix, n_candidates: int, limit: float
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Target, members, negative and size of each relation of two or three candidates that holds in noise."""
    targets, members, negative, size = [0], [0], [0], [0]
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
                        noise = variance[t] + variance[a] + variance[b]
                        bits = (1 << a) | (1 << b)
                        minus = (int(sa < 0) << a) | (int(sb < 0) << b)
                        if two <= limit * noise:
                            targets.append(t)
                            members.append(bits)
                            negative.append(minus)
                            size.append(2)
                            continue
                        for c in range(b + 1, C):
                            if c == t:
                                continue
                            base = two + gram[c, c]
                            cross = sa * gram[a, c] + sb * gram[b, c] - gram[t, c]
                            for sc in (1.0, -1.0):
                                if base + 2 * sc * cross <= limit * (noise + variance[c]):
                                    targets.append(t)
                                    members.append(bits | (1 << c))
                                    negative.append(minus | (int(sc < 0) << c))
                                    size.append(3)
    return targets[1:], members[1:], negative[1:], size[1:]


def find_relations(types: EdgeTypes) -> Relations:
    """Every relation between edge types that holds within the noise."""
    T = min(len(types.times), MAX_TYPES)
    C = min(T, MAX_CANDIDATES)
    vector = types.vector[:T]
    rank = vector.shape[1]
    found = _relate(vector @ vector.T, types.variance[:T], C, distance_limit(rank))
    itself = np.arange(C)
    target = np.concatenate([itself, np.asarray(found[0], dtype=np.int64)])
    members = np.concatenate([1 << itself, np.asarray(found[1], dtype=np.int64)]).astype(np.uint64)
    negative = np.concatenate([0 * itself, np.asarray(found[2], dtype=np.int64)]).astype(np.uint64)
    size = np.concatenate([np.ones(C, dtype=np.int64), np.asarray(found[3], dtype=np.int64)])
    order = np.lexsort((size, target))
    first = np.searchsorted(target[order], np.arange(T + 1))
    return Relations(first, members[order], negative[order], size[order])


def description_length(types: EdgeTypes) -> float:
    """Nats that say one more vector of the kind of these edges, as precisely as the noise allows."""
    if not len(types.times):
        return 0.0
    spread = np.linalg.eigvalsh(types.vector.T @ types.vector / len(types.vector))
    return float(0.5 * np.sum(np.log1p(np.maximum(spread, 0.0) / np.median(types.variance))))


@compiled
def _charge(
    chosen: np.uint64,
    first: IntMatrix,
    members: NDArray[np.uint64],
    times: IntMatrix,
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
    first: IntMatrix,
    members: NDArray[np.uint64],
    times: IntMatrix,
    price: float,
    n_rows: int,
    n_candidates: int,
    most: int,
) -> tuple[NDArray[np.uint64], FloatMatrix]:
    """The best set found of each size 0 … most, as a mask, and its charge: greedy, then 1-swaps."""
    sets = np.zeros(most + 1, dtype=np.uint64)
    charges = np.zeros(most + 1)
    one = np.uint64(1)
    chosen = np.uint64(0)
    charges[0] = _charge(chosen, first, members, times, price, n_rows, n_candidates)
    for k in range(1, most + 1):
        best, pick = np.inf, chosen
        for c in range(n_candidates):
            bit = one << np.uint64(c)
            if chosen & bit == 0:
                charge = _charge(chosen | bit, first, members, times, price, n_rows, n_candidates)
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
                        charge = _charge(without | bit, first, members, times, price, n_rows, n_candidates)
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
    charges: FloatMatrix  # (J + 1,) the description length with them, nats


def choose(types: EdgeTypes, relations: Relations, *, price: float, n_rows: int, most: int) -> Choice:
    """The generators for 0, 1, …, `most` of them (as many as there are candidates at the most).

    `price` is what one more generator costs (see `description_length`).
    """
    T = len(relations.first) - 1
    C = min(T, MAX_CANDIDATES)
    sets, charges = _descend(
        relations.first, relations.members, types.times[:T], price, n_rows, C, min(most, C)
    )
    return Choice(sets, charges)


def starting_features(
    types: EdgeTypes,
    relations: Relations,
    chosen: np.uint64,
    states: States,
    toward: FloatMatrix,
    follows: NDArray[np.bool_],
) -> tuple[FloatMatrix, FloatMatrix]:
    """Features G (J, r), each turned towards the vector `toward` (r,), and the level b (r,) with all off.

    The commonest state is b plus the features that are on in it. Who is on in it is a vote: over all
    visits, the last change of a feature before and the next one after say whether it is on in between.
    """
    index = [c for c in range(min(len(types.times), MAX_CANDIDATES)) if int(chosen) >> c & 1]
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
def _votes(steps: IntMatrix, follows: NDArray[np.bool_], asked: NDArray[np.bool_]) -> IntMatrix:
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
