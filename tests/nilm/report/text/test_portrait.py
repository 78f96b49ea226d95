from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nilm.report import when
from nilm.report.text import portrait
from nilm.results import Activation, Appliance, WeekResult


@pytest.fixture(scope="module")
def result(week: Any) -> WeekResult:
    return week(n_appliances=4, days=1, gap=(300, 330))


def varying(result: WeekResult, size: Any) -> Appliance:
    """An appliance of 100 W times `size`, on in every row."""
    on = np.ones(len(result.start_utc), dtype=np.uint8)
    return replace(result.appliances[0], kind="motor", active_w=100.0, on=on, amplitude=size)


def test_levels_are_listed_and_a_range_is_a_range(result: WeekResult) -> None:
    n = len(result.start_utc)
    wide = varying(result, np.linspace(0.4, 1.8, n))
    assert portrait.power_said(wide, result.duration_s) == "varies between 47 and 170\u00a0W"
    size = np.repeat([20.5, 0.8, 5.2, 20.5], n // 4 + 1)[:n]
    size[n // 4] = 11.0  # a row in which it switched
    levels = varying(result, size * np.linspace(0.99, 1.01, n))
    assert portrait.power_said(levels, result.duration_s).startswith("three levels: 80, 52")
    assert portrait.power_levels(levels, result.duration_s) == pytest.approx([80, 520, 2050], rel=0.02)
    assert portrait.power_levels(wide, result.duration_s) == []
    steady = varying(result, np.linspace(0.98, 1.02, n))
    assert portrait.power_said(steady, result.duration_s) == "about 100\u00a0W while it runs"


def test_a_trace_for_hours_is_no_range(result: WeekResult) -> None:
    size = np.where(np.arange(len(result.start_utc)) % 2, 0.002, 0.004)
    size[0] = 9.0
    traced = varying(result, size)
    said = portrait.power_said(traced, result.duration_s)
    assert said == "below 1\u00a0W most of the time, at most 900\u00a0W"


def test_a_range_weighs_rows_by_how_long_they_stand(result: WeekResult) -> None:
    n = len(result.start_utc)
    size = np.where(np.arange(n) < n // 2, 1.0, 3.0)
    lasts = np.where(np.arange(n) < n // 2, 1000.0, 1.0)
    assert portrait.power_range(varying(result, size), lasts) == (100.0, 100.0, 100.0)


def test_short_runs_are_said_as_they_are(result: WeekResult) -> None:
    window = when.week_window(result)
    start = np.datetime64("2015-07-01T08:00", "ns")
    runs = tuple(Activation(start, start, 232.0 + n, 2000.0, 0.13) for n in range(14))
    kettle = replace(result.appliances[0], activations=runs)
    assert portrait.how_often(kettle, 86_400.0) == ", about 14 times a day"
    assert portrait.how_often(kettle, 14 * 86_400.0) == ""
    assert portrait.run_lengths(kettle, window) == "typically 4 min"
    toaster = replace(kettle, activations=tuple(replace(run, duration_s=37.4) for run in runs))
    assert portrait.run_lengths(toaster, window) == "typically 37 s"


def test_how_it_starts_is_said_where_it_was_seen(result: WeekResult) -> None:
    unseen = result.appliances[0]
    assert portrait.start_said(unseen) == ""
    motor = replace(unseen, inrush=5.234, inrush_s=0.31)
    assert portrait.start_said(motor) == "starts with 5.2 times its current for 0.3\u00a0s"
    assert portrait.start_said(replace(unseen, inrush=1.02, inrush_s=0.02)) == "starts softly"


def test_six_hours_that_hold_most_of_the_energy_have_a_word() -> None:
    energy = np.zeros((7, 24))
    energy[:, 19:22] = 100.0
    energy[:, 8] = 50.0
    hours = when.Hours(energy_wh=energy, on_s=energy, data_s=np.full((7, 24), 3600.0))
    assert portrait.part_of_day(hours) == "in the evening"
    even = replace(hours, energy_wh=np.ones((7, 24)))
    assert portrait.part_of_day(even) == ""


def test_a_run_much_longer_than_the_others_is_pointed_out(result: WeekResult) -> None:
    window = when.week_window(result)

    def said(*minutes: int) -> str:
        start = np.datetime64("2015-07-01T08:00", "ns")
        runs = [
            Activation(start + np.timedelta64(d, "D"), start, 60.0 * m, 50.0, 0.1)
            for d, m in enumerate(minutes)
        ]
        return portrait.run_lengths(replace(result.appliances[0], activations=tuple(runs)), window)

    assert said(10, 12, 14) == "typically 12 min"
    # 8 o'clock UTC is 9 o'clock in a British summer.
    assert said(10, 12, 300) == "typically 12 min; the longest 5 h 00 min, from Fri 3 Jul 09:00"
    assert said(10, 300) == "typically 2 h 35 min"
    assert said() == "no run was long enough to count"
