"""Runs of an appliance in time: from a column of zeros and ones to activations, in NILMTK's words.

Owns merging and minimum durations, and the rounding that lets energies add up exactly. What a row stands for,
and what a gap is, is `nilm.timeline`: no activation crosses a gap. Off rows between two runs that were merged
add to the activation's duration, but not to its energy.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lfm.arrays import BoolArray, FloatArray
from nilm.errors import OptionError
from nilm.results import Activation
from nilm.timeline import DAY_S, J_PER_KWH, TimeArray, ends, gaps_before

ENERGY_DECIMALS = 6  # kWh are stated to the milliwatt-hour
_WEEK_S = 7 * DAY_S


@dataclass(frozen=True)
class ActivationOptions:
    """When a run counts as one activation; both durations in seconds, 0 lists every run."""

    min_on_s: float = 0.0  # a shorter run is not listed; its energy stays with the appliance
    min_off_s: float = 0.0  # runs closer together than this are one activation

    def __post_init__(self) -> None:
        for name, value in (("min_on_s", self.min_on_s), ("min_off_s", self.min_off_s)):
            if not 0 <= value <= _WEEK_S:
                raise OptionError(f"{name} must be from 0 to {_WEEK_S:.0f} seconds, a week, got {value}")


def energy_kwh(power_w: FloatArray, duration_s: ArrayLike) -> float:
    """The energy of rows of power_w (N,) watts for duration_s (N,) seconds, in kWh to ENERGY_DECIMALS."""
    return float(_running_kwh(power_w, duration_s)[-1])


def _running_kwh(power_w: FloatArray, duration_s: ArrayLike) -> FloatArray:
    """(N + 1,) the rounded energy of the first n rows.

    The energy of a run is a difference of two of them: so runs add up to the rounded total exactly.
    """
    joules = np.cumsum(np.asarray(power_w, dtype=np.float64) * np.asarray(duration_s, dtype=np.float64))
    return np.round(np.concatenate([[0.0], joules]) / J_PER_KWH, ENERGY_DECIMALS)


def find_activations(
    on: ArrayLike,
    start_utc: TimeArray,
    *,
    duration_s: FloatArray,
    power_w: FloatArray,
    options: ActivationOptions,
    sure: FloatArray | None = None,
) -> tuple[Activation, ...]:
    """The activations of one appliance, in time order, from its column `on` (N,) of zeros and ones.

    Rows stand for `duration_s` (N,) seconds from `start_utc` (N,) on; `power_w` (N,) is the appliance's power
    in each, 0 where it is off. Runs closer than `min_off_s` are merged first, then runs shorter than
    `min_on_s` are left out (as in NILMTK); a run that touches a gap is kept, for its true length is not
    known. `sure` (N,) is the probability that the run of each row is right, NaN where that is not known; an
    activation of several runs gets their mean, by rows. With both durations at 0 the energies add up exactly
    to `energy_kwh` of all rows; each left-out run takes its share with it.
    """
    column = np.asarray(on, dtype=np.bool_)
    gaps = gaps_before(start_utc, duration_s)
    start, end = start_utc.astype("datetime64[ns]"), ends(start_utc, duration_s)
    kwh = _running_kwh(power_w, duration_s)
    found = []
    for first, last in _merged_runs(column, gaps, start, end, options.min_off_s):
        cut = bool(gaps[first]) or last + 1 == len(column) or bool(gaps[last + 1])
        lasts_s = float((end[last] - start[first]) / np.timedelta64(1, "s"))
        if lasts_s < options.min_on_s and not cut:
            continue
        energy = round(float(kwh[last + 1] - kwh[first]), ENERGY_DECIMALS)
        watt_s = float(power_w[first : last + 1] @ duration_s[first : last + 1])
        found.append(
            Activation(
                start_utc=start[first],
                end_utc=end[last],
                duration_s=lasts_s,
                mean_w=round(watt_s / float(duration_s[first : last + 1].sum()), 3),
                energy_kwh=energy,
                sure=_mean_known(sure[first : last + 1]) if sure is not None else None,
                cut=cut,
            )
        )
    return tuple(found)


def _mean_known(sure: FloatArray) -> float | None:
    """The mean of what is known, to three digits; None where nothing is."""
    known = sure[np.isfinite(sure)]
    return round(float(known.mean()), 3) if len(known) else None


def _merged_runs(
    column: BoolArray,
    gaps: BoolArray,
    start: TimeArray,
    end: TimeArray,
    min_off_s: float,
) -> list[tuple[int, int]]:
    """(first, last) row of each run of ones in a stretch; runs less than min_off_s apart are one."""
    begins = np.flatnonzero(column & (np.concatenate([[True], ~column[:-1]]) | gaps))
    lasts = np.flatnonzero(column & (np.concatenate([~column[1:], [True]]) | np.append(gaps[1:], True)))
    stretch = np.cumsum(gaps)
    least_off = np.timedelta64(round(min_off_s * 1e9), "ns")
    runs: list[tuple[int, int]] = []
    for first, last in zip(begins.tolist(), lasts.tolist(), strict=True):
        if runs and stretch[runs[-1][1]] == stretch[first] and start[first] - end[runs[-1][1]] < least_off:
            runs[-1] = (runs[-1][0], last)
        else:
            runs.append((first, last))
    return runs


def activations_per_day(activations: tuple[Activation, ...], observed_s: float) -> float:
    """How often a day it came on, over the time that was observed; a run that begins at a gap counts too."""
    return len(activations) * DAY_S / observed_s if observed_s > 0 else 0.0
