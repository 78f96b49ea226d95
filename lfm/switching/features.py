"""Which edge types are the features themselves: the choice that describes all edges most briefly.

Owns the second half of step 4, and step 5, of the switching decoder. All quantities are in units of the
noise, as in `lfm.switching.segments`. An edge is a change of level. Appliances that switch one at a time make
every feature an edge, collinear ones too, because their sizes differ; `lfm.switching.relations` knows which
edges are sums of others.

The choice of features minimises the length of a description of all edges. Each edge is written as the fewest
features, with signs, that add up to it, and feature k, used n_k times in N rows, costs log(N/n_k) each time.
So a sum that is seen as often as chance makes two frequent features switch together stays a sum.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.switching.edges import EdgeTypes
from lfm.switching.relations import Relations
from lfm.switching.segments import States


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
