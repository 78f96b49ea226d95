"""How far a solution is from the truth (E_Hamm) and how large its features are (E_Reg): Sec. 5."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from lfm.checks import check_binary, check_real
from lfm.errors import InvalidInputError


def regulariser(W: ArrayLike) -> float:
    """E_Reg = ‖W‖_F / (KD) for W of shape (K, D)."""
    W = check_real("W", W)
    if W.size == 0:
        raise InvalidInputError(f"W has shape {W.shape}; at least one feature of length one is needed")
    return float(np.linalg.norm(W) / W.size)


def match_columns(Z: ArrayLike, Z_true: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The pairs (columns of Z, columns of Z_true) of the assignment with the fewest differing bits.

    Where the two have different numbers of columns, min(K, K_true) pairs come back.
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
    """E_Hamm = min over permutations of ‖Zσ − Z_true‖₀ / (N K), between 0 and 1.

    Where the two have different numbers of columns the shorter is filled up with columns of zeros, and
    K is the larger of the two.
    """
    rows, columns = match_columns(Z, Z_true)
    Z, Z_true = check_binary("Z", Z), check_binary("Z_true", Z_true)
    differing = np.count_nonzero(Z[:, rows] != Z_true[:, columns])
    unmatched = np.delete(Z, rows, axis=1).sum() + np.delete(Z_true, columns, axis=1).sum()
    return float((differing + unmatched) / (Z.shape[0] * max(Z.shape[1], Z_true.shape[1])))
