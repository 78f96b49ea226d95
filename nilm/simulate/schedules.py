"""When the loads of a simulated house run: habits of people and thermostats, drawn row by row.

A habit turns a `Clock` and a random generator into the rows during which a load is on. Owns time only: which
load has which habit is `nilm.simulate.appliances.household`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lfm import runs_of_ones
from lfm.arrays import BoolArray
from nilm.timeline import DAY_S

_HOUR_S = 3_600.0


@dataclass(frozen=True)
class Clock:
    """N rows, `interval_s` apart, the first at midnight UTC."""

    n_rows: int
    interval_s: float

    @property
    def days(self) -> range:
        """The days that begin before the last row."""
        return range(int(np.ceil(self.n_rows * self.interval_s / DAY_S)))

    def rows(self, duration_s: float) -> int:
        """How many rows a run of this length holds, at least one."""
        return max(1, round(duration_s / self.interval_s))

    def switch_on(self, on: BoolArray, start_s: float, duration_s: float) -> None:
        """Mark the rows of one run in `on`; those outside of the clock are left out."""
        first = round(start_s / self.interval_s)
        on[max(first, 0) : max(first + self.rows(duration_s), 0)] = True


Habit = Callable[[Clock, np.random.Generator], BoolArray]


def always(clock: Clock, rng: np.random.Generator) -> BoolArray:  # noqa: ARG001 - a Habit that draws nothing
    """Every row."""
    return np.ones(clock.n_rows, dtype=bool)


def thermostat(on_s: float, off_s: float, *, hours: tuple[float, float] = (0.0, 24.0)) -> Habit:
    """Cycles of about on_s and off_s (each varies by a fifth), within these hours of every day."""

    def habit(clock: Clock, rng: np.random.Generator) -> BoolArray:
        on = np.zeros(clock.n_rows, dtype=bool)
        at = -rng.uniform(0, on_s + off_s)
        while at < clock.n_rows * clock.interval_s:
            lasts = on_s * rng.uniform(0.8, 1.2)
            clock.switch_on(on, at, lasts)
            # At least one row off, or two cycles would be one.
            at += max(lasts, clock.interval_s) + max(off_s * rng.uniform(0.8, 1.2), 1.5 * clock.interval_s)
        hour = np.arange(clock.n_rows) * clock.interval_s % DAY_S / _HOUR_S
        return on & (hour >= hours[0]) & (hour < hours[1])

    return habit


def meals(hours: tuple[float, ...], *, probability: float, lasts_s: tuple[float, float]) -> Habit:
    """One run near each of these hours of the day (give or take half an hour), with this probability."""

    def habit(clock: Clock, rng: np.random.Generator) -> BoolArray:
        on = np.zeros(clock.n_rows, dtype=bool)
        for day in clock.days:
            for hour in hours:
                if rng.random() < probability:
                    start_s = day * DAY_S + (hour + rng.normal(0, 0.5)) * _HOUR_S
                    clock.switch_on(on, start_s, rng.uniform(*lasts_s))
        return on

    return habit


def heated(preheat_s: float, on_s: float, off_s: float, *, session: Habit) -> Habit:
    """A thermostat that runs only during the session: a preheat, then cycles (oven, iron, immersion)."""

    def habit(clock: Clock, rng: np.random.Generator) -> BoolArray:
        wanted = session(clock, rng)
        on = np.zeros(clock.n_rows, dtype=bool)
        for first, end in runs_of_ones(wanted):
            at, finish = first * clock.interval_s, end * clock.interval_s
            lasts = preheat_s * rng.uniform(0.8, 1.2)
            while at < finish:
                clock.switch_on(on, at, lasts)
                at += max(lasts, clock.interval_s) + max(
                    off_s * rng.uniform(0.8, 1.2), 1.5 * clock.interval_s
                )
                lasts = on_s * rng.uniform(0.8, 1.2)
        return on & wanted

    return habit


def within(
    partner: BoolArray,
    shares: tuple[tuple[float, float], ...],
    rng: np.random.Generator,
    *,
    probability: float,
) -> BoolArray:
    """Rows inside each run of `partner`, at these shares of its length (a little moved), never the whole run.

    Runs of fewer than three rows stay without; the others take part with this probability.
    The heater of a programme and the amplifier of a television: on only while the partner is on.
    """
    on = np.zeros_like(partner)
    for first, end in runs_of_ones(partner):
        length = end - first
        if length < 3 or rng.random() >= probability:
            continue
        for begin, finish in shares:
            moved = rng.uniform(-0.05, 0.05)
            start = first + max(1, round((begin + moved) * length))
            stop = min(end - 1, max(start + 1, first + round((finish + moved) * length)))
            on[start:stop] = True
    return on
