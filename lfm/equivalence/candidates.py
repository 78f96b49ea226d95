"""Candidates for the columns of U: all of them (enumerated) or some (Algorithm 1), behind one type.

The unit vectors always belong to the candidates (erratum E9). What to do with candidates is the business of
`lfm.hopper.hop` and `lfm.equivalence.identifiability`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lfm.arrays import FloatArray, IntArray
from lfm.checks import check_binary, check_rng, check_whole
from lfm.equivalence.hermite import RowLattice, row_lattice
from lfm.equivalence.lattice import short_vectors
from lfm.equivalence.ranks import Patterns, check_independent, distinct_rows
from lfm.errors import InvalidInputError
from lfm.thresholds import EQUIVALENCE

_SAMPLES_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False)
class Candidates:
    """Vectors u that may stand as columns of U, one per row, sorted by f, then by entries.

    Made by `enumerate_candidates` and `sample_candidates`.

    Attributes
    ----------
    numerators : array of int, shape (n, K)
        The exact entries of the candidates, times `denominator`.
    denominator : int
        Common to all candidates; 1 where they are integers.
    f : array of int, shape (n,)
        f(Zu) of each candidate: 0 where Zu is binary.
    complete : bool
        True where no u with f(Zu) ≤ max_nonbinarity is missing, fractions included.
    nodes : int
        Nodes that the search visited, or samples that were drawn.
    max_nonbinarity : int
        The largest f that was asked for.
    index : int
        The lattice index of Z where fractions were searched for, else 1.

    Examples
    --------
    >>> import lfm
    >>> candidates = lfm.enumerate_candidates([[1, 0], [1, 1]])
    >>> len(candidates), candidates.complete
    (3, True)
    >>> candidates.U.tolist()
    [[0, 1], [1, -1], [1, 0]]
    """

    numerators: IntArray
    denominator: int
    f: IntArray
    complete: bool
    nodes: int
    max_nonbinarity: int
    index: int = 1

    @property
    def U(self) -> IntArray | FloatArray:
        """The candidates (n, K): int64, or float64 where some hold fractions."""
        return self.numerators if self.denominator == 1 else self.numerators / self.denominator

    @property
    def K(self) -> int:
        """Length of a candidate."""
        return int(self.numerators.shape[1])

    @property
    def strict(self) -> bool:
        """True where every candidate makes Zu binary."""
        return not self.f.any()

    def strict_part(self) -> "Candidates":
        """Those candidates that make Zu binary."""
        keep = self.f == 0
        return replace(self, numerators=self.numerators[keep], f=self.f[keep], max_nonbinarity=0)

    def __len__(self) -> int:
        return len(self.numerators)

    def unit_positions(self) -> IntArray:
        """Where each unit vector e_1 … e_K stands among the candidates (K,)."""
        is_unit = (np.abs(self.numerators).sum(axis=1) == self.denominator) & (
            self.numerators.max(axis=1) == self.denominator
        )
        rows = np.flatnonzero(is_unit)
        positions = np.empty(self.K, dtype=np.int64)
        positions[np.argmax(self.numerators[rows], axis=1)] = rows
        return positions


def _with_unit_vectors(numerators: IntArray, f: IntArray, denominator: int) -> tuple[IntArray, IntArray]:
    """Distinct candidates with the unit vectors among them, sorted by f, then by entries."""
    K = numerators.shape[1]
    everything = np.concatenate([numerators, denominator * np.eye(K, dtype=np.int64)])
    f_all = np.concatenate([f, np.zeros(K, dtype=np.int64)])
    # As bytes, most significant first, rows sort as their entries do, and many times faster.
    shifted = everything - everything.min()
    digits = shifted.astype(np.min_scalar_type(int(shifted.max())).newbyteorder(">"))
    order = np.argsort(digits.view(f"S{digits.itemsize * K}").ravel(), kind="stable")
    order = order[np.argsort(f_all[order], kind="stable")]
    everything, f_all = everything[order], f_all[order]
    new = np.ones(len(everything), dtype=np.bool_)
    np.any(everything[1:] != everything[:-1], axis=1, out=new[1:])
    return everything[new], f_all[new]


def enumerate_candidates(
    Z: ArrayLike, *, max_nonbinarity: int = 0, max_nodes: int = EQUIVALENCE.max_nodes
) -> Candidates:
    """Every u ≠ 0 for which Zu is integer and close enough to binary, with a certificate of completeness.

    Parameters
    ----------
    Z : array of shape (N, K)
        Zeros and ones, of rank K.
    max_nonbinarity : int, default 0
        The largest f(Zu) that is allowed, at least 0. It counts, in rows, how far Zu may be from binary.
    max_nodes : int, optional
        Most nodes that the search visits, at least 1. When they are spent, `.complete` is False.

    Returns
    -------
    Candidates
        With fractions where the lattice index of Z is above 1.

    Raises
    ------
    RankDeficientError
        Where Z has rank below K, because infinitely many u exist then.
    InvalidInputError
        Where Z is not binary, or a limit is not a whole number in its range.

    Examples
    --------
    A feature that is always on lets the other one be inverted:

    >>> import lfm
    >>> lfm.enumerate_candidates([[1, 0], [1, 1]]).U.tolist()
    [[0, 1], [1, -1], [1, 0]]
    """
    Z = check_binary("Z", Z)
    try:
        max_nonbinarity = check_whole("max_nonbinarity", max_nonbinarity, least=0)
    except InvalidInputError as error:
        raise InvalidInputError(f"{error}; for a share of the rows give e.g. len(Z) // 100") from None
    max_nodes = check_whole("max_nodes", max_nodes, least=1)
    patterns = distinct_rows(Z)
    check_independent(patterns.rows, N=len(Z))
    return candidates_of(patterns, row_lattice(patterns.rows), max_nonbinarity, max_nodes)


def candidates_of(
    patterns: Patterns, lattice: RowLattice, max_nonbinarity: int, max_nodes: int
) -> Candidates:
    """`enumerate_candidates` for the distinct rows of a Z of rank K, and the lattice of these."""
    # In the coordinates A of the row lattice (Z = AH) every u with Zu integer is u = H⁻¹y with y integer.
    every_u = lattice.coordinates is not None
    matrix = patterns.rows.astype(np.int64) if lattice.coordinates is None else lattice.coordinates
    Y, f, nodes, complete = short_vectors(matrix, patterns.counts, max_nonbinarity, max_nodes)
    Y, denominator = _as_fractions(Y, lattice.basis, lattice.index) if every_u else (Y, 1)
    numerators, f = _with_unit_vectors(Y, f, denominator)
    index = lattice.index if every_u else 1
    return Candidates(numerators, denominator, f, complete and every_u, nodes, max_nonbinarity, index)


def _as_fractions(Y: IntArray, basis: NDArray[Any], index: int) -> tuple[IntArray, int]:
    """(numerators, denominator) of u = H⁻¹y for each row y of Y; H is the `basis`, of determinant ±index."""
    if index == 1:
        return Y, 1
    inverse = np.rint(index * np.linalg.inv(basis.astype(np.float64))).astype(np.int64)
    assert np.array_equal(inverse @ basis.astype(np.int64), index * np.eye(len(basis), dtype=np.int64))
    Y = Y @ inverse.T
    common = int(np.gcd.reduce(Y, axis=None, initial=index))
    return Y // common, index // common


def sample_candidates(
    Z: ArrayLike, *, n_samples: int, decay: float = math.inf, rng: np.random.Generator
) -> Candidates:
    """Columns u found by Algorithm 1: random points of a sphere, rounded to integers; never known to be all.

    Parameters
    ----------
    Z : array of shape (N, K)
        Zeros and ones, of rank K.
    n_samples : int
        Points that are drawn, at least 1.
    decay : float, default math.inf
        The λ > 0 of f* ~ exp(−λf*), where √(‖μ‖² + 2f*) is the radius (erratum E1). Infinity is the strict
        sampler, which keeps u only if f(Zu) = 0 (erratum E7); a finite λ keeps every u ≠ 0.
    rng : numpy.random.Generator
        Source of the randomness.

    Returns
    -------
    Candidates
        The distinct ones, with the unit vectors among them.

    Raises
    ------
    RankDeficientError
        Where Z has rank below K.
    InvalidInputError
        Where an argument is out of its range.

    Examples
    --------
    >>> import lfm
    >>> import numpy as np
    >>> found = lfm.sample_candidates([[1, 0], [1, 1]], n_samples=100, rng=np.random.default_rng(0))
    >>> len(found), found.complete
    (3, False)
    """
    Z = check_binary("Z", Z)
    n_samples = check_whole("n_samples", n_samples, least=1)
    check_rng("rng", rng)
    if not decay > 0:
        raise InvalidInputError(f"decay must be positive (math.inf is strict), got {decay}")
    check_independent(distinct_rows(Z).rows, N=len(Z))
    G = np.rint(Z.T.astype(np.float64) @ Z).astype(np.int64)
    kept, f_kept = zip(*_sampled(G, n_samples, decay, rng), strict=True)
    numerators, f = _with_unit_vectors(np.concatenate(kept), np.concatenate(f_kept), 1)
    return Candidates(numerators, 1, f, False, n_samples, int(f.max()))


def _sampled(
    G: IntArray, n_samples: int, decay: float, rng: np.random.Generator
) -> Iterator[tuple[IntArray, IntArray]]:
    """Algorithm 1 for the Gram matrix G = ZᵀZ: vectors that were drawn, and their f, some at a time."""
    linear = np.diag(G)  # Zᵀ1, because Z is binary
    eigenvalues, Psi = np.linalg.eigh(G.astype(np.float64))
    Lambda = Psi / np.sqrt(eigenvalues)
    mu = 0.5 * Lambda.T @ linear
    strict = math.isinf(decay)
    for start in range(0, n_samples, _SAMPLES_AT_ONCE):
        n = min(_SAMPLES_AT_ONCE, n_samples - start)
        f_star = np.zeros(n) if strict else rng.geometric(-math.expm1(-decay), size=n) - 1.0
        direction = rng.standard_normal((n, len(G)))
        direction *= (np.sqrt(mu @ mu + 2 * f_star) / np.linalg.norm(direction, axis=1))[:, None]
        u = np.rint((mu + direction) @ Lambda.T).astype(np.int64)
        u = np.unique(u[np.any(u != 0, axis=1)], axis=0)
        if len(u) and float(np.abs(u).max()) ** 2 * float(np.abs(G).sum()) > 2.0**62:
            raise InvalidInputError(f"decay = {decay} draws vectors too large for f to be exact; raise it")
        f = (((u @ G) * u).sum(axis=1) - u @ linear) // 2
        yield (u[f == 0], f[f == 0]) if strict else (u, f)
