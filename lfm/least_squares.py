"""Features by least squares: the one home of the W step, for states, weighted rows and edges alike."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import pinvh

from lfm.arrays import FloatArray


class LeastSquares(NamedTuple):
    """The features that fit best, and the rank of what they were fitted with."""

    W: FloatArray  # (K, D), of smallest norm where the columns of Z are dependent
    rank: int  # of Z, at most K


def least_squares(Z: NDArray[Any], X: FloatArray, *, weight: NDArray[Any] | None = None) -> LeastSquares:
    """The W (K, D) that minimises Σ_n weight_n ‖x_n − z_n W‖², and the rank of Z (N, K).

    `weight` (N,) of numbers ≥ 0 is 1 for every row by default. Z holds zeros and ones, or changes of them
    (−1, 0, 1): its Gram matrix then has small whole numbers, so that the normal equations are accurate and
    cost a few products of matrices.
    """
    real = Z.astype(np.float64)
    weighted = real if weight is None else real * np.asarray(weight, dtype=np.float64)[:, None]
    inverse, rank = pinvh(weighted.T @ real, return_rank=True)
    return LeastSquares(np.asarray(inverse @ (weighted.T @ X), dtype=np.float64), int(rank))
