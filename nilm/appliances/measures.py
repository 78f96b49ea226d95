"""What one cycle of current says beside one cycle of voltage: watts, amps, power factor, distortion, kind.

Owns the electrical arithmetic of a single waveform, and its resampling. When an appliance was on
belongs to `nilm.appliances.activations`. A cycle starts at the voltage's rising zero crossing; both arrays
cover exactly one period.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lfm.arrays import FloatArray
from nilm.appliances.thresholds import APPLIANCES
from nilm.errors import OptionError

ALWAYS_ON = "always on"  # three kinds that other modules ask for
HEATER = "resistive heater"
GENERATOR = "generator"


@dataclass(frozen=True)
class WaveformMeasures:
    """The measures of one current cycle."""

    active_w: float  # mean of voltage × current; negative for a generator
    rms_a: float
    power_factor: float  # active_w / (RMS volts × RMS amps), −1 to 1; 0 where no current flows
    thd: float  # RMS of harmonics 2 and up over RMS of the fundamental; 0 where there is no fundamental
    lag_degrees: float  # of the fundamental of the current behind that of the voltage; positive is inductive


def measure_waveform(current_a: ArrayLike, voltage_v: ArrayLike) -> WaveformMeasures:
    """The measures of one cycle of current (D,) in amperes beside one of voltage (D,) in volts."""
    current, voltage = _cycle("current_a", current_a), _cycle("voltage_v", voltage_v)
    if current.shape != voltage.shape:
        raise OptionError(
            f"current_a has {current.size} points and voltage_v has {voltage.size}; resample one of them"
        )
    active_w = float(np.mean(voltage * current))
    rms_a, rms_v = (float(np.sqrt(np.mean(wave**2))) for wave in (current, voltage))
    harmonics_i, harmonics_v = np.fft.rfft(current), np.fft.rfft(voltage)
    fundamental = abs(harmonics_i[1])
    # Rounding leaves ~1e-16 of every harmonic in a flat cycle: a ratio of two such numbers means nothing.
    flowing = rms_a > 1e-9 and fundamental > 1e-9 * current.size
    thd = float(np.linalg.norm(harmonics_i[2:]) / fundamental) if flowing else 0.0
    lag = float(np.degrees(np.angle(harmonics_v[1] * np.conj(harmonics_i[1])))) if flowing else 0.0
    power_factor = active_w / (rms_v * rms_a) if flowing and rms_v > 0 else 0.0
    return WaveformMeasures(active_w, rms_a, power_factor, thd, lag)


def kind_of_load(
    current_a: ArrayLike, voltage_v: ArrayLike, *, share_of_time: float, starts_like_a_motor: bool = False
) -> str:
    """The kind of load in words, from its shape over the voltage cycle and the share of time it is on.

    "generator" (feeds in), "always on", "resistive heater" (current follows voltage), "dimmed light"
    (follows it for a part of each half cycle), "electronics" (pulses rich in harmonics, or an input filter
    that leads), "motor" (lags), "mixed" where none of these fits. What `starts_like_a_motor` is one though
    its current is rich in harmonics (behind a speed control) or does not lag (beside a heater of its own).
    """
    current, voltage = _cycle("current_a", current_a), _cycle("voltage_v", voltage_v)
    measures = measure_waveform(current, voltage)
    rms_v = float(np.sqrt(np.mean(voltage**2)))
    if measures.active_w < -APPLIANCES.feeds_in_factor * rms_v * measures.rms_a:
        return GENERATOR
    if share_of_time >= APPLIANCES.always_on_share:
        return ALWAYS_ON
    if measures.rms_a < APPLIANCES.least_shape_a:
        return "mixed"
    if (
        measures.power_factor >= APPLIANCES.resistive_factor
        and abs(measures.lag_degrees) <= APPLIANCES.in_phase_degrees
    ):
        return HEATER
    if starts_like_a_motor:
        return "motor"
    if measures.thd >= APPLIANCES.dimmed_thd and _phase_cut_fit(current, voltage) >= APPLIANCES.dimmed_fit:
        return "dimmed light" if measures.active_w <= APPLIANCES.largest_light_w else "mixed"
    if measures.thd >= APPLIANCES.electronic_thd or measures.lag_degrees < -APPLIANCES.in_phase_degrees:
        return "electronics"
    return "motor" if measures.lag_degrees > APPLIANCES.in_phase_degrees else "mixed"


def _phase_cut_fit(current: FloatArray, voltage: FloatArray) -> float:
    """The best cosine between the current and the voltage cut to the end (or start) of each half cycle.

    A triac conducts from its firing angle to the next zero crossing (a transistor dimmer the other way
    round): every firing angle from 10% to 80% of the half cycle is tried, both ways.
    """
    half = current.size // 2
    within = np.arange(current.size) % half
    best = 0.0
    for cut in range(max(half // 10, 1), half * 4 // 5):
        for conducting in (within >= cut, within < half - cut):
            template = np.where(conducting, voltage, 0.0)
            size = np.linalg.norm(template) * np.linalg.norm(current)
            best = max(best, float(template @ current) / float(size) if size > 0 else 0.0)
    return best


def _cycle(name: str, value: ArrayLike) -> FloatArray:
    """`value` as a finite vector of at least 4 points."""
    cycle = np.asarray(value, dtype=np.float64)
    if cycle.ndim != 1 or cycle.size < 4 or not np.isfinite(cycle).all():
        raise OptionError(
            f"{name} must be one cycle: a finite vector of at least 4 points, got shape {cycle.shape}"
        )
    return cycle


def resample_cycle(cycle: FloatArray, n_points: int, *, shift: float | FloatArray = 0.0) -> FloatArray:
    """The same periodic waveforms (..., n_points) by their Fourier series, `shift` cycles later."""
    spectrum = np.fft.rfft(cycle, axis=-1)
    harmonics = np.arange(spectrum.shape[-1])
    # The Nyquist term of an even cycle has no defined phase; all of ours are far below it in power.
    spectrum = np.where(2 * harmonics < min(cycle.shape[-1], n_points), spectrum, 0.0)
    spectrum = spectrum * np.exp(-2j * np.pi * harmonics * shift)
    keep = n_points // 2 + 1
    if spectrum.shape[-1] < keep:
        pad = [(0, 0)] * (spectrum.ndim - 1) + [(0, keep - spectrum.shape[-1])]
        spectrum = np.pad(spectrum, pad)
    resampled = np.fft.irfft(spectrum[..., :keep], n=n_points, axis=-1) * (n_points / cycle.shape[-1])
    return np.asarray(resampled, dtype=np.float64)
