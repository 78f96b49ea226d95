"""One track of sizes as a sum of sources that are on or off, and what is left over.

Several sources may have one shape (heaters), so that only their sum is known. Each pulse of the track is an
activation of one of them (`pulses`); which pulses belong to one source is decided by all that is known of
them: size, duration, how soon the next one follows, and what else is on
(`lfm.switching.collinear.partition`). A pulse that is like no other is left in the track.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lfm.arrays import BinaryArray, BoolArray, FloatArray, IntArray
from lfm.checks import check_binary, check_durations, check_gaps, check_real, check_scale, is_number
from lfm.errors import InvalidInputError
from lfm.shapes.pulses import Pulses, find_pulses
from lfm.switching.collinear.partition import (
    Activations,
    best_partition_and_spread,
    context_of,
    doublings,
    nearest_alike,
)
from lfm.switching.thresholds import THRESHOLDS
from lfm.thresholds import SHAPES


class Parts(NamedTuple):
    """A track as on/off parts, the largest first: track = size.sum(axis=1) + left."""

    size: FloatArray  # (N, P) what each part draws, of one size throughout a run, 0 where it is off
    left: FloatArray  # (N,) what they leave of the track


def split_track(
    track: FloatArray,
    gap_before: BoolArray,
    *,
    resolution: float,
    duration: ArrayLike | None = None,
    shortest: float = 1.0,
    beside: ArrayLike | None = None,
) -> Parts:
    """The sources that are on or off in one track of sizes, and what they leave of it.

    Parameters
    ----------
    track : array of shape (N,)
        Sizes in time, such as the watts of everything that heats.
    gap_before : array of bool, shape (N,)
        True where a row does not follow the one before.
    resolution : float above 0
        Changes of this size, in the unit of the track, are wander.
    duration : array of shape (N,), optional
        The time that each row stands for. Default: 1 each.
    shortest : float above 0, default 1
        The shortest time that counts, in the unit of `duration`: shorter runs and pauses are alike.
    beside : array of zeros and ones, shape (N, M), optional
        Other sources that are on or off: those that a part runs with help to tell it from others.

    Returns
    -------
    Parts
        `size` (N, P), the largest part first, and `left` (N,): their sum is the track.

    Raises
    ------
    InvalidInputError
        Where the track is empty or not finite, gap_before, duration or beside have not one entry per row, or
        resolution or shortest is not above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from lfm import split_track
    >>> t = np.arange(500)
    >>> track = 2000.0 * (t % 90 < 20) + 800.0 * (t % 130 > 80)
    >>> parts = split_track(track, np.zeros(500, dtype=bool), resolution=5)
    >>> parts.size.max(axis=0).round().tolist()
    [2000.0, 800.0]
    """
    track = check_track(track, resolution)
    gap_before = check_gaps(gap_before, len(track))
    time = check_durations(duration, len(track))
    if not (is_number(shortest) and 0 < shortest < np.inf):
        raise InvalidInputError(f"shortest must be a finite number above 0, got {shortest!r}")
    others = np.zeros((len(track), 0), np.uint8) if beside is None else check_binary("beside", beside)
    if len(others) != len(track):
        raise InvalidInputError(f"beside has {len(others)} rows; the track has {len(track)}")
    pulses = find_pulses(track, gap_before, resolution=resolution)
    source = _sources(pulses, time, shortest, others)
    size = _drawn(pulses, source, len(track))
    size = size[:, np.argsort(-(time @ size), kind="stable")]
    return Parts(size, track - size.sum(axis=1))


def _drawn(pulses: Pulses, source: IntArray, N: int) -> FloatArray:
    """(N, P) what each source draws in every row, by its pulses."""
    size = np.zeros((N, int(source.max(initial=-1)) + 1))
    for first, end, height, _, k in zip(*pulses, source.tolist(), strict=True):
        if k >= 0:
            size[first:end, k] += height
    return size


def check_track(track: FloatArray, resolution: float) -> FloatArray:
    """The track (N,), N ≥ 1, of a scale that can be worked with; InvalidInputError otherwise."""
    if not (is_number(resolution) and 0 < resolution < np.inf):
        raise InvalidInputError(f"resolution must be a finite number above 0, got {resolution!r}")
    sizes = check_real("track", track, ndim=1)
    if not len(sizes):
        raise InvalidInputError("track has no rows; at least one is needed")
    with np.errstate(over="ignore"):
        check_scale("track in units of resolution", np.where(sizes == 0, 0.0, sizes / resolution))
    return sizes


def _sources(pulses: Pulses, time: FloatArray, shortest: float, others: BinaryArray) -> IntArray:
    """(R,) which source each pulse is of, numbered from 0; −1 for a pulse that is like no other."""
    R = len(pulses.size)
    if not SHAPES.least_pulses <= R <= SHAPES.most_pulses:
        return np.full(R, -1)
    drift = THRESHOLDS.least_drift
    log_size = np.log(pulses.size)
    size = 1 + log_size - np.median(log_size)
    since = np.concatenate([[0.0], np.cumsum(time)])
    begin, stop = since[pulses.first], since[pulses.end]
    alike = THRESHOLDS.alike_drifts * drift
    activations = Activations(
        size=size,
        variance=drift**2 + (pulses.sigma / pulses.size) ** 2,
        duration=doublings((stop - begin) / shortest),
        company=doublings(nearest_alike(size, begin, stop, alike) / shortest),
        context=context_of(others, pulses.first, size, begin, alike),
        usual=time @ others / time.sum(),
        first=pulses.first,
        end=pulses.end,
        mean_spread=max(float(np.std(log_size)), THRESHOLDS.mean_spread),
    )
    order = np.argsort(size, kind="stable")
    start = np.empty(R, dtype=np.int64)
    start[order] = np.concatenate([[0], np.cumsum(np.diff(size[order]) > alike)])
    label, _ = best_partition_and_spread(start, activations)
    enough = np.bincount(label) >= SHAPES.least_pulses
    return np.asarray(np.where(enough, np.cumsum(enough) - 1, -1)[label])
