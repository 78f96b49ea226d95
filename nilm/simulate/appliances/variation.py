"""How the power of a load moves while it is on: falling, wandering, in steps of a programme, by demand.

A variation turns the rows in which a load is on into factors on its watts. Owns sizes over time only: when a
load is on is `nilm.simulate.schedules`.
"""

from collections.abc import Callable

import numpy as np

from lfm import runs_of_ones
from lfm.arrays import BoolArray, FloatArray
from nilm.simulate.schedules import Clock

Variation = Callable[
    [BoolArray, Clock, np.random.Generator], FloatArray
]  # (N,) factors; they count where it is on
OneRun = Callable[[int, float, np.random.Generator], FloatArray]  # (rows, interval_s, rng) → factors


def _run_by_run(factors: OneRun) -> Variation:
    """The variation that draws every run afresh."""

    def variation(on: BoolArray, clock: Clock, rng: np.random.Generator) -> FloatArray:
        out = np.ones(len(on))
        for first, end in runs_of_ones(on):
            out[first:end] = factors(end - first, clock.interval_s, rng)
        return out

    return variation


def falling(excess: float, within_s: float) -> Variation:
    """1 + excess at the start of every run, dying away within about `within_s`: a compressor, a filament."""

    def factors(n_rows: int, interval_s: float, rng: np.random.Generator) -> FloatArray:
        start = excess * rng.uniform(0.8, 1.2)
        return np.asarray(1 + start * np.exp(-np.arange(n_rows) * interval_s / within_s))

    return _run_by_run(factors)


def wandering(spread: float, within_s: float, *, least: float = 0.2) -> Variation:
    """Around 1 with this standard deviation, forgotten within about `within_s`: a picture, a game."""

    def factors(n_rows: int, interval_s: float, rng: np.random.Generator) -> FloatArray:
        return np.maximum(least, 1 + spread * _wander(n_rows, interval_s / within_s, rng))

    return _run_by_run(factors)


def programme(*steps: tuple[float, float], unsteady: float = 0.02) -> Variation:
    """The steps of a programme, each (share of the run at which it ends, factor); the last share is 1.

    Every step of every run is off by a few percent (`unsteady`, a standard deviation).
    """

    def factors(n_rows: int, interval_s: float, rng: np.random.Generator) -> FloatArray:  # noqa: ARG001
        ends = np.array([share for share, _ in steps])
        sizes = np.array([size for _, size in steps]) * (1 + unsteady * rng.standard_normal(len(steps)))
        share = (np.arange(n_rows) + 0.5) / n_rows
        return sizes[np.minimum(np.searchsorted(ends, share), len(steps) - 1)]

    return _run_by_run(factors)


def chosen(*levels: float, for_s: float) -> Variation:
    """One of the levels at a time, each for about `for_s`: a dimmer that somebody turns."""

    def factors(n_rows: int, interval_s: float, rng: np.random.Generator) -> FloatArray:
        turned = rng.random(n_rows) < interval_s / for_s
        return rng.choice(levels, size=n_rows)[np.maximum.accumulate(np.where(turned, np.arange(n_rows), 0))]

    return _run_by_run(factors)


def charging(full_s: float) -> Variation:
    """1 until the battery is full after about `full_s`, then dying away."""

    def factors(n_rows: int, interval_s: float, rng: np.random.Generator) -> FloatArray:
        full = full_s * rng.uniform(0.5, 1.2)
        after = np.maximum(0, np.arange(n_rows) * interval_s - full)
        return np.asarray(0.25 + 0.75 * np.exp(-after / (0.3 * full_s)))

    return _run_by_run(factors)


def by_demand(least: float, within_s: float) -> Variation:
    """Full power at first, then whatever the house asks for, from `least` to 1: an inverter-driven pump."""

    def factors(n_rows: int, interval_s: float, rng: np.random.Generator) -> FloatArray:
        asked = rng.uniform(least, 0.7) + 0.15 * _wander(n_rows, interval_s / within_s, rng)
        warm = np.exp(-np.arange(n_rows) * interval_s / (0.5 * within_s))
        return np.asarray(np.clip(warm + (1 - warm) * asked, least, 1.0), dtype=np.float64)

    return _run_by_run(factors)


def _wander(n_rows: int, step: float, rng: np.random.Generator) -> FloatArray:
    """(n_rows,) a random walk that returns to 0, of variance 1; `step` is a row's share of its memory."""
    keeps = np.exp(-step)
    kicks = rng.standard_normal(n_rows)
    out = np.empty(n_rows)
    value = 0.0
    for n in range(n_rows):
        value = kicks[n] if n == 0 else keeps * value + np.sqrt(1 - keeps**2) * kicks[n]
        out[n] = value
    return out
