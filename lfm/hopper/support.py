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
from lfm.equivalence.tableau import MAX_DETERMINANT, Tableau, pivot_in_place
from lfm.hopper.objective import Objective
from lfm.hopper.thresholds import THRESHOLDS


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

    The tableau (spoilt) must stand at a cheapest basis. m is −1 where there are more than max_bases, or a
    determinant above `largest`.
    """
    K, n = minors.shape
    words = n // 63 + 1
    found = np.empty((max_bases, K), dtype=np.int64)
    determinants = np.empty(max_bases, dtype=np.int64)
    # The sets of columns met so far, as bits, and a hash table of where they stand.
    bits = np.zeros((max_bases, words), dtype=np.int64)
    n_slots = 1
    while n_slots < 4 * max_bases:
        n_slots *= 2
    slots = np.full(n_slots, -1, dtype=np.int64)
    # The way back: which column was exchanged for which, and how far its neighbours had been looked at.
    way_k = np.zeros(max_bases, dtype=np.int64)
    way_old = np.zeros(max_bases, dtype=np.int64)
    cursor = np.zeros(max_bases + 1, dtype=np.int64)
    here = np.zeros(words, dtype=np.int64)
    cost = 0.0
    for k in range(K):
        here[columns[k] // 63] |= 1 << (columns[k] % 63)
        cost += costs[columns[k]]
    m, depth = 0, 0
    arrived = True
    while True:
        if arrived:  # at a basis that is new
            slot = _slot(here, bits, slots)
            slots[slot] = m
            found[m] = columns
            determinants[m] = determinant
            bits[m] = here
            m += 1
            cursor[depth] = 0
            arrived = False
        moved = False
        position = cursor[depth]
        while position < K * n:
            k, i = position // n, position % n
            position += 1
            entry = minors[k, i]
            if entry == 0 or columns[k] == i:
                continue
            if abs(entry) > largest:
                return found, determinants, -1
            new_cost = cost - costs[columns[k]] + costs[i]
            if new_cost > limit:
                continue
            old = columns[k]
            here[old // 63] ^= 1 << (old % 63)
            here[i // 63] ^= 1 << (i % 63)
            if slots[_slot(here, bits, slots)] >= 0:
                here[i // 63] ^= 1 << (i % 63)
                here[old // 63] ^= 1 << (old % 63)
                continue
            if m == max_bases:
                return found, determinants, -1
            cursor[depth] = position
            way_k[depth], way_old[depth] = k, old
            determinant = pivot_in_place(minors, determinant, k, i)
            columns[k] = i
            cost = new_cost
            depth += 1
            moved = arrived = True
            break
        if moved:
            continue
        if depth == 0:
            return found, determinants, m
        depth -= 1
        k, old = way_k[depth], way_old[depth]
        now = columns[k]
        here[now // 63] ^= 1 << (now % 63)
        here[old // 63] ^= 1 << (old % 63)
        cost += costs[old] - costs[now]
        determinant = pivot_in_place(minors, determinant, k, old)
        columns[k] = old


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
    while np.abs(tableau.minors).max() <= MAX_DETERMINANT:
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
    objective: Objective, beta: float, *, max_bases: int = THRESHOLDS.max_bases
) -> FloatArray | None:
    """The share of Σ exp(−βg) that lies in solutions with column k of the current U, (K,).

    The sum runs over all bases of the candidates; where the objective is unimodular, over those whose lattice
    index is not above that of the current U. None where that is out of reach: more than `max_bases` would
    have to be looked at, or candidates or determinants are too many or too large.
    """
    current = objective.tableau.columns
    best = float(objective.values(current[None])[0])
    tableau = Tableau(objective.candidates)
    if len(objective.costs) > THRESHOLDS.max_candidates or not _cheapest(tableau, objective.costs):
        return None
    floor = float(objective.costs[tableau.columns].sum())
    total = _total(tableau, objective.costs, beta)
    scale = math.exp(
        min(beta * (best - floor), 700.0)
    )  # from weights relative to B* to those relative to best
    for margin in THRESHOLDS.margins if objective.features_never_negative else (math.inf,):
        bases, determinants, m = _bases(
            tableau.minors.copy(),
            tableau.determinant,
            tableau.columns.copy(),
            objective.costs,
            best + margin / beta,
            max_bases,
            MAX_DETERMINANT,
        )
        if m < 0:
            return None
        bases, index = bases[:m], np.abs(determinants[:m])
        columns_cost = objective.costs[bases].sum(axis=1)
        seen = float(index.astype(np.float64) ** 2 @ np.exp(-beta * (columns_cost - floor)))
        missing = scale * max(total - seen, 0.0)
        weights = np.exp(-beta * (objective.values(bases) - best))
        if objective.unimodular:
            weights[index > abs(objective.tableau.determinant)] = 0.0
        everything = float(weights.sum())
        if math.isinf(margin) or missing <= THRESHOLDS.missing_weight * everything:
            shares = np.zeros(len(objective.costs))
            np.add.at(shares, bases, weights[:, None])
            return np.minimum(shares[current] / everything, 1.0)  # sums in another order may round above
    return None
