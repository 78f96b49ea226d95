import csv
import itertools
import json
import os
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from nilm.appliances.analyst import name_appliance, ungroup
from nilm.errors import InputFileError, OptionError
from nilm.options import PublishOptions
from nilm.recordings.ukdale import Week
from nilm.week.publish import publish_index

FILES = {
    "activations.csv",
    "activations.parquet",
    "appliances.csv",
    "appliances.parquet",
    "corrections.json",
    "manifest.json",
    "power.parquet",
    "quality.json",
    "report.html",
    "scores.json",
    "states.parquet",
    "summary.json",
    "waveforms.parquet",
}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, ingested_week: Callable[..., Any]) -> Any:
    """A house with a gap, clipped rows, submeters and truth, published; not to be changed."""
    week = ingested_week(
        tmp_path_factory.mktemp("week"), n_appliances=7, missing=range(300, 330), clipped=(500, 501)
    )
    week.solve()
    week.publish()
    return week


@pytest.fixture
def own(published: Any, tmp_path: Path) -> Any:
    """A copy of `published` to change."""
    shutil.copytree(published.root, tmp_path, dirs_exist_ok=True)
    return type(published)(**{**vars(published), "root": tmp_path})


def test_all_files_are_there_and_the_index_lists_the_week(own: Any) -> None:
    assert {p.name for p in own.outputs.iterdir()} == FILES
    index = publish_index(own.root / "outputs", own.name, 2015)
    assert own.week in index.read_text(encoding="utf-8")
    assert own.week in (own.root / "outputs" / own.name / "index.html").read_text(encoding="utf-8")


def test_energy_closes_exactly_in_every_file(published: Any) -> None:
    table = rows(published.outputs / "appliances.csv")
    quality = json.loads((published.outputs / "quality.json").read_text(), parse_float=Decimal)
    assert table[-1]["appliance_id"] == "unexplained"
    assert sum(Decimal(row["energy_kwh"]) for row in table) == quality["metered_kwh"]
    assert Decimal(table[-1]["energy_kwh"]) == quality["unexplained_kwh"]
    states = pq.read_table(published.outputs / "states.parquet").to_pandas()
    assert float(quality["metered_kwh"]) == pytest.approx(states.metered_w.sum() * 120 / 3.6e6, abs=1e-6)
    runs = rows(published.outputs / "activations.csv")
    for row in table[:-1]:
        own_runs = [Decimal(r["energy_kwh"]) for r in runs if r["appliance_id"] == row["appliance_id"]]
        assert sum(own_runs) == Decimal(row["energy_kwh"])
        on = states[row["appliance_id"]]
        assert float(row["energy_kwh"]) == pytest.approx(
            on.sum() * float(row["active_w"]) * 120 / 3.6e6, abs=1e-6
        )
    explained = sum(states[r["appliance_id"]] * float(r["active_w"]) for r in table[:-1])
    np.testing.assert_allclose(explained, states.explained_w, rtol=1e-9)


def test_a_generator_that_follows_the_sun_is_reported_as_it_varied(tmp_path: Path, ingested_week) -> None:
    week = ingested_week(
        tmp_path, seed=4, days=3, n_appliances=7, noise_a=0.002, solar=True, submeters=False, clipped=(900,)
    )
    week.solve()
    week.publish()
    table = rows(week.outputs / "appliances.csv")
    quality = json.loads((week.outputs / "quality.json").read_text(), parse_float=Decimal)
    assert sum(Decimal(row["energy_kwh"]) for row in table) == quality["metered_kwh"]
    states = pq.read_table(week.outputs / "states.parquet").to_pandas()
    runs = rows(week.outputs / "activations.csv")
    (sun,) = (row for row in table if row["kind"] == "generator")
    days = [r for r in runs if r["appliance_id"] == sun["appliance_id"]]
    assert sum(Decimal(r["energy_kwh"]) for r in days) == Decimal(sun["energy_kwh"])
    with np.load(week.raw / "truth" / f"{week.week}.npz") as truth:
        made_w = truth["amplitudes"][:, -1] * truth["watts"][-1]
    by_day = made_w.reshape(3, -1).sum(axis=1) * 120 / 3.6e6
    np.testing.assert_allclose([float(r["energy_kwh"]) for r in days], by_day, rtol=0.02)
    np.testing.assert_allclose(states.explained_w, states.metered_w, atol=10)
    scores = json.loads((week.outputs / "scores.json").read_text())
    assert scores["hamming_after"] < 0.002
    assert scores["energy_error"] < 0.02
    certainty = json.loads((week.outputs / "corrections.json").read_text())["certainty"]
    assert any("varies with the sun" in note for note in certainty["notes"])
    assert not any("rank" in note or "span only" in note for note in certainty["notes"])
    page = (week.outputs / "report.html").read_text(encoding="utf-8")
    assert "and generated" in page
    assert "It follows the sun" in page


