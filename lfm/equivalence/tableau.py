"""The tableau of Algorithm 2: every candidate in the coordinates of the current U, exact under exchange.

For U built of candidates and a candidate u, a = U⁻¹u says everything about putting u in place of column k:
the new U is regular iff a_k ≠ 0, det U′ = a_k det U, and every row of U⁻¹ (hence of U⁻¹W) changes by a
multiple of row k. The tableau keeps det(U)·U⁻¹u for all candidates as integers (fraction-free elimination),
so nothing drifts.
"""

import numpy as np

from lfm.arrays import FloatArray, IntArray
from lfm.checks import check_rng, check_whole
from lfm.compiled import compiled
from lfm.equivalence.candidates import Candidates, enumerate_candidates
from lfm.solution import Solution, transform


@compiled
def pivot_in_place(minors: IntArray, determinant: int, k: int, i: int) -> int:
    """Exchange column k for candidate i in place; returns the new determinant."""
    K, n = minors.shape
    pivot = minors[k, i]
    for j in range(K):
        q = minors[j, i]
        if j == k or (q == 0 and pivot == determinant):
            continue
        for c in range(n):
            minors[j, c] = (pivot * minors[j, c] - q * minors[k, c]) // determinant
    return int(pivot)


class Tableau:
    """U = the candidates numbered `columns`, and `minors` (K, n) = determinant · U⁻¹u for each candidate u.

    `determinant` is det U times the lattice index that the candidates start from, so that its magnitude is
    the lattice index of ZU: an integer ≥ 1 also where candidates hold fractions.
    """

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self.unit_positions = candidates.unit_positions()
        self.columns = self.unit_positions.copy()
        self.determinant = candidates.index
        scale = candidates.index // candidates.denominator
        self.minors = np.ascontiguousarray(candidates.numerators.T) * scale

    def exchange(self, k: int, i: int) -> None:
        """Put candidate i in place of column k; minors[k, i] must not be zero."""
        self.determinant = pivot_in_place(self.minors, self.determinant, k, i)
        self.columns[k] = i

    @property
    def U(self) -> FloatArray:
        """The current U (K, K); entries are integers unless the candidates hold fractions."""
        return np.asarray(self._candidates.U[self.columns].T, dtype=np.float64)

    @property
    def inverse(self) -> FloatArray:
        """U⁻¹ (K, K): the coordinates of the unit vectors."""
        return self.minors[:, self.unit_positions] / self.determinant


def random_equivalent(solution: Solution, rng: np.random.Generator, *, n_exchanges: int = 200) -> Solution:
    """An equivalent solution, some random column exchanges away, of the same lattice index.

    Parameters
    ----------
    solution : Solution
        Where to start from; its Z has rank K.
    rng : numpy.random.Generator
        Source of the randomness.
    n_exchanges : int, default 200
        Exchanges of one column, at least 0.

    Returns
    -------
    Solution
        With the same product ZW.

    Raises
    ------
    RankDeficientError
        Where Z has rank below K.

    Examples
    --------
    >>> import lfm
    >>> import numpy as np
    >>> solution = lfm.Solution([[1, 0], [1, 1]], [[3.0], [1.0]])
    >>> other = lfm.random_equivalent(solution, np.random.default_rng(0))
    >>> bool(np.allclose(other.product(), solution.product()))
    True
    """
    n_exchanges = check_whole("n_exchanges", n_exchanges, least=0)
    check_rng("rng", rng)
    tableau = Tableau(enumerate_candidates(solution.Z))
    for _ in range(n_exchanges):
        moves = np.argwhere(np.abs(tableau.minors) == abs(tableau.determinant))
        k, i = moves[rng.integers(len(moves))]
        tableau.exchange(int(k), int(i))
    return transform(solution, tableau.U)
