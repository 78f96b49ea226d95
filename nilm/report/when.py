"""The week on a grid: the window that a page shows, its hours, its gaps, and an appliance's usual times.

Owns how time is cut for display; the energy and the activations themselves come from the result.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from lfm.arrays import FloatArray
from nilm.appliances.thresholds import PAGE
from nilm.results import Appliance, WeekResult
from nilm.thresholds import ROWS
from nilm.timeline import DAY_S, TimeArray

MOST_OVERHANG = np.timedelta64(14, "h")  # no clock of the world is further ahead of UTC


def wall_clock(times_utc: NDArray[np.datetime64] | np.datetime64, zone: tzinfo) -> NDArray[np.datetime64]:
    """What the clocks of `zone` show at these instants, as naive datetime64[ns] of the same shape."""
    times = np.asarray(times_utc).astype("datetime64[ns]")
    # Offsets change on a quarter of an hour: one look-up for each quarter that occurs.
    quarters, which = np.unique(times.astype("datetime64[s]").astype(np.int64) // 900, return_inverse=True)
    offsets = [datetime.fromtimestamp(int(q) * 900, zone).utcoffset() for q in quarters]
    shift = np.array([int(o.total_seconds()) if o else 0 for o in offsets], dtype="timedelta64[s]")
    return np.asarray(times + shift[which].reshape(times.shape))


class Timed(Protocol):
    """Rows in time: all that is asked of a result to place something on the page's days."""

    @property
    def start_utc(self) -> TimeArray:
        """(N,) the start of each row."""

    @property
    def duration_s(self) -> FloatArray:
        """(N,) how long each row stands."""


@dataclass(frozen=True)
class Window:
    """Whole days that the page shows, from midnight to midnight of the house's own clock."""

    start: np.datetime64  # [s] by the house's clock
    days: int
    zone: tzinfo = UTC

    def seconds(self, times_utc: NDArray[np.datetime64] | np.datetime64) -> FloatArray:
        """Seconds from the window's start by the house's clock, as an array of the shape of `times_utc`."""
        since = wall_clock(times_utc, self.zone) - self.start.astype("datetime64[ns]")
        return np.asarray(since / np.timedelta64(1, "s"), dtype=np.float64)

    def edges(self, bin_s: int) -> FloatArray:
        """The borders of the window's bins as seconds since 1970, one more than there are bins.

        Bins are equal by the house's clock: where it is set forward one is empty, where it is set back one
        holds the hour that comes twice.
        """
        naive = self.start.astype("datetime64[s]").item()
        return np.array(
            [
                (naive + timedelta(seconds=n)).replace(tzinfo=self.zone).timestamp()
                for n in range(0, self.days * DAY_S + 1, bin_s)
            ]
        )

    def day(self, index: int, style: str = "%a %-d %b") -> str:
        """The date of the window's day number `index`, from 0, in words."""
        date: datetime = (self.start + np.timedelta64(index * DAY_S, "s")).astype("datetime64[s]").item()
        return date.strftime(style)


def week_window(result: WeekResult) -> Window:
    """Monday to Sunday where the week was to be whole and fits; else the days that have data."""
    zone = ZoneInfo(result.timezone)
    ends = result.start_utc + (result.duration_s * 1e9 - 1).astype("timedelta64[ns]")
    begin, end = wall_clock(np.array([result.start_utc.min(), ends.max()]), zone)
    first, last = begin.astype("datetime64[D]"), end.astype("datetime64[D]")
    monday = first - np.timedelta64((first.astype(int) + 3) % 7, "D")
    whole = result.quality.rows_expected * result.interval_s > 6 * DAY_S
    # Weeks are cut at midnight UTC: an hour or two of the next Monday, by the house's clock, are not drawn.
    if whole and end - monday < np.timedelta64(7, "D") + MOST_OVERHANG:
        first, last = monday, monday + np.timedelta64(6, "D")
    return Window(first.astype("datetime64[s]"), int((last - first).astype(int)) + 1, zone)


