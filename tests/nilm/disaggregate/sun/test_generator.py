import numpy as np
import pytest

from nilm.disaggregate.sun.generator import find_generator
from nilm.simulate import loads
from nilm.simulate.grid import Conditions
from nilm.simulate.house import observe, simulated_house
from nilm.simulate.lifelike import lifelike_house
from nilm.simulate.signal import signal_of
from nilm.simulate.solar import with_solar

HOUSE = simulated_house(seed=4, days=3, n_appliances=8, n_points=64)
WITH_SUN, PROFILE = with_solar(HOUSE, np.random.default_rng(1))
SUN = PROFILE[:, -1]  # (N,) of the peak
NOISE_A = 0.002
LOADS = observe(HOUSE, noise_a=NOISE_A, rng=np.random.default_rng(0))
X = LOADS + np.outer(SUN, WITH_SUN.W[-1])


def test_the_shape_the_daylight_and_the_switches_are_found() -> None:
    found = find_generator(X, HOUSE.voltage_v, HOUSE.gap_before)
    assert found is not None
    panels = WITH_SUN.W[-1]
    assert found.shape @ panels / np.linalg.norm(panels) > 0.99999
    assert found.watts * np.linalg.norm(panels) == pytest.approx(WITH_SUN.watts[-1], rel=1e-3)
    assert np.count_nonzero(found.daylight != (SUN > 0)) <= 3
    switches = np.append(True, (HOUSE.Z[1:] != HOUSE.Z[:-1]).any(axis=1))
    np.testing.assert_array_equal(found.switch, switches)
    assert found.missed(HOUSE.Z) == 0
    assert found.missed(np.ones_like(HOUSE.Z)) == np.count_nonzero(switches[1:])


@pytest.mark.parametrize("interval_s", [30, 300, 600])
def test_a_day_is_as_long_whatever_the_time_between_rows(interval_s: int) -> None:
    house = simulated_house(seed=4, days=3, n_appliances=8, n_points=64, interval_s=interval_s)
    sunny, profile = with_solar(house, np.random.default_rng(1))
    loads_a = observe(house, noise_a=NOISE_A, rng=np.random.default_rng(0))
    rows = loads_a + np.outer(profile[:, -1], sunny.W[-1])
    found = find_generator(rows, house.voltage_v, house.gap_before, interval_s=interval_s)
    assert found is not None
    assert np.count_nonzero(found.daylight != (profile[:, -1] > 0)) * interval_s < 3 * 1800
    assert found.shape @ sunny.W[-1] / np.linalg.norm(sunny.W[-1]) > 0.999
    assert find_generator(loads_a, house.voltage_v, house.gap_before, interval_s=interval_s) is None


def test_how_small_a_heater_is_lost_by_day_depends_on_the_inverters_shape() -> None:
    found = find_generator(X, HOUSE.voltage_v, HOUSE.gap_before)
    assert found is not None
    lost = loads.resistive(HOUSE.voltage_v, found.unseen_w)
    across = found.without(lost[None])[0]
    assert np.sqrt(np.mean(across**2)) == pytest.approx(found.quiet_a)
    assert 20 < found.unseen_w < 300
    copy = LOADS + np.outer(SUN, -loads.resistive(HOUSE.voltage_v, 2500))
    worse = find_generator(copy, HOUSE.voltage_v, HOUSE.gap_before)
    assert worse is not None
    assert worse.unseen_w > 3000


def test_without_leaves_nothing_of_the_shape_and_all_that_lies_across_it() -> None:
    found = find_generator(X, HOUSE.voltage_v, HOUSE.gap_before)
    assert found is not None
    np.testing.assert_allclose(found.without(X) @ found.shape, 0, atol=1e-9)
    np.testing.assert_allclose(found.without(X), found.without(LOADS), atol=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_a_house_without_panels_has_no_generator(seed: int) -> None:
    house = simulated_house(seed=seed, days=3, n_appliances=12, n_points=64)
    for hard in ({}, {"drift": 0.03}, {"slow_change": 0.05}):
        rows = observe(house, noise_a=NOISE_A, rng=np.random.default_rng(seed), **hard)
        assert find_generator(rows, house.voltage_v, house.gap_before) is None


def test_a_feed_in_that_is_on_or_off_is_an_appliance_like_others() -> None:
    battery = -loads.resistive(HOUSE.voltage_v, 1500)
    rows = LOADS + np.outer(SUN > 0, battery)
    assert find_generator(rows, HOUSE.voltage_v, HOUSE.gap_before) is None


def test_without_a_night_nobody_knows_what_zero_is() -> None:
    day = np.flatnonzero(SUN > 0)
    assert find_generator(X[day], HOUSE.voltage_v, np.diff(day, prepend=-9) != 1) is None


def test_too_few_rows_say_nothing() -> None:
    assert find_generator(X[:10], HOUSE.voltage_v, HOUSE.gap_before[:10]) is None


def test_a_heater_that_is_turned_up_and_down_is_no_generator() -> None:
    rows = LOADS + np.outer(SUN, loads.resistive(HOUSE.voltage_v, 1500))
    assert find_generator(rows, HOUSE.voltage_v, HOUSE.gap_before) is None


@pytest.mark.parametrize("seed", [1000, 1001])
def test_a_heat_pump_that_varies_all_day_is_no_generator(seed: int) -> None:
    house, profile = lifelike_house(seed=seed, days=3, n_points=64)
    signal = signal_of(house, Conditions(), np.random.default_rng(seed), profile=profile)
    current = signal.cycles_a(house.row_s)
    assert find_generator(current, house.voltage_v, house.gap_before) is None
