import numpy as np
import pytest

from nilm.appliances.certainty.ranges import EnergyRange, energy_ranges, range_of_sum


def test_a_range_is_between_its_factors() -> None:
    (wide, narrow, _) = energy_ranges([2.0, 2.0, 6.0], np.array([0.5, 0.99, 1.0]), np.array([1.5, 1.01, 1.0]))
    assert tuple(wide) == pytest.approx((2.0, 1.0, 3.0))
    assert tuple(narrow) == pytest.approx((2.0, 1.98, 2.02))


def test_no_appliance_used_more_than_all_together() -> None:
    small, _ = energy_ranges([0.1, 3.0], np.zeros(2), np.full(2, 1000.0))
    assert small.high_kwh == pytest.approx(3.1)


def test_the_range_of_a_generator_is_negative_and_in_order() -> None:
    (sun, _) = energy_ranges([-5.0, 9.0], np.full(2, 0.8), np.full(2, 1.2))
    assert tuple(sun) == pytest.approx((-5.0, -6.0, -4.0))


def test_the_ends_of_a_sum_add_up() -> None:
    total = range_of_sum([EnergyRange(1.0, 0.7, 1.3), EnergyRange(2.0, 1.6, 2.4)])
    assert tuple(total) == pytest.approx((3.0, 2.3, 3.7))
