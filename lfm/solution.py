"""A solution (Z, W) of the latent feature model X ≈ ZW, and the equivalent ones (ZU, U⁻¹W).

Owns the type and its invariants. Which U are worth trying is the business of `lfm.equivalence.candidates` and
`lfm.hopper.hop`; how good a solution is beyond its residual belongs to `lfm.priors` and `lfm.metrics`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lfm.arrays import BinaryArray, FloatArray
from lfm.checks import check_binary, check_real
from lfm.errors import InvalidInputError, NotEquivalentError
from lfm.metrics import regulariser

_CHUNK = 4_000_000  # numbers held at once


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution of X ≈ ZW: who is on in each row, and what each feature looks like.

    Both matrices are kept as read-only copies.

    Parameters
    ----------
    Z : array of shape (N, K)
        Zeros and ones. Z[n, k] is 1 where feature k is on in row n.
    W : array of shape (K, D)
        Finite real numbers, one feature per row, in the unit of X.

    Raises
    ------
    InvalidInputError
        Where Z is not binary, W is not finite, or their numbers of features differ.

    Examples
    --------
    >>> import lfm
    >>> solution = lfm.Solution([[1, 0], [1, 1]], [[3.0, 4.0], [1.0, 0.0]])
    >>> solution.N, solution.K, solution.D
    (2, 2, 2)
    >>> solution.residual([[3.0, 4.0], [4.0, 4.0]])
    0.0
    """

    Z: BinaryArray
    W: FloatArray

    def __post_init__(self) -> None:
        Z = check_binary("Z", self.Z).copy()
        W = check_real("W", self.W).copy()
        if Z.shape[1] != W.shape[0]:
            raise InvalidInputError(
                f"Z has {Z.shape[1]} columns and W {W.shape[0]} rows; both must be the number of features K"
            )
        Z.flags.writeable = False
        W.flags.writeable = False
        object.__setattr__(self, "Z", Z)
        object.__setattr__(self, "W", W)

    @property
    def N(self) -> int:
        """Number of rows of Z."""
        return int(self.Z.shape[0])

    @property
    def K(self) -> int:
        """Number of features."""
        return int(self.Z.shape[1])

    @property
    def D(self) -> int:
        """Length of one feature."""
        return int(self.W.shape[1])

    @property
    def regulariser(self) -> float:
        """E_Reg = ‖W‖_F / (KD), Sec. 5."""
        return regulariser(self.W)

    def product(self) -> FloatArray:
        """ZW, what the solution says X is, shape (N, D)."""
        return self.Z.astype(np.float64) @ self.W

    def residual(self, X: ArrayLike) -> float:
        """‖X − ZW‖_F for X of shape (N, D)."""
        X = check_real("X", X)
        if X.shape != (self.N, self.D):
            raise InvalidInputError(f"X has shape {X.shape}; this solution explains {(self.N, self.D)}")
        # In pieces: a year of rows need not be held three times over.
        step = max(1, _CHUNK // max(1, self.D))
        squares = 0.0
        for first in range(0, self.N, step):
            left = X[first : first + step] - self.Z[first : first + step].astype(np.float64) @ self.W
            squares += float(np.vdot(left, left))
        return math.sqrt(squares)


def transform(solution: Solution, U: ArrayLike) -> Solution:
    """The equivalent solution (ZU, U⁻¹W), which has the same product ZW.

    Parameters
    ----------
    solution : Solution
        Where to start from.
    U : array of shape (K, K)
        A regular matrix, usually of integers.

    Returns
    -------
    Solution
        Its Z is ZU and its W is U⁻¹W.

    Raises
    ------
    NotEquivalentError
        Where U is singular, or ZU is not binary.
    InvalidInputError
        Where U does not have the shape (K, K).

    Examples
    --------
    Feature 0 is always on. So feature 1 may as well be inverted:

    >>> import lfm
    >>> solution = lfm.Solution([[1, 0], [1, 1]], [[3.0], [1.0]])
    >>> inverted = lfm.transform(solution, [[1, 1], [0, -1]])
    >>> inverted.Z.tolist(), inverted.W.tolist()
    ([[1, 1], [1, 0]], [[4.0], [-1.0]])
    """
    if not isinstance(solution, Solution):
        raise InvalidInputError(
            f"solution must be a Solution, got {type(solution).__name__}; wrap it as Solution(Z, W)"
        )
    U = check_real("U", U)
    if U.shape != (solution.K, solution.K):
        raise InvalidInputError(
            f"U has shape {U.shape}; a solution with K = {solution.K} needs {(solution.K,) * 2}"
        )
    if np.linalg.matrix_rank(U) < solution.K:
        raise NotEquivalentError("U is singular: its columns are linearly dependent, so U⁻¹W does not exist")
    ZU = solution.Z.astype(np.float64) @ U
    Z = np.rint(ZU)
    # U may hold fractions (Z of lattice index above 1): the products are then exact only to rounding.
    wrong = int(np.count_nonzero((np.abs(ZU - Z) > 1e-9) | (Z < 0) | (Z > 1)))
    if wrong:
        raise NotEquivalentError(
            f"ZU is not binary: {wrong} of its {ZU.size} entries are neither 0 nor 1; "
            "nonbinarity(Z, U) tells which columns of U are to blame"
        )
    return Solution(Z.astype(np.uint8), np.asarray(np.linalg.solve(U, solution.W), dtype=np.float64))
