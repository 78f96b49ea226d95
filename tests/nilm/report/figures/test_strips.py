import re
from typing import Any

import numpy as np

from nilm.report import when
from nilm.report.figures import strips


def test_bars_tell_start_and_length_in_minutes() -> None:
    assert strips.bars([(60, 180), (7200, 7260.6)]) == "M1 0h2v10H1zM120 0h1.01v10H120z"


def test_runs_of_a_column_end_at_holes_and_at_the_window(week: Any) -> None:
    result = week(n_appliances=3)
    window = when.week_window(result)
    always = np.ones(len(result.start_utc), dtype=np.uint8)
    assert strips.on_stretches(always, result, window) == [(0.0, 180_000.0), (198_000.0, 604_800.0)]
    tuesday = when.Window(window.start + np.timedelta64(1, "D"), 1)
    assert strips.on_stretches(always, result, tuesday) == [(0.0, 86_400.0)]
    assert strips.on_stretches(always * 0, result, window) == []


def test_the_heat_map_shades_by_energy_and_strikes_out_what_is_unknown(week: Any) -> None:
    result = week(n_appliances=4)
    window = when.week_window(result)
    appliance = next(a for a in result.appliances if a.kind == "always on")
    hours = when.hours_of(result, appliance, window)
    svg = strips.heat_map(appliance, hours, window, usual="at all hours")
    assert svg.count("l7 -7") == 5  # five whole hours without data
    values = re.search(r'data-wh="([^"]*)"', svg)[1].split(",")
    assert len(values) == 7 * 24
    assert values.count("") == 5
    assert svg.count("h11v11") == 7 * 24 - 5
    assert svg.count(f"h{24 * 12}") == 7  # the ground: one dashed line a day
    assert 'fill-opacity="1.0"' in svg


def test_a_row_names_its_appliance_for_a_screen_reader(week: Any) -> None:
    result = week(n_appliances=4, names={1: 'x"><script>'})
    window = when.week_window(result)
    appliance = next(a for a in result.appliances if a.appliance_id == "A02")
    row = strips.activations_row(appliance, when.gaps(result, window), window)
    assert "<script>" not in row
    assert f"{len(appliance.activations)} runs" in row
    assert row.count("M", row.index('class="run"')) == len(appliance.activations)


def test_a_strip_of_power_draws_each_stretch_of_equal_watts_once(week: Any) -> None:
    result = week(n_appliances=4)
    window = when.week_window(result)
    appliance = next(a for a in result.appliances if a.appliance_id == "A02")
    power_w = np.zeros(7 * 96)
    power_w[96:100] = (50, 100, 100, 25)
    svg = strips.power_strip(appliance, power_w, [], window)
    assert 'd="M0 40V40h1440V20h15V0h30V30h15V40h8580V40z"' in svg
    assert 'class="run" d=""' in strips.power_strip(appliance, 0 * power_w, [], window)
