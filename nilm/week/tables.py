"""A `WeekResult` as Arrow tables: their columns, types and rows. What becomes CSV is `nilm.week.files`'s.

The columns are a contract with analysts: none goes or moves, a new one comes at the end. Every table names
its house and week in its last two columns, so that the files of many weeks can be read as one table.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from nilm.appliances.certainty.doubts import sure_word
from nilm.results import Activation, Appliance, WeekResult

UNEXPLAINED = "unexplained"

_UTC = pa.timestamp("ns", tz="UTC")
_ORIGIN = (("house", pa.string()), ("week", pa.string()))
_IDENTITY = (("appliance_id", pa.string()), ("name", pa.string()))

APPLIANCES = pa.schema(
    [
        *_IDENTITY,
        ("kind", pa.string()),
        ("active_w", pa.float64()),
        ("rms_a", pa.float64()),
        ("power_factor", pa.float64()),
        ("thd", pa.float64()),
        ("share_of_time", pa.float64()),
        ("activations", pa.int64()),
        ("energy_kwh", pa.float64()),
        ("support", pa.float64()),
        ("correction", pa.string()),
        ("sure", pa.float64()),
        ("energy_low_kwh", pa.float64()),
        ("energy_high_kwh", pa.float64()),
        ("how_sure", pa.string()),
        ("cost", pa.float64()),
        ("cost_low", pa.float64()),
        ("cost_high", pa.float64()),
        ("inrush", pa.float64()),
        ("inrush_s", pa.float64()),
        *_ORIGIN,
    ]
)
ACTIVATIONS = pa.schema(
    [
        *_IDENTITY,
        ("start_utc", _UTC),
        ("end_utc", _UTC),
        ("duration_s", pa.float64()),
        ("mean_w", pa.float64()),
        ("energy_kwh", pa.float64()),
        ("sure", pa.float64()),
        *_ORIGIN,
    ]
)
POWER = pa.schema(
    [
        *_ORIGIN,
        ("start_utc", _UTC),
        ("duration_s", pa.float64()),
        *_IDENTITY,
        ("power_w", pa.float64()),
        ("on", pa.bool_()),
    ]
)


def appliance_table(result: WeekResult) -> pa.Table:
    """One row per appliance, and a last one "unexplained": `energy_kwh` adds up to the metered energy."""
    return _table(APPLIANCES, result, _appliance_rows(result))


def activation_table(result: WeekResult) -> pa.Table:
    """One row per run of an appliance."""
    return _table(ACTIVATIONS, result, (_activation_row(a, run) for a, run in activations(result)))


def activations(result: WeekResult) -> list[tuple[Appliance, Activation]]:
    """Every run with its appliance, in the order of the appliances."""
    return [(appliance, run) for appliance in result.appliances for run in appliance.activations]


def power_table(result: WeekResult) -> pa.Table:
    """One row per reading and appliance, "unexplained" among them: `power_w` adds up to the metered power."""
    N, n_meters = len(result.start_utc), len(result.appliances) + 1
    known = sum((a.power_w for a in result.appliances), np.zeros(N))
    ids = [*(a.appliance_id for a in result.appliances), UNEXPLAINED]
    names = [*(a.name for a in result.appliances), UNEXPLAINED]
    on = [a.on.astype(bool) for a in result.appliances]
    columns = {
        "house": _repeated([result.house], N * n_meters),
        "week": _repeated([result.week], N * n_meters),
        "start_utc": pa.array(np.tile(_ns(result.start_utc), n_meters), _UTC),
        "duration_s": pa.array(np.tile(result.duration_s, n_meters), pa.float64()),
        "appliance_id": _repeated(ids, N),
        "name": _repeated(names, N),
        "power_w": pa.array(
            np.concatenate([*(a.power_w for a in result.appliances), result.metered_w - known]), pa.float64()
        ),
        # What no appliance explains is neither on nor off.
        "on": pa.concat_arrays([*(pa.array(column, pa.bool_()) for column in on), pa.nulls(N, pa.bool_())]),
    }
    return pa.table(columns, schema=POWER)


def state_table(result: WeekResult) -> pa.Table:
    """One row per reading: time, metered and explained watts, 0 or 1 per appliance by its id."""
    columns = {
        "start_utc": pa.array(_ns(result.start_utc), _UTC),
        "metered_w": pa.array(result.metered_w, pa.float64()),
        "explained_w": pa.array(result.explained_w, pa.float64()),
    }
    for appliance in sorted(result.appliances, key=lambda a: a.appliance_id):
        columns[appliance.appliance_id] = pa.array(appliance.on, pa.uint8())
    return pa.table(columns | _origin(result, len(result.start_utc)))


def waveform_table(result: WeekResult) -> pa.Table:
    """One row per appliance: its current over one voltage cycle, and that cycle of voltage beside it."""
    n, D = len(result.appliances), len(result.voltage_v)
    cycles = pa.list_(pa.float64(), D)
    currents = np.concatenate([a.current_a for a in result.appliances] or [np.zeros(0)])
    columns = {
        "appliance_id": pa.array([a.appliance_id for a in result.appliances], pa.string()),
        "name": pa.array([a.name for a in result.appliances], pa.string()),
        "current_a": pa.FixedSizeListArray.from_arrays(pa.array(currents), type=cycles),
        "voltage_v": pa.FixedSizeListArray.from_arrays(pa.array(np.tile(result.voltage_v, n)), type=cycles),
    }
    return pa.table(columns | _origin(result, n))


def _appliance_rows(result: WeekResult) -> Iterator[Sequence[Any]]:
    names = APPLIANCES.names[: -len(_ORIGIN)]
    for a in result.appliances:
        made = {
            "activations": len(a.activations),
            "how_sure": sure_word(a.sure),
            "cost": _cost(a.energy_kwh, result),
            "cost_low": _cost(a.energy_low_kwh, result),
            "cost_high": _cost(a.energy_high_kwh, result),
        }
        yield [made[name] if name in made else getattr(a, name) for name in names]
    last = dict.fromkeys(names) | {
        "appliance_id": UNEXPLAINED,
        "name": UNEXPLAINED,
        "kind": UNEXPLAINED,
        "activations": 0,  # a column of whole numbers stays one
        "energy_kwh": result.unexplained_kwh,
        "cost": _cost(result.unexplained_kwh, result),
    }
    yield tuple(last.values())


def _cost(energy_kwh: float, result: WeekResult) -> float:
    """What an energy costs, to a hundredth of a penny."""
    return round(energy_kwh * result.tariff_per_kwh, 4)


def _activation_row(appliance: Appliance, run: Activation) -> Sequence[Any]:
    return (
        appliance.appliance_id,
        appliance.name,
        _ns(run.start_utc),
        _ns(run.end_utc),
        run.duration_s,
        run.mean_w,
        run.energy_kwh,
        run.sure,
    )


def _table(schema: pa.Schema, result: WeekResult, rows: Iterable[Sequence[Any]]) -> pa.Table:
    """The rows under `schema`, whose last columns, house and week, they leave out."""
    columns: list[list[Any]] = [[] for _ in schema]
    for row in rows:
        for column, value in zip(columns, (*row, result.house, result.week), strict=True):
            column.append(value)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def _origin(result: WeekResult, n: int) -> dict[str, pa.Array]:
    return {"house": _repeated([result.house], n), "week": _repeated([result.week], n)}


def _repeated(texts: Sequence[str], times: int) -> pa.Array:
    """Each text `times` over."""
    return pa.array(np.repeat(np.array(texts, object), times), pa.string())


def _ns(times: ArrayLike) -> NDArray[np.datetime64]:
    return np.asarray(times, dtype="datetime64[ns]")
