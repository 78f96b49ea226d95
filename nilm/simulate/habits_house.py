"""Real habits as a house that can be recorded: loads, their currents, and their size in each row.

Owns how a file of habits (`nilm.simulate.habits`) is laid into a calendar week. A sample holds until some
moment before the next one, when the whole house changes to the next.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from lfm.arrays import FloatArray
from nilm.appliances.energy_assigned import divided
from nilm.simulate.appliances.household import ALWAYS_ON, HEAT
from nilm.simulate.habits import parts_of, read_habits
from nilm.simulate.house import House
from nilm.thresholds import WORLD
from nilm.timeline import DAY_S, seconds, utc

_HOUR_S = 3_600
_LEAST_INTERVAL_S = 10.0  # between rows
_N_POINTS = 320


class Recordable(NamedTuple):
    """A house, what its loads do over time, and what its week lacks."""

    house: House
    profile: FloatArray  # (N, K) factors on W
    silent_hours: frozenset[int]  # hours of the week that have no recording


def house_of_habits(
    path: Path,
    waveforms: Path | None,
    *,
    seed: int,
    days: float,
    start_utc: np.datetime64,
) -> Recordable:
    """The habits in the file as a house in the week from midnight `start_utc`, its waveforms drawn by `seed`.

    Hours of the day stay what they are: the file's first midnight becomes start_utc. What no channel ever
    falls below is the load `standby`; a channel less than 2 W above its own floor is off. Where the file has
    a hole the last sample holds, and the hour counts as silent if the hole is half of it or more.
    """
    interval_s = max(read_habits(path, interval_s=None).interval_s, _LEAST_INTERVAL_S)
    habits = read_habits(path, interval_s=interval_s, days=days)
    first = seconds(habits.start_utc)
    place = np.rint((first - first[0] // DAY_S * DAY_S) / interval_s).astype(np.int64)
    n_rows = round(days * DAY_S / interval_s)
    held = np.searchsorted(place, np.arange(n_rows), side="right") - 1
    present = np.isin(np.arange(n_rows), place)
    hour = (np.arange(n_rows) * interval_s // _HOUR_S).astype(np.int64)
    silent = np.bincount(hour, ~present) * 2 >= np.bincount(hour)

    parts = parts_of(habits, waveforms, seed=seed, n_points=_N_POINTS)
    watts = parts.power_w[np.maximum(held, 0)]
    above = divided(watts).above_w
    on = above >= WORLD.off_w
    floors = watts - above
    peak = np.maximum(np.where(on, above, 0).max(axis=0), 1.0)
    W = np.vstack([floors.mean(axis=0) @ parts.W, parts.W * peak[:, None]])
    names = [
        f"{habits.names[c]} heater" if h and c in parts.channel[:i] else habits.names[c]
        for i, (c, h) in enumerate(zip(parts.channel, parts.heater, strict=True))
    ]
    house = House(
        names=("standby", *names),
        machines=("standby", *(habits.names[c] for c in parts.channel)),
        kinds=(ALWAYS_ON, *(HEAT if h else "mixed" for h in parts.heater)),
        Z=np.column_stack([np.ones(n_rows), on]).astype(np.uint8),
        W=W,
        voltage_v=parts.voltage_v,
        watts=W @ parts.voltage_v / _N_POINTS,
        start_utc=utc(seconds(np.array([start_utc]))[0] + np.arange(n_rows) * interval_s),
        interval_s=interval_s,
    )
    profile = np.column_stack([np.ones(n_rows), above / peak])
    return Recordable(house, profile, frozenset(np.flatnonzero(silent).tolist()))
