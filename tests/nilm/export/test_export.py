"""Exports of two small published houses, read back by whoever would read them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nilm.errors import InputFileError, OptionError
from nilm.export.home_assistant import hourly_energy
from nilm.export.house_power import HousePower, read_house
from nilm.export.nilmtk import APPLIANCE_TYPES, appliance_type, building_numbers
from nilm.export.write import export
from nilm.week.tables import POWER

N = 90  # readings of two minutes: three hours


def write_power(outputs: Path, house: str, week: str, day: str, watts: dict[tuple[str, str], float]) -> None:
    """A published week in which each appliance draws its watts in every other reading."""
    start = np.datetime64(f"{day}T22:30", "ns") + np.arange(N) * np.timedelta64(120, "s")
    tables = []
    for (appliance_id, name), power_w in watts.items():
        on = np.arange(N) % 2 == 0
        columns = {
            "house": [house] * N,
            "week": [week] * N,
            "start_utc": pa.array(start, POWER.field("start_utc").type),
            "duration_s": np.full(N, 120.0),
            "appliance_id": [appliance_id] * N,
            "name": [name] * N,
            "power_w": power_w * on,
            "on": on,
        }
        tables.append(pa.table(columns, schema=POWER))
    path = outputs / house / week / "power.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.concat_tables(tables), path)


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    root = tmp_path / "outputs"
    kettle, fridge, rest = ("A01", "kettle"), ("A02", "fridge_freezer"), ("unexplained", "unexplained")
    write_power(root, "house_1", "2015-wk01", "2014-12-31", {kettle: 2000.0, fridge: 90.0, rest: 5.0})
    write_power(root, "house_1", "2015-wk02", "2015-01-07", {("A01", "=big kettle"): 2000.0, rest: -5.0})
    write_power(root, "house_5", "2015-wk01", "2014-12-31", {("A01", "58 W motor"): 58.0, rest: 0.0})
    return root


def test_weeks_join_and_an_appliance_that_a_week_lacks_drew_nothing_in_it(outputs: Path) -> None:
    power = read_house(outputs, "house_1")
    assert list(power.names.items()) == [
        ("A01", "=big kettle"),
        ("A02", "fridge_freezer"),
        ("unexplained", "unexplained"),
    ]
    assert power.power_w.shape == (2 * N, 3)
    assert power.power_w[0].tolist() == [2000, 90, 5]
    assert power.power_w[N].tolist() == [2000, 0, -5]
    assert len(read_house(outputs, "house_1", "latest").start_utc) == N
    assert len(read_house(outputs, "house_1", "2015-wk01:2015-wk09").start_utc) == 2 * N


def test_what_is_not_there_is_named(outputs: Path) -> None:
    with pytest.raises(OptionError, match="house_2 has no week"):
        read_house(outputs, "house_2")
    with pytest.raises(
        OptionError, match=r"no published week in '2015-wk07'; there are 2015-wk01, 2015-wk02"
    ):
        read_house(outputs, "house_1", "2015-wk07")
    with pytest.raises(OptionError, match="holds no published week"):
        list(export(outputs / "none", outputs, "csv"))
    broken = outputs / "house_1" / "2015-wk01" / "power.parquet"
    broken.write_bytes(b"PAR1")
    with pytest.raises(InputFileError, match=r"power\.parquet is not the power of a week"):
        read_house(outputs, "house_1")


def test_csv_has_a_column_of_watts_per_appliance(outputs: Path, tmp_path: Path) -> None:
    said = list(export(outputs, tmp_path / "export", "csv", houses=["house_1"], weeks="latest"))
    assert said == [f"written: {tmp_path / 'export' / 'house_1.csv'}"]
    table = pd.read_csv(tmp_path / "export" / "house_1.csv", parse_dates=["start_utc"])
    assert list(table) == ["start_utc", "duration_s", "metered_w", "A01 =big kettle", "unexplained"]
    assert table["start_utc"][0] == pd.Timestamp("2015-01-07T22:30", tz="UTC")
    np.testing.assert_allclose(table["metered_w"], table["A01 =big kettle"] + table["unexplained"])


def test_home_assistant_counts_on_from_week_to_week(outputs: Path, tmp_path: Path) -> None:
    said = list(export(outputs, tmp_path, "home-assistant", houses=["house_1"], weeks="latest"))
    assert "nilm:house_1_a01: =big kettle" in said
    table = pd.read_csv(tmp_path / "house_1.home-assistant.csv")
    assert list(table) == ["statistic_id", "start", "unit", "state", "sum"]  # no other column is accepted
    assert table["start"].str.fullmatch(r"\d\d\.\d\d\.\d{4} \d\d:00").all()  # full hours only
    assert table["statistic_id"].str.fullmatch(r"nilm:[a-z0-9_]+").all()
    assert table.notna().all(axis=None)
    kettle = table[table["statistic_id"] == "nilm:house_1_a01"]
    assert kettle["start"].tolist() == [
        f"{d}.01.2015 {h}:00" for d, h in [("07", 22), ("07", 23), ("08", "00"), ("08", "01")]
    ]
    # The first week's 3 kWh, then the second's by the half and full hours.
    np.testing.assert_allclose(kettle["sum"], [3.5333, 4.5333, 5.5333, 6.0], atol=0.04)
    assert kettle["sum"].iloc[-1] == pytest.approx(6.0)


def test_a_reading_that_crosses_the_hour_gives_each_its_part() -> None:
    times = np.array(["2015-01-01T00:30", "2015-01-01T05:00"], "datetime64[ns]")
    power = HousePower("h", times, np.array([5400.0, 600.0]), {"A01": "x"}, np.array([[1000.0], [600.0]]))
    hours, kwh = hourly_energy(power)
    assert np.datetime_as_string(hours, unit="h").tolist() == [f"2015-01-01T0{h}" for h in (0, 1, 5)]
    np.testing.assert_allclose(kwh, [[0.5, 0.5], [1.0, 1.0], [0.1, 0.1]])


def test_nilmtk_finds_every_meter_and_the_metadata_that_its_schema_requires(
    outputs: Path, tmp_path: Path
) -> None:
    pytest.importorskip("tables")
    list(export(outputs, tmp_path, "nilmtk"))
    with pd.HDFStore(tmp_path / "nilmtk.h5", "r") as store:
        dataset: dict[str, Any] = store.root._v_attrs.metadata
        for number, house in ((1, "house_1"), (5, "house_5")):
            building: dict[str, Any] = store.get_node(f"/building{number}")._v_attrs.metadata
            check_building(building, dataset["meter_devices"])
            assert building["original_name"] == house
            power = read_house(outputs, house)
            first_end = pd.Timestamp(power.end_utc[0], tz="UTC")  # noqa: F841 - read by the query below
            for meter, entry in building["elec_meters"].items():
                table = store[entry["data_location"]]
                assert list(table.columns.names) == ["physical_quantity", "type"]
                assert list(table.columns) == [("power", "active")]
                assert str(table.index.tz) == dataset["timezone"]
                expected = power.metered_w if meter == 1 else power.power_w[:, meter - 2]
                np.testing.assert_allclose(table[("power", "active")], expected, rtol=1e-6)
            # The calls that nilmtk's HDFDataStore reads a meter with: by window, by number, first and last.
            site = f"/building{number}/elec/meter1"
            assert store.select_as_coordinates(site, "index < first_end").tolist() == [0]
            assert store.select(site, columns=[("power", "active")], start=0, stop=2).shape == (2, 1)
            assert store.select(site, [0]).index[0] == pd.Timestamp(power.start_utc[0], tz="UTC")
            assert store.select(site, start=-1).index[0] == pd.Timestamp(power.start_utc[-1], tz="UTC")
            assert store.get_storer(site).non_index_axes[0][1:][0] == [("power", "active")]
        kinds = [
            (a["type"], a["instance"]) for a in store.get_node("/building1")._v_attrs.metadata["appliances"]
        ]
    assert kinds == [("unknown", 1), ("fridge freezer", 1)]
    assert dataset["name"]
    assert dataset["number_of_buildings"] == 2


def check_building(building: dict[str, Any], devices: dict[str, Any]) -> None:
    """What nilm_metadata's own `convert_yaml_to_hdf5` checks, and the fields its schema calls required."""
    for device in devices.values():
        assert device["sample_period"] <= device["max_sample_period"]
        assert device["measurements"] == [{"physical_quantity": "power", "type": "active"}]
    meters = building["elec_meters"]
    assert [m for m, entry in meters.items() if entry.get("site_meter")] == [1]
    for number, entry in meters.items():
        assert entry["device_model"] in devices
        assert entry["submeter_of"] == (0 if number == 1 else 1)
    instances: dict[str, list[int]] = {}
    for appliance in building["appliances"]:
        assert appliance["type"] in APPLIANCE_TYPES | {"unknown"}
        assert set(appliance["meters"]) <= set(meters)
        instances.setdefault(appliance["type"], []).append(appliance["instance"])
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in instances.values())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("washing_machine", "washing machine"),
        ("Dishwasher", "dish washer"),
        ("kettle 2", "kettle"),
        ("58 W motor", "unknown"),
    ],
)
def test_names_become_words_of_the_vocabulary(name: str, kind: str) -> None:
    assert appliance_type(name) == kind


def test_a_building_has_the_number_of_its_house_where_all_differ() -> None:
    assert building_numbers(["house_1", "house_5"]) == [1, 5]
    assert building_numbers(["house_1", "flat_1"]) == [1, 2]
    assert building_numbers(["house_sim", "house_5"]) == [1, 2]
