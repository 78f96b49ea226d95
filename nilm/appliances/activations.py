"""Runs of an appliance in time: from a column of zeros and ones to activations, in NILMTK's words.

Owns gaps, merging and minimum durations, and the rounding that lets energies add up exactly.

A row stands for `interval_s` seconds from its start. Rows that follow each other directly form a stretch;
between two stretches lies a gap, in which nothing is known: no activation crosses it and none is assumed.
An activation holds the energy of its rows that are on; off rows that merging took in add duration, no energy.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nilm.errors import OptionError
from nilm.results import Activation, TimeArray

ENERGY_DECIMALS = 6  # kWh are stated to the milliwatt-hour
_J_PER_KWH = 3.6e6


@dataclass(frozen=True)
class ActivationOptions:
    """When a run counts as one activation; both durations in seconds, 0 lists every run."""

    min_on_s: float = 0.0  # a shorter run is not listed; its energy stays with the appliance
    min_off_s: float = 0.0  # runs closer together than this are one activation

    def __post_init__(self) -> None:
        for name, value in (("min_on_s", self.min_on_s), ("min_off_s", self.min_off_s)):
            if not 0 <= value < float("inf"):
                raise OptionError(f"{name} must be a number of seconds from 0 up, got {value}")


def gaps_before(start_utc: TimeArray, interval_s: float) -> NDArray[np.bool_]:
    """Which rows (N,) do not directly follow the row before; the first row follows none, so it is True.

    OptionError where the times do not rise by at least half an interval from row to row.
    """
    if len(start_utc) == 0:
        return np.zeros(0, dtype=np.bool_)
    step_s = np.diff(start_utc.astype("datetime64[ns]")).astype(np.float64) / 1e9
    if np.any(step_s < 0.5 * interval_s):
        n = int(np.argmin(step_s)) + 1
        raise OptionError(
            f"row {n} starts at {start_utc[n]}, {step_s[n - 1]:g} s after the row before; rows must be "
            f"{interval_s:g} s apart and in order: sort them and drop what overlaps"
        )
    return np.concatenate([[True], step_s > 1.5 * interval_s])


def energy_kwh(active_w: float, n_rows: float, interval_s: float) -> float:
    """The energy of `n_rows` rows at `active_w` watts, in kWh to ENERGY_DECIMALS places."""
    return round(active_w * n_rows * interval_s / _J_PER_KWH, ENERGY_DECIMALS)


def find_activations(
    on: ArrayLike,
    start_utc: TimeArray,
    *,
    interval_s: float,
    active_w: float,
    options: ActivationOptions,
    amplitude: NDArray[np.float64] | None = None,
) -> tuple[Activation, ...]:
    """The activations of one appliance, in time order, from its column `on` (N,) of zeros and ones.

    Runs closer than `min_off_s` are merged first, then runs shorter than `min_on_s` are left out (as in
    NILMTK); a run that touches a gap is kept, for its true length is not known. With both at 0 the energies
    add up exactly to `energy_kwh` of all rows that are on; each left-out run takes its share with it.
    `amplitude` (N,) counts a row as more or less than one at `active_w`.
    """
    column = np.asarray(on, dtype=np.int64)
    gaps = gaps_before(start_utc, interval_s)
    one_row = np.timedelta64(round(interval_s * 1e9), "ns")
    on_until = np.concatenate([[0], np.cumsum(column if amplitude is None else amplitude)])
    found = []
    for first, last in _merged_runs(column, gaps, options.min_off_s / interval_s):
        cut = bool(gaps[first]) or last + 1 == len(column) or bool(gaps[last + 1])
        n_rows = last - first + 1
        if n_rows * interval_s < options.min_on_s and not cut:
            continue
        # Differences of rounded running totals: their sum is the rounded total, whatever is between.
        energy = round(
            energy_kwh(active_w, float(on_until[last + 1]), interval_s)
            - energy_kwh(active_w, float(on_until[first]), interval_s),
            ENERGY_DECIMALS,
        )
        n_on = float(on_until[last + 1] - on_until[first])
        found.append(
            Activation(
                start_utc=start_utc[first].astype("datetime64[ns]"),
                end_utc=start_utc[last].astype("datetime64[ns]") + one_row,
                duration_s=float((start_utc[last] - start_utc[first] + one_row) / np.timedelta64(1, "s")),
                mean_w=round(active_w * n_on / n_rows, 3),
                energy_kwh=energy,
                cut=cut,
            )
        )
    return tuple(found)


def _merged_runs(column: NDArray[np.int64], gaps: NDArray[np.bool_], min_off: float) -> list[tuple[int, int]]:
    """(first, last) row of each run of ones in a stretch; runs fewer than min_off rows apart are one."""
    stretch = np.cumsum(gaps)
    runs: list[tuple[int, int]] = []
    for row in np.flatnonzero(column).tolist():
        if runs:
            first, last = runs[-1]
            off_between = row - last - 1
            if stretch[row] == stretch[last] and (off_between == 0 or off_between < min_off):
                runs[-1] = (first, row)
                continue
        runs.append((row, row))
    return runs


def activations_per_day(activations: tuple[Activation, ...], n_rows: int, interval_s: float) -> float:
    """How often a day it came on, over the time that was observed; a run that begins at a gap counts too."""
    days = n_rows * interval_s / 86_400
    return len(activations) / days if days > 0 else 0.0
