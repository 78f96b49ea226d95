"""One track of sizes as a sum of tracks of different scale: small ones that vary, large ones in sessions.

Sources of one shape add up to one track. Where their levels differ much, the energy of the track has a
valley between two peaks, by the logarithm of its level: a heater of 500 W and a dryer of 2 to 6 kW. What is
above the valley comes in sessions; inside a session the smaller source goes on as it usually is.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BoolArray, FloatArray
from lfm.checks import check_durations, check_weight
from lfm.runs import runs_of_ones
from lfm.shapes.parts import check_track
from lfm.thresholds import SHAPES

_BIN = 0.1  # of log size


class Valley(NamedTuple):
    """Where a track's energy is least, between two scales."""

    level: float
    depth: float  # how many times the lower peak exceeds it


def split_scales(
    track: FloatArray,
    duration: FloatArray,
    *,
    resolution: float,
    pause: float,
    times: int = SHAPES.most_times,
) -> list[FloatArray]:
    """The tracks of different scale that a track is the sum of, the smallest first.

    Parameters
    ----------
    track : array of shape (N,)
        Sizes in time, at least 0, such as the watts of everything that heats.
    duration : array of shape (N,)
        The time that each row stands for.
    resolution : float above 0
        Levels below this, in the unit of the track, are wander.
    pause : float, at least 0
        A pause that lasts no longer, in the unit of `duration`, does not end a session.
    times : int, default 3
        How often a part is divided again at the most.

    Returns
    -------
    list of arrays of shape (N,)
        Their sum is `track`; a list of one where the track has one scale.

    Raises
    ------
    InvalidInputError
        Where track or duration is not one finite number per row, a duration is not above 0, or resolution or
        pause is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> from lfm import split_scales
    >>> t = np.arange(2000)
    >>> small, large = 300.0 + 200 * np.sin(t / 9), 4000.0 * (t % 1000 > 900)
    >>> parts = split_scales(small + large, np.ones(2000), resolution=5, pause=20)
    >>> [round(part.max()) for part in parts]
    [500, 4200]
    """
    track = check_track(track, resolution)
    duration = check_durations(duration, len(track))
    check_weight("pause", pause)
    valley = find_valley(track, duration, resolution=resolution) if times > 0 else None
    if valley is None or valley.depth < SHAPES.valley_depth:
        return [track]
    above = track > valley.level
    outside = ~_without_pauses(above, duration, pause)
    usual = float(np.average(track[outside], weights=duration[outside])) if outside.any() else 0.0
    low = np.where(above, np.minimum(track, usual), track)
    parts = []
    for part in (low, track - low):
        parts += split_scales(part, duration, resolution=resolution, pause=pause, times=times - 1)
    return parts


def find_valley(track: FloatArray, duration: FloatArray, *, resolution: float) -> Valley | None:
    """The deepest valley of a track's energy by log level; None where too few rows are above the wander."""
    counts = track > resolution
    log_level = np.log(track[counts] / resolution)
    if len(log_level) < SHAPES.least_rows:
        return None
    edges = np.arange(0, log_level.max() + 2 * _BIN, _BIN)
    energy = np.histogram(log_level, edges, weights=np.exp(log_level) * duration[counts])[0]
    reach = round(3 * SHAPES.peak_width / _BIN)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * _BIN / SHAPES.peak_width) ** 2)
    smooth = np.convolve(np.pad(energy, reach), kernel / kernel.sum(), "valid")
    lower_peak = np.minimum(np.maximum.accumulate(smooth), np.maximum.accumulate(smooth[::-1])[::-1])
    depth = lower_peak / np.maximum(smooth, SHAPES.flat * energy.sum())
    bottom = int(np.median(np.flatnonzero(depth >= 0.9 * depth.max())))
    return Valley(resolution * float(np.exp(edges[bottom] + _BIN / 2)), float(depth[bottom]))


def _without_pauses(on: BoolArray, duration: FloatArray, pause: float) -> BoolArray:
    """`on` with every pause between two runs filled that lasts no longer than `pause`."""
    filled = on.copy()
    end = np.cumsum(duration)
    runs = runs_of_ones(~on)
    for begin, stop in runs:
        inner = begin > 0 and stop < len(on)
        if inner and end[stop - 1] - end[begin - 1] <= pause:
            filled[begin:stop] = True
    return filled
