"""How many regular U can be built from given columns, up to order: the bases of their linear matroid.

Columns that share no row split into independent parts, whose counts multiply. Within a part every flat (the
set of columns inside one subspace) is met once: the number of ordered ways to span a flat is a sum over the
flats one rank below, which is far cheaper than listing the bases. All arithmetic is modulo a prime, under
which columns can only seem more dependent than they are: the count is exact where every minor is smaller
than the prime, else a lower bound. Where there are too many flats, the bases that contain one given column
(those of the contraction, a smaller matroid) are a lower bound, and Σ det² is an upper one.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from lfm.arrays import IntArray
from lfm.checks import check_real
from lfm.compiled import compiled
from lfm.equivalence.ranks import inverse_modulo, primes
from lfm.errors import InvalidInputError
from lfm.thresholds import EQUIVALENCE

(_PRIME,) = primes(1)


class BaseCount(NamedTuple):
    """How many regular matrices U can be built of given columns, up to their order.

    Attributes
    ----------
    n : int
        The number, or a proven lower bound where `exact` is False.
    exact : bool
        Whether n is the number itself.
    at_most : int
        A proven upper bound; n where exact.

    Examples
    --------
    >>> import lfm
    >>> lfm.BaseCount(n=3, exact=True, at_most=3).n
    3
    """

    n: int
    exact: bool
    at_most: int


@compiled
def _contract(vectors: IntArray, e: int, p: int) -> IntArray:
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


@compiled
def _parallel_classes(vectors: IntArray, p: int) -> tuple[IntArray, IntArray]:
    """(class of each vector modulo p, first vector of each): parallel ones share one, zero ones have −1."""
    n, K = vectors.shape
    normal = np.zeros((n, K), dtype=np.int64)  # one of each class, its first entry that is not zero being 1
    row = np.zeros(K, dtype=np.int64)
    label = np.full(n, -1, dtype=np.int64)
    first = np.zeros(n, dtype=np.int64)
    n_classes = 0
    for r in range(n):
        lead = 0
        while lead < K and vectors[r, lead] == 0:
            lead += 1
        if lead == K:
            continue
        scale = inverse_modulo(vectors[r, lead], p)
        for j in range(K):
            row[j] = vectors[r, j] * scale % p
        for c in range(n_classes):
            same = True
            for j in range(K):
                if normal[c, j] != row[j]:
                    same = False
                    break
            if same:
                label[r] = c
                break
        if label[r] < 0:
            normal[n_classes] = row
            first[n_classes] = r
            label[r] = n_classes
            n_classes += 1
    return label, first[:n_classes]


def _count_by_flats(vectors: IntArray, weights: IntArray, max_flats: int) -> int | None:
    """Σ over bases of the vectors (n, K) of rank K of Π weights; None beyond max_flats flats."""
    n, K = vectors.shape
    max_flats = min(max_flats, EQUIVALENCE.max_numbers // (n * K))
    if n > max_flats:  # each class of vectors is a flat of rank one
        return None
    # flat (the bits of its vectors) → (ordered ways to span it, the vectors contracted by it)
    level: dict[bytes, tuple[int, IntArray]] = {bytes(n): (1, vectors % _PRIME)}
    met = 0
    for _ in range(K):
        ways_above: dict[bytes, int] = {}
        found_by: dict[bytes, tuple[IntArray, int]] = {}
        for ways, contracted in level.values():
            label, first = _parallel_classes(contracted, _PRIME)
            sizes = np.bincount(label + 1, weights, minlength=len(first) + 1)[1:]  # label −1: in the flat
            flats = np.packbits((label == np.arange(len(first))[:, None]) | (label < 0), axis=1)
            keys, width = flats.tobytes(), flats.shape[1]
            for c, size in enumerate(sizes.tolist()):
                key = keys[c * width : (c + 1) * width]
                before = ways_above.get(key)
                if before is None:
                    before = 0
                    found_by[key] = contracted, int(first[c])
                ways_above[key] = before + ways * int(size)
            if met + len(ways_above) > max_flats:
                return None
        met += len(ways_above)
        level = {key: (ways, _contract(*found_by[key], _PRIME)) for key, ways in ways_above.items()}
    (ordered, _) = next(iter(level.values()))
    return ordered // math.factorial(K)


def _is_graphic(vectors: IntArray) -> bool:
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


def _determinant(matrix: IntArray) -> int:
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


def _largest_minor(vectors: IntArray) -> float:
    """An upper bound on the magnitude of every minor of the vectors (n, K), by Hadamard's inequality."""
    lengths = np.sort(np.linalg.norm(vectors.astype(np.float64), axis=1))[::-1]
    return float(np.prod(np.maximum(lengths[: vectors.shape[1]], 1.0)))


def _log_largest_minor(K: int, denominator: int) -> float:
    """The log of a bound on every minor, times denominator^K, of columns of the U ∈ H(Z) for a Z (N, K).

    K rows ζ of Z give U = ζ⁻¹ζ′ with ζ′ binary, so |det U| is at most Hadamard's (K + 1)^((K + 1)/2) / 2^K.
    Minors of a contraction are minors of the whole, so that its bound stays that of the whole.
    """
    return (K + 1) / 2 * math.log(K + 1) - K * math.log(2) + K * math.log(denominator)


