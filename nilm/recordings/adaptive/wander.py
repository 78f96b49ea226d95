"""How much a house wanders without switching, learnt from the looks at it.

A heat pump that follows the weather or a television that follows its picture changes from look to look. Such
changes are no switches, and to time each would cost all the reading there is. Owns the comparison of one
change with those around it, on vectors whose length is an RMS current. A change is compared with the changes
of the minutes around it twice: along its own direction, and along the direction in which it differs most from
them. A lamp that is switched beside a heat pump is small beside the pump's wander, but has
another waveform.
"""

import math

import numpy as np

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.compiled import compiled
from nilm.thresholds import SWITCHES


class Wander:
    """What a house does between the looks of a grid, by the direction of the change."""

    def __init__(self, grid: IntArray, states: FloatArray, sound: BoolArray) -> None:
        """From the states (P, V) at the instants `grid` (P,); those not `sound` (P,) teach nothing."""
        self._grid = grid
        self._step = float(np.median(np.diff(grid))) if len(grid) > 1 else 1.0
        self._changes = [
            ((states[lag:] - states[:-lag]) / math.sqrt(lag), sound[lag:] & sound[:-lag])
            for lag in SWITCHES.lags
            if len(states) > lag
        ]

    def stands_out(
        self, left: IntArray, right: IntArray, change: FloatArray, *, limit: FloatArray, noise: FloatArray
    ) -> FloatArray:
        """How far changes (n, V) from `left` (n,) to `right` (n,) stand out; from 1 on they are switches.

        `limit` (n,) is the RMS from which a change is looked at; `noise` (n,) is what a change of any
        direction may have by noise alone.
        """
        size = np.sqrt(np.sum(change**2, axis=1))
        over = size / limit
        large = np.flatnonzero(over > 1)  # for the others it does not matter what is usual
        at = np.searchsorted(self._grid, left, side="right") - 1
        # A random walk: in a part of the time between two looks it goes the root of that part.
        deviations = SWITCHES.times * np.sqrt(np.minimum((right - left) / self._step, 1.0))
        if len(large):
            usual = np.min([self._spread(change[large], at[large], lag) for lag in self._changes], axis=0)
            over[large] = size[large] / np.hypot(limit[large], deviations[large] * usual)
        rest = large[over[large] <= 1]
        for lagged, sound in self._changes if len(rest) else ():
            most = change[rest], at[rest], lagged, sound, deviations[rest], noise[rest]
            clearest = _clearest(*most, SWITCHES.around, SWITCHES.fewest)
            along = np.abs(np.sum(clearest * change[rest], axis=1))
            usual = deviations[rest] * self._spread(clearest, at[rest], (lagged, sound))
            over[rest] = np.maximum(over[rest], along / np.hypot(noise[rest], usual))
        return np.asarray(over)

    def _spread(self, direction: FloatArray, at: IntArray, lag: tuple[FloatArray, BoolArray]) -> FloatArray:
        """(n,) the standard deviation of the changes around each look `at` (n,), along its direction."""
        spread = _quantile(direction, at, *lag, SWITCHES.around, SWITCHES.usual_share, SWITCHES.fewest)
        return np.asarray(spread / SWITCHES.deviation)


@compiled
def _quantile(
    direction: FloatArray,
    at: IntArray,
    lagged: FloatArray,
    sound: BoolArray,
    around: int,
    share: float,
    fewest: int,
) -> FloatArray:
    """(n,) the quantile of the sizes of the changes around each look, along its direction; 0 with too few."""
    out = np.zeros(len(direction))
    for n in range(len(direction)):
        length = np.sqrt(np.sum(direction[n] ** 2))
        if length == 0.0:
            continue
        low, high = max(at[n] - around, 0), min(at[n] + around + 1, len(lagged))
        sizes = np.abs(lagged[low:high] @ direction[n])[sound[low:high]]
        if len(sizes) >= fewest:
            out[n] = np.sort(sizes)[int(share * (len(sizes) - 1))] / length
    return out


@compiled
def _clearest(
    change: FloatArray,
    at: IntArray,
    lagged: FloatArray,
    sound: BoolArray,
    deviations: FloatArray,
    noise: FloatArray,
    around: int,
    fewest: int,
) -> FloatArray:
    """(n, V) of length 1: the direction in which each change stands out most; 0 with too few to learn from.

    That is (noise² + deviations² C)⁻¹ change, where C is the covariance of the changes around. Those larger
    than their median are shortened to it: what switched near by must not pass for wander.
    """
    out = np.zeros(change.shape)
    for n in range(len(change)):
        low, high = max(at[n] - around, 0), min(at[n] + around + 1, len(lagged))
        near = lagged[low:high][sound[low:high]]
        if len(near) < fewest:
            continue
        sizes = np.sqrt(np.sum(near**2, axis=1))
        longest = np.median(sizes)
        for m in range(len(near)):
            near[m] *= min(1.0, longest / max(sizes[m], 1e-300)) * deviations[n] / np.sqrt(len(near))
        gram = near @ near.T + noise[n] ** 2 * np.eye(len(near))
        direction = change[n] - np.linalg.solve(gram, near @ change[n]) @ near
        length = np.sqrt(np.sum(direction**2))
        if length > 0.0:
            out[n] = direction / length
    return out
