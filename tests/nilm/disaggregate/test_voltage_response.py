import numpy as np
import pytest

from lfm import hamming_error
from nilm.disaggregate.house import disaggregate
from nilm.disaggregate.voltage_response import at_steady_voltage
from nilm.simulate.grid import Conditions
from nilm.simulate.house import House, simulated_house
from nilm.simulate.signal import signal_of

HOUSE = simulated_house(seed=4, days=4, n_appliances=9, n_points=64)
NOISE_A = 0.002


def recorded(house: House, *, drift: float, swing: float) -> tuple[np.ndarray, np.ndarray]:
    """Current and voltage (N, D) of a house on a street whose voltage wanders and sags."""
    rng = np.random.default_rng(1)
    signal = signal_of(house, Conditions(drift=drift, voltage_swing=swing), rng)
    current = signal.cycles_a(house.row_s)
    current += NOISE_A * rng.standard_normal(current.shape)
    return current, np.outer(signal.level(house.row_s), house.voltage_v)


def unexplained_a(X: np.ndarray, Z: np.ndarray) -> float:
    """RMS amperes that the true states leave of X."""
    design = Z.astype(float)
    return float(np.sqrt(np.mean((X - design @ np.linalg.lstsq(design, X, rcond=None)[0]) ** 2)))


@pytest.mark.parametrize("swing", [0.003, 0.02])
def test_what_the_voltage_does_to_heaters_motors_and_supplies_is_taken_away(swing) -> None:
    current, voltage = recorded(HOUSE, drift=0.0, swing=swing)
    steady = at_steady_voltage(current, voltage, HOUSE.gap_before)
    assert unexplained_a(current, HOUSE.Z) > 1.5 * NOISE_A
    # What is left is noise, and the second order of the swing.
    assert unexplained_a(steady, HOUSE.Z) < 1.1 * NOISE_A + swing**2 * 3


def test_switches_are_not_mistaken_for_a_response_to_the_sag_that_they_cause() -> None:
    current, voltage = recorded(HOUSE, drift=0.0, swing=0.003)
    steady = at_steady_voltage(current, voltage, HOUSE.gap_before)
    true = np.linalg.lstsq(HOUSE.Z.astype(float), steady, rcond=None)[0]
    np.testing.assert_allclose(true, HOUSE.W, atol=0.01 * np.abs(HOUSE.W).max())


def test_a_voltage_that_does_not_move_changes_nothing() -> None:
    current, _ = recorded(HOUSE, drift=0.01, swing=0.0)
    still = np.broadcast_to(HOUSE.voltage_v, current.shape)
    assert at_steady_voltage(current, still, HOUSE.gap_before) is current


def test_too_few_rows_change_nothing() -> None:
    current, voltage = recorded(HOUSE, drift=0.0, swing=0.003)
    np.testing.assert_array_equal(
        at_steady_voltage(current[:60], voltage[:60], HOUSE.gap_before[:60]), current[:60]
    )


def test_a_voltage_that_has_nothing_to_do_with_the_current_does_no_harm() -> None:
    current, _ = recorded(HOUSE, drift=0.0, swing=0.0)
    wander = 1 + 0.003 * np.sin(np.arange(len(current)) / 7)
    steady = at_steady_voltage(current, np.outer(wander, HOUSE.voltage_v), HOUSE.gap_before)
    assert unexplained_a(steady, HOUSE.Z) < 1.05 * unexplained_a(current, HOUSE.Z)


def test_a_house_on_a_restless_street_is_found() -> None:
    current, voltage = recorded(HOUSE, drift=0.005, swing=0.02)
    found = disaggregate(current, voltage, start_utc=HOUSE.start_utc)
    assert HOUSE.Z.shape[1] == found.solution.K
    assert hamming_error(found.solution.Z, HOUSE.Z) < 0.002
