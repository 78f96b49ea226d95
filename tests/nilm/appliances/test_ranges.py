import numpy as np
import pytest

from nilm.appliances.ranges import EnergyRange, energy_ranges, range_of_sum


def test_what_is_surer_has_the_narrower_range_and_each_holds_its_energy() -> None:
    ranges = energy_ranges([2.0] * 3, np.array([0.05, 0.7, 0.99]))
    assert all(r.low_kwh <= r.kwh <= r.high_kwh for r in ranges)
    widths = [r.high_kwh - r.low_kwh for r in ranges]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1]


def test_no_appliance_used_more_than_all_together() -> None:
    small, _ = energy_ranges([0.1, 3.0], np.array([0.0, 0.0]))
    assert small.high_kwh <= 3.1


def test_the_range_of_a_generator_is_negative_and_in_order() -> None:
    (sun, _) = energy_ranges([-5.0, 9.0], np.array([0.7, 0.9]))
    assert sun.low_kwh <= -5.0 <= sun.high_kwh < 0


def test_the_ends_of_a_sum_add_up() -> None:
    total = range_of_sum([EnergyRange(1.0, 0.7, 1.3), EnergyRange(2.0, 1.6, 2.4)])
    assert tuple(total) == pytest.approx((3.0, 2.3, 3.7))
