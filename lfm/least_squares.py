"""Features by least squares: the one home of the W step, for states, weighted rows and edges alike."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import pinvh
from scipy.optimize import nnls

from lfm.arrays import FloatArray
from lfm.checks import as_real
from lfm.errors import InvalidInputError


class LeastSquares(NamedTuple):
    """The features that fit best, and the rank of what they were fitted with."""

    W: FloatArray  # (K, D), of smallest norm where the columns of Z are dependent
    rank: int  # of Z, at most K


def least_squares(
    Z: NDArray[Any], X: FloatArray, *, weight: NDArray[Any] | None = None, nonnegative: bool = False
) -> LeastSquares:
    """The W (K, D) that minimises Σ_n weight_n ‖x_n − z_n W‖², and the rank of Z.

    Parameters
    ----------
    Z : array of shape (N, K)
        Zeros and ones, or changes of them (−1, 0, 1). Its Gram matrix then holds small whole numbers, so
        that the normal equations are accurate.
    X : array of shape (N, D)
        The data.
    weight : array of shape (N,), optional
        Numbers of at least 0. Default: 1 for every row.
    nonnegative : bool, default False
        Whether W may hold no number below 0.

    Returns
    -------
    LeastSquares
        (W, rank); W has the smallest norm where columns of Z are dependent.

    Raises
    ------
    InvalidInputError
        Where Z or X is not a matrix of real numbers, or their numbers of rows differ.

    Examples
    --------
    >>> import lfm
    >>> import numpy as np
    >>> W, rank = lfm.least_squares(np.array([[1, 0], [1, 1]]), np.array([[3.0], [4.0]]))
    >>> W.round(6).tolist(), rank
    ([[3.0], [1.0]], 2)
    """
    real, X = as_real("Z", Z), as_real("X", X)
    if len(real) != len(X):
        raise InvalidInputError(f"Z has {len(real)} rows and X {len(X)}; they must be as many")
    weighted = real if weight is None else real * np.asarray(weight, dtype=np.float64)[:, None]
    gram, image = weighted.T @ real, weighted.T @ X
    inverse, rank = pinvh(gram, return_rank=True)
    W = np.asarray(inverse @ image, dtype=np.float64)
    if nonnegative:
        _without_negative(W, gram, image)
    return LeastSquares(W, int(rank))


def _without_negative(W: FloatArray, gram: FloatArray, image: FloatArray) -> None:
    """Puts the best non-negative solution of gram · W = image in place of each column with a negative one."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-12 * values[-1]
    root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    target = (vectors[:, kept] / np.sqrt(values[kept])).T @ image
    for d in np.flatnonzero((W < 0).any(axis=0)):
        W[:, d] = nnls(root, target[:, d])[0]