def test_the_house_is_found_and_named_after_its_submeters(published: Any) -> None:
    scores = json.loads((published.outputs / "scores.json").read_text())
    assert scores["source"] == "simulator"
    assert scores["hamming_after"] == 0
    assert scores["energy_error"] < 0.01

    def parquet_columns(name: str) -> str:
        return ",".join(pq.read_schema(published.outputs / f"{name}.parquet").names)

    table = rows(published.outputs / "appliances.csv")
    assert {row["name"] for row in table} >= {"fridge", "kettle", "washing machine heater", "television"}
    columns = (
        "appliance_id,name,kind,active_w,rms_a,power_factor,thd,share_of_time,activations,energy_kwh,support,"
        "correction,sure,energy_low_kwh,energy_high_kwh,how_sure,cost,cost_low,cost_high,inrush,inrush_s"
    )
    assert ",".join(table[0]) == columns
    assert parquet_columns("appliances") == f"{columns},house,week"
    columns = "appliance_id,name,start_utc,end_utc,duration_s,mean_w,energy_kwh,sure"
    assert ",".join(rows(published.outputs / "activations.csv")[0]) == columns
    assert parquet_columns("activations") == f"{columns},house,week"
    columns = "house,week,start_utc,duration_s,appliance_id,name,power_w,on"
    assert parquet_columns("power") == columns


def test_analysts_tools_read_the_same_types_and_times_from_every_file(published: Any) -> None:
    table = pd.read_csv(published.outputs / "appliances.csv")
    assert table["activations"].dtype == np.int64
    text = published.outputs / "activations.csv"
    parquet = published.outputs / "activations.parquet"
    by_pandas = pd.read_csv(text, parse_dates=["start_utc", "end_utc"])
    assert str(by_pandas["start_utc"].dt.tz) == "UTC"
    also = pd.read_parquet(parquet)
    assert {*zip(also.pop("house"), also.pop("week"), strict=True)} == {(published.name, published.week)}
    pd.testing.assert_frame_equal(by_pandas, also, check_dtype=False)
    assert by_pandas["sure"].between(0, 1).all()
    by_polars = pl.read_csv(text, try_parse_dates=True)
    assert by_polars.equals(pl.read_parquet(parquet).drop("house", "week").cast(by_polars.schema))
    query = "SELECT sum(energy_kwh), min(start_utc), count(*) FROM '{}'"
    assert duckdb.sql(query.format(text)).fetchall() == duckdb.sql(query.format(parquet)).fetchall()


def test_power_of_houses_with_other_appliances_is_one_table(
    published: Any, tmp_path: Path, ingested_week: Callable[..., Any], plain_page: None
) -> None:
    shutil.copytree(published.root / "outputs", tmp_path / "outputs")
    other = ingested_week(tmp_path, seed=3, name="house_u", week="2015-wk02", days=1, n_appliances=3)
    other.solve()
    other.publish()
    every = f"{tmp_path}/outputs/*/*/power.parquet"
    energy = "sum(power_w * duration_s) / 3.6e6"
    by_duckdb = duckdb.sql(f"SELECT house, week, name, {energy} FROM '{every}' GROUP BY ALL").fetchall()
    kwh = (pl.col("power_w") * pl.col("duration_s")).sum() / 3.6e6
    by_polars = pl.scan_parquet(every).group_by("house", "week", "name").agg(kwh).collect().rows()
    assert sorted(by_duckdb) == [pytest.approx(row) for row in sorted(by_polars)]
    for week in (published, other):
        expected = {row["name"]: float(row["energy_kwh"]) for row in rows(week.outputs / "appliances.csv")}
        found = {name: kwh for house, _, name, kwh in by_duckdb if house == week.name}
        assert found == pytest.approx(expected, abs=1e-5)  # the file rounds each to a milliwatt-hour
    shares = duckdb.sql(f"""SELECT house, name, avg("on"::INT) FROM '{every}' GROUP BY ALL""").fetchall()
    assert ("house_u", "unexplained", None) in shares  # neither on nor off
    for row in rows(other.outputs / "appliances.csv")[:-1]:
        assert ("house_u", row["name"], pytest.approx(float(row["share_of_time"]), abs=1e-5)) in shares


