"""Wrong bits of Z set right by the data: the step between the walks of a tolerant hop.

With `nonnegative` the features that come back hold no number below 0.
"""

from lfm.arrays import BinaryArray, FloatArray, IntArray
from lfm.equivalence.ranks import distinct_rows
from lfm.estimators.bit_flips import flip_bits
from lfm.estimators.decoding import decode
from lfm.hopper.repeats import agreed_features, group_means, majority
from lfm.least_squares import LeastSquares, least_squares
from lfm.solution import Solution
from lfm.thresholds import HOPPER


def projected(Z: BinaryArray, W: FloatArray, X: FloatArray, *, nonnegative: bool = False) -> Solution | None:
    """The solution near (Z, W) with the lowest residual, W refitted; None if none has rank K.

    Tried are Z itself and each row's nearest combination of the features W or of those that fit Z best: a
    wrong bit in Z harms the refit, a wrong W the decoding.
    """
    best = _best(_near(Z, W, X), X, nonnegative)
    return None if best is None else best[1]


def repaired(
    Z: BinaryArray, W: FloatArray, X: FloatArray, group: IntArray | None, *, nonnegative: bool = False
) -> Solution | None:
    """As `projected`, with votes of the rows of X that repeat one another (`group`, see `repeats`).

    Tried are also Z after the vote, and each row's nearest combination of the features that most groups agree
    on. From the best on, decoding and refitting take turns while the residual falls.
    """
    tried = _near(Z, W, X)
    if group is not None:
        voted = majority(Z, group)
        tried += [voted, _nearest(voted, agreed_features(voted, X, group), X)]
    best = _best(tried, X, nonnegative)
    if best is None:
        return None
    for _ in range(HOPPER.max_passes):
        further = _best([_nearest(best[1].Z, best[1].W, X)], X, nonnegative)
        if further is None or further[0] >= best[0] * (1 - 1e-12):
            break
        best = further
    return best[1]


def _near(Z: BinaryArray, W: FloatArray, X: FloatArray) -> list[BinaryArray]:
    return [Z, _nearest(Z, W, X), _nearest(Z, _best_features(Z, X).W, X)]


def _nearest(Z: BinaryArray, W: FloatArray, X: FloatArray) -> BinaryArray:
    """Each row's nearest combination of the features W; of many features the nearest by single flips of Z."""
    if Z.shape[1] <= HOPPER.most_decoded:
        return decode(X, W).Z
    flipped = Z.copy()
    flip_bits(flipped, X @ W.T, W @ W.T)
    return flipped


def _best(tried: list[BinaryArray], X: FloatArray, nonnegative: bool) -> tuple[float, Solution] | None:
    """(residual, solution) of the states that fit best, W refitted; None where all have rank below K."""
    found = [near for near in (_fitted(states, X, nonnegative) for states in tried) if near is not None]
    return min(found, key=lambda pair: pair[0]) if found else None


def _fitted(Z: BinaryArray, X: FloatArray, nonnegative: bool) -> tuple[float, Solution] | None:
    """(residual, solution) of the best features for Z; None where rank(Z) < K."""
    W, rank = _best_features(Z, X, nonnegative=nonnegative)
    if rank < Z.shape[1]:
        return None
    solution = Solution(Z, W)
    return solution.residual(X), solution


def _best_features(Z: BinaryArray, X: FloatArray, *, nonnegative: bool = False) -> LeastSquares:
    """The W that minimises ‖X − ZW‖, and the rank of Z: one equation for each distinct row of Z."""
    rows, counts, of = distinct_rows(Z)
    return least_squares(rows, group_means(X, of), weight=counts, nonnegative=nonnegative)
