import numpy as np
import pytest

from nilm.recordings.phase_lock import average_cycles, fit_fundamental

RATE_HZ = 16_000
WINDOW = 3600


def windows(
    hz: np.ndarray, phase: np.ndarray, *, length: int = WINDOW, noise: float = 0.0, harmonics: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """(R, length, 2) samples, voltage with harmonics and a current sin⁵, and the angle at each sample."""
    time_s = (np.arange(length) - (length - 1) / 2) / RATE_HZ
    angle = 2 * np.pi * hz[:, None] * time_s + phase[:, None]
    voltage = np.sin(angle)
    if harmonics:
        voltage = voltage + 0.03 * np.sin(3 * angle + 0.4) + 0.02 * np.sin(5 * angle - 1) + 0.05
    samples = np.stack([voltage, np.sin(angle - 0.3) ** 5], axis=2)
    return samples + noise * np.random.default_rng(0).standard_normal(samples.shape), angle


def test_phase_and_frequency_are_exact_on_a_clean_signal_of_any_phase() -> None:
    hz = np.linspace(49.0, 51.0, 41)
    phase = np.random.default_rng(1).uniform(-np.pi, np.pi, len(hz))
    found = fit_fundamental(windows(hz, phase)[0][:, :, 0], rate_hz=RATE_HZ)
    np.testing.assert_allclose(found.hz, hz, atol=1e-5)
    np.testing.assert_allclose(np.exp(1j * found.phase), np.exp(1j * phase), atol=1e-5)
    np.testing.assert_allclose(found.amplitude, 1.0, rtol=1e-5)
    assert np.all(found.misfit < 1e-3)


@pytest.mark.parametrize("length", [1314, 3600])  # the shortest window that is used, and the usual one
def test_phase_error_under_noise_stays_below_a_tenth_of_a_degree(length: int) -> None:
    hz = np.tile(np.linspace(49.8, 50.2, 21), 10)
    phase = np.random.default_rng(2).uniform(-np.pi, np.pi, len(hz))
    samples, _ = windows(hz, phase, length=length, noise=0.005)
    found = fit_fundamental(samples[:, :, 0], rate_hz=RATE_HZ)
    error = np.angle(np.exp(1j * (found.phase - phase)))
    assert np.degrees(np.abs(error)).max() < 0.1


@pytest.mark.parametrize("hz", [42.5, 45.0, 55.0, 57.5])
def test_a_frequency_far_from_50_is_still_found(hz: float) -> None:
    found = fit_fundamental(windows(np.array([hz]), np.array([1.0]))[0][:, :, 0], rate_hz=RATE_HZ)
    assert found.hz[0] == pytest.approx(hz, abs=1e-3)


def test_a_window_without_voltage_has_no_amplitude() -> None:
    found = fit_fundamental(np.zeros((2, WINDOW)), rate_hz=RATE_HZ)
    assert np.all(found.amplitude == 0)
    assert np.all(np.isinf(found.misfit))


def test_a_voltage_that_breaks_off_within_the_window_does_not_fit() -> None:
    samples, _ = windows(np.array([50.0, 50.0]), np.zeros(2))
    samples[1, 2400:] = 0
    misfit = fit_fundamental(samples[:, :, 0], rate_hz=RATE_HZ).misfit
    assert misfit[0] < 0.01
    assert misfit[1] > 0.15


def test_cycles_start_at_the_rising_crossing_and_match_the_closed_form() -> None:
    hz = np.linspace(49.8, 50.2, 9)
    phase = np.linspace(-3, 3, 9)
    samples, _ = windows(hz, phase)
    fundamental = fit_fundamental(samples[:, :, 0], rate_hz=RATE_HZ)
    cycles, found = average_cycles(samples, fundamental, rate_hz=RATE_HZ, n_cycles=10, n_points=320)
    assert cycles.shape == (9, 2, 320)
    assert np.all(found == 10)
    angle = 2 * np.pi * np.arange(320) / 320
    np.testing.assert_allclose(cycles[:, 1], np.tile(np.sin(angle - 0.3) ** 5, (9, 1)), atol=2e-4)
    assert np.degrees(np.abs(np.angle(1j * np.fft.rfft(cycles[:, 0])[:, 1]))).max() < 0.01


def test_interpolation_keeps_high_harmonics() -> None:
    hz = np.array([50.13])
    samples, angle = windows(hz, np.array([0.7]))
    samples[:, :, 1] = np.sin(40 * angle)
    fundamental = fit_fundamental(samples[:, :, 0], rate_hz=RATE_HZ)
    cycles, _ = average_cycles(samples, fundamental, rate_hz=RATE_HZ, n_cycles=10, n_points=320)
    assert abs(np.fft.rfft(cycles[0, 1])[40]) / 160 == pytest.approx(1.0, abs=2e-3)


def test_averaging_cycles_divides_the_noise_by_the_root_of_their_number() -> None:
    hz, phase = np.full(50, 50.0), np.zeros(50)
    samples, _ = windows(hz, phase, noise=0.01)
    fundamental = fit_fundamental(samples[:, :, 0], rate_hz=RATE_HZ)
    cycles, _ = average_cycles(samples, fundamental, rate_hz=RATE_HZ, n_cycles=10, n_points=320)
    left = cycles[:, 1] - np.sin(2 * np.pi * np.arange(320) / 320 - 0.3) ** 5
    assert np.std(left) < 1.1 * 0.01 / np.sqrt(10)


def test_a_short_window_gives_the_whole_cycles_it_has() -> None:
    samples, _ = windows(np.array([50.0]), np.array([0.0]), length=1500)  # 4.7 cycles
    fundamental = fit_fundamental(samples[:, :, 0], rate_hz=RATE_HZ)
    cycles, found = average_cycles(samples, fundamental, rate_hz=RATE_HZ, n_cycles=10, n_points=320)
    assert found[0] == 4 or found[0] == 3
    np.testing.assert_allclose(cycles[0, 1], np.sin(2 * np.pi * np.arange(320) / 320 - 0.3) ** 5, atol=2e-4)
