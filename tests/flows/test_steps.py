"""The manifest decides: what is redone, and what is not, when something changed. No Prefect here."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from flows import steps
from flows.settings import Settings, load_settings
from flows.weeks import Place
from nilm.recordings.tables import WeekTable, read_week
from nilm.recordings.ukdale import Week


@pytest.fixture
def place(done_roots: tuple[Path, Path]) -> Place:
    """A week that is worked out."""
    place = Place("house_sim", Week(2015, 1), *done_roots)
    assert steps.why_redo(place, load_settings()) is None
    return place


def _run(place: Place, settings: Settings) -> None:
    steps.solve(place, settings)
    steps.finish(place, settings)
    assert steps.why_redo(place, settings) is None


def _made(place: Place) -> dict[str, int]:
    """When each file of the week was last written, by name."""
    folders = (place.ingest.hour_piece(Path("any")).parent, place.ingest.waveforms.parent)
    folders += (place.factorised.parent, place.outputs)
    return {
        path.name: path.stat().st_mtime_ns
        for folder in folders
        for path in folder.iterdir()
        if path.is_file()
    }


def _table(place: Place) -> WeekTable:
    return read_week(place.ingest.waveforms)


def _remade(before: dict[str, int], after: dict[str, int]) -> set[str]:
    return {name for name in after if before.get(name) != after[name]}


def test_a_late_recording_redoes_its_hour_and_what_follows(place: Place, tmp_path: Path) -> None:
    settings = load_settings()
    recording = steps.recordings(place)[1]
    late = tmp_path / recording.name
    recording.rename(late)
    for piece in place.ingest.hour_piece(recording).parent.glob(f"{recording.stem}.*"):
        piece.unlink()
    _run(place, settings)  # a recording that is gone counts as well
    before = _made(place)
    recordings = len(set(_table(place).source_file))
    shutil.move(late, recording)

    reason = steps.why_redo(place, settings)
    assert reason is not None
    assert recording.name in reason
    _run(place, settings)

    assert len(set(_table(place).source_file)) == recordings + 1
    hours = {name for name in _remade(before, _made(place)) if name.startswith("vi-")}
    assert hours == {f"{recording.stem}.arrow", f"{recording.stem}.json"}
    assert {"2015-wk01.parquet", "factorised.npz", "hopped.npz", "report.html"} <= _remade(
        before, _made(place)
    )


def test_a_changed_option_redoes_from_the_first_step_that_it_touches(place: Place) -> None:
    before = _made(place)
    tariff = load_settings(tariff_per_kwh=0.5)
    assert "tariff_per_kwh (0.25 to 0.5)" in (steps.why_redo(place, tariff) or "")
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
def test_a_deleted_output_is_made_again(place: Place, name: str) -> None:
    before = (place.outputs / name).read_bytes()
    (place.outputs / name).unlink()
    assert steps.why_redo(place, load_settings()) is not None
    _run(place, load_settings())
    assert (place.outputs / name).read_bytes() == before


def test_a_deleted_intermediate_file_is_made_again_and_the_outputs_stay(place: Place) -> None:
    before = {path.name: path.read_bytes() for path in place.outputs.iterdir()}
    place.hopped.unlink()
    assert "hopped.npz" in (steps.why_redo(place, load_settings()) or "")
    _run(place, load_settings())
    assert {path.name: path.read_bytes() for path in place.outputs.iterdir()} == before


@pytest.mark.parametrize("name", ["index.html", "house_sim/index.html"])
def test_a_deleted_index_is_made_again(place: Place, name: str) -> None:
    before = (place.outputs_root / name).read_bytes()
    (place.outputs_root / name).unlink()
    assert "index.html" in (steps.why_redo(place, load_settings()) or "")
    _run(place, load_settings())
    assert (place.outputs_root / name).read_bytes() == before


def test_a_file_of_the_analysts_own_in_the_folder_is_left_alone(place: Place) -> None:
    (place.outputs / "my notes.txt").write_text("ask about A03")
    steps.record(place, load_settings())
    (place.outputs / "my notes.txt").write_text("asked")
    assert steps.why_redo(place, load_settings()) is None


def test_a_damaged_output_is_made_again(place: Place) -> None:
    whole = place.report.read_bytes()
    place.report.write_bytes(whole[: len(whole) // 2])
    _run(place, load_settings())
    assert place.report.read_bytes() == whole


def test_settings_that_decide_nothing_redo_nothing(place: Place) -> None:
    assert steps.why_redo(place, load_settings(workers=7)) is None


def test_a_name_by_the_analyst_remakes_the_report_alone(place: Place) -> None:
    from nilm.appliances.analyst import name_appliance

    before = _made(place)
    name_appliance(place.names, house="house_sim", appliance_id="A01", name="The old kettle")
    assert "names" in (steps.why_redo(place, load_settings()) or "")
    _run(place, load_settings())
    assert "The old kettle" in place.report.read_text()
    assert not _remade(before, _made(place)) & {"factorised.npz", "hopped.npz"}


def test_a_recording_that_could_not_be_read_is_tried_again_next_time(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nilm.recordings import ingest

    settings = load_settings()
    unlucky = steps.recordings(place)[2]
    unlucky.touch()
    readable = ingest.read_hour

    def read_hour(path: Path, **options: Any) -> Any:
        if path == unlucky:
            raise OSError(5, "Input/output error", str(path))
        return readable(path, **options)

    monkeypatch.setattr(ingest, "read_hour", read_hour)
    steps.solve(place, settings)
    steps.finish(place, settings)
    assert len(set(_table(place).source_file)) == 3
    assert steps.why_redo(place, settings) is not None
    monkeypatch.setattr(ingest, "read_hour", readable)
    _run(place, settings)
    assert len(set(_table(place).source_file)) == 4
