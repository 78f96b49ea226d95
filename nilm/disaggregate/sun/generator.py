"""A generator whose output is never steady: solar panels, found in the rows of a week.

An inverter feeds in one fixed waveform s, against the voltage, times an amplitude a_n ≥ 0 that follows sun
and clouds: X = ZW + a sᵀ, and no binary feature can follow a. It shows where nothing switches: there the
change between two rows is a multiple of s, row after row for hours. Owns the shape s, the hours of daylight
and the rows at which something else switches; how far it feeds in is `nilm.disaggregate.sun.feed_in`.
"""

from dataclasses import dataclass

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray
from nilm.thresholds import SUN


@dataclass(frozen=True, eq=False)
class Generator:
    """The shape of a feed-in, and where it is at work."""

    shape: FloatArray  # (D,) of unit length
    watts: float  # active power of one unit along it, negative
    daylight: BoolArray  # (N,) from the first step of a day to its last
    switch: BoolArray  # (N,) something else changes from the row before to this one, or nobody saw
    quiet_a: float  # RMS amperes across the shape up to which two rows do not differ
    unseen_w: float  # a heater of fewer watts changes no row by more than that; infinite if it has this shape

    def without(self, X: FloatArray) -> FloatArray:
        """The rows X (N, D) less their part along the shape."""
        return np.asarray(X - np.outer(X @ self.shape, self.shape), dtype=np.float64)

    def missed(self, Z: BinaryArray) -> int:
        """How many of the switches that were seen Z (N, K) has not."""
        switches = np.append(False, (Z[1:] != Z[:-1]).any(axis=1))
        return int(np.count_nonzero(self.switch[1:] & ~switches[1:]))


def find_generator(
    X: FloatArray, voltage_v: FloatArray, gap_before: BoolArray, *, interval_s: float = 120
) -> Generator | None:
    """The generator in the rows X (N, D) amperes, voltage_v (D,), gap_before (N,); None where there is none.

    `interval_s` is the usual time from row to row. Only what varies for hours is a generator: a feed-in that
    is on or off is an appliance like others.
    """
    least_rows = round(SUN.least_s / interval_s)
    if len(X) < max(least_rows, 2):
        return None
    changes = np.diff(X, axis=0, prepend=X[:1])
    follows = ~gap_before
    unit = voltage_v / np.linalg.norm(voltage_v)
    along, across = _parts(changes, unit)
    limit = _quiet_limit(across[follows])
    watts = float(np.linalg.norm(voltage_v)) / len(unit)
    steps = follows & (across < limit + SUN.in_phase * np.abs(along) / np.sqrt(len(unit)))
    steps &= _moves(along, X @ unit, watts)
    if not _days(steps, follows & (across < limit), interval_s):
        return None
    for _ in range(3):
        beside = steps & np.roll(steps, 1) & np.roll(steps, -1)  # the sun moves on; a heater steps once
        if np.count_nonzero(beside) < max(least_rows // 2, 1):
            return None
        unit = _direction(changes[beside], SUN.largest_step_w / watts)
        along, across = _parts(changes, unit)
        limit = _quiet_limit(across[follows])
        quiet = follows & (across < limit)
        steps = quiet & _moves(along, X @ unit, watts)
    if unit @ voltage_v > 0:
        unit = -unit
    days = _days(steps, quiet, interval_s)
    daylight = np.zeros(len(X), dtype=np.bool_)
    for first, last in days:
        daylight[first:last] = True
    if not days or np.count_nonzero(~daylight) < SUN.night_share * len(X):
        return None
    power_w = X @ voltage_v / len(voltage_v)
    by_day, by_night = (np.percentile(power_w[rows], SUN.lowest_percentile) for rows in (daylight, ~daylight))
    if by_day > by_night - SUN.meter_w:
        return None  # it varies all day, but the meter never sees less than at night: it consumes
    size = float(np.linalg.norm(voltage_v))
    across_v = np.sqrt(
        max(1 - float(unit @ voltage_v / size) ** 2, 0.0)
    )  # of a heater: it copies the voltage
    unseen_w = limit * size / np.sqrt(len(unit)) / across_v if across_v else np.inf
    return Generator(unit, float(unit @ voltage_v) / len(unit), daylight, ~quiet, limit, float(unseen_w))


def _parts(changes: FloatArray, unit: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of each change (N, D) its part along the unit vector, and the RMS of what lies across it."""
    along = changes @ unit
    across = np.sqrt(np.maximum(np.einsum("nd,nd->n", changes, changes) - along**2, 0.0) / len(unit))
    return along, across


def _quiet_limit(across: FloatArray) -> float:
    return max(SUN.quiet * float(np.median(across)), SUN.least_quiet_a) if len(across) else SUN.least_quiet_a


def _moves(along: FloatArray, level: FloatArray, watts: float) -> BoolArray:
    """Where a change along the shape is more than noise and more than what the voltage does."""
    return np.asarray(np.abs(along) * watts > np.maximum(SUN.meter_w, SUN.least_step * np.abs(level) * watts))


def _days(steps: BoolArray, quiet: BoolArray, interval_s: float) -> list[tuple[int, int]]:
    """(first, last) step of each long stretch with many of them; at `last` it is over.

    Where a switch lies just before the first step or just after the last, the sun may have come or gone with
    it, so the day is taken to reach there.
    """
    window = max(round(SUN.window_s / interval_s), 1)
    crowded = np.convolve(steps, np.ones(window), "same") >= SUN.in_window * window
    rows = np.flatnonzero(crowded & steps)
    if not len(rows):
        return []
    cuts = 1 + np.flatnonzero(np.diff(rows) > SUN.bridged_s / interval_s)
    found = []
    for part in np.split(rows, cuts):
        first, last = int(part[0]), int(part[-1])
        if last - first < round(SUN.least_s / interval_s):
            continue
        while first > 1 and not quiet[first - 1]:
            first -= 1
        while last + 1 < len(quiet) and not quiet[last + 1]:
            last += 1
        found.append((first, last))
    return found


def _direction(changes: FloatArray, most: float) -> FloatArray:
    """The unit vector nearest to all changes (n, D), none of them counted as longer than `most`."""
    size = np.linalg.norm(changes, axis=1)
    clipped = changes * (np.minimum(size, most) / size)[:, None]
    return np.asarray(np.linalg.eigh(clipped.T @ clipped)[1][:, -1], dtype=np.float64)
