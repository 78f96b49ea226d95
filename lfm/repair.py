"""Wrong bits of Z set right by the data: the step between the walks of a tolerant hop."""

import numpy as np

from lfm.decoding import decode
from lfm.errors import BinaryMatrix, FloatMatrix, IntMatrix
from lfm.repeats import agreed_features, majority
from lfm.solution import Solution

_MAX_PASSES = 10  # of decoding and refitting in turn; each lowers the residual


def repaired(
    Z: BinaryMatrix, W: FloatMatrix, X: FloatMatrix, group: IntMatrix | None = None
) -> Solution | None:
    """The solution near (Z, W) with the lowest residual, W refitted; None if none has rank K.

    Tried are Z itself, Z after a vote of the rows that repeat one another (`group`, see `lfm.repeats`), and
    each row's nearest combination of the features W, of those that fit Z best, or of those that most groups
    agree on: a wrong bit in Z harms the refit, a wrong W the decoding. From the best of them on, decoding
    and refitting take turns while the residual falls.
    """
    tried = [Z, decode(X, W).Z, decode(X, _least_squares(Z, X)[0]).Z]
    if group is not None:
        voted = majority(Z, group)
        tried += [voted, decode(X, agreed_features(voted, X, group)).Z]
    found = [near for near in (_fitted(states, X) for states in tried) if near is not None]
    if not found:
        return None
    lowest, best = min(found, key=lambda pair: pair[0])
    for _ in range(_MAX_PASSES):
        near = _fitted(decode(X, best.W).Z, X)
        if near is None or near[0] >= lowest * (1 - 1e-12):
            break
        lowest, best = near
    return best


def _fitted(Z: BinaryMatrix, X: FloatMatrix) -> tuple[float, Solution] | None:
    """(residual, solution) of the best features for Z; None where rank(Z) < K."""
    W, rank = _least_squares(Z, X)
    if rank < Z.shape[1]:
        return None
    solution = Solution(Z, W)
    return solution.residual(X), solution


def _least_squares(Z: BinaryMatrix, X: FloatMatrix) -> tuple[FloatMatrix, int]:
    """(W that minimises ‖X − ZW‖, rank of Z)."""
    W, _, rank, _ = np.linalg.lstsq(Z.astype(np.float64), X, rcond=None)
    return np.asarray(W, dtype=np.float64), int(rank)