def _by_volume(vectors: IntArray, weights: IntArray, log_largest: float) -> int:
    """A number of bases that certainly exist, for vectors (n, K) K of which are multiples of unit vectors.

    Either the unit vectors and what differs from them in one vector, or det(VᵀV) = Σ det² (Cauchy-Binet)
    over the largest possible det².
    """
    K = int(vectors.shape[1])
    log_largest = min(log_largest, math.log(_largest_minor(vectors)))
    neighbours = 1 + int(np.count_nonzero(vectors)) - K
    logarithm = float(np.linalg.slogdet(vectors.T.astype(np.float64) @ (weights[:, None] * vectors))[1])
    by_volume = math.exp(min(logarithm - 2 * log_largest, 700.0))
    volume_bound = int(by_volume * (1 - 1e-9))
    return max(neighbours, volume_bound)


def _parts(vectors: IntArray) -> list[tuple[IntArray, IntArray]]:
    """(rows, coordinates) of each part of the vectors (n, K): parts share neither."""
    n, K = vectors.shape
    rows, columns = np.nonzero(vectors)
    graph = csr_array((np.ones(len(rows)), (rows, n + columns)), shape=(n + K, n + K))
    _, part = connected_components(graph, directed=False)
    return [
        (np.flatnonzero(part[:n] == label), np.flatnonzero(part[n:] == label))
        for label in np.unique(part[n:])
    ]


def _count(vectors: IntArray, weights: IntArray, log_largest: float, max_flats: int, depth: int) -> BaseCount:
    """Σ over bases of Π weights, part by part; log_largest bounds the logarithm of every minor."""
    n, exact, at_most = 1, True, 1
    for rows, coordinates in _parts(vectors):
        block, its_weights = np.ascontiguousarray(vectors[np.ix_(rows, coordinates)]), weights[rows]
        # Σ det² over all bases (Cauchy-Binet); no det² is below 1, and in a graph each of them is 1.
        squares = _determinant((block * its_weights[:, None]).T @ block)
        found = squares if _is_graphic(block) else _count_by_flats(block, its_weights, max_flats)
        if found is None:
            n *= _lower_bound(block, its_weights, log_largest, max_flats, depth)
            exact = False
        else:
            n *= found
            exact &= _largest_minor(block) < _PRIME
        at_most *= squares
    return BaseCount(n, exact, n if exact else at_most)


def _lower_bound(vectors: IntArray, weights: IntArray, log_largest: float, max_flats: int, depth: int) -> int:
    """A number of bases that certainly exist: by volume, or through the contraction of one column."""
    by_volume = _by_volume(vectors, weights, log_largest)
    K = vectors.shape[1]
    if depth == 0 or K == 1 or vectors.size > EQUIVALENCE.max_numbers // 20:
        return by_volume
    # The unit vector that most vectors meet; to contract it is to leave its coordinate out.
    met = int(np.argmax(np.count_nonzero(vectors, axis=0)))
    unit = (np.count_nonzero(vectors, axis=1) == 1) & (vectors[:, met] != 0)
    rest = np.delete(vectors, met, axis=1)[~unit]
    merged, classes = np.unique(_upright(rest), axis=0, return_inverse=True)
    sizes = np.bincount(classes, weights=weights[~unit]).astype(np.int64)
    contracted = _count(merged, sizes, log_largest, max_flats, depth - 1).n
    # A basis may also lack that unit vector. Then one class gives two of its vectors, which span the same
    # plane as one of them and the unit vector.
    pairs = sizes**2 - np.bincount(classes, weights=weights[~unit] ** 2).astype(np.int64)  # twice as many
    doubled = min(contracted * (K - 1) * int(p) // (2 * int(s)) for p, s in zip(pairs, sizes, strict=True))
    return int(max(by_volume, contracted * int(weights[unit].sum()) + doubled))


def _upright(vectors: IntArray) -> IntArray:
    """Each row with the sign that makes its first entry that is not zero positive."""
    first = vectors[np.arange(len(vectors)), np.argmax(vectors != 0, axis=1)]
    return vectors * np.where(first < 0, -1, 1)[:, None]


def count_bases(
    vectors: IntArray, denominator: int = 1, *, max_flats: int = EQUIVALENCE.max_flats
) -> BaseCount:
    """The number of sets of K linearly independent rows of `vectors`.

    Parameters
    ----------
    vectors : array of int, shape (n, K)
        The columns of the U ∈ H(Z), times their common denominator. Every unit vector is among them: pass
        `candidates.numerators`.
    denominator : int, default 1
        The common denominator: pass `candidates.denominator`.
    max_flats : int, optional
        Most flats that are met in one connected part before bounds are taken instead. More take more time.

    Returns
    -------
    BaseCount
        The number, or two proven bounds of it.

    Raises
    ------
    InvalidInputError
        Where the vectors are not whole numbers, or a unit vector times the denominator is not among them.

    Examples
    --------
    >>> import lfm
    >>> candidates = lfm.enumerate_candidates([[1, 0], [1, 1]])
    >>> lfm.count_bases(candidates.numerators)
    BaseCount(n=3, exact=True, at_most=3)
    """
    found = check_real("vectors", vectors)
    whole = np.clip(found, -EQUIVALENCE.max_numerator, EQUIVALENCE.max_numerator).astype(np.int64)
    units = denominator * np.eye(whole.shape[1], dtype=np.int64)
    if not np.array_equal(whole, found) or not all((whole == unit).all(axis=1).any() for unit in units):
        raise InvalidInputError(
            "vectors must be whole numbers with every unit vector, times the denominator, among them; pass "
            "candidates.numerators and candidates.denominator"
        )
    log_largest = _log_largest_minor(int(whole.shape[1]), denominator)
    return _count(whole, np.ones(len(whole), dtype=np.int64), log_largest, max_flats, EQUIVALENCE.contracted)
