"""Solar panels on the roof: a generator whose column of Z says that the sun is up.

Its amplitude follows the sun and the clouds, so X = ZW does not hold for it: the truth keeps the amplitudes.
The feed-in is negative active power with little distortion, from an inverter at constant power.
"""

from dataclasses import replace

import numpy as np

from lfm.arrays import FloatArray
from nilm.errors import OptionError
from nilm.simulate import loads
from nilm.simulate.grid import Wander
from nilm.simulate.house import House
from nilm.thresholds import WORLD
from nilm.timeline import DAY_S

PEAK_W = 2500.0
_SUN_HOURS = (8.0, 16.0)


def with_solar(house: House, rng: np.random.Generator) -> tuple[House, FloatArray]:
    """The house with a last column `solar`, and the profile (N, K + 1): 1, and 0 to 1 for the panels."""
    seconds = house.row_s
    rise, fall = _SUN_HOURS
    height = np.sin(np.pi * (seconds % DAY_S / 3600 - rise) / (fall - rise))
    height[(seconds % DAY_S / 3600 < rise) | (seconds % DAY_S / 3600 > fall)] = 0
    sky = rng.uniform(0.4, 0.9, size=int(seconds[-1] // DAY_S) + 1)[(seconds // DAY_S).astype(np.int64)]
    sun = np.maximum(height, 0) * (sky + Wander(0.1, rng).at(seconds))
    up = sun > WORLD.sleeps_below
    if not up.any():
        raise OptionError(f"solar needs daylight, from {rise:g}:00 UTC on; ask for at least 0.5 days")
    current = -loads.corrected_supply(house.voltage_v, PEAK_W, cusp=0.05, filter_va=60)
    profile = np.ones((len(house.Z), len(house.names) + 1))
    profile[:, -1] = np.where(up, sun, 0)
    return replace(
        house,
        names=(*house.names, "solar"),
        machines=(*house.machines, "solar"),
        kinds=(*house.kinds, "generator"),
        Z=np.column_stack([house.Z, up.astype(np.uint8)]),
        W=np.vstack([house.W, current]),
        watts=np.append(house.watts, loads.active_w(house.voltage_v, current)),
    ), profile
