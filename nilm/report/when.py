"""The week on a grid: the window that a page shows, its hours, its gaps, and an appliance's usual times.

Owns how time is cut for display; the energy and the activations themselves come from the result.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nilm.results import Appliance, FloatArray, WeekResult

DAY_S = 86_400


@dataclass(frozen=True)
class Window:
    """Whole days that the page shows, from midnight UTC."""

    start: np.datetime64  # [s]
    days: int

    def seconds(self, times: NDArray[np.datetime64] | np.datetime64) -> FloatArray:
        """Seconds from the window's start, as an array of the shape of `times`."""
        since = np.asarray(times).astype("datetime64[ns]") - self.start.astype("datetime64[ns]")
        return np.asarray(since / np.timedelta64(1, "s"), dtype=np.float64)


def week_window(result: WeekResult) -> Window:
    """Monday to Sunday where the week was to be whole and fits; else the days that have data."""
    first = result.start_utc.min().astype("datetime64[D]")
    last = (result.start_utc.max() + np.timedelta64(int(result.interval_s * 1e9) - 1, "ns")).astype(
        "datetime64[D]"
    )
    monday = first - np.timedelta64((first.astype(int) + 3) % 7, "D")
    whole = result.quality.rows_expected * result.interval_s > 6 * DAY_S
    if whole and last - monday < np.timedelta64(7, "D"):
        first, last = monday, monday + np.timedelta64(6, "D")
    return Window(start=first.astype("datetime64[s]"), days=int((last - first).astype(int)) + 1)


def busiest_day(result: WeekResult, rows: NDArray[np.bool_], window: Window) -> Window:
    """The one day of the window that holds most of the marked rows (N,); the first of several."""
    day = (window.seconds(result.start_utc) // DAY_S).astype(np.int64)
    most = int(np.argmax(np.bincount(day, weights=rows, minlength=window.days)))
    return Window(start=window.start + np.timedelta64(most * DAY_S, "s"), days=1)


def gaps(result: WeekResult, window: Window) -> list[tuple[float, float]]:
    """The stretches (start, end) in seconds of the window in which there is no row."""
    starts = np.sort(window.seconds(result.start_utc))
    end = float(window.days * DAY_S)
    starts = starts[(starts > -result.interval_s) & (starts < end)]
    ends = np.concatenate([[0.0], starts + result.interval_s])
    nexts = np.concatenate([starts, [end]])
    # A row may start a little late; only half an interval or more is a hole.
    holes = nexts - ends > result.interval_s / 2
    return [(float(a), float(b)) for a, b in zip(ends[holes], nexts[holes], strict=True)]


@dataclass(frozen=True)
class Hours:
    """One appliance on the days and hours of the window; each (days, 24)."""

    energy_wh: FloatArray
    on_s: FloatArray
    data_s: FloatArray  # how much of the hour has data

    @property
    def share_on(self) -> FloatArray:
        """(24,) how much of each hour of the day it is on, 0 to 1, over the days that have data."""
        data_s = self.data_s.sum(axis=0)
        share = np.zeros(24)
        np.divide(self.on_s.sum(axis=0), data_s, out=share, where=data_s > 0)
        return share


def hours_of(result: WeekResult, appliance: Appliance, window: Window) -> Hours:
    """Energy, seconds on and seconds with data for each hour, a row counted where it starts."""
    cell = (window.seconds(result.start_utc) // 3600).astype(np.int64)
    n = window.days * 24
    data_s, on_s, full_s = (
        np.bincount(cell, weights, minlength=n)[:n].astype(np.float64) * np.float64(result.interval_s)
        for weights in (
            None,
            appliance.on,
            appliance.on if appliance.amplitude is None else appliance.amplitude,
        )
    )
    shape = (window.days, 24)
    return Hours(
        energy_wh=(full_s * appliance.active_w / 3600).reshape(shape),
        on_s=on_s.reshape(shape),
        data_s=data_s.reshape(shape),
    )


def usual_times(hours: Hours) -> str:
    """The hours of the day that hold most of the running time, in words; times are UTC."""
    data_s = hours.data_s.sum(axis=0)
    share = hours.share_on
    if share.sum() == 0:
        return "never on in this week's data"
    seen = share[data_s > 0]
    if seen.min() > 0.6 * seen.max():
        return "at all hours" if data_s.all() else "in every hour that has data"
    busiest = np.argsort(-share, kind="stable")
    n = int(np.searchsorted(np.cumsum(share[busiest]) / share.sum(), 0.8)) + 1
    chosen = np.zeros(24, dtype=bool)
    chosen[busiest[:n]] = True
    stretches = _stretches(chosen)
    if len(stretches) > 3:
        busy = int(busiest[0])
        return f"spread over the day, most often {busy:02d}:00–{(busy + 1) % 24:02d}:00"
    words = [f"{a:02d}:00–{b:02d}:00" for a, b in stretches]
    return "mostly " + (" and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0])


def _stretches(chosen: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Runs of chosen hours on the circle of 24, as (first hour, hour after the last)."""
    starts = [h for h in range(24) if chosen[h] and not chosen[h - 1]]
    ends = []
    for start in starts:
        end = start
        while chosen[end % 24]:
            end += 1
        ends.append(end % 24)
    return list(zip(starts, ends, strict=True))


def binned(values: FloatArray, result: WeekResult, window: Window, *, bin_s: int = 900) -> FloatArray:
    """Means of `values` (N,) over bins of `bin_s` seconds; NaN where a bin has no finite value."""
    known = np.isfinite(values)
    cell = (window.seconds(result.start_utc[known]) // bin_s).astype(np.int64)
    n = window.days * DAY_S // bin_s
    count = np.bincount(cell, minlength=n)[:n]
    total = np.bincount(cell, weights=values[known], minlength=n)[:n]
    mean = np.full(n, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean
