"""A `WeekResult` as the files of `outputs/<house>/<week>/`: names and bytes, nothing written.

Owns columns and formats, which are a contract with analysts: no column comes, goes or moves. Floats are
written in full (`repr`), so that a file and the page show the same number. The rows of appliances.csv add up
to the metered energy: its last row, with the id "unexplained", is the difference. What is likely a part of
what stands in corrections.json, which runs a gap cut short in quality.json.
"""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nilm.files import canonical_json
from nilm.results import Activation, Appliance, TimeArray, WeekResult

UNEXPLAINED = "unexplained"

APPLIANCE_COLUMNS = (
    "appliance_id",
    "name",
    "kind",
    "active_w",
    "rms_a",
    "power_factor",
    "thd",
    "share_of_time",
    "activations",
    "energy_kwh",
    "support",
    "correction",
)
ACTIVATION_COLUMNS = (
    "appliance_id",
    "name",
    "start_utc",
    "end_utc",
    "duration_s",
    "mean_w",
    "energy_kwh",
)
# A spreadsheet runs a cell that begins with one of these as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def week_files(result: WeekResult) -> dict[str, bytes]:
    """Every data file of the week by name; the page and the manifest are `nilm.publish`'s to add."""
    return {
        "appliances.csv": _csv(APPLIANCE_COLUMNS, _appliance_rows(result)),
        "activations.csv": _csv(ACTIVATION_COLUMNS, _activation_rows(result)),
        "activations.parquet": _parquet(_activation_table(result)),
        "states.parquet": _parquet(_state_table(result)),
        "waveforms.parquet": _parquet(_waveform_table(result)),
        "corrections.json": _json(_corrections(result)),
        "quality.json": _json(_quality(result)),
        "scores.json": _json(_scores(result)),
    }


def spreadsheet_safe(text: str) -> str:
    """`text`, with an apostrophe before it where a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def iso_utc(times: TimeArray) -> list[str]:
    """ISO 8601 in UTC with a Z; to the second if all are whole seconds, else to the millisecond."""
    times = np.asarray(times, dtype="datetime64[ns]")
    whole = bool(np.all(times == times.astype("datetime64[s]")))
    return [f"{text}Z" for text in np.datetime_as_string(times, unit="s" if whole else "ms")]


def _appliance_rows(result: WeekResult) -> Iterable[Sequence[Any]]:
    for a in result.appliances:
        yield (
            a.appliance_id,
            spreadsheet_safe(a.name),
            a.kind,
            a.active_w,
            a.rms_a,
            a.power_factor,
            a.thd,
            a.share_of_time,
            len(a.activations),
            a.energy_kwh,
            a.support,
            a.correction,
        )
    empty = [""] * len(APPLIANCE_COLUMNS)
    last = dict(zip(APPLIANCE_COLUMNS, empty, strict=True)) | {
        "appliance_id": UNEXPLAINED,
        "name": UNEXPLAINED,
        "kind": UNEXPLAINED,
        "activations": 0,  # a column of whole numbers stays one
        "energy_kwh": result.unexplained_kwh,
    }
    yield list(last.values())


def _activations(result: WeekResult) -> list[tuple[Appliance, Activation]]:
    return [(appliance, run) for appliance in result.appliances for run in appliance.activations]


def _activation_rows(result: WeekResult) -> Iterable[Sequence[Any]]:
    pairs = _activations(result)
    times = iso_utc(np.array([t for _, run in pairs for t in (run.start_utc, run.end_utc)], "datetime64[ns]"))
    for n, (appliance, run) in enumerate(pairs):
        yield (
            appliance.appliance_id,
            spreadsheet_safe(appliance.name),
            times[2 * n],
            times[2 * n + 1],
            run.duration_s,
            run.mean_w,
            run.energy_kwh,
        )


def _activation_table(result: WeekResult) -> pa.Table:
    pairs = _activations(result)
    utc = pa.timestamp("ns", tz="UTC")
    return pa.table(
        {
            "appliance_id": pa.array([a.appliance_id for a, _ in pairs], pa.string()),
            "name": pa.array([a.name for a, _ in pairs], pa.string()),
            "start_utc": pa.array(np.array([r.start_utc for _, r in pairs], "datetime64[ns]"), utc),
            "end_utc": pa.array(np.array([r.end_utc for _, r in pairs], "datetime64[ns]"), utc),
            "duration_s": pa.array([r.duration_s for _, r in pairs], pa.float64()),
            "mean_w": pa.array([r.mean_w for _, r in pairs], pa.float64()),
            "energy_kwh": pa.array([r.energy_kwh for _, r in pairs], pa.float64()),
        }
    )


def _state_table(result: WeekResult) -> pa.Table:
    """One row per row of the week: time, metered and explained watts, then 0 or 1 per appliance by its id."""
    columns = {
        "start_utc": pa.array(result.start_utc.astype("datetime64[ns]"), pa.timestamp("ns", tz="UTC")),
        "metered_w": pa.array(result.metered_w, pa.float64()),
        "explained_w": pa.array(result.explained_w, pa.float64()),
    }
    for appliance in sorted(result.appliances, key=lambda a: a.appliance_id):
        columns[appliance.appliance_id] = pa.array(appliance.on, pa.uint8())
    return pa.table(columns)


def _waveform_table(result: WeekResult) -> pa.Table:
    """One row per appliance: its current over one voltage cycle, and that cycle of voltage beside it."""
    D = len(result.voltage_v)
    cycles = pa.list_(pa.float64(), D)
    currents = np.concatenate([a.current_a for a in result.appliances] or [np.zeros(0)])
    voltages = np.tile(result.voltage_v, len(result.appliances))
    return pa.table(
        {
            "appliance_id": pa.array([a.appliance_id for a in result.appliances], pa.string()),
            "name": pa.array([a.name for a in result.appliances], pa.string()),
            "current_a": pa.FixedSizeListArray.from_arrays(pa.array(currents), type=cycles),
            "voltage_v": pa.FixedSizeListArray.from_arrays(pa.array(voltages), type=cycles),
        }
    )


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
    cut = [(a, run) for a, run in _activations(result) if run.cut]
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


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")


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
