"""One track of sizes as a sum of sources that are on or off, and what is left over.

Several sources may have one shape (heaters). With C(x) = log(1 + x²), parts of size u_i and states z_i(t)
minimise Σ_t C((Δa − Σ_i Δz_i u_i)/s) + λ Σ_t C(r_t/s)(1 + κ[r_t < 0]) + (price of a switch)·switches + ½ log
N · parts, r_t = a_t − Σ_i z_i(t) u_i. Parts are added greedily from the changes that are seen, each decoded
by a binary Viterbi, then all again in turn.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray
from lfm.compiled import compiled

_LEVEL = 0.02  # λ, nats of one row away from zero
_BELOW = 20.0  # κ: less than nothing is left only by mistake
_SWITCH = 3.0  # nats
_LEAST_STEPS = 3.0  # resolutions: smaller steps are no part
_MOST = 12
_TRIES = 6  # sizes tried for each new part
_BIN = 0.03  # of log size


class Parts(NamedTuple):
    """A track as on/off parts."""

    size: FloatArray  # (P,)
    on: BinaryArray  # (N, P)
    left: FloatArray  # (N,) what they leave of the track


def split_track(track: FloatArray, gap_before: BoolArray, *, resolution: float) -> Parts:
    """The sources that are on or off in one track of sizes, and what they leave of it.

    Parameters
    ----------
    track : array of shape (N,)
        Sizes in time, such as the watts of everything that heats.
    gap_before : array of bool, shape (N,)
        True where a row does not follow the one before.
    resolution : float above 0
        Changes below this, in the unit of the track, are wander.

    Returns
    -------
    Parts
        `size` (P,), `on` (N, P) and `left` (N,): track = on @ size + left.

    Examples
    --------
    >>> import numpy as np
    >>> from lfm import split_track
    >>> t = np.arange(500)
    >>> track = 2000.0 * (t % 90 < 20) + 800.0 * (t % 130 < 50)
    >>> parts = split_track(track, np.zeros(500, dtype=bool), resolution=5)
    >>> np.sort(parts.size).round().tolist()
    [800.0, 2000.0]
    """
    sizes: list[float] = []
    states: list[BinaryArray] = []
    left = np.asarray(track, dtype=np.float64) / resolution
    price = _cost(left, gap_before)
    while len(sizes) < _MOST:
        found = _new_part(left, gap_before)
        if found is None or found[0] >= price:
            break
        _, size, state = found
        sizes.append(size)
        states.append(state)
        left = left - size * state
        for i in range(len(sizes)):
            alone = left + sizes[i] * states[i]
            states[i] = _viterbi(alone, sizes[i], gap_before)
            sizes[i] = _step_size(alone, states[i], gap_before, sizes[i])
            left = alone - sizes[i] * states[i]
        price = _cost(left, gap_before)
    N = len(left)
    on = np.column_stack(states) if states else np.zeros((N, 0), dtype=np.uint8)
    return Parts(np.array(sizes) * resolution, on, left * resolution)


def _new_part(left: FloatArray, gap_before: BoolArray) -> tuple[float, float, BinaryArray] | None:
    """(price afterwards, size, states) of the best further part; None where nothing recurs."""
    step = np.abs(np.diff(left)[~gap_before[1:]])
    step = step[step > _LEAST_STEPS]
    if len(step) < 2:
        return None
    bins = np.round(np.log(step) / _BIN).astype(np.int64)
    values, times = np.unique(bins, return_counts=True)
    worth = times * np.log1p(np.exp(2 * _BIN * values))
    best: tuple[float, float, BinaryArray] | None = None
    for value in values[np.argsort(-worth, kind="stable")[:_TRIES]]:
        size = float(np.median(step[np.abs(bins - value) <= 1]))
        state = _viterbi(left, size, gap_before)
        size = _step_size(left, state, gap_before, size)
        state = _viterbi(left, size, gap_before)
        switches = int(np.count_nonzero(np.diff(state.astype(np.int8))[~gap_before[1:]]))
        if switches < 2:
            continue
        price = _cost(left - size * state, gap_before) + _SWITCH * switches + 0.5 * np.log(len(left))
        if best is None or price < best[0]:
            best = (price, size, state)
    return best


def _step_size(left: FloatArray, state: BinaryArray, gap_before: BoolArray, size: float) -> float:
    """The median change where the state changes, in its direction; `size` where it never does."""
    turn = np.diff(state.astype(np.int8))
    at = (turn != 0) & ~gap_before[1:]
    return max(float(np.median(np.diff(left)[at] * turn[at])), _LEAST_STEPS) if at.any() else size


def _cost(left: FloatArray, gap_before: BoolArray) -> float:
    change = np.diff(left)[~gap_before[1:]]
    level = np.log1p(left**2) * np.where(left < 0, 1 + _BELOW, 1.0)
    return float(np.sum(np.log1p(change**2)) + _LEVEL * np.sum(level))


@compiled
def _level_cost(left: float) -> float:
    return float(_LEVEL * np.log1p(left * left) * (1 + _BELOW if left < 0 else 1.0))


@compiled
def _viterbi(left: FloatArray, size: float, gap_before: BoolArray) -> BinaryArray:
    """(N,) the cheapest states of a part of `size` in a track that it has not been taken off."""
    N = len(left)
    back = np.zeros((N, 2), dtype=np.uint8)
    off, on = _level_cost(left[0]), _level_cost(left[0] - size)
    for t in range(1, N):
        if gap_before[t]:
            least = min(off, on)
            back[t, :] = 0 if off <= on else 1
            off, on = least, least
        else:
            change = left[t] - left[t - 1]
            stay = np.log1p(change**2)
            to_off = on + np.log1p((change + size) ** 2) + _SWITCH
            to_on = off + np.log1p((change - size) ** 2) + _SWITCH
            back[t, 0] = 1 if to_off < off + stay else 0
            back[t, 1] = 0 if to_on < on + stay else 1
            off, on = min(off + stay, to_off), min(on + stay, to_on)
        off += _level_cost(left[t])
        on += _level_cost(left[t] - size)
    state = np.zeros(N, dtype=np.uint8)
    now = 0 if off <= on else 1
    for t in range(N - 1, -1, -1):
        state[t] = now
        now = back[t, now]
    return state
