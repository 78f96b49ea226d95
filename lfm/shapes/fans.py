"""Fans: shapes of one load whose waveform changes with its level.

The changes of such a load lie in a plane, in directions that turn with the level. Lines are found for many of
them, and the rows cannot say which of these lines drew what: only their sum is known. Shapes of different
loads may lie in one plane too: those of motors differ by their power factor alone. But such loads change each
by itself, and the lines of one load change in the same rows more often than by chance.
"""

import numpy as np
from scipy.stats import binom

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.checks import check_gaps, check_real, check_scale, check_weight
from lfm.errors import InvalidInputError
from lfm.shapes.machines import large_changes
from lfm.thresholds import SHAPES


def find_fans(
    shapes: FloatArray, tracks: FloatArray, gap_before: BoolArray, *, resolution: float
) -> list[IntArray]:
    """The groups of at least four shapes (K, D) in one plane, side by side, that change together.

    Parameters
    ----------
    shapes : array of shape (K, D)
        Directions; their lengths do not matter, but none is zero.
    tracks : array of shape (N, K)
        The size of each in time, all in one unit such as watts.
    gap_before : array of bool, shape (N,)
        True where a row does not follow the one before.
    resolution : float, at least 0
        Changes below this are wander.

    Returns
    -------
    list of arrays of int
        Places in `shapes`, along the fan, the largest fan first; each shape is in at most one.

    Raises
    ------
    InvalidInputError
        Where shapes or tracks are not a matrix of finite numbers, there is not one track for each shape,
        gap_before is not one boolean per row, or resolution is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from lfm import find_fans
    >>> angle = np.radians([0, 3, 6, 9])
    >>> turning = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(4)])
    >>> level = np.arange(900) // 30 % 5
    >>> tracks = 100.0 * np.column_stack([level > k for k in range(4)] + [np.arange(900) % 70 < 20])
    >>> shapes = np.vstack([turning, [[0.0, 0.6, 0.8]]])
    >>> [fan.tolist() for fan in find_fans(shapes, tracks, np.zeros(900, bool), resolution=5)]
    [[0, 1, 2, 3]]
    """
    shapes, tracks = check_real("shapes", shapes), check_real("tracks", tracks)
    gap_before = check_gaps(gap_before, len(tracks))
    check_scale("shapes", shapes)
    check_scale("tracks", tracks)
    check_weight("resolution", resolution)
    if tracks.shape[1] != len(shapes) or not len(tracks):
        raise InvalidInputError(
            f"tracks has shape {tracks.shape}; rows are needed, and a column for each of {len(shapes)} shapes"
        )
    unit = shapes / np.maximum(np.linalg.norm(shapes, axis=1), np.finfo(float).tiny)[:, None]
    moved = large_changes(tracks, gap_before, resolution) != 0
    free = np.arange(len(unit))
    fans: list[IntArray] = []
    while True:
        planes = [_plane(unit[free], a, b) for a in range(len(free)) for b in range(a + 1, len(free))]
        together = [_together(free[plane], moved) for plane in planes if len(plane) >= SHAPES.least_in_fan]
        largest = max(together, key=len, default=np.zeros(0, dtype=np.int64))
        if len(largest) < SHAPES.least_in_fan:
            return fans
        fans.append(largest)
        free = np.setdiff1d(free, largest)


def _together(places: IntArray, moved: BoolArray) -> IntArray:
    """Those of the `places` (n,) that change in the same rows as others of them more often than by chance."""
    while len(places) > 1:
        chance = np.empty(len(places))
        for i, k in enumerate(places):
            others = moved[:, np.delete(places, i)].any(axis=1)
            met = np.count_nonzero(moved[:, k] & others)
            chance[i] = binom.sf(met - 1, np.count_nonzero(moved[:, k]), others.mean())
        if chance.max() < SHAPES.by_chance:
            break
        places = np.delete(places, int(np.argmax(chance)))
    return places


def _plane(unit: FloatArray, a: int, b: int) -> IntArray:
    """The longest row of neighbours among the shapes that lie in the plane of shapes a and b."""
    cosine = float(unit[a] @ unit[b])
    across = unit[b] - cosine * unit[a]
    length = float(np.linalg.norm(across))
    if length < np.sin(np.radians(2 * SHAPES.out_of_plane_deg)):  # two that are nearly one span no plane
        return np.zeros(0, dtype=np.int64)
    along, beside = unit @ unit[a], unit @ across / length
    inside = np.flatnonzero(1 - along**2 - beside**2 < np.sin(np.radians(SHAPES.out_of_plane_deg)) ** 2)
    angle = np.degrees(np.arctan2(beside[inside], along[inside]))
    order = np.argsort(angle, kind="stable")
    return max(np.split(inside[order], np.flatnonzero(np.diff(angle[order]) > SHAPES.next_deg) + 1), key=len)
