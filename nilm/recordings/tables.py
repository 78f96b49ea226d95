"""The Parquet file of waveforms: its schema with units, writing, and strict reading.

Owns columns, types and encodings. One Parquet file per week. A row holds one measured cycle and stands for a
time in which nothing changed, or for the interval after an instant of a plain grid. Floats are written with
BYTE_STREAM_SPLIT and zstd-3 and without a dictionary, which no measured waveform would profit from. On the
way there, the rows of one recording lie in a piece: the same columns as an uncompressed Arrow file, which is
written and read ten times as quickly.
"""

from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lfm.arrays import BoolArray, FloatArray
from nilm.errors import InputFileError
from nilm.files import atomic_path
from nilm.recordings.quality import UNFIT
from nilm.thresholds import ROWS
from nilm.timeline import gaps_before, holes_before_s

Float32Array = NDArray[np.float32]

_SCALARS: dict[str, tuple[str, str]] = {
    "duration_s": ("s", "how long the row stands for, from start_utc on"),
    "mains_hz": ("Hz", "mains frequency"),
    "rms_v": ("V", "RMS voltage"),
    "rms_a": ("A", "RMS current"),
    "active_w": ("W", "active power, mean of voltage × current; negative when feeding in"),
    "reactive_var": ("var", "reactive power of the fundamental; positive when the current lags"),
    "apparent_va": ("VA", "rms_v × rms_a"),
    "inrush": ("1", "largest current after the switch at start_utc, over the steady one; 0: no switch"),
    "inrush_s": ("s", "how long the current took to become steady; 0: no switch at start_utc"),
}
_ROW_GROUP = 512  # rows that Parquet holds in memory while it writes them


@dataclass(frozen=True)
class WeekTable:
    """The rows of a week (or a part of one) in order of time; arrays are named like the Parquet's columns."""

    start_utc: NDArray[np.datetime64]  # (N,) datetime64[ns]
    current_a: Float32Array  # (N, D) one cycle from the voltage's rising zero crossing
    voltage_v: Float32Array  # (N, D)
    measured_utc: NDArray[np.datetime64]  # (N,) where in its time the row's cycles were measured
    duration_s: FloatArray  # (N,) what a row stands for, from start_utc on; (N,) like all below
    mains_hz: FloatArray
    rms_v: FloatArray
    rms_a: FloatArray
    active_w: FloatArray
    reactive_var: FloatArray
    apparent_va: FloatArray
    inrush: FloatArray  # of the switch at start_utc; 0 where none was timed
    inrush_s: FloatArray
    n_cycles: NDArray[np.int16]  # cycles averaged
    source_file: NDArray[np.str_]  # the recording's name
    flags: NDArray[np.uint16]  # bits of nilm.recordings.quality.Flag
    interval_s: int  # at least one row is measured in every interval

    def __len__(self) -> int:
        return len(self.start_utc)

    @property
    def gap_before(self) -> BoolArray:
        """(N,) True where a row does not directly follow the one before; the first row follows none."""
        return gaps_before(self.start_utc, self.duration_s)

    @property
    def fit_for_use(self) -> BoolArray:
        """(N,) False where a flag says that the waveform itself is wrong (clipped or distorted)."""
        return ~np.asarray(self.flags & np.uint16(UNFIT), dtype=np.bool_)

    def take(self, rows: Any) -> "WeekTable":
        """The rows that an index array or mask selects, in its order."""
        arrays = {name: getattr(self, name)[rows] for name in COLUMNS}
        return WeekTable(**arrays, interval_s=self.interval_s)


COLUMNS = tuple(f.name for f in fields(WeekTable) if f.name != "interval_s")


def concatenate(tables: list[WeekTable]) -> WeekTable:
    """The rows of all tables, one after the other; they must share D and the interval."""
    arrays = {name: np.concatenate([getattr(table, name) for table in tables]) for name in COLUMNS}
    return WeekTable(**arrays, interval_s=tables[0].interval_s)


@lru_cache
def schema(n_points: int, interval_s: int) -> pa.Schema:
    """The Arrow schema of waveforms with D = n_points; each field's metadata has `unit`, `description`."""

    def column(name: str, kind: pa.DataType, unit: str, description: str) -> pa.Field:
        return pa.field(name, kind, nullable=False, metadata={"unit": unit, "description": description})

    cycle = pa.list_(pa.field("element", pa.float32(), nullable=False), n_points)
    return pa.schema(
        [
            column("start_utc", pa.timestamp("us", tz="UTC"), "UTC", "when the row's time begins"),
            column("current_a", cycle, "A", "one cycle from the voltage's rising zero crossing, DC removed"),
            column("voltage_v", cycle, "V", "the voltage over the same cycle, DC removed"),
            column("measured_utc", pa.timestamp("us", tz="UTC"), "UTC", "when the cycle was measured"),
            *(column(name, pa.float64(), unit, words) for name, (unit, words) in _SCALARS.items()),
            column("n_cycles", pa.int16(), "1", "cycles averaged"),
            column("source_file", pa.string(), "", "the recording's name"),
            column("flags", pa.uint16(), "bits", "see nilm.recordings.quality.Flag; 0 is a clean row"),
        ],
        metadata={"interval_s": str(interval_s)},
    )


