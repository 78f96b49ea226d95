from pathlib import Path

import numpy as np
import pytest
import soundfile

from nilm.errors import InputFileError, NothingUsableError, OptionError
from nilm.music.spectra import SpectraOptions, power_spectra, read_audio, read_spectra, write_spectra

RATE = 8000


def sine(hz: float, seconds: float = 1.0, amplitude: float = 0.5) -> np.ndarray:
    return amplitude * np.sin(2 * np.pi * hz * np.arange(round(seconds * RATE)) / RATE)


def test_a_sine_stands_in_its_bin_with_a_quarter_of_its_squared_amplitude() -> None:
    options = SpectraOptions(window_s=0.1, hop_s=0.05, max_hz=3000)
    spectra = power_spectra(sine(440), RATE, options)
    assert spectra.frequency_hz[spectra.power.mean(axis=0).argmax()] == pytest.approx(440)
    # |STFT| of a sine on a bin's centre is half its amplitude with any window.
    np.testing.assert_allclose(spectra.power.max(axis=1), 0.25**2, rtol=1e-6)


def test_every_full_window_is_a_row_and_no_other() -> None:
    options = SpectraOptions(window_s=0.1, hop_s=0.03, max_hz=3000)
    spectra = power_spectra(sine(300, seconds=1.01), RATE, options)
    ends = spectra.start_s + spectra.window_s
    assert spectra.start_s[0] < spectra.hop_s
    assert ends[-1] <= 1.01 + 1e-12
    assert ends[-1] + spectra.hop_s > 1.01
    np.testing.assert_allclose(np.diff(spectra.start_s), spectra.hop_s)


def test_a_tone_that_starts_in_the_middle_starts_in_the_row_that_holds_it() -> None:
    samples = np.concatenate([np.zeros(RATE), sine(500)])
    spectra = power_spectra(samples, RATE, SpectraOptions(window_s=0.1, hop_s=0.02, max_hz=3000))
    loud = spectra.power.max(axis=1) > 0.5 * spectra.power.max()
    assert spectra.centre_s[loud][0] == pytest.approx(1.0, abs=0.04)


def test_stereo_is_averaged(tmp_path: Path) -> None:
    left, right = sine(200), sine(300)
    soundfile.write(tmp_path / "two.wav", np.column_stack([left, right]), RATE, subtype="FLOAT")
    samples, rate = read_audio(tmp_path / "two.wav")
    assert rate == RATE
    np.testing.assert_allclose(samples, (left + right) / 2, atol=1e-6)


@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg"])
def test_the_three_formats_are_read(tmp_path: Path, suffix: str) -> None:
    soundfile.write(tmp_path / f"a.{suffix}", sine(200), RATE)
    samples, _ = read_audio(tmp_path / f"a.{suffix}")
    assert len(samples) == RATE


def test_parquet_gives_the_same_spectra_back(tmp_path: Path) -> None:
    spectra = power_spectra(sine(440), RATE, SpectraOptions(window_s=0.1, hop_s=0.05, max_hz=3000))
    write_spectra(spectra, tmp_path / "deep" / "a.parquet")
    back = read_spectra(tmp_path / "deep" / "a.parquet")
    np.testing.assert_allclose(back.power, spectra.power, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(back.frequency_hz, spectra.frequency_hz)
    np.testing.assert_array_equal(back.start_s, spectra.start_s)
    assert (back.window_s, back.hop_s) == (spectra.window_s, spectra.hop_s)


def test_bad_audio_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="no such audio file"):
        read_audio(tmp_path / "none.wav")
    (tmp_path / "text.wav").write_text("not audio", encoding="utf-8")
    with pytest.raises(InputFileError, match=r"text\.wav: not readable as audio"):
        read_audio(tmp_path / "text.wav")
    with pytest.raises(InputFileError, match="not a spectra file"):
        read_spectra(tmp_path / "text.wav")


def test_options_out_of_range_say_so() -> None:
    with pytest.raises(OptionError, match=r"hop_s must be positive and at most window_s = 0\.1, got 0\.2"):
        SpectraOptions(window_s=0.1, hop_s=0.2)
    with pytest.raises(OptionError, match="above half the sample rate, 4000 Hz"):
        power_spectra(sine(100), RATE, SpectraOptions(max_hz=5000))
    with pytest.raises(NothingUsableError, match="shorter than one window"):
        power_spectra(np.zeros(10), RATE, SpectraOptions())
