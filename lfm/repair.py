"""Wrong bits of Z set right by the data: the step between the walks of a tolerant hop."""

import numpy as np

from lfm.decoding import decode_rows
from lfm.errors import BinaryMatrix, FloatMatrix
from lfm.solution import Solution


def repaired(Z: BinaryMatrix, W: FloatMatrix, X: FloatMatrix) -> Solution | None:
    """The solution near (Z, W) with the lowest residual, W refitted; None if none has rank K.

    Tried are Z itself, and each row's nearest combination of the features W or of those that fit Z best: a
    wrong bit in Z harms the refit, a wrong W the decoding.
    """
    refit = _least_squares(Z, X)[0]
    found: list[tuple[float, Solution]] = []
    for states in (Z, decode_rows(X, W), decode_rows(X, refit)):
        features, rank = _least_squares(states, X)
        if rank == Z.shape[1]:
            near = Solution(states, features)
            found.append((near.residual(X), near))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _least_squares(Z: BinaryMatrix, X: FloatMatrix) -> tuple[FloatMatrix, int]:
    """(W that minimises ‖X − ZW‖, rank of Z)."""
    W, _, rank, _ = np.linalg.lstsq(Z.astype(np.float64), X, rcond=None)
    return np.asarray(W, dtype=np.float64), int(rank)
