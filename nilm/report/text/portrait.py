"""What one appliance does, in words: its power, its levels or its range, and when it runs.

Owns these words. The numbers come from the result, the hours from `when`.
"""

import numpy as np

from lfm.arrays import FloatArray
from nilm.appliances.activations import activations_per_day
from nilm.appliances.measures import ALWAYS_ON
from nilm.appliances.naming import duration_words
from nilm.appliances.thresholds import APPLIANCES, PAGE
from nilm.report.text import words
from nilm.report.when import Hours, Window
from nilm.results import Appliance

_NUMBERS = ("no", "one", "two", "three", "four", "five")  # more levels are a range to a reader
_TAILS = np.array([0.05, 0.5, 0.95])  # of the time, between which a power is said to lie
_PARTS_OF_DAY = ("at night", "in the morning", "in the afternoon", "in the evening")


def power_said(appliance: Appliance, duration_s: FloatArray) -> str:
    """Its power as an analyst says it: one level, a few levels, or the range in which it varies."""
    levels = power_levels(appliance, duration_s)
    if 1 < len(levels) < len(_NUMBERS) and levels[0] >= 1:
        listed = ", ".join(words.decimals(level, 0) for level in levels)
        return f"{_NUMBERS[len(levels)]} levels: {listed}\u00a0W"
    low, usual, high = power_range(appliance, duration_s)
    if high - low <= PAGE.steady * usual:
        when = "all the time" if appliance.kind == ALWAYS_ON else "while it runs"
        return f"about {words.watts_text(abs(appliance.active_w))} {when}"
    if high < 1:  # a few seconds of much, and a trace for hours
        most = float(np.abs(appliance.power_w).max(initial=0.0))
        return f"below 1\u00a0W most of the time, at most {_two_digits(most)}\u00a0W"
    return f"varies between {_two_digits(low)} and {_two_digits(high)}\u00a0W"


def power_range(appliance: Appliance, duration_s: FloatArray) -> tuple[float, float, float]:
    """The watts below which it stays for 5%, half and 95% of the time that it is on; 0 if it never is."""
    on = appliance.on.astype(bool)
    watts, lasts = np.abs(appliance.power_w[on]), duration_s[on]
    if not len(watts):
        return 0.0, 0.0, 0.0
    order = np.argsort(watts, kind="stable")
    until = np.cumsum(lasts[order])
    low, usual, high = watts[order][np.searchsorted(until, _TAILS * until[-1])]
    return float(low), float(usual), float(high)


def power_levels(appliance: Appliance, duration_s: FloatArray) -> list[float]:
    """The watts between which it switches while it is on, the lowest first; empty where it varies.

    Watts without a wide step between them are one level, if they are steady. Levels that it passes through
    hold little of its time and are not counted.
    """
    on = appliance.on.astype(bool)
    watts, lasts = np.abs(appliance.power_w[on]), duration_s[on]
    order = np.argsort(watts, kind="stable")
    watts, lasts = watts[order], lasts[order]
    steps = np.flatnonzero(np.diff(watts) > PAGE.steady * watts[:-1]) + 1
    levels = []
    for its_watts, its_time in zip(np.split(watts, steps), np.split(lasts, steps), strict=True):
        if its_time.sum() <= PAGE.least_level * lasts.sum():
            continue
        until = np.cumsum(its_time)
        low, usual, high = its_watts[np.searchsorted(until, _TAILS * until[-1])]
        if high - low > PAGE.steady * usual:
            return []
        levels.append(float(usual))
    return levels


def _two_digits(watts: float) -> str:
    return f"{float(f'{watts:.2g}'):,.0f}" if watts >= 1 else "0"


def start_said(appliance: Appliance) -> str:
    """How it starts, in words; empty where no start was seen."""
    if appliance.inrush is None or appliance.inrush_s is None:
        return ""
    if appliance.inrush < APPLIANCES.inrush_noticed:
        return "starts softly"
    lasts_s = max(appliance.inrush_s, 0.1)
    return f"starts with {appliance.inrush:.1f} times its current for {lasts_s:.1f}\u00a0s"


def part_of_day(hours: Hours) -> str:
    """The six hours of the day that hold most of its energy, in words; empty where none stands out."""
    energy = np.abs(hours.energy_wh).sum(axis=0).reshape(4, 6).sum(axis=1)
    busiest = int(np.argmax(energy))
    return _PARTS_OF_DAY[busiest] if energy[busiest] > PAGE.part_share * energy.sum() > 0 else ""


def how_often(appliance: Appliance, observed_s: float) -> str:
    """How often it runs, ", about 14 times a day"; empty where the number of its runs says as much."""
    per_day = activations_per_day(appliance.activations, observed_s)
    return f", about {per_day:.0f} times a day" if per_day >= PAGE.often_a_day else ""


def run_lengths(appliance: Appliance, window: Window) -> str:
    """How long its runs are, and when the longest was if it stands out: a fault, or a mistake of ours."""
    if not appliance.activations:
        return "no run was long enough to count"
    lengths = [run.duration_s for run in appliance.activations]
    typical, longest = float(np.median(lengths)), int(np.argmax(lengths))
    said = f"typically {duration_words(typical)}"
    if lengths[longest] <= PAGE.odd_length * typical or len(lengths) < PAGE.least_runs:
        return said
    start = words.day(appliance.activations[longest].start_utc, "%a %-d %b %H:%M", window.zone)
    return f"{said}; the longest {duration_words(lengths[longest])}, from {start}"
