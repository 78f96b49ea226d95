"""Fans: shapes of one load whose waveform changes with its level.

The changes of such a load lie in a plane, in directions that turn with the level. Lines are found for many of
them, and the rows cannot say which of these lines drew what: only their sum is known. Shapes of different
loads do not lie in one plane, but for accidents of three.
"""

import numpy as np

from lfm.arrays import FloatArray, IntArray
from lfm.checks import check_real, check_scale
from lfm.thresholds import SHAPES


def find_fans(shapes: FloatArray) -> list[IntArray]:
    """The groups of at least four shapes (K, D) that lie in one plane, side by side; the largest first.

    Parameters
    ----------
    shapes : array of shape (K, D)
        Directions; their lengths do not matter, but none is zero.

    Returns
    -------
    list of arrays of int
        Places in `shapes`, along the fan; each shape is in at most one.

    Raises
    ------
    InvalidInputError
        Where the shapes are not a matrix of finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from lfm import find_fans
    >>> angle = np.radians([0, 3, 6, 9])
    >>> turning = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(4)])
    >>> [fan.tolist() for fan in find_fans(np.vstack([turning, [[0.0, 0.6, 0.8]]]))]
    [[0, 1, 2, 3]]
    """
    shapes = check_real("shapes", shapes)
    check_scale("shapes", shapes)
    unit = shapes / np.maximum(np.linalg.norm(shapes, axis=1), np.finfo(float).tiny)[:, None]
    free = np.arange(len(unit))
    fans: list[IntArray] = []
    while True:
        found = [_fan(unit[free], a, b) for a in range(len(free)) for b in range(a + 1, len(free))]
        largest = max(found, key=len, default=np.zeros(0, dtype=np.int64))
        if len(largest) < SHAPES.least_in_fan:
            return fans
        fans.append(free[largest])
        free = np.delete(free, largest)


def _fan(unit: FloatArray, a: int, b: int) -> IntArray:
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
