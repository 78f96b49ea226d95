"""One track of sizes as a sum of sources that are on or off, and what is left over.

Several sources may have one shape (heaters). A source that is on or off shows as a *peak* among the changes
of the track: many of one size, where a load that varies has few of any. Only sizes with such a peak are
tried. With C(x) = log(1 + x²), parts of size u_i and states z_i(t) minimise Σ_t C((Δa − Σ_i Δz_i u_i)/s) +
λ Σ_t C(r_t/s)(1 + κ[r_t < 0]) + (price of a switch and of its time)·switches + (price of a size)·parts, r_t
= a_t − Σ_i z_i(t) u_i. Parts are added one after the other, each decoded by a binary Viterbi, then all
again in turn.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray
from lfm.checks import check_gaps, check_real, check_scale, is_number
from lfm.compiled import compiled
from lfm.errors import InvalidInputError
from lfm.thresholds import SHAPES


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

    Raises
    ------
    InvalidInputError
        Where the track is empty or not finite, gap_before is not one boolean per row, or resolution is not
        above 0.

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
    track = check_track(track, resolution)
    gap_before = check_gaps(gap_before, len(track))
    sizes: list[float] = []
    states: list[BinaryArray] = []
    left = track / resolution
    price = _cost(left, gap_before)
    while len(sizes) < SHAPES.most_parts:
        found = _new_part(left, gap_before)
        if found is None or found[0] >= price:
            break
        _, size, state = found
        sizes.append(size)
        states.append(state)
        left = left - size * state
        for i in range(len(sizes)):
            alone = left + sizes[i] * states[i]
            states[i] = _states(alone, sizes[i], gap_before)
            sizes[i] = _step_size(alone, states[i], gap_before, sizes[i])
            left = alone - sizes[i] * states[i]
        price = _cost(left, gap_before)
    N = len(left)
    on = np.column_stack(states) if states else np.zeros((N, 0), dtype=np.uint8)
    return Parts(np.array(sizes) * resolution, on, left * resolution)


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


def _new_part(left: FloatArray, gap_before: BoolArray) -> tuple[float, float, BinaryArray] | None:
    """(price afterwards, size, states) of the best further part; None where no size recurs."""
    best: tuple[float, float, BinaryArray] | None = None
    for size in _recurring(np.abs(np.diff(left)[~gap_before[1:]])):
        state = _states(left, size, gap_before)
        size = _step_size(left, state, gap_before, size)
        state = _states(left, size, gap_before)
        switches = int(np.count_nonzero(np.diff(state.astype(np.int8))[~gap_before[1:]]))
        if switches < 2:
            continue
        timed = SHAPES.switch_nats + np.log(len(left) / switches)
        price = _cost(left - size * state, gap_before) + timed * switches + SHAPES.size_nats
        if best is None or price < best[0]:
            best = (price, size, state)
    return best


def _recurring(steps: FloatArray) -> list[float]:
    """The sizes at which the steps have their clearest peaks, the clearest first.

    With n steps in a peak and e expected from those around it, n log(n/e) − (n − e) nats speak for the peak.
    """
    size = np.sort(steps[steps > SHAPES.least_steps])
    if len(size) < 2:
        return []
    half = np.maximum(SHAPES.narrow_steps, SHAPES.narrow * size)
    inside = np.searchsorted(size, size + half, side="right") - np.searchsorted(size, size - half)
    wide = SHAPES.wide
    around = np.searchsorted(size, size * wide, side="right") - np.searchsorted(size, size / wide) - inside
    expected = (np.maximum(around, 0) + 1) * 2 * half / (size * (wide - 1 / wide))
    speaks = np.where(inside > expected, inside * np.log(inside / expected) - (inside - expected), 0.0)
    found: list[float] = []
    for i in np.argsort(-speaks, kind="stable"):
        if speaks[i] < SHAPES.peak_nats or len(found) == SHAPES.tries:
            break
        if all(abs(np.log(size[i] / other)) > SHAPES.apart for other in found):
            found.append(float(size[i]))
    return found


def _step_size(left: FloatArray, state: BinaryArray, gap_before: BoolArray, size: float) -> float:
    """The median change where the state changes, in its direction; `size` where it never does."""
    turn = np.diff(state.astype(np.int8))
    at = (turn != 0) & ~gap_before[1:]
    return max(float(np.median(np.diff(left)[at] * turn[at])), SHAPES.least_steps) if at.any() else size


def _cost(left: FloatArray, gap_before: BoolArray) -> float:
    change = np.diff(left)[~gap_before[1:]]
    level = np.log1p(left**2) * np.where(left < 0, 1 + SHAPES.below, 1.0)
    return float(np.sum(np.log1p(change**2)) + SHAPES.level_nats * np.sum(level))


def _states(left: FloatArray, size: float, gap_before: BoolArray) -> BinaryArray:
    """(N,) the cheapest states of a part of `size` in a track that it has not been taken off."""
    return _viterbi(left, size, gap_before, SHAPES.level_nats, SHAPES.below, SHAPES.switch_nats)


@compiled
def _level_cost(left: float, level: float, below: float) -> float:
    return float(level * np.log1p(left * left) * (1 + below if left < 0 else 1.0))


@compiled
def _viterbi(
    left: FloatArray, size: float, gap_before: BoolArray, level: float, below: float, switch: float
) -> BinaryArray:
    """`_states` at these prices."""
    N = len(left)
    back = np.zeros((N, 2), dtype=np.uint8)
    off, on = _level_cost(left[0], level, below), _level_cost(left[0] - size, level, below)
    for t in range(1, N):
        if gap_before[t]:
            least = min(off, on)
            back[t, :] = 0 if off <= on else 1
            off, on = least, least
        else:
            change = left[t] - left[t - 1]
            stay = np.log1p(change**2)
            to_off = on + np.log1p((change + size) ** 2) + switch
            to_on = off + np.log1p((change - size) ** 2) + switch
            back[t, 0] = 1 if to_off < off + stay else 0
            back[t, 1] = 0 if to_on < on + stay else 1
            off, on = min(off + stay, to_off), min(on + stay, to_on)
        off += _level_cost(left[t], level, below)
        on += _level_cost(left[t] - size, level, below)
    state = np.zeros(N, dtype=np.uint8)
    now = 0 if off <= on else 1
    for t in range(N - 1, -1, -1):
        state[t] = now
        now = back[t, now]
    return state
