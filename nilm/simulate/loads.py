"""One voltage cycle and the current that each kind of load draws from it: the physics of a simulated house.

Every cycle holds D equally spaced samples and starts where the fundamental of the voltage rises through zero,
the reference that harmonics do not move. A current is returned at the size that draws the stated active power
from the given voltage. Owns shapes only: when a load runs is `nilm.simulate.schedules`, what a house holds is
`nilm.simulate.appliances.household`.
"""

import numpy as np

from lfm.arrays import FloatArray
from lfm.compiled import compiled
from nilm.appliances.measures import resample_cycle

NOMINAL_V = 240.0
NOMINAL_HZ = 50.0
# Rise time of the recorder's input filter: no current on the disk has an edge sharper than this.
_FILTER_S = 100e-6
_FINE = 4096  # points per cycle where a load is integrated in time
_SETTLING_CYCLES = 12


def voltage_cycle(rng: np.random.Generator, n_points: int) -> FloatArray:
    """Volts (n_points,) of one mains cycle with third (1-3 %) and fifth (1-2 %) harmonic of any phase."""
    third, fifth = rng.uniform(0.01, 0.03), rng.uniform(0.01, 0.02)
    lag3, lag5 = rng.uniform(-np.pi, np.pi, size=2)
    phase = 2 * np.pi * np.arange(n_points) / n_points
    cycle = np.sin(phase) + third * np.sin(3 * phase + lag3) + fifth * np.sin(5 * phase + lag5)
    return np.asarray(cycle * (NOMINAL_V / rms(cycle)), dtype=np.float64)


def rms(cycle: FloatArray) -> float:
    """Root mean square of one cycle."""
    return float(np.sqrt(np.mean(np.square(cycle))))


def active_w(voltage_v: FloatArray, current_a: FloatArray) -> float:
    """Mean of v·i over one cycle, watts."""
    return float(np.mean(voltage_v * current_a))


def _filtered(cycle: FloatArray) -> FloatArray:
    """The cycle after the recorder's input filter (a Gaussian, no phase shift, no overshoot)."""
    harmonics = np.arange(len(cycle) // 2 + 1)
    gain = np.exp(-0.5 * np.square(2 * np.pi * NOMINAL_HZ * harmonics * _FILTER_S))
    return np.asarray(np.fft.irfft(np.fft.rfft(cycle) * gain, n=len(cycle)), dtype=np.float64)


def _sized(voltage_v: FloatArray, shape: FloatArray, watts: float) -> FloatArray:
    """The current of this shape that draws `watts`: filtered, without the DC that no transformer passes."""
    current = _filtered(shape)
    current -= current.mean()
    return current * (watts / active_w(voltage_v, current))


def resistive(voltage_v: FloatArray, watts: float) -> FloatArray:
    """Current of a heater: in proportion to the voltage, harmonics and all (so all heaters are collinear)."""
    return voltage_v * (watts / np.mean(np.square(voltage_v)))


def motor(voltage_v: FloatArray, watts: float, *, power_factor: float, saturation: float) -> FloatArray:
    """Current of an induction motor: series resistance and inductance, so it lags; plus a saturated core.

    `power_factor` is that of the fundamental before saturation; `saturation` the third harmonic of the
    magnetising current as a share of the fundamental.
    """
    spectrum = np.fft.rfft(voltage_v)
    harmonics = np.arange(len(spectrum))
    reactance = np.sqrt(1 / power_factor**2 - 1) * harmonics
    current = np.where(harmonics > 0, spectrum / (1 + 1j * reactance), 0.0)
    # The core saturates where its flux peaks, a quarter cycle after the voltage.
    current[3] += saturation * np.abs(current[1]) * np.exp(3j * (np.angle(spectrum[1]) - np.pi / 2))
    return _sized(voltage_v, np.fft.irfft(current, n=len(voltage_v)), watts)


@compiled
def _rectified(
    voltage_v: FloatArray, series_ohm: float, volts_per_amp_step: float, load_a: float
) -> FloatArray:
    """Steady-state current of a bridge rectifier that feeds a capacitor and a constant-current converter."""
    n = len(voltage_v)
    current = np.zeros(n)
    held = np.abs(voltage_v).max()
    for _ in range(_SETTLING_CYCLES):
        for i in range(n):
            over = np.abs(voltage_v[i]) - held
            inflow = over / series_ohm if over > 0 else 0.0
            held += (inflow - load_a) * volts_per_amp_step
            current[i] = inflow if voltage_v[i] > 0 else -inflow
    return current


def rectifier(voltage_v: FloatArray, watts: float, *, ripple: float = 0.15) -> FloatArray:
    """Current of a switch-mode supply without correction: a pulse near each peak of the voltage.

    `ripple` is the share by which the capacitor falls between pulses: more ripple, wider pulses.
    """
    fine = resample_cycle(voltage_v, _FINE)
    peak = float(np.abs(fine).max())
    load_a = 1.0
    volts_per_amp_step = ripple * peak / (load_a * _FINE / 2)
    return _sized(
        voltage_v,
        resample_cycle(_rectified(fine, 0.02 * peak, volts_per_amp_step, load_a), len(voltage_v)),
        watts,
    )


def corrected_supply(voltage_v: FloatArray, watts: float, *, cusp: float, filter_va: float) -> FloatArray:
    """Current of a switch-mode supply with power-factor correction: like the voltage, but for its crossings.

    `cusp` is the share of the peak voltage below which the corrector stalls; `filter_va` the leading
    reactive power of its input capacitor.
    """
    share = voltage_v / np.abs(voltage_v).max()
    shape = share * (1 - np.exp(-np.square(share / cusp)))
    return _sized(voltage_v, shape, watts) + capacitor(voltage_v, filter_va)


def capacitor(voltage_v: FloatArray, reactive_va: float) -> FloatArray:
    """Current that leads by a quarter cycle and draws no watts, of `reactive_va` volt-amperes."""
    spectrum = np.fft.rfft(voltage_v)
    current = np.fft.irfft(spectrum * 1j * np.arange(len(spectrum)), n=len(voltage_v))
    return np.asarray(current * (reactive_va / (rms(current) * rms(voltage_v))), dtype=np.float64)


def dimmed(voltage_v: FloatArray, watts: float, *, firing_deg: float) -> FloatArray:
    """Current of a resistive lamp behind a triac that fires `firing_deg` (0-180) after each zero crossing."""
    fine = resample_cycle(voltage_v, _FINE)
    degrees = 360 * np.arange(_FINE) / _FINE % 180
    conducting = _filtered(np.where(degrees >= firing_deg, fine, 0.0))
    return _sized(voltage_v, resample_cycle(conducting, len(voltage_v)), watts)


def standby(voltage_v: FloatArray, watts: float, *, leading_va: float) -> FloatArray:
    """Current of everything that is never switched off: rectifiers, a resistive part, input capacitors."""
    return (
        rectifier(voltage_v, 0.7 * watts, ripple=0.1)
        + resistive(voltage_v, 0.3 * watts)
        + capacitor(voltage_v, leading_va)
    )
