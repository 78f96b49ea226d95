"""How much a house wanders without switching, learnt from the looks at it.

A heat pump that follows the weather or a television that follows its picture changes from look to look. Such
changes are no switches, and to time each would cost all the reading there is. Owns the comparison of one
change with those around it, on vectors whose length is an RMS current; a change counts by how far it stands
out from what the minutes around it do in the same direction.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lfm.compiled import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Usual:
    """What is called usual; found by trial on simulated days (docs/decisions/0221-wander-is-no-switch.md)."""

    around: int = 18  # looks before and after that are compared: three minutes each way
    lags: tuple[int, ...] = (2, 3, 5)  # looks between which changes are taken; the lag with the least counts
    # The share of changes that are smaller. What switches on and off moves at most half of the looks that are
    # so far apart, what wanders nearly all.
    share: float = 0.3
    deviation: float = 0.385  # the standard deviations within which this share of normal changes lies
    times: float = 4.0  # standard deviations that are usual
    fewest: int = 8  # changes to learn from


USUAL = Usual()


class Wander:
    """What a house does between the looks of a grid, by the direction of the change."""

    def __init__(self, grid: IntArray, states: FloatArray, sound: BoolArray) -> None:
        """From the states (P, V) at the instants `grid` (P,); those not `sound` (P,) teach nothing."""
        self._grid = grid
        self._changes = [
            ((states[lag:] - states[:-lag]) / math.sqrt(lag), sound[lag:] & sound[:-lag])
            for lag in USUAL.lags
            if len(states) > lag
        ]

    def usual(self, left: IntArray, change: FloatArray) -> FloatArray:
        """How large a change (n, V) at these instants (n,) would be no surprise, as RMS (n,)."""
        at = np.searchsorted(self._grid, left, side="right") - 1
        spreads = [
            _spread(change, at, lagged, sound, USUAL.around, USUAL.share, USUAL.fewest)
            for lagged, sound in self._changes
        ]
        if not spreads:
            return np.zeros(len(left))
        return np.asarray(np.min(spreads, axis=0) * USUAL.times / USUAL.deviation)


@compiled
def _spread(
    change: FloatArray,
    at: IntArray,
    lagged: FloatArray,
    sound: BoolArray,
    around: int,
    share: float,
    fewest: int,
) -> FloatArray:
    """(n,) the quantile of the sizes of the changes around each one, along its direction; 0 with too few."""
    out = np.zeros(len(change))
    for n in range(len(change)):
        length = np.sqrt(np.sum(change[n] ** 2))
        if length == 0.0:
            continue
        low, high = max(at[n] - around, 0), min(at[n] + around + 1, len(lagged))
        sizes = np.abs(lagged[low:high] @ change[n])[sound[low:high]]
        if len(sizes) >= fewest:
            out[n] = np.sort(sizes)[int(share * (len(sizes) - 1))] / length
    return out
