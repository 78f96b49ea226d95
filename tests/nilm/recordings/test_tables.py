import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nilm.errors import InputFileError
from nilm.recordings import tables
from nilm.recordings.quality import Flag
from nilm.recordings.tables import WeekTable

N, D = 40, 32


@pytest.fixture
def table() -> WeekTable:
    rng = np.random.default_rng(0)
    return WeekTable(
        start_utc=np.datetime64("2015-01-19T00:00", "ns") + np.arange(N) * np.timedelta64(120, "s"),
        current_a=rng.standard_normal((N, D)).astype(np.float32),
        voltage_v=rng.standard_normal((N, D)).astype(np.float32),
        measured_utc=np.datetime64("2015-01-19T00:00", "ns") + np.arange(N) * np.timedelta64(120, "s"),
        duration_s=np.full(N, 120.0),
        **{name: rng.standard_normal(N) for name in ("mains_hz", "rms_v", "rms_a", "active_w")},
        **{name: rng.standard_normal(N) for name in ("reactive_var", "apparent_va", "inrush", "inrush_s")},
        n_cycles=np.full(N, 10, dtype=np.int16),
        source_file=np.full(N, "vi-1421625600_123456.flac"),
        flags=np.zeros(N, dtype=np.uint16),
        interval_s=120,
    )


def assert_equal(a: WeekTable, b: WeekTable) -> None:
    assert a.interval_s == b.interval_s
    for name in tables.COLUMNS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        assert getattr(a, name).dtype.kind == getattr(b, name).dtype.kind


def test_a_table_comes_back_as_it_was_written(tmp_path: Path, table: WeekTable) -> None:
    path = tmp_path / "week.parquet"
    tables.write_week(path, table)
    found = tables.read_week(path)
    assert_equal(found, table)
    assert found.start_utc.dtype == np.dtype("datetime64[ns]")
    assert found.current_a.dtype == np.float32


def test_equal_tables_give_equal_bytes(tmp_path: Path, table: WeekTable) -> None:
    for name in ("a", "b"):
        tables.write_week(tmp_path / name, table)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_an_empty_table_can_be_written_and_read(tmp_path: Path, table: WeekTable) -> None:
    tables.write_week(tmp_path / "none.parquet", table.take(slice(0)))
    found = tables.read_week(tmp_path / "none.parquet")
    assert len(found) == 0
    assert found.current_a.shape == (0, D)
    assert found.gap_before.shape == (0,)


@pytest.mark.parametrize("name", ["active_w", "start_utc"])
def test_a_column_that_lacks_a_value_is_refused(tmp_path: Path, table: WeekTable, name: str) -> None:
    path = tmp_path / "week.parquet"
    tables.write_week(path, table)
    whole = pq.read_table(path)
    at = whole.schema.get_field_index(name)
    values = pa.array([None, *whole[name].to_pylist()[1:]], whole.schema.field(name).type)
    loose = whole.schema.set(at, whole.schema.field(name).with_nullable(True))
    with pa.OSFile(str(tmp_path / "piece"), "wb") as sink, pa.ipc.new_file(sink, loose) as writer:
        writer.write_table(pa.table([*whole.columns[:at], values, *whole.columns[at + 1 :]], schema=loose))
    with pytest.raises(InputFileError, match=name):
        tables.read_piece(tmp_path / "piece")


def test_rows_are_written_and_read_without_pandas(tmp_path: Path, table: WeekTable) -> None:
    """It costs every worker of the ingest 45 MB, and pyarrow imports it whenever it can be had."""
    tables.write_piece(tmp_path / "piece", table)
    script = (
        "import sys; from pathlib import Path; from nilm.recordings.tables import read_piece, write_week;"
        "write_week(Path(sys.argv[2]), read_piece(Path(sys.argv[1]))); assert 'pandas' not in sys.modules"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "piece"), str(tmp_path / "week.parquet")]
    subprocess.run(command, check=True)
    assert_equal(tables.read_week(tmp_path / "week.parquet"), table)


