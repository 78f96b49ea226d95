"""Volts, amps and watts of a house at any instant: its truth, run through the mains of its street.

Owns the electrical state between two switching instants. Loads answer to the voltage they get: heaters and
lamps in proportion, motors not at all, electronics in inverse proportion (they draw constant power). So the
current at an instant is Σ_k amplitude_k · level^exponent_k · W_k, and X = ZW holds to the accuracy that
`Conditions` leave. Files and faults are others' business.
"""

from dataclasses import dataclass

import numpy as np

from lfm import runs_of_ones
from lfm.arrays import FloatArray, IntArray
from lfm.compiled import compiled
from nilm.appliances.measures import resample_cycle
from nilm.simulate.appliances.household import ALWAYS_ON
from nilm.simulate.grid import Conditions, Mains
from nilm.simulate.house import House, activation_factors
from nilm.simulate.loads import NOMINAL_V
from nilm.thresholds import WORLD
from nilm.timeline import TimeArray

_FINE = 4096  # points per cycle between which samples are interpolated; the error is below 1e-5 of a load
_INRUSH = {"motor": (4.0, 8.0)}  # kinds with an inrush, and its range over the steady current
_INRUSH_S = (0.05, 0.12)  # time constants with which it dies away
_EXPONENTS = {"resistive heater": 1.0, "dimmed light": 1.0, "electronics": -1.0, "generator": -1.0}


@compiled
def _periodic(table: FloatArray, cycles: FloatArray) -> FloatArray:
    """The periodic table read at these phases, linearly between its points."""
    out = np.empty(len(cycles))
    n = len(table)
    for i in range(len(cycles)):
        place = (cycles[i] - np.floor(cycles[i])) * n
        below = int(place)
        share = place - below
        below %= n
        out[i] = (1 - share) * table[below] + share * table[(below + 1) % n]
    return out


@dataclass(frozen=True, eq=False)
class Signal:
    """The electrical life of a house over a week; times are seconds since its first row."""

    house: House
    mains: Mains
    source_ohm: float
    amplitudes: FloatArray  # (N, K) factor on W of each load from switch n to switch n + 1; 0 where off
    switch_s: FloatArray  # (N,) when the state of row n sets in; the first is −inf
    _voltage: FloatArray  # (_FINE,)
    _currents: FloatArray  # (K, _FINE)
    _exponents: FloatArray  # (K,)
    inrush: FloatArray  # (K,) current at the instant of switching on, over the steady one
    _inrush_s: FloatArray  # (K,) time constants

    @property
    def switch_utc(self) -> TimeArray:
        """(N,) when the state of each row sets in; the first at the first row."""
        since = np.rint(np.maximum(self.switch_s, 0.0) * 1e6).astype("timedelta64[us]")
        return np.asarray(self.house.start_utc[0] + since)

    def state(self, time_s: FloatArray) -> IntArray:
        """(T,) which row's state holds at each time."""
        return np.searchsorted(self.switch_s, time_s, side="right") - 1

    def level(self, time_s: FloatArray) -> FloatArray:
        """(T,) voltage at the meter over nominal, with the sag that the loads cause."""
        return self._sagged(self.mains.level(time_s), self.state(time_s))

    def _sagged(self, level: FloatArray, state: IntArray) -> FloatArray:
        """What the street's resistance leaves of its level in these states."""
        active_a = self.amplitudes[state] @ self.house.watts / NOMINAL_V
        return np.asarray(level - self.source_ohm * active_a / NOMINAL_V, dtype=np.float64)

    def inrush_factors(self, time_s: FloatArray) -> FloatArray:
        """(T, K) by how much each load's current is larger at each time than when it is steady."""
        state = self.state(time_s)
        before = self.amplitudes[np.maximum(state - 1, 0)]
        started = (self.amplitudes[state] != 0) & (before == 0)
        age = (time_s - self.switch_s[state])[:, None] / self._inrush_s
        return np.where(started & (age < WORLD.inrush_ends), 1 + (self.inrush - 1) * np.exp(-age), 1.0)

    def rms_v(self, time_s: FloatArray) -> FloatArray:
        """(T,) RMS voltage at the meter."""
        return self.level(time_s) * NOMINAL_V

    def watts(self, time_s: FloatArray) -> FloatArray:
        """(T, K) active power of each load."""
        drawn = self.level(time_s)[:, None] ** (1 + self._exponents)
        return self.amplitudes[self.state(time_s)] * drawn * self.house.watts

    def rms_a(self, time_s: FloatArray) -> FloatArray:
        """(T,) RMS current of the whole house."""
        gram = self.house.W @ self.house.W.T / self.house.W.shape[1]
        drawn = self._drawn(time_s)
        return np.asarray(np.sqrt(np.sum(drawn @ gram * drawn, axis=1)), dtype=np.float64)

    def cycles_a(self, time_s: FloatArray) -> FloatArray:
        """(T, D) one cycle of the house's current at each time, inrush and all: what a look sees."""
        return np.asarray(self.drawn(time_s) @ self.house.W, dtype=np.float64)

    def drawn(self, time_s: FloatArray) -> FloatArray:
        """(T, K) factor on W of each load at each time, inrush and all."""
        return self._drawn(time_s) * self.inrush_factors(time_s)

    def _drawn(self, time_s: FloatArray) -> FloatArray:
        """(T, K) factor on W of each load when it is steady."""
        return np.asarray(
            self.amplitudes[self.state(time_s)] * self.level(time_s)[:, None] ** self._exponents,
            dtype=np.float64,
        )

    def samples(self, start_s: float, n_samples: int, rate_hz: float) -> tuple[FloatArray, FloatArray]:
        """Volts and amps (n_samples,) from start_s on, without noise.

        The level is that of the nearest whole second, so that windows and whole hours agree sample by sample.
        """
        time_s = start_s + np.arange(n_samples) / rate_hz
        cycles = self.mains.cycles(time_s)
        second = np.floor(time_s + 0.5)
        state = self.state(time_s)
        edges = 1 + np.flatnonzero((np.diff(second) != 0) | (np.diff(state) != 0))
        voltage, current = np.empty(n_samples), np.empty(n_samples)
        for first, end in zip([0, *edges], [*edges, n_samples], strict=True):
            here = slice(int(first), int(end))
            level = float(self._sagged(self.mains.level(second[first]), state[first]))
            voltage[here] = level * _periodic(self._voltage, cycles[here])
            drawn = self.amplitudes[state[first]] * level**self._exponents
            current[here] = _periodic(drawn @ self._currents, cycles[here])
            for k in np.flatnonzero(self.inrush_factors(time_s[first : first + 1])[0] > 1):
                excess = self.inrush_factors(time_s[here])[:, k] - 1
                current[here] += drawn[k] * excess * _periodic(self._currents[k], cycles[here])
        return voltage, current


