"""One CSV for each house: a row per reading, a column of watts per appliance."""

import numpy as np
import pyarrow as pa

from nilm.export.house_power import HousePower
from nilm.week.files import table_csv
from nilm.week.tables import UNEXPLAINED

DECIMALS = 3  # of watts: what a person reads


def spreadsheet_csv(power: HousePower) -> bytes:
    """The file: start_utc, duration_s, metered_w, then watts of "A01 kettle", …, and "unexplained" last."""
    columns = {
        "start_utc": pa.array(power.start_utc, pa.timestamp("ns", tz="UTC")),
        "duration_s": pa.array(power.duration_s),
        "metered_w": pa.array(np.round(power.metered_w, DECIMALS)),
    }
    for m, (appliance_id, name) in enumerate(power.names.items()):
        title = UNEXPLAINED if appliance_id == UNEXPLAINED else f"{appliance_id} {name}"
        columns[title] = pa.array(np.round(power.power_w[:, m], DECIMALS))
    return table_csv(pa.table(columns))
