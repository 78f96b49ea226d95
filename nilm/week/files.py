"""A `WeekResult` as the files of `outputs/<house>/<week>/`: names and bytes, nothing written.

Owns the files' formats; their columns are `nilm.week.tables`'s. Floats are written in full (`repr`), so that
a file and the page show the same number. What is likely a part of what stands in corrections.json, which
runs a gap cut short in quality.json.
"""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nilm.files import canonical_json
from nilm.results import WeekResult
from nilm.timeline import TimeArray
from nilm.week.tables import (
    ACTIVATIONS,
    APPLIANCES,
    activation_table,
    activations,
    appliance_table,
    power_table,
    state_table,
    waveform_table,
)

# A CSV lies in the folder of its house and week, and its columns are older than the two that say so.
APPLIANCE_COLUMNS = tuple(name for name in APPLIANCES.names if name not in ("house", "week"))
ACTIVATION_COLUMNS = tuple(name for name in ACTIVATIONS.names if name not in ("house", "week"))
# A spreadsheet runs a cell that begins with one of these as a formula; some take the full-width forms too.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def week_files(result: WeekResult) -> dict[str, bytes]:
    """Every data file of the week by name; the page and the manifest are `nilm.week.publish`'s to add."""
    appliances, runs = appliance_table(result), activation_table(result)
    return {
        "appliances.csv": table_csv(appliances.select(APPLIANCE_COLUMNS)),
        "appliances.parquet": _parquet(appliances),
        "activations.csv": table_csv(runs.select(ACTIVATION_COLUMNS)),
        "activations.parquet": _parquet(runs),
        "power.parquet": _parquet(power_table(result)),
        "states.parquet": _parquet(state_table(result)),
        "waveforms.parquet": _parquet(waveform_table(result)),
        "corrections.json": _json(_corrections(result)),
        "quality.json": _json(_quality(result)),
        "scores.json": _json(_scores(result)),
    }


def spreadsheet_safe(text: str) -> str:
    """`text`, with an apostrophe before it where a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def iso_utc(times: TimeArray) -> list[str]:
    """ISO 8601 in UTC with a Z, to the nearest tenth of a second."""
    tenth = np.timedelta64(100, "ms")
    tenths = (np.asarray(times, dtype="datetime64[ns]") + tenth // 2).astype("datetime64[100ms]")
    return [f"{text[:-2]}Z" for text in np.datetime_as_string(tenths.astype("datetime64[ms]"), unit="ms")]


def table_csv(table: pa.Table) -> bytes:
    """An Arrow table as CSV: texts safe for spreadsheets, times in ISO 8601, empty where a value is null."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([spreadsheet_safe(name) for name in table.column_names])
    writer.writerows(zip(*(_cells(column) for column in table.columns), strict=True))
    return text.getvalue().encode("utf-8")


def _cells(column: pa.ChunkedArray) -> Sequence[Any]:
    if pa.types.is_timestamp(column.type):
        return iso_utc(column.to_numpy())
    values: list[Any] = column.to_pylist()
    if pa.types.is_string(column.type):
        return [value and spreadsheet_safe(value) for value in values]
    return values


def _corrections(result: WeekResult) -> dict[str, Any]:
    return {
        "corrections": [
            {
                "appliance_id": c.appliance_id,
                "kind": c.kind,
                "words": c.words,
                "watts_before": c.watts_before,
                "watts_after": c.watts_after,
                "rows_on_before": int(c.on_before.sum(dtype=np.int64)),
            }
            for c in result.corrections
        ],
        "likely_parts": [
            {"appliance_id": a.appliance_id, "part_of": a.part_of, "evidence": a.part_evidence}
            for a in result.appliances
            if a.part_of is not None
        ],
        "certainty": asdict(result.certainty),
    }


def _quality(result: WeekResult) -> dict[str, Any]:
    cut = [(a, run) for a, run in activations(result) if run.cut]
    starts = iso_utc(np.array([run.start_utc for _, run in cut], "datetime64[ns]"))
    return {
        **asdict(result.quality),
        # They touch a gap or the week's edge, so they may have been longer than activations.csv says.
        "activations_cut": [
            {"appliance_id": a.appliance_id, "start_utc": start}
            for (a, _), start in zip(cut, starts, strict=True)
        ],
        "metered_kwh": result.metered_kwh,
        "unexplained_kwh": result.unexplained_kwh,
        "catalogue": asdict(result.catalogue),
    }


def _scores(result: WeekResult) -> dict[str, Any]:
    if result.scores is None:
        return {"source": None, "words": "There is neither a simulator's truth nor a matching submeter."}
    return asdict(result.scores)


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", compression_level=3)
    return bytes(sink.getvalue().to_pybytes())


def _json(value: Any) -> bytes:
    return canonical_json(_finite(value)).encode("utf-8")


def _finite(value: Any) -> Any:
    """`value` with null for a number that JSON cannot hold (an NDE against an appliance that never ran)."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
