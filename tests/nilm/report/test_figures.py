"""The wide figures, by what their text says."""

from dataclasses import replace
from typing import Any

from nilm.report.figures import stacked_power
from nilm.report.when import week_window


def test_what_feeds_in_has_a_layer_of_its_own(week: Any) -> None:
    result = week(n_appliances=14)
    small = min(result.appliances, key=lambda a: a.energy_kwh)
    sun = replace(small, name="solar panels", energy_kwh=-500.0)
    others = tuple(a for a in result.appliances if a is not small)

    def drawn(appliances: Any) -> str:
        return stacked_power(replace(result, appliances=appliances), week_window(result), name="s")

    assert small.name not in drawn(result.appliances)  # the smallest of many shares a layer
    assert "solar panels" in drawn((*others, sun))