def test_runs_that_a_gap_cut_short_are_named_in_the_quality_file(published: Any) -> None:
    cut = json.loads((published.outputs / "quality.json").read_text())["activations_cut"]
    listed = {(row["appliance_id"], row["start_utc"]) for row in rows(published.outputs / "activations.csv")}
    named = {(run["appliance_id"], run["start_utc"]) for run in cut}
    assert named <= listed
    steady = [
        r["appliance_id"] for r in rows(published.outputs / "appliances.csv") if r["kind"] == "always on"
    ]
    assert {i for i, _ in named} >= set(steady)  # the gap cuts what is always on


def test_no_activation_touches_the_gap(published: Any) -> None:
    gap = published.house.start_utc[[300, 330]]
    for run in pq.read_table(published.outputs / "activations.parquet").to_pylist():
        start, end = (np.datetime64(run[name].replace(tzinfo=None)) for name in ("start_utc", "end_utc"))
        assert end <= gap[0] or start >= gap[1]


def test_clipped_rows_were_read_afterwards(published: Any) -> None:
    notes = json.loads((published.outputs / "quality.json").read_text())["notes"]
    assert any("2 rows were left out of the fit" in note for note in notes)


def test_coverage_is_that_of_the_rows_in_the_totals(published: Any) -> None:
    quality = json.loads((published.outputs / "quality.json").read_text())
    states = pq.read_metadata(published.outputs / "states.parquet")
    assert quality["coverage"] == pytest.approx(states.num_rows / quality["rows_expected"])


def test_waveforms_carry_current_and_voltage(published: Any) -> None:
    for row in pq.read_table(published.outputs / "waveforms.parquet").to_pylist():
        watts = np.mean(np.array(row["current_a"]) * np.array(row["voltage_v"]))
        (own_row,) = [
            r for r in rows(published.outputs / "appliances.csv") if r["appliance_id"] == row["appliance_id"]
        ]
        assert watts == pytest.approx(float(own_row["active_w"]), abs=1e-3)


def test_again_does_nothing_and_anew_gives_the_same_bytes(own: Any) -> None:
    before = bytes_of(own.outputs)
    stamps = {p: p.stat().st_mtime_ns for p in own.outputs.iterdir()}
    own.publish()
    assert {p: p.stat().st_mtime_ns for p in own.outputs.iterdir()} == stamps
    shutil.rmtree(own.outputs)
    shutil.rmtree(own.solutions)
    own.catalogue.unlink()
    own.solve()
    own.publish()
    assert bytes_of(own.outputs) == before


def test_the_outputs_do_not_depend_on_when_a_submeters_file_was_copied_or_on_later_weeks_in_it(
    own: Any,
) -> None:
    before = bytes_of(own.outputs)
    channel = own.raw / "channel_2.dat"
    content = channel.read_bytes()
    channel.unlink()
    channel.write_bytes(content)
    os.utime(channel, (1, 1))
    with channel.open("ab") as file:  # readings of a later week
        file.write(f"{Week.parse(own.week).end.timestamp():.0f} 5\n".encode())
    own.publish()
    assert bytes_of(own.outputs) == before


def test_ids_survive_the_loss_of_the_catalogue_and_a_second_week_keeps_them(
    own: Any, ingested_week: Callable[..., Any]
) -> None:
    before = bytes_of(own.outputs)
    own.catalogue.unlink()
    shutil.rmtree(own.outputs)
    own.publish()
    assert bytes_of(own.outputs) == before
    second = ingested_week(own.root, n_appliances=7, week="2015-wk02")
    second.solve()
    own.catalogue.unlink()
    second.publish()
    first_ids, second_ids = (
        {row["name"]: row["appliance_id"] for row in rows(w.outputs / "appliances.csv")}
        for w in (own, second)
    )
    for name in ("fridge", "kettle", "television"):
        assert first_ids[name] == second_ids[name]
    assert json.loads((second.outputs / "quality.json").read_text())["catalogue"]["new"] == []


@pytest.mark.usefixtures("plain_page")
def test_another_houses_catalogue_is_not_used_and_not_touched(own: Any) -> None:
    content = json.loads(own.catalogue.read_text())
    own.catalogue.write_text(json.dumps({**content, "house": "house_9"}))
    spoilt = own.catalogue.read_bytes()
    shutil.rmtree(own.outputs)
    own.publish()
    assert own.catalogue.read_bytes() == spoilt
    notes = json.loads((own.outputs / "quality.json").read_text())["notes"]
    assert any("catalogue of earlier weeks was not used" in n and "house_9" in n for n in notes)


