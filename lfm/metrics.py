"""How far a solution is from the truth (E_Hamm) and how large its features are (E_Reg): Sec. 5."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from lfm.checks import check_binary, check_real
from lfm.errors import InvalidInputError


def regulariser(W: ArrayLike) -> float:
    """E_Reg = ‖W‖_F / (KD): how large the features are on average (Sec. 5).

    Parameters
    ----------
    W : array of shape (K, D)
        One feature per row.

    Returns
    -------
    float
        At least 0, in the unit of W.

    Raises
    ------
    InvalidInputError
        Where W is empty, not finite, or not a matrix.

    Examples
    --------
    >>> import lfm
    >>> lfm.regulariser([[3.0, 4.0]])
    2.5
    """
    W = check_real("W", W)
    if W.size == 0:
        raise InvalidInputError(f"W has shape {W.shape}; at least one feature of length one is needed")
    return float(np.linalg.norm(W) / W.size)


def match_columns(Z: ArrayLike, Z_true: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which column of Z belongs to which column of Z_true: the assignment with the fewest differing bits.

    Parameters
    ----------
    Z, Z_true : arrays of shape (N, K) and (N, K_true)
        Zeros and ones, for the same N rows.

    Returns
    -------
    columns, columns_true : arrays of int
        Column columns[i] of Z goes with column columns_true[i] of Z_true. There are min(K, K_true) pairs.

    Raises
    ------
    InvalidInputError
        Where the two have different numbers of rows, or are not binary.

    Examples
    --------
    >>> import lfm
    >>> columns, columns_true = lfm.match_columns([[0, 1], [1, 1]], [[1, 0], [1, 1]])
    >>> columns.tolist(), columns_true.tolist()
    ([0, 1], [1, 0])
    """
    Z = check_binary("Z", Z)
    Z_true = check_binary("Z_true", Z_true)
    if Z.shape[0] != Z_true.shape[0]:
        raise InvalidInputError(
            f"Z has {Z.shape[0]} rows and Z_true has {Z_true.shape[0]}; they must be the same rows"
        )
    a, b = Z.astype(np.float64), Z_true.astype(np.float64)
    # All ones of both minus twice the shared ones of matched pairs are the differing bits, so the shared
    # ones decide; an unmatched column costs its ones, as if compared with a column of zeros.
    rows, columns = linear_sum_assignment(-(a.T @ b))
    return rows, columns


def hamming_error(Z: ArrayLike, Z_true: ArrayLike) -> float:
    """E_Hamm = min over permutations of ‖Zσ − Z_true‖₀ / (NK): the share of wrong bits (Sec. 5).

    Parameters
    ----------
    Z, Z_true : arrays of shape (N, K) and (N, K_true)
        Zeros and ones, for the same N rows. Where the numbers of columns differ, the smaller matrix is
        filled up with columns of zeros, and K is the larger number.

    Returns
    -------
    float
        Between 0 (equal up to the order of columns) and 1.

    Raises
    ------
    InvalidInputError
        Where the two have different numbers of rows, or are not binary.

    Examples
    --------
    >>> import lfm
    >>> lfm.hamming_error([[0, 1], [1, 1]], [[1, 0], [1, 1]])
    0.0
    >>> lfm.hamming_error([[0], [1]], [[1, 0], [1, 1]])
    0.5
    """
    rows, columns = match_columns(Z, Z_true)
    Z, Z_true = check_binary("Z", Z), check_binary("Z_true", Z_true)
    differing = np.count_nonzero(Z[:, rows] != Z_true[:, columns])
    unmatched = np.delete(Z, rows, axis=1).sum() + np.delete(Z_true, columns, axis=1).sum()
    return float((differing + unmatched) / (Z.shape[0] * max(Z.shape[1], Z_true.shape[1])))