def signal_of(
    house: House,
    conditions: Conditions,
    rng: np.random.Generator,
    *,
    profile: FloatArray | None = None,
) -> Signal:
    """The signal of a house: draws its mains, an amplitude per activation, and when between rows it switches.

    All loads that differ between rows n − 1 and n switch at one instant between the two, at least a twentieth
    of the interval from either, so that every row's state is beyond doubt and what holds between columns of Z
    holds at every instant. `profile` (N, K) multiplies the amplitudes (the sun on a solar panel).
    """
    mains = Mains(conditions, rng)
    amplitudes = house.Z.astype(np.float64)
    for k, kind in enumerate(house.kinds):
        if kind == ALWAYS_ON:
            continue
        for first, end in runs_of_ones(house.Z[:, k]):
            amplitudes[first:end, k] *= activation_factors(
                end - first, house.interval_s, rng, conditions.drift, slow_change=0.0
            )
    if profile is not None:
        amplitudes *= profile
    switch_s = house.row_s - house.interval_s * rng.uniform(0.05, 0.95, size=len(house.Z))
    switch_s[0] = -np.inf
    # A stream of its own: what a house draws otherwise does not depend on its motors.
    motors = rng.spawn(1)[0]
    inrush = np.array([motors.uniform(*_INRUSH[kind]) if kind in _INRUSH else 1.0 for kind in house.kinds])
    return Signal(
        house=house,
        mains=mains,
        source_ohm=conditions.source_ohm,
        amplitudes=amplitudes,
        switch_s=switch_s,
        _voltage=resample_cycle(house.voltage_v, _FINE),
        _currents=resample_cycle(house.W, _FINE),
        _exponents=np.array([_EXPONENTS.get(kind, 0.0) for kind in house.kinds]),
        inrush=inrush,
        _inrush_s=motors.uniform(*_INRUSH_S, size=len(house.kinds)),
    )
