"""Files from outside that are cut, or hold other things than they say: an error of ours that names them."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nilm.errors import InputFileError
from nilm.experiments.table2 import read_labels
from nilm.export.house_power import read_house
from nilm.music.spectra import read_spectra
from nilm.recordings.tables import read_piece, read_week
from nilm.simulate.appliances.recorded import recorded_cycles
from nilm.simulate.habits import read_habits
from nilm.week.tables import POWER

HABITS: dict[str, Any] = {
    "times": np.arange(50.0) * 6,
    "watts": np.ones((50, 2)),
    "channels": np.array(["a", "b"]),
    "step_s": np.array(6.0),
    "valid": np.ones(50, bool),
}
CYCLES: dict[str, Any] = {
    "appliance": np.array(["Kettle", "Lamp"]),
    "current_a": np.sin(np.arange(128.0)).reshape(2, 64),
    "voltage_v": 325 * np.sin(np.arange(128).reshape(2, 64) * 2 * np.pi / 64),
}
READERS: dict[str, tuple[dict[str, Any], Callable[[Path], object]]] = {
    "habits": (HABITS, read_habits),
    "cycles": (CYCLES, lambda path: recorded_cycles(path, 32)),
    "labels": ({"Z": np.eye(3, dtype=np.uint8)}, read_labels),
}


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.99])
def test_a_cut_npz_file_is_named(tmp_path: Path, kind: str, share: float) -> None:
    arrays, read = READERS[kind]
    path = tmp_path / f"{kind}.npz"
    np.savez_compressed(path, **arrays)
    read(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(InputFileError, match=re.escape(str(path))):
        read(path)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("habits", "times", np.array(["x"] * 50)),
        ("habits", "times", np.array(3.0)),
        ("habits", "times", np.full(50, np.nan)),
        ("habits", "step_s", np.array([6.0, 6.0])),
        ("habits", "step_s", np.array("six")),
        ("habits", "step_s", np.array(np.inf)),
        ("cycles", "voltage_v", np.ones((2, 64))),
        ("cycles", "voltage_v", np.full((2, 64), np.nan)),
        ("cycles", "current_a", np.full((2, 64), "x")),
        ("cycles", "appliance", np.zeros(0)),
        ("labels", "Z", np.array("x")),
    ],
)
def test_arrays_of_another_kind_are_named(tmp_path: Path, kind: str, name: str, value: Any) -> None:
    arrays, read = READERS[kind]
    path = tmp_path / f"{kind}.npz"
    np.savez(path, **arrays | {name: value})
    with pytest.raises(InputFileError, match=re.escape(str(path))):
        read(path)


def test_an_arrow_file_whose_texts_lead_out_of_it_is_refused(tmp_path: Path) -> None:
    offsets = pa.py_buffer(np.array([0, 10**9, 20], dtype=np.int32).tobytes())
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"x" * 20)])
    table = pa.table({"source_file": texts})
    with pa.OSFile(str(tmp_path / "hour.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InputFileError, match=r"hour\.arrow cannot be read"):
        read_piece(tmp_path / "hour.arrow")


def test_a_parquet_file_with_a_column_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "week.parquet"
    pq.write_table(pa.table({"mains_hz": [50.0]}), path)
    path.write_bytes(path.read_bytes().replace(b"mains_hz", b"mains_\xe8z"))
    with pytest.raises(InputFileError, match=r"week\.parquet"):
        read_week(path)


def _power(**changes: list[Any]) -> pa.Table:
    columns: dict[str, Any] = {
        "house": ["house_1"] * 2,
        "week": ["2015-wk01"] * 2,
        "start_utc": np.array([0, 120 * 10**9], "datetime64[ns]"),
        "duration_s": [120.0] * 2,
        "appliance_id": ["A01", "unexplained"],
        "name": ["Kettle", "unexplained"],
        "power_w": [1.0, 2.0],
        "on": [True, True],
    }
    return pa.table({n: pa.array(changes.get(n, columns[n]), POWER.field(n).type) for n in POWER.names})


@pytest.mark.parametrize(
    "table",
    [
        _power(appliance_id=["A01", "A01"], start_utc=[0, 0]),
        _power(appliance_id=["A01", "A02"]),
        _power(power_w=[None, 1.0]),
        _power().drop_columns(["name"]),
        _power().slice(0, 0),
    ],
    ids=["twice", "nothing unexplained", "null", "no name", "no rows"],
)
def test_power_that_is_not_a_weeks_is_named(tmp_path: Path, table: pa.Table) -> None:
    path = tmp_path / "house_1" / "2015-wk01" / "power.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(_power(), path)
    assert read_house(tmp_path, "house_1").power_w.shape == (2, 2)
    pq.write_table(table, path)
    with pytest.raises(InputFileError, match=r"power\.parquet"):
        read_house(tmp_path, "house_1")


def test_spectra_of_another_type_are_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"power": ["x"], "start_s": [0.0]}), tmp_path / "spectra.parquet")
    with pytest.raises(InputFileError, match=r"spectra\.parquet"):
        read_spectra(tmp_path / "spectra.parquet")
