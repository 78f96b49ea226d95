"""Rows that stand for a time: row n stands for `duration_s[n]` seconds from `start_utc[n]` on.

Owns what a gap is, and seconds as weights. Rows that follow each other directly form a stretch. Between two
stretches lies a gap, in which nothing is known: no run of an appliance crosses it, and none is assumed in it.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lfm.arrays import BoolArray, FloatArray, IntArray
from nilm.errors import OptionError
from nilm.thresholds import ROWS

TimeArray = NDArray[np.datetime64]

J_PER_KWH = 3.6e6
DAY_S = 86_400


def seconds(time: TimeArray) -> FloatArray:
    """UNIX seconds (N,) of the times; exact to a microsecond until the year 2200."""
    return np.asarray(time.astype("datetime64[ns]").astype(np.int64) / 1e9, dtype=np.float64)


def utc(unix_s: ArrayLike) -> TimeArray:
    """The times (N,) of UNIX seconds, as datetime64[ns] rounded to a microsecond."""
    micros = np.rint(np.asarray(unix_s, dtype=np.float64) * 1e6).astype(np.int64)
    return np.asarray(micros.astype("datetime64[us]").astype("datetime64[ns]"))


def ends(start_utc: TimeArray, duration_s: ArrayLike) -> TimeArray:
    """When each row (N,) ends, as datetime64[ns]."""
    length = np.rint(np.asarray(duration_s, dtype=np.float64) * 1e9).astype(np.int64)
    return np.asarray(start_utc.astype("datetime64[ns]") + length.astype("timedelta64[ns]"))


def holes_before_s(start_utc: TimeArray, duration_s: ArrayLike) -> FloatArray:
    """Seconds (N,) from the end of the row before to the start of each row; inf before the first row.

    Negative where two rows overlap.
    """
    if len(start_utc) == 0:
        return np.zeros(0)
    begin, end = start_utc.astype("datetime64[ns]"), ends(start_utc, duration_s)
    hole = (begin[1:] - end[:-1]).astype(np.int64) / 1e9
    return np.concatenate([[np.inf], hole])


def gaps_before(start_utc: TimeArray, duration_s: ArrayLike, *, slack_s: float = ROWS.gap_s) -> BoolArray:
    """Which rows (N,) do not directly follow the row before; the first row follows none, so it is True.

    `duration_s` is (N,), or one number for rows that are all as long. `slack_s` is the longest hole that is
    no gap, and the longest overlap that is no error: half a row for times that somebody else wrote down.
    OptionError where the times do not rise, or two rows overlap by more.
    """
    hole = holes_before_s(start_utc, duration_s)
    if np.any(hole < -slack_s) or np.any(np.diff(start_utc) <= np.timedelta64(0)):
        n = int(np.argmin(hole))
        raise OptionError(
            f"row {n} starts at {start_utc[n]}, {-hole[n]:g} s before the row before it ends; rows must be "
            "in order of time: sort them and drop what overlaps"
        )
    return np.asarray(hole > slack_s)


def gaps_of_rows(rows: IntArray, gap_before: BoolArray) -> BoolArray:
    """gap_before for a selection of rows: True also where a row between two of them was left out."""
    stretch = np.cumsum(gap_before)
    breaks = (np.diff(rows) != 1) | (np.diff(stretch[rows]) != 0)
    return np.concatenate([[True], breaks])


def row_durations(duration_s: ArrayLike | None, interval_s: float, n_rows: int) -> FloatArray:
    """(n_rows,) seconds that each row stands for, `interval_s` where none are given.

    OptionError unless duration_s holds one number above 0 for each row.
    """
    if duration_s is None:
        return np.full(n_rows, float(interval_s))
    length = np.asarray(duration_s, dtype=np.float64)
    if length.shape != (n_rows,) or not (np.isfinite(length) & (length > 0)).all():
        raise OptionError(
            f"duration_s must hold one number above 0 for each of the {n_rows} rows; got shape {length.shape}"
        )
    return length


def share_of_time(on: ArrayLike, duration_s: FloatArray) -> float:
    """The share, 0 to 1, of the rows' time in which `on` (N,) is true; 0 where there are no rows."""
    total = float(duration_s.sum())
    return float(duration_s[np.asarray(on, dtype=bool)].sum()) / total if total > 0 else 0.0
