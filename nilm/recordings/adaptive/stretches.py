"""The rows of a recording: which time each stands for, and where in it ten cycles are measured.

Owns the cutting of time at changes, on numbers alone; the ingest reads the rows. Times are seconds from the
start of a recording.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lfm.arrays import FloatArray, IntArray
from nilm.thresholds import SWITCHES

FRAME_S = 0.256  # a FLAC frame of 4,096 samples: a window that starts with one needs no other


@dataclass(frozen=True)
class Stretches:
    """Rows in order of time."""

    start_s: FloatArray  # (R,)
    duration_s: FloatArray  # (R,)
    window_s: FloatArray  # (R,) where the measured window starts


def switches(change_s: FloatArray) -> IntArray:
    """Which of these changes (C,), in order, begin a switch; the others belong to the one before them."""
    firsts: list[int] = []
    for n, time_s in enumerate(change_s.tolist()):
        if not firsts or time_s - change_s[firsts[-1]] > SWITCHES.settle_s:
            firsts.append(n)
    return np.array(firsts, dtype=np.int64)


def cut_into_rows(
    switch_s: FloatArray, *, length_s: float, first_grid_s: float, interval_s: float, window_s: float
) -> Stretches:
    """The rows of a recording of `length_s` whose state changes at `switch_s` (C,), and only there.

    Between two switches a row is measured at every instant of the grid (`first_grid_s` + n · `interval_s`),
    as if there were no switches. It stands for the time up to the next such instant, the first one also for
    the time before it. Where no window of `window_s` at a grid instant keeps clear of both switches, one row
    is measured in the middle, at the start of a FLAC frame where the time is long enough.
    """
    inside = switch_s[(switch_s > SWITCHES.edge_of_file_s) & (switch_s < length_s - SWITCHES.edge_of_file_s)]
    rows = [
        row
        for begin_s, end_s in zip([0.0, *inside], [*inside, length_s], strict=True)
        for row in _rows_between(
            begin_s,
            end_s,
            settled_s=begin_s + SWITCHES.settle_s if begin_s > 0 else 0.0,
            grid=(first_grid_s, interval_s),
            window_s=window_s,
        )
    ]
    start_s, end_s, measured_s = np.array(rows).T
    return Stretches(start_s, end_s - start_s, measured_s)


def _rows_between(
    begin_s: float, end_s: float, *, settled_s: float, grid: tuple[float, float], window_s: float
) -> Iterator[tuple[float, float, float]]:
    """(start, end, start of window) of each row between two switches, after the first one has `settled_s`.

    `grid` is (first instant, interval).
    """
    first_s, interval_s = grid
    n = np.arange(np.ceil((settled_s - first_s) / interval_s), (end_s - window_s - first_s) / interval_s)
    instants = (first_s + n * interval_s).tolist()
    if not instants:
        middle_s = (begin_s + end_s - window_s) / 2
        aligned_s = round(middle_s / FRAME_S) * FRAME_S
        clear = settled_s <= aligned_s <= end_s - 2 * window_s
        yield begin_s, end_s, aligned_s if clear else max(middle_s, begin_s)
        return
    yield from zip([begin_s, *instants[1:]], [*instants[1:], end_s], instants, strict=True)
