import numpy as np
import pytest

from nilm.recordings.adaptive.probes import POINTS, departure, probe, probe_samples

RATE_HZ = 16_000


def look(samples: np.ndarray):
    return probe(samples, rate_hz=RATE_HZ, volts_per_sample=1.0, amps_per_sample=1.0)


def window(*, hz: float, phase: float, amps: float = 10.0, n: int | None = None) -> np.ndarray:
    angle = 2 * np.pi * hz * np.arange(n or probe_samples(RATE_HZ)) / RATE_HZ + phase
    volts = 340 * (np.sin(angle) + 0.03 * np.sin(3 * angle + 1) + 0.02 * np.sin(5 * angle))
    current = amps * np.sqrt(2) * (np.sin(angle - 0.3) + 0.5 * np.sin(3 * angle) + 0.1 * np.sin(15 * angle))
    return np.stack([volts, current], axis=1)


def test_looks_at_one_state_agree_at_any_phase_and_frequency() -> None:
    rng = np.random.default_rng(0)
    hz = np.repeat([48.0, 49.5, 49.8, 50.0, 50.2, 50.5], 20)
    found = look(np.array([window(hz=f, phase=rng.uniform(0, 7)) for f in hz]))
    np.testing.assert_allclose(found.hz, hz, atol=2e-3)
    np.testing.assert_allclose(found.volts, 340 / np.sqrt(2), rtol=1e-3)
    differences = np.sqrt(np.mean((found.cycle_a - found.cycle_a[0]) ** 2, axis=1))
    assert differences.max() < 0.001 * 10  # of ten amperes
    assert found.noise_a.max() < 0.001 * 10


def test_the_cycle_starts_at_the_rising_crossing_and_the_noise_is_that_of_the_mean() -> None:
    clean = window(hz=50.1, phase=2.0)
    found = look(clean[None])
    position = 2 * np.pi * 50.1 * found.crossing[0] / RATE_HZ + 2.0
    assert np.sin(position) == pytest.approx(0, abs=1e-3)
    assert np.cos(position) > 0
    noisy = clean + [0, 0.05] * np.random.default_rng(0).standard_normal(clean.shape)
    assert look(noisy[None]).noise_a[0] == pytest.approx(0.05 / np.sqrt(2), rel=0.2)


def test_a_window_without_mains_has_no_volts() -> None:
    found = look(np.zeros((1, probe_samples(RATE_HZ), 2)))
    assert found.volts[0] == 0
    assert np.all(np.isfinite(found.cycle_a))


def test_a_departure_has_a_first_cycle_a_length_and_a_size() -> None:
    samples = window(hz=50.0, phase=0.0, n=16_000)
    samples[8_000:, 1] *= 3
    samples[8_000:8_960, 1] *= 2  # three cycles of inrush
    before, after = (look(window(hz=50.0, phase=0.0, amps=a)[None]).cycle_a[0] for a in (10.0, 30.0))
    assert before.shape == (POINTS,)
    first, unsteady, peak = departure(samples, 320.0, 320.0, before, after, 1.0)
    assert (first, unsteady) == (24, 3)
    assert peak == pytest.approx(5 * np.sqrt(np.mean(before**2)), rel=1e-3)
    assert departure(samples[:7_900], 320.0, 320.0, before, after, 1.0)[0] == -1
