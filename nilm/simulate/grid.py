"""The street's side of the meter: how frequency and voltage wander, and what the recorder adds.

Owns the mains as smooth functions of time, so that any sample of any hour can be made alone.
"""

from dataclasses import dataclass

import numpy as np

from lfm.arrays import FloatArray
from nilm.errors import OptionError
from nilm.simulate.loads import NOMINAL_HZ

_PERIODS_S = ((400.0, 900.0), (2_000.0, 4_000.0), (18_000.0, 32_000.0))
_PARTS = np.array([0.25, 0.35, 0.4])  # of the whole swing; they sum to 1, so the swing is never exceeded


@dataclass(frozen=True)
class Conditions:
    """How far a recording departs from its truth at nominal voltage; all zeros make X = ZW exactly."""

    frequency_swing_hz: float = 0.2  # largest departure from 50 Hz
    voltage_swing: float = 0.003  # largest slow departure from nominal volts, a ratio
    source_ohm: float = 0.05  # resistance of the street: volts sag by this times the active current
    drift: float = 0.01  # standard deviation of an activation's amplitude, a ratio
    noise_v: float = 0.02  # volts RMS in each sample
    noise_a: float = 0.005  # amps RMS in each sample: 84 dB below full scale, as good sound cards have

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 <= value < np.inf:
                raise OptionError(f"{name} must be at least 0, got {value}")
        if self.frequency_swing_hz > 2 or self.voltage_swing > 0.2:
            raise OptionError(
                f"mains stay within 2 Hz and 20 % of nominal; got frequency_swing_hz = "
                f"{self.frequency_swing_hz} and voltage_swing = {self.voltage_swing}"
            )


class Wander:
    """A smooth departure from zero, never larger than `swing`: three slow sines with drawn periods."""

    def __init__(self, swing: float, rng: np.random.Generator) -> None:
        self._size = swing * _PARTS
        self._rate = 2 * np.pi / np.array([rng.uniform(*p) for p in _PERIODS_S])
        self._start = rng.uniform(0, 2 * np.pi, size=3)

    def at(self, time_s: FloatArray) -> FloatArray:
        """The departure at each time."""
        return np.asarray(np.sin(np.multiply.outer(time_s, self._rate) + self._start) @ self._size)

    def integral(self, time_s: FloatArray) -> FloatArray:
        """Its integral from time 0."""
        angle = np.multiply.outer(time_s, self._rate) + self._start
        return np.asarray((np.cos(self._start) - np.cos(angle)) @ (self._size / self._rate))


class Mains:
    """Frequency, phase and open-circuit voltage of the street, by seconds since the week began."""

    def __init__(self, conditions: Conditions, rng: np.random.Generator) -> None:
        self._frequency = Wander(conditions.frequency_swing_hz, rng)
        self._voltage = Wander(conditions.voltage_swing, rng)
        self._first_phase = rng.uniform(0, 1)

    def hz(self, time_s: FloatArray) -> FloatArray:
        """Cycles per second."""
        return NOMINAL_HZ + self._frequency.at(time_s)

    def cycles(self, time_s: FloatArray) -> FloatArray:
        """Phase in cycles: whole numbers are rising zero crossings of the fundamental."""
        return self._first_phase + NOMINAL_HZ * time_s + self._frequency.integral(time_s)

    def level(self, time_s: FloatArray) -> FloatArray:
        """Voltage without load over nominal voltage."""
        return 1 + self._voltage.at(time_s)
