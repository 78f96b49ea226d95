"""The base: the row from which sizes count. A quiet row, chosen by how well all others fit above it.

The quietest row of all may hold a source that is off at other times; sizes would then have to be negative.
Each part of the record proposes its own quiet row, and the one with the least objective is taken.
"""

import numpy as np

from lfm.arrays import BoolArray, FloatArray
from lfm.shapes.amplitudes import objective, solve_amplitudes

_PARTS = 10  # of the record, each with a quiet row of its own
_ROWS = 5  # averaged for a quiet row
_STRIDE = 3  # every third row decides
_LOW_SHARE = 0.02  # of the time a source may be below what counts as its absence
_ROUNDS = 2


def choose_base(
    Y: FloatArray, level: FloatArray, shapes: FloatArray, gap_before: BoolArray, changes: FloatArray
) -> FloatArray:
    """(r,) the base of rows Y (N, r); `level` (N,) says how quiet a row is."""
    N = len(Y)
    candidates = [_quiet(Y, level, np.arange(N), max(_ROWS, N // 100))]
    smooth = np.convolve(level, np.ones(3) / 3, "same") if N >= 3 else level
    candidates += [_quiet(Y, smooth, part, _ROWS) for part in np.array_split(np.arange(N), min(_PARTS, N))]
    first = np.arange(0, N, _STRIDE)
    gaps = np.add.reduceat(gap_before.astype(np.int64), first) > 0
    coarse = np.add.reduceat(changes, first, axis=0)
    prices = []
    for base in candidates:
        above = Y[first] - base
        sizes = solve_amplitudes(above, shapes, gaps, coarse, rounds=_ROUNDS)
        prices.append(objective(above, shapes, gaps, sizes))
    return candidates[int(np.argmin(prices))]


def raised(base: FloatArray, shapes: FloatArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The base and sizes (N, K) with what each source nearly always draws counted to the base."""
    low = np.percentile(sizes, 100 * _LOW_SHARE, axis=0)
    return base + low @ shapes, sizes - low


def _quiet(Y: FloatArray, level: FloatArray, rows: np.ndarray, n: int) -> FloatArray:
    return np.asarray(Y[rows[np.argsort(level[rows], kind="stable")[:n]]].mean(axis=0))
