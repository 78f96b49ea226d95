"""Codes for the rows that a decoder skipped: spoilt rows, and rows during which something switched.

Owns the last part of step 6 of the switching decoder. A row that holds a switch is a mixture of the state
before and the one after, so it belongs to the nearer of its neighbours; if that row is all there is of a
short activation, it lies part of the way from its neighbours to a state of its own.
"""

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray
from lfm.switching.segments import Segments, distance_limit
from lfm.switching.thresholds import THRESHOLDS


def codes_of_neighbours(segments: Segments, Z: BinaryArray, skipped: BoolArray) -> BinaryArray:
    """Z (S, J) where a segment that was `skipped` (S,) has the code of its nearest neighbour that was not."""
    present = np.flatnonzero(~skipped)
    rows = np.flatnonzero(skipped)
    if not len(present) or not len(rows):
        return Z
    after = np.searchsorted(present, rows)
    left = present[np.maximum(after - 1, 0)]
    right = present[np.minimum(after, len(present) - 1)]
    to_left = np.sum((segments.mean[rows] - segments.mean[left]) ** 2, axis=1)
    to_right = np.sum((segments.mean[rows] - segments.mean[right]) ** 2, axis=1)
    Z = Z.copy()
    Z[rows] = Z[np.where(to_left < to_right, left, right)]
    return Z


def with_short_activations(
    segments: Segments, Z: BinaryArray, skipped: BoolArray, G: FloatArray, level: FloatArray
) -> BinaryArray:
    """Z (S, J) where a segment that was `skipped` (S,) may have one feature switched against its neighbour.

    That is where the row lies more than half way from the neighbour's state, within the noise, to that with
    the feature switched; of several such features it is the one that switches most often. Features G (J, r)
    above `level` (r,). It is for the end of a search: during it, features that are made of such rows would
    explain themselves.
    """
    rows = np.flatnonzero(skipped)
    if not len(rows) or not len(G):
        return Z
    left_over = segments.mean[rows] - level - Z[rows] @ G
    square = np.sum(left_over**2, axis=1)
    size = np.maximum(np.sum(G**2, axis=1), np.finfo(float).tiny)
    share = (1.0 - 2.0 * Z[rows]) * (left_over @ G.T) / size
    misfit = square[:, None] - share**2 * size
    limit = distance_limit(G.shape[1])
    fits = (
        (share >= THRESHOLDS.least_share)
        & (share <= THRESHOLDS.most_share)
        & (misfit <= limit)
        & (square > limit)[:, None]
    )
    # Part of one heater looks like the whole of a smaller one. The one that switches most often is chosen.
    switches = np.count_nonzero(np.diff(Z.astype(np.int8), axis=0), axis=0)
    best = np.argmax(np.where(fits, switches, -1), axis=1)
    found = np.flatnonzero(fits.any(axis=1))
    Z = Z.copy()
    Z[rows[found], best[found]] ^= 1
    return Z
