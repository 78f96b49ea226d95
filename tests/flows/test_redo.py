"""The manifest decides: what is redone, and what is not, when something changed. No Prefect here."""

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flows.settings import Settings, load_settings
from nilm.disaggregate import steps as steps_module
from nilm.files import read_json, write_json
from nilm.paths import WeekPaths
from nilm.recordings.quality import read_quality
from nilm.recordings.tables import WeekTable, read_week
from nilm.recordings.ukdale import Week, hour_start_s, week_hours
from nilm.simulate.week import simulate_week
from nilm.thresholds import ROWS
from nilm.week import publish as publish_module


@pytest.fixture
def place(done_roots: tuple[Path, Path]) -> WeekPaths:
    """A week that is worked out."""
    place = WeekPaths(done_roots[0], "house_sim", Week(2015, 1), done_roots[1])
    assert load_settings().pipeline(place).why_redo() is None
    return place


def _run(place: WeekPaths, settings: Settings) -> None:
    settings.pipeline(place).solve()
    settings.pipeline(place).finish()
    assert settings.pipeline(place).why_redo() is None


def _made(place: WeekPaths) -> dict[str, int]:
    """When each file of the week was last written, by name."""
    folders = (place.pieces, place.waveforms.parent)
    folders += (place.factorised.parent, place.outputs)
    return {
        path.name: path.stat().st_mtime_ns
        for folder in folders
        for path in folder.iterdir()
        if path.is_file()
    }


def _table(place: WeekPaths) -> WeekTable:
    return read_week(place.waveforms)


def _remade(before: dict[str, int], after: dict[str, int]) -> set[str]:
    return {name for name in after if before.get(name) != after[name]}


def test_a_late_recording_redoes_its_hour_and_what_follows(place: WeekPaths, tmp_path: Path) -> None:
    settings = load_settings()
    recording = week_hours(place.house_folder, place.week)[1]
    late = tmp_path / recording.name
    recording.rename(late)
    for piece in place.hour_piece(recording).parent.glob(f"{recording.stem}.*"):
        piece.unlink()
    _run(place, settings)  # a recording that is gone counts as well
    before = _made(place)
    recordings = len(set(_table(place).source_file))
    shutil.move(late, recording)

    reason = settings.pipeline(place).why_redo()
    assert reason is not None
    assert recording.name in reason
    _run(place, settings)

    assert len(set(_table(place).source_file)) == recordings + 1
    hours = {name for name in _remade(before, _made(place)) if name.startswith("vi-")}
    assert hours == {f"{recording.stem}.arrow", f"{recording.stem}.json"}
    assert {"2015-wk01.parquet", "factorised.npz", "hopped.npz", "report.html"} <= _remade(
        before, _made(place)
    )


def test_the_next_week_leaves_an_earlier_one_current(clean_settings: None) -> None:
    """The next week's first recording starts 0.2 to 0.8 s before Monday: too little for a row."""
    settings = load_settings()
    simulate = partial(simulate_week, settings.data_root / "raw", seed=7, days=2 / 24, n_appliances=3)
    simulate(week="2015-wk01")
    place = WeekPaths(settings.data_root, "house_sim", Week(2015, 1), settings.outputs_root)
    _run(place, settings)
    monday_s = place.week.end.timestamp()
    assert 0.0 < monday_s - (hour_start_s(simulate(week="2015-wk02").hours[0].name) or 0.0) < ROWS.gap_s
    assert settings.pipeline(place).why_redo() is None


def test_a_changed_option_redoes_from_the_first_step_that_it_touches(place: WeekPaths) -> None:
    before = _made(place)
    tariff = load_settings(tariff_per_kwh=0.5)
    assert "tariff_per_kwh (0.25 to 0.5)" in (tariff.pipeline(place).why_redo() or "")
    _run(place, tariff)
    shown = _remade(before, _made(place))
    assert "report.html" in shown
    assert not shown & {"2015-wk01.parquet", "factorised.npz", "hopped.npz"}

    before = _made(place)
    _run(place, load_settings(tariff_per_kwh=0.5, components=2))
    solved = _remade(before, _made(place))
    assert {"factorised.npz", "hopped.npz", "report.html"} <= solved
    assert "2015-wk01.parquet" not in solved


