"""How many regular U can be built from given columns, up to order: the bases of their linear matroid.

Columns that share no row split into independent parts, whose counts multiply. Within a part every flat (the
set of columns inside one subspace) is met once: the number of ordered ways to span a flat is a sum over the
flats one rank below, which is far cheaper than listing the bases. All arithmetic is modulo a prime, under
which columns can only seem more dependent than they are: the count is exact where every minor is smaller
than the prime, else a lower bound.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from lfm.compiled import compiled
from lfm.errors import IntMatrix
from lfm.ranks import inverse_modulo, primes

(_PRIME,) = primes(1)
MAX_FLATS = 3_000


class BaseCount(NamedTuple):
    """The number of bases, or a proven lower bound where `exact` is False."""

    n: int
    exact: bool


@compiled
def _contract(vectors: IntMatrix, e: int, p: int) -> IntMatrix:
    """The vectors (n, K) modulo p after vector e has been made zero; zero rows then lie in the flat."""
    n, K = vectors.shape
    pivot = 0
    while vectors[e, pivot] == 0:
        pivot += 1
    inverse = inverse_modulo(vectors[e, pivot], p)
    result = vectors.copy()
    for r in range(n):
        q = vectors[r, pivot] * inverse % p
        if q != 0:
            for j in range(K):
                result[r, j] = (vectors[r, j] - q * vectors[e, j]) % p
    return result


def _count_connected(vectors: IntMatrix, max_flats: int) -> int | None:
    """The number of bases of the vectors (n, K) of rank K; None if more than max_flats flats would be met."""
    n, K = vectors.shape
    nothing = bytes(n)
    # flat (as a row of booleans) → (ordered ways to span it, the vectors contracted by it)
    level: dict[bytes, tuple[int, IntMatrix]] = {nothing: (1, vectors % _PRIME)}
    met = 0
    for _ in range(K):
        above: dict[bytes, tuple[int, IntMatrix]] = {}
        for ways, contracted in level.values():
            outside = np.any(contracted != 0, axis=1)
            n_inside = n - int(outside.sum())
            while outside.any():
                met += 1
                if met > max_flats:
                    return None
                further = _contract(contracted, int(np.argmax(outside)), _PRIME)
                flat = ~np.any(further != 0, axis=1)
                outside &= ~flat
                key = flat.tobytes()
                added = ways * (int(flat.sum()) - n_inside)
                before, kept = above.get(key, (0, further))
                above[key] = (before + added, kept)
        level = above
    (ordered, _) = next(iter(level.values()))
    return ordered // math.factorial(K)


def _is_graphic(vectors: IntMatrix) -> bool:
    """True where every row, up to signs of the coordinates, is an edge e_i − e_j or ±e_i of a graph.

    Every minor is then 0 or ±1 (a bias or single pairs give such vectors). The signs exist unless, in the
    graph whose nodes are the coordinates with either sign, some coordinate is connected with its own
    opposite.
    """
    K = vectors.shape[1]
    n_terms = np.count_nonzero(vectors, axis=1)
    if np.abs(vectors).max() > 1 or n_terms.max() > 2:
        return False
    pairs = vectors[n_terms == 2]
    if len(pairs) == 0:
        return True
    i, j = np.argsort(-np.abs(pairs), axis=1, kind="stable")[:, :2].T
    rows = np.arange(len(pairs))
    alike = K * (pairs[rows, i] == pairs[rows, j])
    start, end = np.concatenate([i, i + K]), np.concatenate([j + alike, (j + K + alike) % (2 * K)])
    graph = csr_array((np.ones(len(start)), (start, end)), shape=(2 * K, 2 * K))
    _, part = connected_components(graph, directed=False)
    return bool(np.all(part[:K] != part[K:]))


def _determinant(matrix: IntMatrix) -> int:
    """Det of a positive definite integer matrix, exact (Bareiss)."""
    table = matrix.astype(object)
    before = 1
    for c in range(len(table) - 1):
        rest = table[c + 1 :, c + 1 :]
        table[c + 1 :, c + 1 :] = (
            table[c, c] * rest - np.outer(table[c + 1 :, c], table[c, c + 1 :])
        ) // before
        before = table[c, c]
    return int(table[-1, -1])


def _largest_minor(vectors: IntMatrix) -> float:
    """An upper bound on the magnitude of every minor of the vectors (n, K), by Hadamard's inequality."""
    lengths = np.sort(np.linalg.norm(vectors.astype(np.float64), axis=1))[::-1]
    return float(np.prod(np.maximum(lengths[: vectors.shape[1]], 1.0)))


def _lower_bound(vectors: IntMatrix, denominator: int) -> int:
    """A number of bases that certainly exist, for vectors (n, K) among which are K multiples of unit vectors.

    Either the unit vectors and what differs from them in one vector, or det(VᵀV) = Σ det² (Cauchy-Binet)
    over the largest possible det². For U ∈ H(Z), K rows ζ of Z give U = ζ⁻¹ζ′ with ζ′ binary, so |det U| is
    at most Hadamard's (K + 1)^((K + 1)/2) / 2^K.
    """
    K = int(vectors.shape[1])
    log_binary = (K + 1) / 2 * math.log(K + 1) - K * math.log(2) + K * math.log(denominator)
    log_largest = min(log_binary, math.log(_largest_minor(vectors)))
    neighbours = 1 + int(np.count_nonzero(vectors)) - K
    logarithm = float(np.linalg.slogdet(vectors.T.astype(np.float64) @ vectors)[1])
    by_volume = math.exp(min(logarithm - 2 * log_largest, 700.0))
    volume_bound = int(by_volume * (1 - 1e-9))
    return max(neighbours, volume_bound)


def count_bases(vectors: IntMatrix, denominator: int = 1, *, max_flats: int = MAX_FLATS) -> BaseCount:
    """The number of sets of K linearly independent rows of `vectors` (n, K).

    The rows are the columns u of the U ∈ H(Z), times their common `denominator`, and include every unit
    vector; at most `max_flats` flats are met per connected part before a lower bound is taken instead.
    """
    n, K = vectors.shape
    rows, columns = np.nonzero(vectors)
    graph = csr_array((np.ones(len(rows)), (rows, n + columns)), shape=(n + K, n + K))
    _, part = connected_components(graph, directed=False)
    count, exact = 1, True
    for label in np.unique(part[n:]):
        block = np.ascontiguousarray(vectors[np.ix_(part[:n] == label, part[n:] == label)])
        if _is_graphic(block):
            count *= _determinant(block.T @ block)  # Σ det² over all bases (Cauchy-Binet), each of them 1
            continue
        found = _count_connected(block, max_flats)
        if found is None:
            count *= _lower_bound(block, denominator)
            exact = False
        else:
            count *= found
            exact &= _largest_minor(block) < _PRIME
    return BaseCount(count, exact)
