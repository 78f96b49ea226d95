"""Pulses of a track of sizes: each rise with the fall that ends it.

A source that is on or off draws one size from its rise to its fall, whatever else is on. So a rise and a
later fall belong together where their sizes agree and the track never was below that size in between. The
track is walked once: what has risen is open until its fall comes, or until it no longer fits under the track.
What is on at the beginning or at the end of a stretch without gaps has its other edge there.

Where the track wanders from row to row, as a source that varies does, only changes of many times that wander
are edges.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.thresholds import SHAPES


class Pulses(NamedTuple):
    """R pulses, in the order of their falls."""

    first: IntArray  # (R,) row
    end: IntArray  # (R,) row after the last
    size: FloatArray  # (R,) in the unit of the track
    sigma: FloatArray  # (R,) standard deviation of the size


def find_pulses(track: FloatArray, gap_before: BoolArray, *, resolution: float) -> Pulses:
    """The pulses of a track (N,), whose changes are known to `resolution` at best."""
    noise = max(resolution, _wander(track, gap_before, least=SHAPES.least_steps * resolution))
    least = SHAPES.least_steps * noise
    limits = SHAPES.same_size, SHAPES.same_sigmas, SHAPES.most_open
    return Pulses(*_paired(track, gap_before, noise, least, *limits))


def _wander(track: FloatArray, gap_before: BoolArray, *, least: float) -> float:
    """The standard deviation of changes while the track is above `least`, by the smallest of them."""
    above = (np.minimum(track[1:], track[:-1]) > least) & ~gap_before[1:]
    if not above.any():
        return 0.0
    largest = np.quantile(np.abs(np.diff(track)[above]), SHAPES.still_share)
    return float(largest / norm.ppf((1 + SHAPES.still_share) / 2))


@compiled
def _paired(
    track: FloatArray,
    gap_before: BoolArray,
    noise: float,
    least: float,
    share: float,
    sigmas: float,
    most_open: int,
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """`find_pulses`: rises of at least `least`, whose falls differ by `noise` and a `share` of the size."""
    N = len(track)
    first, end = np.zeros(2 * N, np.int64), np.zeros(2 * N, np.int64)
    size, sigma = np.zeros(2 * N), np.full(2 * N, noise)
    at, rise = np.zeros(most_open, np.int64), np.zeros(most_open)
    n, n_open, begin, lowest = 0, 0, 0, track[0]
    for t in range(1, N + 1):
        if t == N or gap_before[t]:
            for k in range(n_open):  # on until the stretch ends
                first[n], end[n], size[n] = at[k], t, rise[k]
                n += 1
            n_open = 0
            if t == N:
                break
            begin, lowest = t, track[t]
            continue
        change = track[t] - track[t - 1]
        if change <= -least:
            k = _falling(rise[:n_open], -change, noise, share, sigmas)
            if k >= 0:
                first[n], end[n], size[n], sigma[n] = at[k], t, (rise[k] - change) / 2, noise / np.sqrt(2)
                n += 1
                rise[k] = np.inf  # closed: it fits under nothing
            elif lowest >= -change - sigmas * noise:  # on since the stretch began
                first[n], end[n], size[n] = begin, t, -change
                n += 1
        lowest = min(lowest, track[t])
        kept = 0
        for k in range(n_open):
            if track[t] >= rise[k] - sigmas * np.hypot(noise, share * rise[k]):
                at[kept], rise[kept] = at[k], rise[k]
                kept += 1
        n_open = kept
        if change >= least:
            if n_open == most_open:
                at[:-1], rise[:-1] = at[1:].copy(), rise[1:].copy()
                n_open -= 1
            at[n_open], rise[n_open] = t, change
            n_open += 1
    return first[:n], end[:n], size[:n], sigma[:n]


@compiled
def _falling(rise: FloatArray, fall: float, noise: float, share: float, sigmas: float) -> int:
    """Which of the open rises, the latest last, the fall ends; −1 for none of them."""
    best, least = -1, np.inf
    for k in range(len(rise)):
        off = (rise[k] - fall) / np.hypot(noise, share * rise[k])
        cost = 0.5 * off**2 + np.log(len(rise) - k)
        if np.abs(off) <= sigmas and cost <= least:
            best, least = k, cost
    return best