@pytest.mark.parametrize("name", ["report.html", "appliances.csv", "manifest.json"])
def test_a_deleted_output_is_made_again(place: WeekPaths, name: str) -> None:
    before = (place.outputs / name).read_bytes()
    (place.outputs / name).unlink()
    assert load_settings().pipeline(place).why_redo() is not None
    _run(place, load_settings())
    assert (place.outputs / name).read_bytes() == before


def test_a_deleted_intermediate_file_is_made_again_and_the_outputs_stay(place: WeekPaths) -> None:
    before = {path.name: path.read_bytes() for path in place.outputs.iterdir()}
    place.hopped.unlink()
    assert "hopped is gone" in (load_settings().pipeline(place).why_redo() or "")
    _run(place, load_settings())
    assert {path.name: path.read_bytes() for path in place.outputs.iterdir()} == before


@pytest.mark.parametrize("name", ["index.html", "house_sim/index.html"])
def test_a_deleted_index_is_made_again(place: WeekPaths, name: str) -> None:
    before = (place.outputs_root / name).read_bytes()
    (place.outputs_root / name).unlink()
    assert "index.html" in (load_settings().pipeline(place).why_redo() or "")
    _run(place, load_settings())
    assert (place.outputs_root / name).read_bytes() == before


def test_a_file_of_the_analysts_own_in_the_folder_is_left_alone(place: WeekPaths) -> None:
    (place.outputs / "my notes.txt").write_text("ask about A03")
    _run(place, load_settings())
    (place.outputs / "my notes.txt").write_text("asked")
    assert load_settings().pipeline(place).why_redo() is None


