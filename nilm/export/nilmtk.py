"""nilmtk's HDF5: a table of active power for each meter of each building, described by NILM metadata 0.2.

Tables lie at /building<B>/elec/meter<M>, with the columns (physical_quantity, type); the metadata are
attributes of the root and of each building. Meter 1 is the house's; each appliance has one of its own behind
it. PyTables, which pandas writes HDF5 with and nilmtk reads it with, comes with the extra `nilmtk`.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lfm.arrays import FloatArray
from nilm.errors import OptionError
from nilm.export.house_power import HousePower
from nilm.week.files import iso_utc
from nilm.week.tables import UNEXPLAINED

DEVICE = "nilm-hopper"
SCHEMA = "https://github.com/nilmtk/nilm_metadata/tree/v0.2"
UNKNOWN = "unknown"
# The words of NILM metadata's vocabulary that a submeter or an analyst may use; all others are "unknown".
_VOCABULARY = """
active subwoofer; air conditioner; audio amplifier; audio system; baby monitor; boiler; breadmaker;
broadband router; clothes iron; coffee maker; computer; computer monitor; cooker; dehumidifier;
desktop computer; dish washer; electric blanket; electric oven; electric shower heater; electric
space heater; electric stove; electric vehicle; fan; food processor; food steamer; freezer; fridge;
fridge freezer; fryer; games console; grill; hair dryer; heat pump; immersion heater; kettle; lamp;
laptop computer; light; microwave; network attached storage; oven; printer; projector; radio; rice
cooker; server computer; set top box; sewing machine; slow cooker; solar thermal pumping station;
soldering iron; stove; television; toaster; tumble dryer; vacuum cleaner; washer dryer; washing
machine
"""
APPLIANCE_TYPES = frozenset(" ".join(words.split()) for words in _VOCABULARY.split(";"))


def nilmtk_hdf5(houses: Sequence[HousePower], *, timezone: str) -> bytes:
    """The HDF5 file of some houses, times in `timezone`; OptionError without PyTables."""
    numbers = building_numbers([power.house for power in houses])
    try:
        store: Any = pd.HDFStore("in memory", "w", driver="H5FD_CORE", driver_core_backing_store=0)
    except ImportError as error:
        raise OptionError(
            "nilmtk's format needs PyTables, which is missing: in a clone, pip install '.[nilmtk]'"
        ) from error
    with store:
        for number, power in zip(numbers, houses, strict=True):
            index = pd.DatetimeIndex(power.start_utc).tz_localize("UTC").tz_convert(timezone)
            for meter, watts in enumerate(np.column_stack([power.metered_w, power.power_w[:, :-1]]).T, 1):
                _put(store, _location(number, meter), watts, index)
            _describe(store, f"/building{number}", building_metadata(number, power))
        _describe(store, "/", dataset_metadata(houses, timezone))
        store.flush()
        content: bytes = store._handle.get_file_image()
    return content


def _describe(store: Any, node: str, metadata: dict[str, Any]) -> None:
    store.get_node(node)._v_attrs.metadata = metadata


def _put(store: Any, key: str, watts: FloatArray, index: pd.DatetimeIndex) -> None:
    columns = pd.MultiIndex.from_tuples([("power", "active")], names=["physical_quantity", "type"])
    table = pd.DataFrame(watts.astype(np.float32)[:, None], index=index, columns=columns)
    store.put(key, table, format="table", index=False, complevel=9, complib="zlib", track_times=False)
    store.create_table_index(key, columns=["index"], kind="full", optlevel=9)


def building_numbers(houses: Sequence[str]) -> list[int]:
    """A number for each house: the one that ends its name, as in house_5; 1, 2, … where not all differ."""
    found = [re.search(r"([1-9]\d{0,8})$", house) for house in houses]
    numbers = [int(match[1]) for match in found if match]
    return numbers if len(set(numbers)) == len(houses) else list(range(1, len(houses) + 1))


def dataset_metadata(houses: Sequence[HousePower], timezone: str) -> dict[str, Any]:
    """NILM metadata's Dataset, with its one MeterDevice."""
    durations = np.concatenate([power.duration_s for power in houses])
    device = {
        "model": DEVICE,
        "description": "Power of each appliance, worked out from the current and voltage of the whole house.",
        # nilmtk counts a reading until the next one, and no longer than the maximum: so none is cut short.
        "sample_period": float(np.median(durations)),
        "max_sample_period": float(durations.max()),
        "measurements": [{"physical_quantity": "power", "type": "active"}],
    }
    return {
        "name": DEVICE,
        "long_name": "Appliances found without labels by nilm-hopper",
        "subject": "Disaggregated power of domestic appliances, appliance by appliance.",
        "timezone": timezone,
        "number_of_buildings": len(houses),
        "schema": SCHEMA,
        "meter_devices": {DEVICE: device},
    }


def building_metadata(number: int, power: HousePower) -> dict[str, Any]:
    """NILM metadata's Building: the site meter, and an appliance on a meter of its own for each found."""
    first, last = iso_utc(np.array([power.start_utc[0], power.end_utc[-1]]))
    meter = {"device_model": DEVICE, "timeframe": {"start": first, "end": last}}
    meters: dict[int, dict[str, Any]] = {
        1: {**meter, "site_meter": True, "submeter_of": 0, "data_location": _location(number, 1)}
    }
    appliances = []
    seen: Counter[str] = Counter()
    for m, (appliance_id, name) in enumerate(power.names.items(), start=2):
        if appliance_id == UNEXPLAINED:
            continue
        kind = appliance_type(name)
        seen[kind] += 1
        meters[m] = {**meter, "submeter_of": 1, "data_location": _location(number, m), "name": appliance_id}
        appliances.append(
            {"type": kind, "instance": seen[kind], "meters": [m], "original_name": f"{appliance_id} {name}"}
        )
    return {
        "instance": number,
        "original_name": power.house,
        "timeframe": {"start": first, "end": last},
        "elec_meters": meters,
        "appliances": appliances,
    }


def appliance_type(name: str) -> str:
    """The word of NILM metadata's vocabulary for a name, however it is spelt; "unknown" if there is none."""
    words = re.sub(r"[\W_\d]+", " ", name.lower()).strip()
    by_letters = {kind.replace(" ", ""): kind for kind in APPLIANCE_TYPES}
    return by_letters.get(words.replace(" ", ""), UNKNOWN)


def _location(building: int, meter: int) -> str:
    return f"/building{building}/elec/meter{meter}"
