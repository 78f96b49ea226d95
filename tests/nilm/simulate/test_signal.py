import numpy as np
import pytest

from nilm.simulate import loads
from nilm.simulate.grid import Conditions
from nilm.simulate.house import simulated_house
from nilm.simulate.signal import Signal, signal_of

RATE_HZ = 16_000
IDEAL = Conditions(frequency_swing_hz=0, voltage_swing=0, source_ohm=0, drift=0, noise_v=0, noise_a=0)


def signal(conditions: Conditions, seed: int = 0) -> Signal:
    return signal_of(simulated_house(seed=seed, days=0.25), conditions, np.random.default_rng(seed))


def one_cycle(s: Signal, row: int, n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Volts and amps of the first whole cycle after a row's instant, resampled by brute force."""
    fine = 2_000_000
    start_s = s.house.row_s[row]
    time_s = start_s + np.arange(int(0.05 * fine)) / fine
    cycles = s.mains.cycles(time_s)
    first = np.ceil(cycles[0])
    wanted = np.interp(first + np.arange(n_points) / n_points, cycles, time_s)
    volts, amps = s.samples(start_s, len(time_s), fine)
    return np.interp(wanted, time_s, volts), np.interp(wanted, time_s, amps)


def test_in_ideal_conditions_a_cycle_is_the_product_of_z_and_w() -> None:
    s = signal(IDEAL)
    for row in (0, 60, 170):
        volts, amps = one_cycle(s, row, 320)
        np.testing.assert_allclose(volts, s.house.voltage_v, atol=0.02)
        np.testing.assert_allclose(amps, s.house.Z[row] @ s.house.W, atol=2e-3)


def test_power_of_the_samples_is_the_stated_power_under_sag_and_drift() -> None:
    s = signal(Conditions(source_ohm=0.3, drift=0.05, voltage_swing=0.02))
    assert s.level(s.house.row_s).min() < 0.99
    for row in range(0, 180, 15):
        volts, amps = one_cycle(s, row, 2000)
        at = s.house.row_s[[row]]
        assert np.mean(volts * amps) == pytest.approx(s.watts(at).sum(), rel=1e-4)
        assert loads.rms(volts) == pytest.approx(s.rms_v(at)[0], rel=1e-4)
        assert loads.rms(amps) == pytest.approx(s.rms_a(at)[0], rel=1e-3)


def test_voltage_sags_under_load_by_ohms_law() -> None:
    s = signal(Conditions(voltage_swing=0, drift=0, source_ohm=0.2))
    watts = s.house.Z @ s.house.watts
    np.testing.assert_allclose(s.rms_v(s.house.row_s), 240 - 0.2 * watts / 240, rtol=1e-12)


def test_a_heater_follows_the_voltage_and_electronics_hold_their_power() -> None:
    s = signal(Conditions(voltage_swing=0.05, drift=0, source_ohm=0))
    level = s.level(s.house.row_s)
    watts = s.watts(s.house.row_s)
    for name, power in [("kettle", 2), ("television", 0), ("fridge", 1)]:
        k = s.house.names.index(name)
        on = s.house.Z[:, k] == 1
        np.testing.assert_allclose(watts[on, k], s.house.watts[k] * level[on] ** power)


def test_nothing_switches_near_a_row_and_row_states_hold_at_their_instants() -> None:
    s = signal(Conditions())
    distance = np.abs(s.switch_s[1:, None] - s.house.row_s[None, :]).min(axis=1)
    assert distance.min() >= 0.05 * 120
    np.testing.assert_array_equal(s.state(s.house.row_s), np.arange(len(s.house.Z)))
    np.testing.assert_array_equal(s.amplitudes > 0, s.house.Z == 1)


def test_any_stretch_of_samples_is_the_same_alone_and_within_a_longer_one() -> None:
    s = signal(Conditions())
    volts, amps = s.samples(100.0, 40 * RATE_HZ, RATE_HZ)
    for first in (0, 17 * RATE_HZ + 4321):
        v, i = s.samples(100.0 + first / RATE_HZ, 4800, RATE_HZ)
        np.testing.assert_allclose(v, volts[first : first + 4800], atol=1e-3)
        np.testing.assert_allclose(i, amps[first : first + 4800], atol=1e-3)
