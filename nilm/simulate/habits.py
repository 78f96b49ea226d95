"""Weeks of real habits: measured watts of real houses, drawn with real waveforms. The currents are our sum.

Owns the format of the habits' files, which waveform each channel gets, and how the sum is observed as rows.
A file is an npz with `times` (T,) UNIX seconds, `watts` (T, C) with NaN where a channel is silent, `channels`
(C,) names, `step_s`, and `valid` (T,) False where the house is not to be used.

A channel named after a heater draws the voltage's own shape, exactly, so all heaters are collinear. Any other
takes one recording of one appliance, turned by up to 9° and mixed with up to 30% of another's. If it ever
exceeds 1.8 kW it holds a heater too: what it draws above 200 W while it draws over 1.2 kW is resistive.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lfm.arrays import BoolArray, FloatArray
from nilm.appliances.measures import resample_cycle
from nilm.errors import InputFileError, OptionError
from nilm.files import read_npz
from nilm.simulate import loads
from nilm.simulate.appliances.household import CORE, EXTRAS
from nilm.simulate.appliances.recorded import recorded_cycles
from nilm.simulate.grid import Wander
from nilm.thresholds import WORLD
from nilm.timeline import DAY_S, TimeArray, gaps_before, utc

_FIELDS = ("times", "watts", "channels", "step_s", "valid")
# Words of channel names that mean a heater; the last three are AMPds' dryer, wall oven and hot water unit.
_HEATERS = frozenset(
    [
        "heater",
        "kettle",
        "oven",
        "dryer",
        "stove",
        "toaster",
        "coffeemaker",
        "iron",
        "cooker",
        "cde",
        "woe",
        "hte",
    ]
)
_TURN_CYCLES = 9 / 360
_MIXED = 0.3  # largest share of another appliance's shape
_DRAWS = 5  # waveforms of each made appliance to choose from
_EXPONENTS = (-1.0, 0.0, 1.0)  # of the current of a load that is no heater, by the voltage


@dataclass(frozen=True, eq=False)
class Habits:
    """What each channel of a real house drew, at rows `interval_s` apart."""

    names: tuple[str, ...]  # (C,)
    power_w: FloatArray  # (N, C) at least 0
    start_utc: TimeArray  # (N,) datetime64[ns]
    interval_s: float

    @property
    def gap_before(self) -> BoolArray:
        """(N,) True where a row does not directly follow the one before it; the first row is True."""
        return gaps_before(self.start_utc, self.interval_s)

    def first_rows(self, n_rows: int) -> "Habits":
        """The same habits, of the first n_rows only."""
        return replace(self, power_w=self.power_w[:n_rows], start_utc=self.start_utc[:n_rows])


@dataclass(frozen=True, eq=False)
class Parts:
    """The loads behind the channels: a channel is one load, or one and its heater."""

    channel: np.ndarray  # (P,) which channel each part belongs to
    heater: BoolArray  # (P,) which parts are resistive
    power_w: FloatArray  # (N, P)
    W: FloatArray  # (P, D) amps of one watt at nominal voltage
    voltage_v: FloatArray  # (D,)


@dataclass(frozen=True, eq=False)
class ObservedHabits:
    """Rows of current as a meter would give them, and the truth behind them."""

    current_a: FloatArray  # (N, D)
    voltage_v: FloatArray  # (D,), or (N, D) where it wanders
    truth_w: FloatArray  # (N, C)
    names: tuple[str, ...]  # (C,)
    start_utc: TimeArray  # (N,)
    gap_before: BoolArray  # (N,)
    interval_s: float


def read_habits(
    path: Path, *, interval_s: float | None = 120, first_day: float = 0, days: float = 7
) -> Habits:
    """The habits in the file, from `first_day` days after its first sample, `days` long.

    Rows lie at multiples of interval_s (None: of the file's own step) and hold the last sample before them. A
    time without a sample, or one that is not valid, gives no row. Negative watts (a meter's noise around
    zero) become 0.
    Raises InputFileError for a file in another format, OptionError where no row is left.
    """
    times, watts, names, step_s, valid = _read(path)
    interval_s = interval_s or step_s
    usable = valid & np.isfinite(watts).all(axis=1)
    begin = times[0] + first_day * DAY_S
    rows = np.arange(np.ceil(begin / interval_s), np.ceil((begin + days * DAY_S) / interval_s)) * interval_s
    last = np.searchsorted(times, rows, side="right") - 1
    # One sample may be missing: the one before it is held. Longer holes stay holes.
    held = (last >= 0) & (rows - times[last] < 2 * step_s) & (rows <= times[-1]) & usable[last]
    if not held.any():
        raise OptionError(f"{path.name} has no usable row in the {days:g} days from day {first_day:g} on")
    return Habits(
        names=names,
        power_w=np.maximum(watts[last[held]], 0),
        start_utc=utc(rows[held]),
        interval_s=float(interval_s),
    )


def parts_of(habits: Habits, waveforms: Path | None, *, seed: int, n_points: int = 128) -> Parts:
    """The loads of the habits' channels with the waveforms that `seed` draws from a file of recordings.

    `waveforms` is in the format of `nilm.simulate.appliances.recorded`; None draws from the appliances of
    `nilm.simulate.appliances.household`.
    """
    rng = np.random.default_rng([seed, 0])
    if waveforms is None:
        voltage = loads.voltage_cycle(rng, n_points)
        models = [model for model in (*CORE, *(m for group in EXTRAS for m in group)) if not model.heats]
        kinds = [np.stack([m.draw(voltage, m.watts, rng) for _ in range(_DRAWS)]) for m in models]
    else:
        names, current, voltage = recorded_cycles(waveforms, n_points)
        kinds = [current[names == name] for name in np.unique(names)]
    resistive = loads.resistive(voltage, 1.0)
    parts: list[tuple[int, bool, FloatArray, FloatArray]] = []
    for c, name in enumerate(habits.names):
        shape = _drawn_shape(kinds, voltage, rng)  # for heaters too: a name does not move the others' draws
        watts = habits.power_w[:, c]
        if is_heater(name):
            parts.append((c, True, watts, resistive))
            continue
        heat = np.zeros_like(watts)
        if watts.max() > WORLD.has_heater_w:
            heat = np.where(watts > WORLD.heats_w, watts - WORLD.motor_w, 0.0)
        parts.append((c, False, watts - heat, shape))
        if heat.any():
            parts.append((c, True, heat, resistive))
    channel, heater, power, W = zip(*parts, strict=True)
    return Parts(np.array(channel), np.array(heater), np.column_stack(power), np.array(W), voltage)


def is_heater(name: str) -> bool:
    """Whether a word of the channel's name means a heater: WaterKettle_D330A3, wall_oven, DuctHeaterHRV."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return any(word.lower() in _HEATERS for word in words)


def observe_habits(
    habits: Habits,
    waveforms: Path,
    *,
    seed: int,
    noise_a: float = 0.02,
    voltage_swing: float = 0.0,
    wobble: float = 0.0,
    n_points: int = 128,
) -> ObservedHabits:
    """X(t) = Σ_c p_c(t) w_c + noise: the habits as rows of current, with waveforms drawn by `seed`.

    `noise_a`: amps of white noise in each entry. `voltage_swing`: the voltage wanders by up to this share and
    the loads follow it, heaters in proportion, others as motors or electronics do. `wobble`: in half of the
    channels every harmonic of every row is off by this share, at the same watts; heaters never wobble.
    """
    for name, value in {"noise_a": noise_a, "voltage_swing": voltage_swing, "wobble": wobble}.items():
        if not 0 <= value < np.inf:
            raise OptionError(f"{name} must be at least 0, got {value}")
    parts = parts_of(habits, waveforms, seed=seed, n_points=n_points)
    rng = np.random.default_rng([seed, 1])
    level = np.ones(len(habits.power_w))
    if voltage_swing:
        elapsed = habits.start_utc - habits.start_utc[0]
        level += Wander(voltage_swing, rng).at(elapsed / np.timedelta64(1, "s"))
    exponents = np.where(parts.heater, 1.0, rng.choice(_EXPONENTS, size=len(parts.heater)))
    drawn = parts.power_w * level[:, None] ** exponents
    current = drawn @ parts.W
    if wobble:
        others = rng.permutation(np.flatnonzero(~parts.heater))
        for p in others[: (len(habits.names) + 1) // 2]:
            current += drawn[:, p, None] * _wobbles(parts.W[p], parts.voltage_v, wobble, len(drawn), rng)
    truth = np.zeros((len(drawn), len(habits.names)))
    np.add.at(truth.T, parts.channel, (drawn * level[:, None]).T)
    return ObservedHabits(
        current_a=current + noise_a * rng.standard_normal(current.shape),
        voltage_v=np.outer(level, parts.voltage_v) if voltage_swing else parts.voltage_v,
        truth_w=truth,
        names=habits.names,
        start_utc=habits.start_utc,
        gap_before=habits.gap_before,
        interval_s=habits.interval_s,
    )


def _drawn_shape(kinds: list[FloatArray], voltage_v: FloatArray, rng: np.random.Generator) -> FloatArray:
    """(D,) amps of one watt: a turned mixture of two appliances that draws enough real power."""
    while True:
        one, other = (
            cycles[rng.integers(len(cycles))] for cycles in (kinds[rng.integers(len(kinds))] for _ in "12")
        )
        share = rng.uniform(0, _MIXED)
        shape = (1 - share) * one / loads.rms(one) + share * other / loads.rms(other)
        turn = rng.uniform(-_TURN_CYCLES, _TURN_CYCLES)
        shape = resample_cycle(shape, len(voltage_v), shift=turn)
        watts = loads.active_w(voltage_v, shape)
        if watts >= WORLD.least_power_factor * loads.rms(voltage_v) * loads.rms(shape):
            return shape / watts


def _wobbles(
    shape: FloatArray, voltage_v: FloatArray, wobble: float, n_rows: int, rng: np.random.Generator
) -> FloatArray:
    """(n_rows, D) departures from the shape that draw no watts, each harmonic off by this share (RMS)."""
    spectrum = np.fft.rfft(shape)
    off = rng.standard_normal((2, n_rows, len(spectrum)))
    departures = np.fft.irfft(spectrum * (off[0] + 1j * off[1]) * (wobble / np.sqrt(2)), n=len(shape))
    watts = departures @ voltage_v / (voltage_v @ voltage_v)
    return np.asarray(departures - np.outer(watts, voltage_v), dtype=np.float64)


def _read(path: Path) -> tuple[FloatArray, FloatArray, tuple[str, ...], float, BoolArray]:
    """(times, watts, names, step_s, valid) of the file, checked."""
    file = read_npz(path, cure=f"give an npz with {', '.join(_FIELDS)}", fields=_FIELDS)
    try:
        times, watts, step_s = (file[f].astype(np.float64) for f in ("times", "watts", "step_s"))
    except ValueError as error:
        raise InputFileError(f"{path}: times, watts and step_s must be numbers ({error})") from error
    channels, valid = file["channels"], file["valid"].astype(bool)
    if not (times.ndim == 1 and channels.ndim == 1 and step_s.ndim == 0):
        raise InputFileError(f"{path}: times and channels must be one row each, step_s one number")
    if not (len(times) and watts.shape == (len(times), len(channels)) and valid.shape == times.shape):
        raise InputFileError(
            f"{path}: times {times.shape} and valid {valid.shape} must be (T,), watts {watts.shape} (T, C) "
            f"and channels {channels.shape} (C,), with at least one time"
        )
    if not (np.isfinite(times).all() and np.all(np.diff(times) > 0) and 0 < step_s < np.inf):
        raise InputFileError(f"{path}: times must rise from sample to sample and step_s be above 0")
    names = tuple(str(name) for name in channels)
    return times, watts, names, float(step_s), valid
