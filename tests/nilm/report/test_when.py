from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from nilm.report import when
from nilm.results import WeekResult


@pytest.fixture(scope="module")
def result(week: Any) -> WeekResult:
    return week(n_appliances=4)


def hours(on: dict[int, float], data: float = 3600.0) -> when.Hours:
    """An appliance of 1 kW that is on for the given seconds of the given hours, on each of seven days."""
    on_s = np.zeros((7, 24))
    for hour, seconds in on.items():
        on_s[:, hour] = seconds
    return when.Hours(energy_wh=on_s / 3.6, on_s=on_s, data_s=np.full((7, 24), data))


def test_a_whole_week_is_shown_from_monday_even_where_data_lacks(result: WeekResult) -> None:
    part = replace(result, start_utc=result.start_utc[2000:3000], duration_s=result.duration_s[2000:3000])
    window = when.week_window(part)
    assert (window.start, window.days) == (np.datetime64("2014-12-29T00:00:00"), 7)


def test_a_short_run_is_shown_by_its_days(week: Any) -> None:
    window = when.week_window(week(n_appliances=3, days=1.5, start_utc="2015-01-01"))
    assert (window.start, window.days) == (np.datetime64("2015-01-01T00:00:00"), 2)


def test_a_week_that_does_not_start_on_monday_is_shown_whole(week: Any) -> None:
    window = when.week_window(week(n_appliances=3, start_utc="2015-01-01"))
    assert (window.start, window.days) == (np.datetime64("2015-01-01T00:00:00"), 7)


def test_gaps_are_the_stretches_without_rows(result: WeekResult) -> None:
    window = when.week_window(result)
    assert when.gaps(result, window) == [(1500 * 120.0, 1650 * 120.0)]
    wednesday = when.Window(window.start + np.timedelta64(2, "D"), 1)
    assert when.gaps(result, wednesday) == [(1500 * 120.0 - 2 * 86_400, 1650 * 120.0 - 2 * 86_400)]


def test_hours_hold_all_the_energy_of_an_appliance(result: WeekResult) -> None:
    window = when.week_window(result)
    for appliance in result.appliances:
        found = when.hours_of(result, appliance, window)
        assert found.energy_wh.sum() / 1000 == pytest.approx(appliance.energy_kwh, abs=1e-6)
        assert found.data_s.sum() == len(result.start_utc) * 120
        assert np.all(found.on_s <= found.data_s)


@pytest.mark.parametrize(
    ("on", "words"),
    [
        ({}, "never on in this week's data"),
        (dict.fromkeys(range(24), 1800.0), "at all hours"),
        ({7: 600, 8: 600}, "mostly 07:00–09:00"),
        ({23: 600, 0: 600}, "mostly 23:00–01:00"),
        ({7: 600, 18: 600, 19: 600}, "mostly 07:00–08:00 and 18:00–20:00"),
        ({6: 600, 12: 600, 18: 600}, "mostly 06:00–07:00, 12:00–13:00 and 18:00–19:00"),
        ({3: 600, 7: 700, 11: 600, 15: 600, 20: 600}, "spread over the day, most often 07:00–08:00"),
    ],
)
def test_usual_times_in_words(on: dict[int, float], words: str) -> None:
    assert when.usual_times(hours(on)) == words


def test_hours_without_data_are_not_counted_as_off() -> None:
    night_only = hours(dict.fromkeys(range(6), 3600.0))
    night_only.data_s[:, 6:] = 0
    assert when.usual_times(night_only) == "in every hour that has data"


def test_bins_are_means_and_empty_bins_are_unknown(result: WeekResult) -> None:
    window = when.week_window(result)
    ramp = np.arange(len(result.start_utc), dtype=np.float64)
    ramp[0] = np.nan
    means = when.binned(ramp, result, window, bin_s=3600)
    assert means[0] == pytest.approx(np.mean(ramp[1:30]))
    assert np.flatnonzero(np.isnan(means)).tolist() == [50, 51, 52, 53, 54]


def test_the_busiest_day_holds_most_marked_rows(result: WeekResult) -> None:
    marked = np.zeros(len(result.start_utc), dtype=bool)
    marked[[10, 800, 801]] = True
    assert when.busiest_day(result, marked, when.week_window(result)).start == np.datetime64(
        "2014-12-30T00:00:00"
    )


def test_the_clock_is_the_houses_in_summer(week: Any) -> None:
    summer = week(n_appliances=3, start_utc="2015-06-29", week="2015-wk27")
    window = when.week_window(summer)
    assert (window.start, window.days) == (np.datetime64("2015-06-29T00:00:00"), 7)
    assert window.seconds(np.datetime64("2015-06-29T00:00:00")) == 3600
    assert window.day(6) == "Sun 5 Jul"
    found = when.hours_of(summer, summer.appliances[0], window)
    assert found.data_s[0, 0] == 0  # the week begins at midnight UTC, one o'clock by the house's clock
    assert found.data_s[0, 1] == 3600


def test_the_hour_that_comes_twice_is_counted_twice_and_none_is_invented() -> None:
    london = ZoneInfo("Europe/London")
    back = when.Window(np.datetime64("2015-10-25T00:00:00"), 1, london).edges(3600)
    assert sorted(np.diff(back))[-2:] == [3600.0, 7200.0]
    forward = when.Window(np.datetime64("2015-03-29T00:00:00"), 1, london).edges(3600)
    assert sorted(np.diff(forward))[:2] == [0.0, 3600.0]


def test_rows_that_stand_for_longer_fill_their_bins(result: WeekResult) -> None:
    window = when.week_window(result)
    every_fifth = replace(
        result,
        start_utc=result.start_utc[:1500:5],
        metered_w=np.full(300, 50.0),
        duration_s=np.full(300, 600.0),
    )
    mean = when.binned(every_fifth.metered_w, every_fifth, window, bin_s=120)
    assert np.isfinite(mean).sum() == 1500
    assert np.nanmax(np.abs(mean - 50.0)) < 1e-6
