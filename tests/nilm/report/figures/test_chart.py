"""The layers of the power, by their names and numbers."""

import base64
from dataclasses import replace
from typing import Any

import numpy as np

from nilm.report.figures.chart import BIN_S, bokeh_script, chart_data, power_layers
from nilm.report.when import week_window


def test_what_feeds_in_has_a_layer_of_its_own(week: Any) -> None:
    result = week(n_appliances=14)
    small = min(result.appliances, key=lambda a: a.energy_kwh)
    sun = replace(small, name="solar panels", energy_kwh=-500.0)
    others = tuple(a for a in result.appliances if a is not small)

    def names(appliances: Any) -> list[str]:
        return [layer.name for layer in power_layers(replace(result, appliances=appliances))]

    assert small.name not in names(result.appliances)  # the smallest of many shares a layer
    assert "6 others" in names(result.appliances)
    assert "solar panels" in names((*others, sun))


def test_the_chart_holds_all_the_energy(week: Any) -> None:
    result = week(n_appliances=12)
    window = week_window(result)
    data = chart_data(power_layers(result), result, window)
    watts = [np.frombuffer(base64.b64decode(layer["power_w"]), "<f4") for layer in data["layers"]]
    assert all(len(w) == window.days * 86_400 // BIN_S for w in watts)
    kwh = sum(float(np.nansum(w, dtype=np.float64)) for w in watts) * BIN_S / 3.6e6
    assert abs(kwh - sum(a.energy_kwh for a in result.appliances)) < 0.05
    assert np.isnan(watts[0]).sum() == 150  # rows of the gap


def test_bokehs_script_may_stand_in_a_page() -> None:
    assert "</script" not in bokeh_script()
