"""How much of the weight exp(−βg) of all equivalent solutions lies in those that contain a column: exactly.

Solutions up to the order of features are the bases of the candidates' matroid. Those whose columns together
cost at most a limit are connected under exchange of one column (from any of them an exchange towards the
cheapest basis exists that costs nothing), so a depth-first search from the cheapest finds them all. What the
rest can weigh is bounded: features cost 0 or more, and Σ_B det(B)² Π_{u∈B} exp(−βc_u) = det(V D Vᵀ)
over *all* bases (Cauchy-Binet), where no det² is below 1. Owns the search and the bound; prices are
`lfm.hopper.objective`, and what a hop does where the sum is out of reach is `lfm.hopper.hop`'s business.
"""

import math

import numpy as np

from lfm.arrays import FloatArray, IntArray
from lfm.compiled import compiled
from lfm.equivalence.tableau import Tableau, pivot_in_place
from lfm.hopper.objective import Objective
from lfm.thresholds import EQUIVALENCE, HOPPER


@compiled
def _bases(
    minors: IntArray,
    determinant: int,
    columns: IntArray,
    costs: FloatArray,
    limit: float,
    max_bases: int,
    largest: int,
) -> tuple[IntArray, IntArray, int]:
    """Every basis whose columns cost at most `limit`: (bases (m, K), determinants (m,), m).

    The tableau must stand at a cheapest basis; it is overwritten. m is −1 where there are more than
    max_bases, or a determinant above `largest`.
    """
    K, n = minors.shape
    found = np.empty((max_bases, K), dtype=np.int64)
    determinants = np.empty(max_bases, dtype=np.int64)
    # The sets of columns met so far, as bits, and a hash table of where they stand.
    bits, slots = _empty_table(n // 63 + 1, max_bases)
    # To go back: which column was exchanged for which, and how many of its neighbours had been looked at.
    way_k = np.zeros(max_bases, dtype=np.int64)
    way_old = np.zeros(max_bases, dtype=np.int64)
    cursor = np.zeros(max_bases + 1, dtype=np.int64)
    here = np.zeros(bits.shape[1], dtype=np.int64)
    cost = 0.0
    for k in range(K):
        here[columns[k] // 63] |= 1 << (columns[k] % 63)
        cost += costs[columns[k]]
    m, depth = 0, 0
    arrived = True
    while True:
        if arrived:  # at a basis that is new
            slots[_slot(here, bits, slots)] = m
            found[m], determinants[m], bits[m] = columns, determinant, here
            m += 1
            cursor[depth] = 0
        position = _next_exchange(
            cursor[depth], minors, columns, costs, cost, limit, largest, here, bits, slots
        )
        arrived = 0 <= position < K * n
        if position < 0 or (arrived and m == max_bases):
            return found, determinants, -1
        if arrived:
            k, new = position // n, position % n
            way_k[depth], way_old[depth] = k, columns[k]
            cursor[depth] = position + 1
            depth += 1
        elif depth > 0:
            depth -= 1
            k, new = way_k[depth], way_old[depth]
        else:
            return found, determinants, m
        _swap_bits(here, columns[k], new)
        cost = cost - costs[columns[k]] + costs[new]
        determinant = pivot_in_place(minors, determinant, k, new)
        columns[k] = new


@compiled
def _next_exchange(
    position: int,
    minors: IntArray,
    columns: IntArray,
    costs: FloatArray,
    cost: float,
    limit: float,
    largest: int,
    here: IntArray,
    bits: IntArray,
    slots: IntArray,
) -> int:
    """The first k·n + i from `position` on where column i for the k-th leads to a basis that is new.

    K·n where there is none within `limit`, −1 where a determinant is above `largest`.
    """
    K, n = minors.shape
    while position < K * n:
        k, i = position // n, position % n
        old, entry = columns[k], minors[k, i]
        if entry != 0 and old != i:
            if abs(entry) > largest:
                return -1
            if cost - costs[old] + costs[i] <= limit:
                _swap_bits(here, old, i)
                known = slots[_slot(here, bits, slots)] >= 0
                _swap_bits(here, i, old)
                if not known:
                    break
        position += 1
    return position


@compiled
def _swap_bits(here: IntArray, old: int, new: int) -> None:
    """Takes column `old` out of the set and puts column `new` in."""
    here[old // 63] ^= 1 << (old % 63)
    here[new // 63] ^= 1 << (new % 63)


@compiled
def _empty_table(words: int, most: int) -> tuple[IntArray, IntArray]:
    """(bits, slots) of a hash table for at most `most` sets of so many words."""
    n_slots = 1
    while n_slots < 4 * most:
        n_slots *= 2
    return np.zeros((most, words), dtype=np.int64), np.full(n_slots, -1, dtype=np.int64)


@compiled
def _slot(here: IntArray, bits: IntArray, slots: IntArray) -> int:
    """Where the set `here` stands in the hash table, or the free slot where it belongs."""
    value = 0
    for word in here:
        value = (value ^ word) * 0x2545F4914F6CDD1D
        value ^= value >> 29
    slot = value & (len(slots) - 1)
    while slots[slot] >= 0:
        same = True
        for w in range(len(here)):
            if bits[slots[slot], w] != here[w]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & (len(slots) - 1)
    return slot


def _cheapest(tableau: Tableau, costs: FloatArray) -> bool:
    """Exchange columns until no exchange is cheaper: a cheapest basis, because bases form a matroid.

    False where a determinant grew too large on the way for products to stay inside int64.
    """
    while np.abs(tableau.minors).max() <= EQUIVALENCE.max_determinant:
        saved = np.where(tableau.minors != 0, costs[tableau.columns][:, None] - costs, -np.inf)
        k, i = divmod(int(np.argmax(saved)), len(costs))
        if saved[k, i] <= 0:
            return True
        tableau.exchange(k, i)
    return False


def _total(tableau: Tableau, costs: FloatArray, beta: float) -> float:
    """Σ_B (index of B)² exp(−β(cost of B − cost of B*)) over all bases B, at the cheapest basis B*.

    In the coordinates of B* every entry is weighted by at most 1, so that det(I + …) is well conditioned.
    """
    weights = np.exp(0.5 * beta * np.minimum(costs[tableau.columns][:, None] - costs, 0.0))
    scaled = tableau.minors / tableau.determinant * weights
    scaled[:, tableau.columns] = 0.0
    logarithm = float(np.linalg.slogdet(np.eye(len(scaled)) + scaled @ scaled.T)[1])
    return tableau.determinant**2 * math.exp(min(logarithm, 600.0))


def exact_support(
    objective: Objective, beta: float, *, max_bases: int = HOPPER.max_bases
) -> FloatArray | None:
    """The share of Σ exp(−βg) that lies in solutions with column k of the current U, (K,).

    The sum runs over all bases of the candidates; where the objective is unimodular, over those whose lattice
    index is not above that of the current U. None where that is out of reach: more than `max_bases` would
    have to be looked at, or candidates or determinants are too many or too large.
    """
    current = objective.tableau.columns
    best = float(objective.values(current[None])[0])
    tableau = Tableau(objective.candidates)
    if len(objective.costs) > max_bases or not _cheapest(tableau, objective.costs):
        return None
    floor = float(objective.costs[tableau.columns].sum())
    total = _total(tableau, objective.costs, beta)
    scale = math.exp(
        min(beta * (best - floor), 700.0)
    )  # from weights relative to B* to those relative to best
    for margin in HOPPER.margins if objective.features_never_negative else (math.inf,):
        bases, determinants, m = _bases(
            tableau.minors.copy(),
            tableau.determinant,
            tableau.columns.copy(),
            objective.costs,
            best + margin / beta,
            max_bases,
            EQUIVALENCE.max_determinant,
        )
        if m < 0:
            return None
        bases, index = bases[:m], np.abs(determinants[:m])
        columns_cost = objective.costs[bases].sum(axis=1)
        seen = float(index.astype(np.float64) ** 2 @ np.exp(-beta * (columns_cost - floor)))
        values = objective.values(bases)
        if objective.unimodular:
            values[index > abs(objective.tableau.determinant)] = math.inf
        lowest = min(best, float(values.min()))  # below `best` where that broke the promise on the residual
        missing = scale * max(total - seen, 0.0) * math.exp(beta * (lowest - best))
        weights = np.exp(-beta * (values - lowest))
        everything = float(weights.sum())
        if math.isinf(margin) or missing <= HOPPER.missing_weight * everything:
            shares = np.zeros(len(objective.costs))
            np.add.at(shares, bases, weights[:, None])
            return np.minimum(shares[current] / everything, 1.0)  # sums in another order may round above
    return None
