"""Tracks that switch together are one machine.

A load whose waveform changes with its level lies on several lines, and each of its switches is shared among
them. Nothing in the rows tells such tracks apart, so they are added up.
"""

import numpy as np

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.checks import check_gaps, check_real, check_scale, check_weight
from lfm.errors import InvalidInputError
from lfm.thresholds import SHAPES


def join_machines(tracks: FloatArray, gap_before: BoolArray, *, resolution: float) -> IntArray:
    """(K,) the machine of each track (N, K), by first appearance: one for those that switch together.

    Parameters
    ----------
    tracks : array of shape (N, K)
        Sizes in time, all in one unit such as watts.
    gap_before : array of bool, shape (N,)
        True where a row does not follow the one before.
    resolution : float above 0
        Changes below this are wander.

    Returns
    -------
    array of int, shape (K,)

    Raises
    ------
    InvalidInputError
        Where tracks has no rows or is not finite, gap_before is not one boolean per row, or resolution is
        negative.

    Examples
    --------
    >>> import numpy as np
    >>> from lfm import join_machines
    >>> t = np.arange(900)
    >>> motor, other = 200.0 * (t % 90 < 20), 500.0 * (t % 130 < 50)
    >>> join_machines(np.column_stack([motor, other, 8 * motor]), np.zeros(900, bool), resolution=5).tolist()
    [0, 1, 0]
    """
    tracks = check_real("tracks", tracks)
    gap_before = check_gaps(gap_before, len(tracks))
    check_scale("tracks", tracks)
    check_weight("resolution", resolution)
    if not len(tracks):
        raise InvalidInputError("tracks has no rows; at least one is needed")
    K = tracks.shape[1]
    machine = np.arange(K)
    while True:
        members = [np.flatnonzero(machine == m) for m in np.unique(machine)]
        joined = np.column_stack([tracks[:, m].sum(axis=1) for m in members]) if K else tracks
        pair = _closest(joined, gap_before, resolution)
        if pair is None:
            first = list(dict.fromkeys(machine.tolist()))
            return np.array([first.index(m) for m in machine.tolist()], dtype=np.int64)
        machine[members[pair[1]]] = machine[members[pair[0]][0]]


def large_changes(tracks: FloatArray, gap_before: BoolArray, resolution: float) -> FloatArray:
    """(N, K) the change of each track before each row, 0 across a gap and where it is no more than wander."""
    least = np.maximum(SHAPES.least_change * np.percentile(tracks, 98, axis=0), resolution)
    change = np.zeros_like(tracks)
    change[1:] = np.diff(tracks, axis=0)
    change[gap_before] = 0
    change[np.abs(change) <= least] = 0
    return change


def _closest(tracks: FloatArray, gap_before: BoolArray, resolution: float) -> tuple[int, int] | None:
    """(larger, smaller) the two tracks that switch together most, None where no two do."""
    change = large_changes(tracks, gap_before, resolution)
    energy, moved = tracks.sum(axis=0), change != 0
    best, best_share = None, SHAPES.together
    for small in range(tracks.shape[1]):
        total = float(np.abs(change[:, small]).sum())
        if np.count_nonzero(moved[:, small]) < 2:
            continue
        for large in np.flatnonzero(energy > energy[small]).tolist():
            same = change[:, small] * change[:, large] > 0
            share = float(np.abs(change[same, small]).sum()) / total
            chance = float(moved[:, large].mean()) ** np.count_nonzero(same)
            if share > best_share and chance < SHAPES.by_chance:
                best, best_share = (large, small), share
    return best
