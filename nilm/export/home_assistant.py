"""Energy by the hour, as Home Assistant's long-term statistics want it: `sum` and `state` of a counter.

Home Assistant itself imports no file; its custom integration "Import Statistics" reads this CSV (action
`import_statistics.import_from_file` with `datetime_format: "%d.%m.%Y %H:%M"` and `timezone_identifier: UTC`).
An id with a colon is a statistic that belongs to no entity. A counter must go on from week to week: it is
counted from the first published week on, whichever weeks are written.
"""

import numpy as np
import pandas as pd

from lfm.arrays import FloatArray
from nilm.export.house_power import HousePower
from nilm.timeline import J_PER_KWH, TimeArray

_HOUR_NS = 3600 * 10**9


def statistic_ids(power: HousePower) -> dict[str, str]:
    """What each statistic is, by its id: `nilm:house_1_a01` is a "kettle"; the meter's comes first."""
    domain = f"nilm:{power.house.lower().replace('-', '_')}"
    named = {f"{domain}_{appliance_id.lower()}": name for appliance_id, name in power.names.items()}
    return {f"{domain}_metered": "metered", **named}


def statistics_csv(power: HousePower, *, from_utc: np.datetime64) -> bytes:
    """The file: statistic_id, start, unit, state, sum, for each hour with a reading from `from_utc` on.

    `power` holds every published week, for the counters.
    """
    hours, energy_kwh = hourly_energy(power)
    counter = np.cumsum(energy_kwh, axis=0)
    shown = hours >= from_utc.astype("datetime64[h]")
    starts = pd.DatetimeIndex(hours[shown]).strftime("%d.%m.%Y %H:%M")
    tables = [
        pd.DataFrame({"statistic_id": i, "start": starts, "unit": "kWh", "state": kwh, "sum": kwh})
        for i, kwh in zip(statistic_ids(power), counter[shown].T, strict=True)
    ]
    return pd.concat(tables).to_csv(index=False, float_format="%.6f", lineterminator="\n").encode()


def hourly_energy(power: HousePower) -> tuple[TimeArray, FloatArray]:
    """The starts (H,) of the hours that hold a reading, and kWh (H, 1 + M): the meter's, each appliance's.

    A reading that crosses the full hour gives each hour its part.
    """
    start = power.start_utc.astype(np.int64)
    end = power.end_utc.astype(np.int64)
    watts = np.column_stack([power.metered_w, power.power_w])
    joules = np.cumsum(watts * power.duration_s[:, None], axis=0)
    edges = np.arange(start[0] // _HOUR_NS, -(-end[-1] // _HOUR_NS) + 1) * _HOUR_NS
    knots = np.stack([start, end], axis=1).ravel()
    before = np.vstack([np.zeros((1, watts.shape[1])), joules[:-1]])
    levels = np.stack([before, joules], axis=1).reshape(len(knots), -1)
    at_edges = np.stack([np.interp(edges, knots, level) for level in levels.T], axis=1)
    # Readings that end after an edge, less those that start at the next one or later.
    held = np.searchsorted(start, edges[1:], side="left") > np.searchsorted(end, edges[:-1], side="right")
    return edges[:-1][held].astype("datetime64[ns]"), np.diff(at_edges, axis=0)[held] / J_PER_KWH
