import numpy as np
import pytest

from lfm.arrays import FloatArray
from nilm.appliances.measures import kind_of_load, measure_waveform, resample_cycle
from nilm.errors import OptionError
from nilm.simulate import loads
from nilm.simulate.house import simulated_house

PHASE = 2 * np.pi * np.arange(320) / 320
VOLTS = 240 * np.sqrt(2) * np.sin(PHASE)


def test_a_heater_has_the_watts_amps_and_power_factor_of_the_textbook() -> None:
    measures = measure_waveform(10 * np.sqrt(2) * np.sin(PHASE), VOLTS)
    assert measures.active_w == pytest.approx(2400)
    assert measures.rms_a == pytest.approx(10)
    assert measures.power_factor == pytest.approx(1)
    assert measures.thd == pytest.approx(0, abs=1e-9)


def test_a_lagging_current_with_a_third_harmonic() -> None:
    current = np.sqrt(2) * (4 * np.sin(PHASE - np.pi / 3) + 1 * np.sin(3 * PHASE))
    measures = measure_waveform(current, VOLTS)
    assert measures.active_w == pytest.approx(240 * 4 * 0.5)
    assert measures.rms_a == pytest.approx(np.sqrt(17))
    assert measures.power_factor == pytest.approx(2 / np.sqrt(17))
    assert measures.thd == pytest.approx(0.25)
    assert measures.lag_degrees == pytest.approx(60)


def test_no_current_has_no_power_factor_and_no_distortion() -> None:
    measures = measure_waveform(np.zeros(320), VOLTS)
    assert (measures.active_w, measures.power_factor, measures.thd) == (0, 0, 0)


@pytest.mark.parametrize("seed", range(3))
def test_kinds_of_a_simulated_house_are_named_as_it_names_them(seed: int) -> None:
    house = simulated_house(seed=seed, n_appliances=24)
    kinds = [
        kind_of_load(wave, house.voltage_v, share_of_time=float(share))
        for wave, share in zip(house.W, house.Z.mean(axis=0), strict=True)
    ]
    assert dict(zip(house.names, kinds, strict=True)) == dict(zip(house.names, house.kinds, strict=True))


def test_a_generator_feeds_in_whatever_its_share_of_time() -> None:
    current = -loads.resistive(VOLTS, 900)
    assert kind_of_load(current, VOLTS, share_of_time=1.0) == "generator"


def test_what_is_no_cycle_is_refused() -> None:
    with pytest.raises(OptionError, match="current_a must be one cycle"):
        measure_waveform(np.array([1.0, np.nan, 1.0, 1.0]), np.ones(4))
    with pytest.raises(OptionError, match="resample"):
        measure_waveform(np.ones(8), np.ones(16))


def test_resampling_is_exact_for_a_band_limited_cycle_and_shifts_later() -> None:
    phase = np.arange(128) / 128
    fine = np.arange(320) / 320

    def wave(x: FloatArray) -> FloatArray:
        return np.sin(2 * np.pi * x) + 0.3 * np.cos(2 * np.pi * 20 * x)

    np.testing.assert_allclose(resample_cycle(wave(phase), 320), wave(fine), atol=1e-12)
    np.testing.assert_allclose(resample_cycle(wave(phase), 320, shift=0.1), wave(fine - 0.1), atol=1e-12)
    np.testing.assert_allclose(resample_cycle(wave(fine), 128), wave(phase), atol=1e-12)
