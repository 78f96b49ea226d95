import numpy as np
import pytest

from lfm import Solution
from nilm.disaggregate.disaggregation import sizes
from nilm.disaggregate.sun.feed_in import (
    _loads_step,
    completed,
    consumes_when_off,
    first_amplitude,
    with_generator,
    without_sunshine,
)
from nilm.disaggregate.sun.generator import Generator, find_generator
from nilm.simulate.house import drop_rows, observe, simulated_house
from nilm.simulate.solar import with_solar

HOUSE = simulated_house(seed=4, days=4, n_appliances=8, n_points=64)
WITH_SUN, PROFILE = with_solar(HOUSE, np.random.default_rng(1))
PANELS = WITH_SUN.W[-1]
TRUE = PROFILE[:, -1] * np.linalg.norm(PANELS)  # amplitude along the unit shape
X = observe(HOUSE, noise_a=0.002, rng=np.random.default_rng(0)) + np.outer(PROFILE[:, -1], PANELS)


def generator(rows: np.ndarray = X, gap_before: np.ndarray = HOUSE.gap_before) -> Generator:
    found = find_generator(rows, HOUSE.voltage_v, gap_before)
    assert found is not None
    return found


def test_the_sun_is_told_from_the_loads_before_any_appliance_is_known() -> None:
    sun = generator()
    off_w = np.abs(first_amplitude(X, sun, HOUSE.gap_before) - TRUE) * abs(sun.watts)
    assert np.median(off_w[sun.daylight]) < 2
    assert np.quantile(off_w[sun.daylight], 0.75) < 15
    # Adding up what is seen at the switches, with no tie between alike segments, is far worse.
    still = np.where(sun.switch, 0.0, np.diff(X @ sun.shape, prepend=0.0))
    added = np.cumsum(np.where(sun.daylight, still, 0.0))
    assert np.median(np.abs(added - TRUE)[sun.daylight]) * abs(sun.watts) > 10
    assert (first_amplitude(X, sun, HOUSE.gap_before)[~sun.daylight] == 0).all()


def test_gaps_in_time_do_not_carry_a_level_along() -> None:
    house = drop_rows(HOUSE, share=0.03, rng=np.random.default_rng(3))
    kept = np.isin(HOUSE.start_utc, house.start_utc)
    sun = generator(X[kept], house.gap_before)
    off_w = np.abs(first_amplitude(X[kept], sun, house.gap_before) - TRUE[kept]) * abs(sun.watts)
    assert np.median(off_w[sun.daylight]) < 3


def test_a_feature_without_current_across_the_shape_is_the_suns() -> None:
    sun = generator()
    clouds = (np.arange(len(X)) % 7 == 0).astype(np.uint8)
    house = Solution(HOUSE.Z, HOUSE.W)
    more = Solution(np.column_stack([HOUSE.Z, clouds]), np.vstack([HOUSE.W, 5 * sun.shape]))
    np.testing.assert_array_equal(without_sunshine(more, sun).Z, HOUSE.Z)
    assert without_sunshine(house, sun) is house


def test_a_house_whose_appliance_is_a_difference_of_heaters_gives_power_when_all_is_off() -> None:
    sun = generator()
    Z, W = HOUSE.Z.copy(), HOUSE.W.copy()
    loads = X - np.outer(PROFILE[:, -1], PANELS)
    assert consumes_when_off(Solution(Z, W), loads, sun)
    assert consumes_when_off(Solution(Z[:, ::-1] ^ (~Z[:, ::-1].all(axis=0)), W[::-1]), loads, sun)
    larger, smaller = np.argsort(-HOUSE.watts)[:2]
    Z[:, larger] |= Z[:, smaller]
    W[smaller] -= W[larger]
    assert not consumes_when_off(Solution(Z, W), loads, sun)


def test_known_appliances_complete_the_waveforms_and_the_amplitude() -> None:
    sun = generator()
    across = Solution(HOUSE.Z, sun.without(HOUSE.W))
    found, amplitude = completed(across, X, sun)
    watts = found.W @ HOUSE.voltage_v / len(HOUSE.voltage_v)
    np.testing.assert_allclose(watts, HOUSE.watts, rtol=0.03, atol=8)
    off_w = np.abs(amplitude - TRUE) * abs(sun.watts)
    assert np.median(off_w[sun.daylight]) < 3
    assert (amplitude >= 0).all()
    assert (amplitude[~sun.daylight] == 0).all()


def test_the_generator_becomes_the_last_feature_with_its_energy() -> None:
    solution, size = with_generator(Solution(HOUSE.Z, HOUSE.W), PANELS / np.linalg.norm(PANELS), TRUE)
    assert solution.K == 9
    np.testing.assert_array_equal(solution.Z[:, -1], TRUE > 0)
    assert size.sum() == pytest.approx(np.count_nonzero(TRUE))
    np.testing.assert_allclose(size @ solution.W[-1:], np.outer(PROFILE[:, -1], PANELS), atol=1e-9)
    np.testing.assert_allclose(sizes(solution.Z, size) @ solution.W, X, atol=0.02)


def test_the_suns_own_step_is_that_of_the_still_rows_beside() -> None:
    step = np.array([0.0, 2.0, 1.0, 9.0, 1.0, 2.0, 1.0, 1.0])
    switch = np.arange(len(step)) == 3
    ones = np.ones(len(step), dtype=bool)
    sun = Generator(np.array([1.0, 0.0]), -100.0, ones, switch, 0.01, 0.0)
    left, error = _loads_step(np.cumsum(step), sun)
    assert left[3] == pytest.approx(9 - (2 + 1 + 1 + 2) / 4)
    assert left[5] == pytest.approx(2 - (1 + 1 + 1) / 3), "a row that switches says nothing of the sun"
    assert error == pytest.approx(1.4826 * np.median(np.abs(left[~switch])))
