"""What an explanation leaves of the total, given to the sources whose own wander it is.

A source of the size p_k(t) wanders by a share of its size, with variance v_k p_k(t)², beside noise of
variance n. What is left is the sum of all of these, so that source k has the part

    v_k p_k(t)² / (n + Σ_j v_j p_j(t)²)

of it on the average. The variances are learnt from what is left, by expectation maximisation. A source beside
which little is left gets little.
"""

import numpy as np

from lfm.arrays import FloatArray
from lfm.checks import check_real, check_scale
from lfm.errors import InvalidInputError
from lfm.thresholds import SHAPES


def share_out(left: FloatArray, tracks: FloatArray) -> FloatArray:
    """(N, K) the part of what is left (N,) that is the wander of each track (N, K).

    Parameters
    ----------
    left : array of shape (N,)
        What is left of a total in time, such as watts.
    tracks : array of shape (N, K)
        Sizes of sources in the same unit, 0 where a source is off.

    Returns
    -------
    array of shape (N, K)
        0 where a source is off. The rows add up to less than `left`: the rest is noise.

    Raises
    ------
    InvalidInputError
        Where left is not one finite number per row, or tracks is not a matrix of finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from lfm import share_out
    >>> rng = np.random.default_rng(0)
    >>> motor, lamp = 500.0 * (np.arange(900) % 90 < 30), 60.0 * (np.arange(900) % 50 < 25)
    >>> left = 0.05 * motor * rng.standard_normal(900) + rng.standard_normal(900)
    >>> shared = share_out(left, np.column_stack([motor, lamp]))
    >>> (np.abs(shared).sum(axis=0) / np.abs(left).sum()).round(1).tolist()
    [0.9, 0.0]
    """
    left, tracks = check_real("left", left, ndim=1), check_real("tracks", tracks)
    check_scale("left", left)
    check_scale("tracks", tracks)
    if len(left) != len(tracks):
        raise InvalidInputError(f"left has {len(left)} rows and tracks {len(tracks)}; they must be as many")
    on = tracks != 0
    n_on = np.maximum(on.sum(axis=0), 1)
    total = float(np.mean(left**2)) if len(left) else 0.0
    if total == 0 or not on.any():
        return np.zeros(tracks.shape)
    size2 = (tracks / np.sqrt(np.sum(tracks**2, axis=0) / n_on + (~on.any(axis=0)))) ** 2
    noise, wander = total / 2, np.full(tracks.shape[1], total / 2)
    for _ in range(SHAPES.leftover_rounds):
        variance = noise + size2 @ wander
        part = size2 * wander / variance[:, None]
        # E[w²] of each: its part of what is left, squared, and what that leaves open.
        noise = float(np.mean((noise / variance * left) ** 2 + noise * (1 - noise / variance)))
        noise = max(noise, np.finfo(np.float64).eps * total)
        share2 = (part * left[:, None]) ** 2 + size2 * wander * (1 - part)
        wander = np.where(on, share2 / np.where(on, size2, 1.0), 0.0).sum(axis=0) / n_on
    variance = noise + size2 @ wander
    return np.asarray(size2 * wander / variance[:, None] * left[:, None])