def test_a_damaged_output_is_made_again(place: WeekPaths) -> None:
    whole = place.report.read_bytes()
    place.report.write_bytes(whole[: len(whole) // 2])
    _run(place, load_settings())
    assert place.report.read_bytes() == whole


def test_settings_that_decide_nothing_redo_nothing(place: WeekPaths) -> None:
    assert load_settings(workers=7).pipeline(place).why_redo() is None


def test_a_name_by_the_analyst_remakes_the_report_alone(place: WeekPaths) -> None:
    from nilm.appliances.analyst import name_appliance

    before = _made(place)
    name_appliance(place.names, house="house_sim", appliance_id="A01", name="The old kettle")
    assert "names" in (load_settings().pipeline(place).why_redo() or "")
    _run(place, load_settings())
    assert "The old kettle" in place.report.read_text()
    assert not _remade(before, _made(place)) & {"factorised.npz", "hopped.npz"}


def test_a_recording_that_could_not_be_read_is_tried_again_next_time(
    place: WeekPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nilm.recordings import ingest

    settings = load_settings()
    unlucky = week_hours(place.house_folder, place.week)[2]
    unlucky.touch()
    readable = ingest.read_hour

    def read_hour(path: Path, **options: Any) -> Any:
        if path == unlucky:
            raise OSError(5, "Input/output error", str(path))
        return readable(path, **options)

    monkeypatch.setattr(ingest, "read_hour", read_hour)
    settings.pipeline(place).solve()
    settings.pipeline(place).finish()
    assert len(set(_table(place).source_file)) == 3
    assert settings.pipeline(place).why_redo() is not None
    monkeypatch.setattr(ingest, "read_hour", readable)
    _run(place, settings)
    assert len(set(_table(place).source_file)) == 4


def _while_it_runs(monkeypatch: pytest.MonkeyPatch, step: str, act: Callable[[], object]) -> None:
    """Let `act()` happen once, right before the named step of the pipeline does its work."""
    work = getattr(steps_module, step)

    def disturbed(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(steps_module, step, work)
        act()
        return work(*arguments, **options)

    monkeypatch.setattr(steps_module, step, disturbed)


@pytest.mark.parametrize("step", ["factorise_week", "hop_week"])
def test_a_recording_that_arrives_during_a_run_is_read_by_the_next(
    place: WeekPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    settings = load_settings()
    recording = week_hours(place.house_folder, place.week)[1]
    late = tmp_path / recording.name
    recording.rename(late)
    _while_it_runs(monkeypatch, step, lambda: shutil.copyfile(late, recording))
    settings.pipeline(place).solve()
    settings.pipeline(place).finish()
    assert len(set(_table(place).source_file)) == 3
    assert recording.name in (settings.pipeline(place).why_redo() or "")
    _run(place, settings)
    assert len(set(_table(place).source_file)) == 4


def test_a_copy_that_is_completed_during_a_run_is_read_by_the_next(
    place: WeekPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings()
    recording = week_hours(place.house_folder, place.week)[1]
    whole = recording.read_bytes()
    recording.write_bytes(whole[: len(whole) // 2])
    _while_it_runs(monkeypatch, "factorise_week", lambda: recording.write_bytes(whole))
    settings.pipeline(place).solve()
    settings.pipeline(place).finish()
    assert len(set(_table(place).source_file)) == 3
    assert recording.name in (settings.pipeline(place).why_redo() or "")
    _run(place, settings)
    assert len(set(_table(place).source_file)) == 4


def test_a_recording_that_grows_while_it_is_read_is_named_and_left_to_the_next_run(
    place: WeekPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nilm.recordings import ingest

    settings = load_settings()
    growing = week_hours(place.house_folder, place.week)[2]
    growing.touch()
    read_hour = ingest.read_hour

    def slowly(path: Path, **options: Any) -> Any:
        reading = read_hour(path, **options)
        if path == growing:
            with path.open("ab") as file:
                file.write(b"more")
        return reading

    monkeypatch.setattr(ingest, "read_hour", slowly)
    settings.pipeline(place).solve()
    settings.pipeline(place).finish()
    assert read_quality(place.quality).files_left_out == [
        {"file": growing.name, "reason": ingest.STILL_WRITTEN}
    ]
    assert growing.name in (settings.pipeline(place).why_redo() or "")
    monkeypatch.setattr(ingest, "read_hour", read_hour)
    _run(place, settings)
    assert len(set(_table(place).source_file)) == 4


@pytest.mark.parametrize(
    ("what", "named"), [("names", "names"), ("labels", "channel_2.dat"), ("truth", "truth")]
)
def test_what_changes_between_publishing_and_recording_is_work_for_the_next_run(
    place: WeekPaths, monkeypatch: pytest.MonkeyPatch, what: str, named: str
) -> None:
    from nilm.appliances.analyst import name_appliance

    acts: dict[str, Callable[[], object]] = {
        "names": lambda: name_appliance(place.names, house="house_sim", appliance_id="A01", name="Meanwhile"),
        "labels": lambda: (place.house_folder / "labels.dat").write_text("1 aggregate\n2 Meanwhile\n"),
        "truth": place.truth.unlink,
    }
    settings = load_settings(tariff_per_kwh=0.5)
    published = publish_module.publish_index

    def then(*arguments: Any) -> Any:
        acts[what]()
        return published(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(publish_module, "publish_index", then)
        settings.pipeline(place).solve()
        settings.pipeline(place).finish()
    assert named in (settings.pipeline(place).why_redo() or "")
    _run(place, settings)


def test_a_calibration_that_changes_while_hours_are_read_is_used_for_all_of_them_next_time(
    place: WeekPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nilm.recordings import ingest

    settings = load_settings()
    for recording in week_hours(place.house_folder, place.week):
        recording.touch()
    before = _table(place).rms_a
    read_hour, text = ingest.read_hour, place.calibration.read_text()
    other = re.sub(r"(?m)^(amps_per_adc_step\s*[=:]\s*)(\S+)", lambda m: f"{m[1]}{2 * float(m[2])!r}", text)
    assert other != text

    def then(path: Path, **options: Any) -> Any:
        place.calibration.write_text(other)
        return read_hour(path, **options)

    with monkeypatch.context() as patched:
        patched.setattr(ingest, "read_hour", then)
        replace(settings.pipeline(place), workers=1).solve()
    settings.pipeline(place).finish()
    assert "calibration" in (settings.pipeline(place).why_redo() or "")
    _run(place, settings)
    np.testing.assert_allclose(_table(place).rms_a, 2 * before, rtol=1e-6)


def test_oddly_named_recordings_are_named_and_stop_nothing(place: WeekPaths) -> None:
    settings = load_settings()
    folder = place.house_folder / place.week.folder
    whole = week_hours(place.house_folder, place.week)[0].read_bytes()
    names = [b"vi-99999999999999999999.flac", b"vi-" + b"1" * 240 + b".flac", b"vi-\xff\xfe.flac"]
    for name in names:
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(whole)
    _run(place, settings)
    assert len(set(_table(place).source_file)) == 4
    left_out = {entry["file"] for entry in read_quality(place.quality).files_left_out}
    assert left_out == {names[0].decode(), names[1].decode(), "vi-\\udcff\\udcfe.flac"}


@pytest.mark.parametrize("result", ["abc", None, {"source_file": 3}, {"rows": "x"}, {"nested": [[]]}])
def test_a_damaged_record_of_an_hour_is_made_again(place: WeekPaths, result: Any) -> None:
    settings = load_settings()
    recording = week_hours(place.house_folder, place.week)[0]
    manifest = place.hour_piece(recording).with_suffix(".json")
    content = read_json(manifest)
    content["steps"]["ingest hour"]["result"] = result
    write_json(manifest, content)
    with (place.outputs / "report.html").open("a") as page:
        page.write("damaged")
    _run(place, settings)
    assert len(set(_table(place).source_file)) == 4


@pytest.mark.parametrize("damage", ["nan", "empty", "half"])
def test_a_damaged_catalogue_is_gathered_again(place: WeekPaths, damage: str) -> None:
    sound = place.catalogue.read_text()
    content = read_json(place.catalogue)
    appliance = content["weeks"]["2015-wk01"]["appliances"][0]
    appliance["current_a"] = [] if damage == "empty" else appliance["current_a"]
    text = json.dumps(content) if damage != "half" else sound[: len(sound) // 2]
    if damage == "nan":
        text = text.replace('"active_w": ', '"active_w": NaN, "was": ', 1)
    place.catalogue.write_text(text)
    _run(place, load_settings(tariff_per_kwh=0.5))
    assert place.catalogue.read_text() == sound


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no zip at all"])
def test_a_damaged_truth_costs_the_scores_alone(place: WeekPaths, content: bytes) -> None:
    place.truth.write_bytes(content)
    _run(place, load_settings())
    assert "truth was left out" in (place.outputs / "quality.json").read_text()


@pytest.mark.parametrize("name", ["factorised", "hopped"])
def test_a_damaged_solution_is_made_again(place: WeekPaths, name: str) -> None:
    path: Path = getattr(place, name)
    sound = path.read_bytes()
    path.write_bytes(sound[: len(sound) // 2])
    _run(place, load_settings())
    assert path.read_bytes() == sound


def test_nothing_half_written_is_left_of_a_run_that_was_killed(place: WeekPaths) -> None:
    left = [
        folder / ".x.json.0123456789ab.tmp"
        for folder in (
            place.outputs,
            place.outputs.parent,
            place.outputs_root,
            place.solutions,
            place.pieces,
            place.waveforms.parent,
            place.catalogue.parent,
            place.names.parent,
        )
    ]
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_text("half")
    place.manifest.unlink()
    _run(place, load_settings())
    assert [path for path in left if path.exists()] == []