def test_every_field_says_its_unit_and_cycles_are_split_by_byte(tmp_path: Path, table: WeekTable) -> None:
    path = tmp_path / "week.parquet"
    tables.write_week(path, table)
    file = pq.ParquetFile(path)
    for field in file.schema_arrow:
        assert set(field.metadata) >= {b"unit", b"description"}
    assert file.schema_arrow.field("active_w").metadata[b"unit"] == b"W"
    assert file.schema_arrow.field("current_a").type.list_size == D
    group = file.metadata.row_group(0)
    by_path = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    for name in ("current_a.list.element", "voltage_v.list.element"):
        assert "BYTE_STREAM_SPLIT" in by_path[name].encodings
    assert all(c.compression == "ZSTD" and not c.has_dictionary_page for c in by_path.values())


def test_duckdb_reads_the_file(tmp_path: Path, table: WeekTable) -> None:
    path = tmp_path / "week.parquet"
    tables.write_week(path, table)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        rows = connection.execute(
            "SELECT epoch(start_utc), current_a, active_w, flags, source_file FROM read_parquet(?)",
            [str(path)],
        ).fetchall()
    assert len(rows) == N
    assert rows[0][0] == 1421625600
    np.testing.assert_array_equal(np.array([row[1] for row in rows], dtype=np.float32), table.current_a)
    np.testing.assert_array_equal([row[2] for row in rows], table.active_w)
    assert rows[0][4] == "vi-1421625600_123456.flac"


def test_polars_reads_the_file(tmp_path: Path, table: WeekTable) -> None:
    path = tmp_path / "week.parquet"
    tables.write_week(path, table)
    frame = pl.read_parquet(path)
    assert frame.columns == list(tables.COLUMNS)
    np.testing.assert_array_equal(np.array(frame["voltage_v"].to_list(), np.float32), table.voltage_v)
    np.testing.assert_array_equal(frame["start_utc"].dt.epoch("s").to_numpy()[:2], [1421625600, 1421625720])


def test_gaps_are_where_a_row_does_not_follow_the_one_before(table: WeekTable) -> None:
    part = table.take([0, 1, 4, 5])
    np.testing.assert_array_equal(part.gap_before, [True, False, True, False])


def test_flags_that_spoil_the_waveform_make_a_row_unfit(table: WeekTable) -> None:
    flags = np.array([0, Flag.CLIPPED_CURRENT, Flag.FEW_CYCLES, Flag.DISTORTED | Flag.DC_OFFSET])
    part = tables.WeekTable(**{**vars(table.take([0, 1, 2, 3])), "flags": flags.astype(np.uint16)})
    np.testing.assert_array_equal(part.fit_for_use, [True, False, True, False])


def test_concatenated_parts_are_the_whole(table: WeekTable) -> None:
    assert_equal(tables.concatenate([table.take(slice(0, 10)), table.take(slice(10, None))]), table)


def test_what_is_no_parquet_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "week.parquet"
    with pytest.raises(InputFileError, match=r"week\.parquet cannot be read as Parquet"):
        tables.read_week(path)
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(InputFileError, match=r"week\.parquet cannot be read as Parquet"):
        tables.read_week(path)


def test_another_schema_is_refused_with_the_columns_that_differ(tmp_path: Path, table: WeekTable) -> None:
    path = tmp_path / "week.parquet"
    pq.write_table(pa.table({"x": [1]}), path)
    with pytest.raises(InputFileError, match="no current_a or no interval_s"):
        tables.read_week(path)
    tables.write_week(path, table)
    whole = pq.read_table(path)
    wrong = whole.drop_columns(["rms_v"]).append_column("extra", pa.array([1] * N))
    pq.write_table(wrong.replace_schema_metadata(whole.schema.metadata), path)
    with pytest.raises(InputFileError, match=r"\['rms_v'\]; unknown columns: \['extra'\]"):
        tables.read_week(path)


def test_values_out_of_range_are_refused(tmp_path: Path, table: WeekTable) -> None:
    path = tmp_path / "week.parquet"
    tables.write_week(path, table.take([1, 0]))
    with pytest.raises(InputFileError, match="rows must be in order of time and not overlap"):
        tables.read_week(path)
    tables.write_week(path, replace(table, duration_s=np.full(N, 121.0)))
    with pytest.raises(InputFileError, match="rows must be in order of time and not overlap"):
        tables.read_week(path)
    tables.write_week(path, replace(table, duration_s=np.zeros(N)))
    with pytest.raises(InputFileError, match="duration_s must be above 0"):
        tables.read_week(path)
    table.active_w[3] = np.nan
    tables.write_week(path, table)
    with pytest.raises(InputFileError, match="active_w holds values that are not finite"):
        tables.read_week(path)