def busiest_day(result: WeekResult, rows: NDArray[np.bool_], window: Window) -> Window:
    """The one day of the window that holds most of the marked rows (N,); the first of several."""
    day = (window.seconds(result.start_utc) // DAY_S).astype(np.int64)
    day = np.clip(day, 0, window.days - 1)
    most = int(np.argmax(np.bincount(day, weights=rows, minlength=window.days)))
    return replace(window, start=window.start + np.timedelta64(most * DAY_S, "s"), days=1)


def gaps(result: WeekResult, window: Window) -> list[tuple[float, float]]:
    """The stretches (start, end) in seconds of the window in which there is no row."""
    order = np.argsort(result.start_utc, kind="stable")
    starts = window.seconds(result.start_utc[order])
    stops = starts + result.duration_s[order]
    end = float(window.days * DAY_S)
    inside = (stops > 0) & (starts < end)
    ends = np.concatenate([[0.0], stops[inside]])
    nexts = np.concatenate([starts[inside], [end]])
    holes = nexts - ends > ROWS.gap_s
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

    def typical_w(self, window: Window) -> tuple[FloatArray, FloatArray]:
        """The mean watts in each hour of a weekday (24,) and of the weekend (24,); 0 without data."""
        weekday = (window.start.astype("datetime64[D]").astype(int) + 3 + np.arange(window.days)) % 7 < 5
        found = []
        for days in (weekday, ~weekday):
            mean = np.zeros(24)
            data_s = self.data_s[days].sum(axis=0)
            np.divide(3600 * self.energy_wh[days].sum(axis=0), data_s, out=mean, where=data_s > 0)
            found.append(mean)
        return found[0], found[1]


def hours_of(result: WeekResult, appliance: Appliance, window: Window) -> Hours:
    """Energy, seconds on and seconds with data for each hour."""
    edges = window.edges(3600)
    joules, on_s, data_s = (
        integrals(values, result, edges).reshape(window.days, 24)
        for values in (appliance.power_w, appliance.on.astype(np.float64), np.ones(len(appliance.on)))
    )
    return Hours(energy_wh=joules / 3600, on_s=on_s, data_s=data_s)


def integrals(values: FloatArray, result: WeekResult, edges: FloatArray) -> FloatArray:
    """∫ values dt over each bin between `edges` (s since 1970); a row holds its value for its duration."""
    order = np.argsort(result.start_utc, kind="stable")
    starts = result.start_utc[order].astype("datetime64[ns]").astype(np.int64) / 1e9
    lasts = result.duration_s[order]
    ends = np.minimum(starts + lasts, np.append(starts[1:], np.inf))  # a row ends where the next begins
    amounts = np.where(np.isfinite(values[order]), values[order], 0.0) * (ends - starts)
    times = np.stack([starts, ends], axis=1).ravel()
    until = np.cumsum(amounts)
    sums = np.stack([until - amounts, until], axis=1).ravel()
    return np.asarray(np.diff(np.interp(edges, times, sums)))


def usual_times(hours: Hours) -> str:
    """The hours of the day that hold most of the running time, in words, by the house's clock."""
    data_s = hours.data_s.sum(axis=0)
    share = hours.share_on
    if share.sum() == 0:
        return "never on in this week's data"
    seen = share[data_s > 0]
    if seen.min() > PAGE.every_hour * seen.max():
        return "at all hours" if data_s.all() else "in every hour that has data"
    busiest = np.argsort(-share, kind="stable")
    n = int(np.searchsorted(np.cumsum(share[busiest]) / share.sum(), PAGE.most_of_use)) + 1
    chosen = np.zeros(24, dtype=bool)
    chosen[busiest[:n]] = True
    stretches = _stretches(chosen)
    if len(stretches) > PAGE.most_stretches or n > PAGE.most_hours:
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
    edges = window.edges(bin_s)
    known_s = integrals(np.isfinite(values).astype(np.float64), result, edges)
    total = integrals(values, result, edges)
    mean = np.full(len(total), np.nan)
    np.divide(total, known_s, out=mean, where=known_s > 1e-6)
    return mean
