from dataclasses import replace
from typing import Any

import pytest

from nilm.report.changes import compare, reason
from nilm.report.summary import ApplianceLine, WeekSummary, summary_of


@pytest.fixture(scope="module")
def summary(week: Any) -> WeekSummary:
    return summary_of(week(n_appliances=5, days=1, gap=(300, 330)))


def line(**fields: Any) -> ApplianceLine:
    return replace(ApplianceLine("A01", "kettle", "resistive heater", 0, 2.0, runs=10, on_s=3600.0), **fields)


def test_the_reason_is_the_factor_that_changed_most() -> None:
    assert reason(line(energy_kwh=4.0, runs=20, on_s=7200.0), line()) == "20 runs instead of 10"
    assert reason(line(energy_kwh=4.0, on_s=7200.0), line()) == "runs of 12 min instead of 6 min"
    assert reason(line(energy_kwh=3.0), line()) == "3.0 kW instead of 2.0 kW"
    assert reason(line(energy_kwh=2.05), line()) == ""
    assert reason(line(runs=0, on_s=0.0, energy_kwh=0.0), line()) == ""


def test_a_week_is_compared_with_the_one_before_and_the_mean_of_four(summary: WeekSummary) -> None:
    weeks = [
        replace(summary, week=f"2015-wk{n:02d}", metered_kwh=kwh)
        for n, kwh in ((2, 90.0), (3, 10.0), (4, 20.0), (5, 30.0), (6, 40.0), (8, 70.0))
    ]
    this = replace(summary, week="2015-wk07", metered_kwh=50.0)
    found = compare(this, weeks)
    assert found is not None
    assert (found.week, found.follows, found.change_kwh) == ("2015-wk06", True, 10.0)
    assert found.change_cost == pytest.approx(2.8)
    assert (found.usual_change_kwh, found.usual_weeks) == (25.0, 4)
    assert compare(weeks[0], weeks) is None
    later = compare(replace(this, week="2015-wk10"), weeks)
    assert later is not None
    assert (later.week, later.follows) == ("2015-wk08", False)


def test_less_data_is_named_as_a_reason(summary: WeekSummary) -> None:
    before = replace(summary, week="2014-wk52", coverage=0.6)
    found = compare(replace(summary, coverage=0.95), [before])
    assert found is not None
    assert found.coverage == 0.6


def test_what_older_weeks_had_is_back_and_not_new(summary: WeekSummary) -> None:
    before = replace(summary, week="2014-wk52", appliances=summary.appliances[:-2])
    back, new = summary.appliances[-2:]
    found = compare(summary, [before], seen={back.appliance_id})
    assert found is not None
    assert (found.arrivals.new, found.arrivals.back) == ((new.name,), (back.name,))
    gone = compare(before, [replace(summary, week="2014-wk51")])
    assert gone is not None
    assert gone.arrivals.vanished == (back.name, new.name)