def test_an_analysts_name_stays_whatever_it_is(own: Any) -> None:
    wild = "=cmd|'/c calc'!A1 <script>alert(1)</script>"
    name_appliance(own.names, house=own.name, appliance_id="A02", name=wild)
    name_appliance(own.names, house=own.name, appliance_id="A03", name="../../x")
    own.publish()
    table = {row["appliance_id"]: row["name"] for row in rows(own.outputs / "appliances.csv")}
    assert table["A02"] == "'" + wild
    assert table["A03"] == "../../x"
    assert "<script>alert(1)" not in (own.outputs / "report.html").read_text(encoding="utf-8")
    assert {p.name for p in own.outputs.iterdir()} == FILES


def test_a_part_is_suggested_with_evidence_and_can_be_undone(own: Any) -> None:
    table = {row["name"]: row for row in rows(own.outputs / "appliances.csv")}
    part, host = table["amplifier"], table["television"]
    (found,) = json.loads((own.outputs / "corrections.json").read_text())["likely_parts"]
    assert (found["appliance_id"], found["part_of"]) == (part["appliance_id"], host["appliance_id"])
    assert "always while television was on" in found["evidence"]
    assert "always while television was on" in (own.outputs / "report.html").read_text(encoding="utf-8")
    ungroup(own.names, house=own.name, appliance_id=part["appliance_id"])
    own.publish()
    assert json.loads((own.outputs / "corrections.json").read_text())["likely_parts"] == []


@pytest.mark.usefixtures("plain_page")
def test_minimum_durations_shorten_the_list_and_leave_the_energy(own: Any) -> None:
    before = rows(own.outputs / "activations.csv")
    own.publish(PublishOptions(min_on_s=600, min_off_s=600, tariff_per_kwh=0.3))
    after = rows(own.outputs / "activations.csv")
    assert len(after) < len(before)
    table = rows(own.outputs / "appliances.csv")
    quality = json.loads((own.outputs / "quality.json").read_text(), parse_float=Decimal)
    assert sum(Decimal(row["energy_kwh"]) for row in table) == quality["metered_kwh"]


@pytest.mark.usefixtures("plain_page")
def test_without_submeters_and_truth_names_are_descriptions(tmp_path: Path, ingested_week) -> None:
    week = ingested_week(tmp_path, n_appliances=4, submeters=False, truth=False)
    week.solve()
    week.publish()
    assert json.loads((week.outputs / "scores.json").read_text())["source"] is None
    names = {row["name"] for row in rows(week.outputs / "appliances.csv")}
    assert any("kW heater, about" in name for name in names)
    notes = json.loads((week.outputs / "quality.json").read_text())["notes"]
    assert any("no submeters" in note for note in notes)


def test_a_week_with_two_usable_hours_is_reported_as_what_it_is(tmp_path: Path, ingested_week) -> None:
    week = ingested_week(tmp_path, n_appliances=4, missing=[*range(200), *range(260, 1440)])
    week.solve()
    week.publish()
    quality = json.loads((week.outputs / "quality.json").read_text())
    assert quality["coverage"] == pytest.approx(60 / 5040)
    table = rows(week.outputs / "appliances.csv")
    metered = sum(Decimal(row["energy_kwh"]) for row in table)
    assert metered == Decimal(str(quality["metered_kwh"]))


def test_a_solution_of_other_waveforms_is_refused(own: Any, ingested_week) -> None:
    ingested_week(own.root, n_appliances=4, days=0.5)
    with pytest.raises(InputFileError, match="factorise the week again"):
        own.publish()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tariff_per_kwh": -1}, "tariff_per_kwh"),
        ({"currency": ""}, "currency"),
        ({"min_off_s": -5}, "min_off_s"),
        ({"min_off_s": 1e308}, "min_off_s"),
        ({"min_on_s": 604_801}, "min_on_s"),
        ({"tariff_per_kwh": 1e308}, "tariff_per_kwh"),
    ],
)
def test_options_out_of_range_are_refused_when_made(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        PublishOptions(**options)


def test_every_missing_minute_has_a_reason(published: Any) -> None:
    quality = json.loads((published.outputs / "quality.json").read_text())
    states = pq.read_table(published.outputs / "states.parquet").to_pandas()
    used_minutes = len(states) * 2
    assert used_minutes + sum(span["minutes"] for span in quality["missing"]) == pytest.approx(7 * 24 * 60)
    assert all(span["reason"] for span in quality["missing"])
    for before, after in itertools.pairwise(quality["missing"]):
        assert before["end_utc"] <= after["start_utc"]
    assert quality["coverage"] == pytest.approx(used_minutes / (7 * 24 * 60))
