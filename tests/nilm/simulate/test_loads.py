import numpy as np
import pytest

from nilm.simulate import loads

D = 320


@pytest.fixture
def voltage_v() -> loads.FloatArray:
    return loads.voltage_cycle(np.random.default_rng(0), D)


def power_factor(voltage_v: loads.FloatArray, current_a: loads.FloatArray) -> float:
    return loads.active_w(voltage_v, current_a) / (loads.rms(voltage_v) * loads.rms(current_a))


def harmonics(cycle: loads.FloatArray) -> loads.FloatArray:
    spectrum = np.abs(np.fft.rfft(cycle))
    return spectrum / spectrum[1]


@pytest.mark.parametrize("seed", range(5))
def test_the_voltage_has_its_size_and_harmonics_and_its_fundamental_starts_at_a_rising_zero(
    seed: int,
) -> None:
    v = loads.voltage_cycle(np.random.default_rng(seed), D)
    h = harmonics(v)
    assert loads.rms(v) == pytest.approx(240)
    assert np.angle(np.fft.rfft(v)[1]) == pytest.approx(-np.pi / 2, abs=1e-9)
    assert 0.0099 <= h[3] <= 0.0301
    assert 0.0099 <= h[5] <= 0.0201
    others = np.delete(h, [1, 3, 5])
    assert others.max() < 1e-12


@pytest.mark.parametrize(
    ("current", "watts", "low", "high"),
    [
        (lambda v: loads.resistive(v, 2800), 2800, 0.99999, 1.0000001),
        (lambda v: loads.motor(v, 90, power_factor=0.65, saturation=0.05), 90, 0.62, 0.67),
        (lambda v: loads.rectifier(v, 60), 60, 0.5, 0.8),
        (lambda v: loads.corrected_supply(v, 130, cusp=0.2, filter_va=10), 130, 0.97, 0.9999),
        (lambda v: loads.dimmed(v, 180, firing_deg=90), 180, 0.68, 0.74),
        (lambda v: loads.standby(v, 95, leading_va=50), 95, 0.5, 0.9),
    ],
)
def test_each_load_draws_its_watts_at_a_power_factor_of_its_kind(
    current, watts, low, high, voltage_v
) -> None:
    i = current(voltage_v)
    assert loads.active_w(voltage_v, i) == pytest.approx(watts, rel=1e-9)
    assert low <= power_factor(voltage_v, i) <= high
    assert abs(i.mean()) < 1e-9  # no DC


def test_a_half_dimmed_lamp_has_the_textbook_power_factor_and_no_current_before_firing(voltage_v) -> None:
    i = loads.dimmed(voltage_v, 180, firing_deg=90)
    # Half of each half-wave of a sine: P = V²/2R, I² = V²/2R², so the power factor is √½.
    assert power_factor(voltage_v, i) == pytest.approx(np.sqrt(0.5), abs=0.02)
    degrees = 360 * np.arange(D) / D % 180
    assert np.abs(i[(degrees > 10) & (degrees < 80)]).max() < 0.01 * np.abs(i).max()


def test_a_motor_lags_and_a_capacitor_leads(voltage_v) -> None:
    def lag_deg(i: loads.FloatArray) -> float:
        return float(np.degrees(np.angle(np.fft.rfft(voltage_v)[1] / np.fft.rfft(i)[1])))

    assert lag_deg(loads.motor(voltage_v, 90, power_factor=0.5, saturation=0.0)) == pytest.approx(60, abs=0.1)
    assert lag_deg(loads.capacitor(voltage_v, 50)) == pytest.approx(-90, abs=0.1)
    assert loads.active_w(voltage_v, loads.capacitor(voltage_v, 50)) == pytest.approx(0, abs=1e-9)


def test_a_rectifier_draws_pulses_and_its_corrected_sibling_hardly_distorts(voltage_v) -> None:
    pulsed = loads.rectifier(voltage_v, 60, ripple=0.1)
    assert harmonics(pulsed)[3] > 0.5
    assert np.mean(np.abs(pulsed) < 0.02 * np.abs(pulsed).max()) > 0.4
    assert harmonics(loads.corrected_supply(voltage_v, 60, cusp=0.2, filter_va=5))[3] < 0.12
