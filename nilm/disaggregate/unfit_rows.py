"""Rows that are unfit for a fit (clipped, distorted), read afterwards: which state seen elsewhere they show.

Owns the comparison of a damaged row with the states of the fit. What is unfit is for
`nilm.recordings.quality` to say.
"""

import numpy as np

from lfm import Solution
from lfm.arrays import BinaryArray, FloatArray, IntArray
from nilm.thresholds import HOUSE


def states_of_unfit(
    solution: Solution, X: FloatArray, unfit: FloatArray, *, free: FloatArray | None = None
) -> IntArray:
    """For each row of `unfit` (n, D) a row of the fit X (N, D) that has its state; −1 where none is close.

    A row is compared with every state that the solution holds, on the samples away from its own peak; it has
    the nearest one if their RMS distance is at most `outlying` times that of the fit. `free` (D,) is a
    waveform of which each row may hold any amount.
    """
    if len(unfit) == 0:
        return np.zeros(0, dtype=np.int64)
    states, first = np.unique(solution.Z, axis=0, return_index=True)
    product = states.astype(np.float64) @ solution.W
    limit = HOUSE.outlying * float(np.sqrt(np.mean((X - solution.product()) ** 2)))
    found = np.full(len(unfit), -1, dtype=np.int64)
    for n, row in enumerate(unfit):
        compared = np.abs(row) < HOUSE.clipped_share * np.abs(row).max()
        if not compared.any():
            continue
        left = product[:, compared] - row[compared]
        if free is not None and free[compared].any():
            shape = free[compared]
            left = left - np.outer(left @ shape / (shape @ shape), shape)
        distance = np.sqrt(np.mean(left**2, axis=1))
        best = int(np.argmin(distance))
        if distance[best] <= limit:
            found[n] = first[best]
    return found


def rows_with_state(states: BinaryArray, wanted: BinaryArray) -> IntArray:
    """For each row of `wanted` (n, K) the first row of `states` (N, K) that equals it; each must occur."""
    first: dict[bytes, int] = {}
    for n, row in enumerate(np.ascontiguousarray(states)):
        first.setdefault(row.tobytes(), n)
    return np.array([first[row.tobytes()] for row in np.ascontiguousarray(wanted)], dtype=np.int64)
