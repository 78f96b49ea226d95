"""Single bits of Z flipped while the error falls: the local Z step that LatentLasso and KFeatures share.

`lfm.estimators.decoding` finds each row's best combination of features; this finds one that no single flip
improves.
"""

import numpy as np

from lfm.arrays import BinaryArray, FloatArray
from lfm.compiled import compiled


@compiled
def flip_bits(Z: BinaryArray, along: FloatArray, overlap: FloatArray) -> int:
    """How many bits of Z (N, J) were flipped, in place, while ½‖X − ZB‖² fell; the best of a row first.

    along (N, J) = XBᵀ, overlap (J, J) = BBᵀ.
    """
    N, J = Z.shape
    slope = np.empty(J)  # (x − zB)·B_j
    least = 1e-9 * np.trace(overlap)  # above rounding: a flip and its return cannot both gain
    n_flips = 0
    for n in range(N):
        for j in range(J):
            slope[j] = along[n, j]
            for k in range(J):
                if Z[n, k]:
                    slope[j] -= overlap[j, k]
        while True:
            best, at = least, -1
            for j in range(J):
                gain = (-slope[j] if Z[n, j] else slope[j]) - 0.5 * overlap[j, j]
                if gain > best:
                    best, at = gain, j
            if at < 0:
                break
            n_flips += 1
            sign = 1.0 if Z[n, at] else -1.0
            Z[n, at] = 1 - Z[n, at]
            for j in range(J):
                slope[j] += sign * overlap[j, at]
    return n_flips
