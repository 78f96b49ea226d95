"""A house with known truth as matrices: Z, W and the times of its rows, and currents observed from them.

Owns how a house is drawn (`simulated_house`) and how its truth becomes data (`observe`, `drop_rows`), with no
file written. The same truth as meter files is `nilm.simulate`; physics, habits and the list of appliances are
`nilm.simulate.loads`, `nilm.simulate.schedules` and `nilm.simulate.appliances.household`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lfm import runs_of_ones
from lfm.arrays import BinaryArray, BoolArray, FloatArray
from nilm.errors import OptionError
from nilm.simulate import loads
from nilm.simulate.appliances.household import ALWAYS_ON, CORE, EXTRAS, Model
from nilm.simulate.appliances.recorded import recorded_models
from nilm.simulate.schedules import Clock, within
from nilm.thresholds import INPUT
from nilm.timeline import DAY_S, TimeArray, gaps_before

FIRST_WEEK = np.datetime64("2014-12-29")  # Monday of 2015-wk01
_MAX_DRAWS = 200
_SIZE_SPREAD = 0.04


@dataclass(frozen=True, eq=False)
class House:
    """The truth about one simulated house: X = ZW + noise."""

    names: tuple[str, ...]  # (K,) columns of one name are one load, whose waveform changes with its power
    machines: tuple[str, ...]  # (K,) what is plugged in: motor and heater are parts of one washing machine
    kinds: tuple[str, ...]  # (K,) words of nilm.results.Appliance.kind
    Z: BinaryArray  # (N, K) which load is on in which row; column 0 is always on
    W: FloatArray  # (K, D) amps over one voltage cycle, at nominal voltage
    voltage_v: FloatArray  # (D,) volts over one cycle; its fundamental rises through 0 at index 0
    watts: FloatArray  # (K,) active power at nominal voltage
    start_utc: TimeArray  # (N,) datetime64[ns], the instant of each row
    interval_s: float
    recordings: FloatArray | None = None  # (K, R, D) other recordings of the same appliances

    @property
    def row_s(self) -> FloatArray:
        """(N,) seconds from the first row to each row."""
        elapsed = self.start_utc - self.start_utc[0]
        return np.asarray(elapsed / np.timedelta64(1, "s"), dtype=np.float64)

    @property
    def duration_s(self) -> FloatArray:
        """(N,) seconds that each row stands for."""
        return np.full(len(self.start_utc), self.interval_s)

    @property
    def gap_before(self) -> BoolArray:
        """(N,) True where a row does not directly follow the one before it in time; the first row is True."""
        return gaps_before(self.start_utc, self.interval_s)


def simulated_house(
    *,
    seed: int,
    days: float = 7.0,
    n_appliances: int = 10,
    n_points: int = 320,
    interval_s: float = 120,
    waveforms: Path | None = None,
    start_utc: np.datetime64 = FIRST_WEEK,
) -> House:
    """A house of n_appliances columns (the always-on one included) over `days` from midnight `start_utc`.

    rank(Z) = n_appliances, and every appliance but the always-on one runs at least twice; draws that fail are
    redrawn. `waveforms` is an npz of recorded cycles
    (`nilm.simulate.appliances.recorded`) that replaces the parametric currents. One seed is one house:
    another `start_utc` gives another schedule of the same appliances, and a larger n_appliances adds to them.

    Raises OptionError where no such house exists (too few rows).
    """
    if seed < 0:
        raise OptionError(f"seed must be at least 0, got {seed}")
    if not 1 <= n_appliances <= INPUT.most_simulated:
        raise OptionError(
            f"appliances must be 1 (the always-on load) to {INPUT.most_simulated}, got {n_appliances}"
        )
    if n_points < 32:
        raise OptionError(f"n_points must be at least 32 to hold the shape of a cycle, got {n_points}")
    n_rows = round(days * DAY_S / interval_s) if interval_s > 0 else 0
    if n_rows < n_appliances:
        raise OptionError(
            f"days = {days} at interval_s = {interval_s} gives {n_rows} rows, fewer than "
            f"the {n_appliances} appliances; ask for more days"
        )
    # Separate streams: the same seed is the same house in every week, with another schedule in each.
    rng = np.random.default_rng([seed, 0])
    monday = int(start_utc.astype("datetime64[D]").astype(np.int64))
    recordings: FloatArray | None = None
    if waveforms is None:
        voltage_v = loads.voltage_cycle(rng, n_points)
        models = _composition(n_appliances, rng)
    else:
        models, voltage_v, recordings = recorded_models(waveforms, n_appliances, n_points, rng)
    W = np.stack(
        [m.draw(voltage_v, m.watts, np.random.default_rng([seed, 1, k])) for k, m in enumerate(models)]
    )
    Z = _states(models, Clock(n_rows, interval_s), np.random.default_rng([seed, 2, monday]))
    house = house_of(models, Z, W, voltage_v, start_utc=start_utc, interval_s=interval_s)
    return replace(house, recordings=recordings)


def house_of(
    models: Sequence[Model],
    Z: BinaryArray,
    W: FloatArray,
    voltage_v: FloatArray,
    *,
    start_utc: np.datetime64,
    interval_s: float,
) -> House:
    """The house of one model for each column, with rows `interval_s` apart from midnight `start_utc` on."""
    offsets = np.round(np.arange(len(Z)) * interval_s * 1e9).astype("timedelta64[ns]")
    return House(
        names=tuple(m.name for m in models),
        machines=tuple(m.machine or m.name for m in models),
        kinds=tuple(m.kind for m in models),
        Z=Z,
        W=W,
        voltage_v=voltage_v,
        watts=W @ voltage_v / len(voltage_v),
        start_utc=start_utc.astype("datetime64[ns]") + offsets,
        interval_s=float(interval_s),
    )


def _composition(n_appliances: int, rng: np.random.Generator) -> list[Model]:
    """The first n_appliances of the core, then groups of extras in random order, then copies; sizes vary."""
    models = list(CORE[:n_appliances])
    spread = np.exp(rng.normal(0, _SIZE_SPREAD, size=INPUT.most_simulated))
    copy = 1
    while len(models) < n_appliances:
        for g in rng.permutation(len(EXTRAS)):
            for model in EXTRAS[g]:
                suffix = "" if copy == 1 else f" {copy}"
                partner = model.only_with + suffix if model.only_with else None
                size = 1.0 if copy == 1 else float(rng.uniform(0.5, 1.5))
                models.append(
                    replace(model, name=model.name + suffix, only_with=partner, watts=model.watts * size)
                )
        copy += 1
    return [replace(m, watts=m.watts * float(s)) for m, s in zip(models[:n_appliances], spread, strict=False)]


def _states(models: Sequence[Model], clock: Clock, rng: np.random.Generator) -> BinaryArray:
    """Z (N, K) of full rank in which everything runs at least twice."""
    for _ in range(_MAX_DRAWS):
        columns: dict[str, BoolArray] = {}
        for model in models:
            columns[model.name] = column_of(model, columns, clock, rng)
        switched = [c for m, c in zip(models, columns.values(), strict=True) if m.kind != ALWAYS_ON]
        if any(len(runs_of_ones(c)) < 2 for c in switched):
            continue
        Z = np.column_stack(list(columns.values())).astype(np.uint8)
        if np.linalg.matrix_rank(np.unique(Z, axis=0).astype(np.float64)) == len(models):
            return Z
    raise OptionError(
        f"no schedule of {clock.n_rows} rows lets {len(models)} appliances run twice each, independently, in "
        f"{_MAX_DRAWS} draws; ask for more days or fewer appliances"
    )


def column_of(
    model: Model, columns: dict[str, BoolArray], clock: Clock, rng: np.random.Generator
) -> BoolArray:
    """One appliance's rows, given those drawn before it."""
    if model.only_with is not None:
        return within(columns[model.only_with], model.shares, rng, probability=model.probability)
    on = model.habit(clock, rng)
    free = np.ones(clock.n_rows, dtype=bool)
    if model.never_with in columns:
        free = ~columns[model.never_with]
    on &= free
    if model.kind == ALWAYS_ON:
        return on
    # A few hours may hold none of an appliance's usual times: then it runs at others.
    longest = max(1, min(12, clock.n_rows // 8))
    for _ in range(_MAX_DRAWS):
        if len(runs_of_ones(on)) >= 2:
            break
        length = int(rng.integers(max(1, longest // 2), longest + 1))
        first = int(rng.integers(0, max(1, clock.n_rows - length)))
        around = slice(max(0, first - 1), first + length + 1)
        if free[first : first + length].all() and not on[around].any():
            on[first : first + length] = True
    return on


def observe(
    house: House,
    *,
    noise_a: float,
    rng: np.random.Generator,
    drift: float = 0.0,
    slow_change: float = 0.0,
    switch_rows: float = 0.0,
    recordings: bool = False,
) -> FloatArray:
    """X (N, D) amps: what the meter sees of the house, with white noise of `noise_a` amps in each entry.

    `drift`: standard deviation of the factor by which each activation differs from W. `slow_change`: standard
    deviation of the relative excess at the start of an activation, which dies away within about ten minutes.
    `switch_rows`: probability that a row in which something switches holds up to half of the state before it.
    `recordings`: each activation takes one of the appliance's other recordings in place of W; needs a house
    with `waveforms`. The always-on load keeps its W. All are 0 or False by default: X = ZW + noise.
    """
    for name, value in {"noise_a": noise_a, "drift": drift, "slow_change": slow_change}.items():
        if not value >= 0:
            raise OptionError(f"{name} must be at least 0, got {value}")
    if not 0 <= switch_rows <= 1:
        raise OptionError(f"switch_rows is a probability, got {switch_rows}")
    if recordings and house.recordings is None:
        raise OptionError("recordings=True needs a house made with waveforms=; this one is parametric")
    X = house.Z.astype(np.float64) @ house.W
    for k, kind in enumerate(house.kinds):
        if kind == ALWAYS_ON:
            continue
        for first, end in runs_of_ones(house.Z[:, k]):
            cycle = house.W[k]
            if recordings and house.recordings is not None:
                cycle = house.recordings[k, rng.integers(house.recordings.shape[1])]
            factor = activation_factors(end - first, house.interval_s, rng, drift, slow_change)
            X[first:end] += np.outer(factor, cycle) - house.W[k]
    if switch_rows:
        switches = 1 + np.flatnonzero((np.diff(house.Z.astype(np.int8), axis=0) != 0).any(axis=1))
        mixed = switches[rng.random(len(switches)) < switch_rows]
        mixed = mixed[~house.gap_before[mixed]]
        before = rng.uniform(0, 0.5, size=(len(mixed), 1))
        X[mixed] = before * X[mixed - 1] + (1 - before) * X[mixed]
    X += noise_a * rng.standard_normal(X.shape)
    return X


def activation_factors(
    n_rows: int, interval_s: float, rng: np.random.Generator, drift: float, slow_change: float
) -> FloatArray:
    """(n_rows,) factors of one activation: one level, and an excess that dies away in ten minutes."""
    level, excess = 1 + drift * rng.standard_normal(), slow_change * rng.standard_normal()
    return np.asarray(level + excess * np.exp(-np.arange(n_rows) * interval_s / 600), dtype=np.float64)


def drop_rows(house: House, *, share: float, rng: np.random.Generator) -> House:
    """The house without a random `share` of its rows; its `gap_before` says where they were."""
    if not 0 <= share < 1:
        raise OptionError(f"share must lie in [0, 1), got {share}")
    kept = np.sort(rng.permutation(len(house.Z))[: len(house.Z) - round(share * len(house.Z))])
    return replace(house, Z=house.Z[kept], start_utc=house.start_utc[kept])