def write_week(path: Path, table: WeekTable) -> None:
    """Write the table to `path` as Parquet, atomically; equal tables give equal bytes."""
    floats = ["current_a.list.element", "voltage_v.list.element", *_SCALARS]
    with atomic_path(path) as temporary:
        pq.write_table(
            _to_arrow(table),
            temporary,
            compression="zstd",
            compression_level=3,
            row_group_size=_ROW_GROUP,
            use_dictionary=False,
            column_encoding=dict.fromkeys(floats, "BYTE_STREAM_SPLIT"),
        )


def write_piece(path: Path, table: WeekTable) -> None:
    """Write the rows of one recording to `path`, atomically; equal tables give equal bytes.

    Not synced to the disk: a piece can be made again, and its manifest tells whether it is what was written.
    """
    arrow = _to_arrow(table)
    with (
        atomic_path(path, durable=False) as temporary,
        pa.OSFile(str(temporary), "wb") as sink,
        pa.ipc.new_file(sink, arrow.schema) as writer,
    ):
        writer.write_table(arrow)


def _to_arrow(table: WeekTable) -> pa.Table:
    form = schema(table.current_a.shape[1], table.interval_s)
    columns = [_column(getattr(table, field.name), field.type) for field in form]
    return pa.Table.from_arrays(columns, schema=form)


def _column(array: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """The array as Arrow's, without pa.array: that imports pandas, 45 MB and a third of a second."""
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(_column(array.ravel(), kind.value_type), type=kind)
    if pa.types.is_string(kind):
        words = [str(word).encode() for word in array]
        ends = np.cumsum([0, *map(len, words)], dtype=np.int32)
        return pa.StringArray.from_buffers(len(array), pa.py_buffer(ends), pa.py_buffer(b"".join(words)))
    if pa.types.is_timestamp(kind):
        array = array.astype("datetime64[us]").view(np.int64)
        return pa.Array.from_buffers(kind, len(array), [None, pa.py_buffer(array)])
    values = np.ascontiguousarray(array, dtype=kind.to_pandas_dtype())
    return pa.Array.from_buffers(kind, len(array), [None, pa.py_buffer(values)])


def read_week(path: Path) -> WeekTable:
    """The table at `path`; InputFileError unless every column has the stated type and finite values."""
    try:
        table = pq.read_table(path, partitioning=None)
        table.validate(full=True)
        table.schema.names  # noqa: B018 - a name that is no text is an error here
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputFileError(f"{path} cannot be read as Parquet: {error}; ingest the week again") from error
    result = _checked(path, table)
    for name in ("current_a", "voltage_v", *_SCALARS):
        if not np.all(np.isfinite(getattr(result, name))):
            raise InputFileError(f"{path}: {name} holds values that are not finite; ingest the week again")
    if np.any(result.duration_s <= 0):
        raise InputFileError(f"{path}: duration_s must be above 0; ingest the week again")
    if np.any(holes_before_s(result.start_utc, result.duration_s) < -ROWS.shortest_s):
        raise InputFileError(f"{path}: rows must be in order of time and not overlap; ingest the week again")
    return result


def read_piece(path: Path) -> WeekTable:
    """The rows that `write_piece` wrote; InputFileError unless every column has the stated type.

    That the rows are those that were written is for the piece's manifest to say.
    """
    try:
        with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
            table = reader.read_all()
            table.validate(full=True)  # a damaged file can hold offsets that lead out of its buffers
            table.schema.names  # noqa: B018 - a name that is no text is an error here
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputFileError(
            f"{path} cannot be read: {error}; delete it and ingest the week again"
        ) from error
    return _checked(path, table)


def _checked(path: Path, table: pa.Table) -> WeekTable:
    """The columns as arrays, after a comparison of the file's schema with ours."""
    kind = table.schema.field("current_a").type if "current_a" in table.column_names else None
    metadata = table.schema.metadata or {}
    interval = metadata.get(b"interval_s", b"").decode("ascii", errors="replace")
    if kind is None or not pa.types.is_fixed_size_list(kind) or not interval.isdigit() or int(interval) == 0:
        raise InputFileError(f"{path} is not a Parquet file of waveforms: no current_a or no interval_s")
    expected = schema(kind.list_size, int(interval))
    if not table.schema.equals(expected):
        differing = [name for name in expected.names if not _same(table.schema, expected, name)]
        extra = sorted(set(table.column_names) - set(expected.names))
        raise InputFileError(
            f"{path} is not a Parquet file of waveforms: columns missing or of another type: {differing}; "
            f"unknown columns: {extra}; ingest the week again"
        )
    if holes := [name for name in expected.names if table[name].null_count]:
        raise InputFileError(f"{path}: {holes} lack values; ingest the week again")
    arrays = {name: _array(table[name].combine_chunks()) for name in expected.names}
    return WeekTable(**arrays, interval_s=int(interval))


def _array(column: pa.Array) -> NDArray[Any]:
    """The column, which lacks no value, as numpy's array; without to_numpy, for `_column`'s reason."""
    if pa.types.is_fixed_size_list(column.type):
        return _array(column.flatten()).reshape(len(column), column.type.list_size)
    if pa.types.is_string(column.type):
        return np.array(column.to_pylist(), dtype=np.str_)
    times = pa.types.is_timestamp(column.type)
    kind = np.dtype("datetime64[us]" if times else column.type.to_pandas_dtype())
    values = np.frombuffer(column.buffers()[1] or b"", dtype=kind)[
        column.offset : column.offset + len(column)
    ]
    return values.astype("datetime64[ns]") if times else values


def _same(found: pa.Schema, expected: pa.Schema, name: str) -> bool:
    return name in found.names and bool(found.field(name).equals(expected.field(name)))
