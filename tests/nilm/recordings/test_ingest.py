import errno
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from nilm import files
from nilm.errors import InputFileError, NilmError, NothingUsableError, OptionError
from nilm.recordings import ingest, quality
from nilm.recordings.ingest import WeekPaths, ingest_week
from nilm.recordings.quality import WeekQuality
from nilm.recordings.tables import read_week
from nilm.recordings.ukdale import Week
from nilm.recordings.waveforms import Sampling

WEEK = Week(2015, 4)
START_S = int(WEEK.start.timestamp())
SAMPLING = Sampling(interval_s=10, probe_s=0)
Write = Callable[..., Path]


class Killed(BaseException):
    """Ends a run where it stands, as a signal does: no handler of ours catches it."""


def house(data_root: Path) -> WeekPaths:
    paths = WeekPaths(data_root, "house_1", WEEK)
    paths.house_folder.mkdir(parents=True)
    paths.calibration.write_text(
        "[Calibration]\nvolts_per_adc_step = 1.90101491444e-07\namps_per_adc_step = 4.9224284384e-08\n"
    )
    return paths


@pytest.fixture(scope="module")
def three_hours(tmp_path_factory: pytest.TempPathFactory, write_recording: Write) -> WeekPaths:
    """A house with three recordings of 31 s (rows at 0, 10, 20, 30 s each), 100 s apart."""
    paths = house(tmp_path_factory.mktemp("three") / "data")
    for i in range(3):
        write_recording(paths.house_folder / WEEK.folder, f"{START_S + 100 * i}_0", rms_a=1.0 + i)
    return paths


@pytest.fixture
def paths(three_hours: WeekPaths, tmp_path: Path) -> WeekPaths:
    """A copy of it, to change at will."""
    shutil.copytree(three_hours.data_root, tmp_path / "data")
    return WeekPaths(tmp_path / "data", "house_1", WEEK)


def run(paths: WeekPaths, **options: object) -> WeekQuality:
    return ingest_week(paths, sampling=SAMPLING, **options)  # type: ignore[arg-type]


def outputs(paths: WeekPaths) -> dict[str, bytes]:
    folder = paths.data_root / "waveforms"
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def pieces_times(paths: WeekPaths) -> dict[str, int]:
    folder = paths.waveforms.parent
    return {p.name: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}


def test_a_week_is_the_rows_of_all_its_hours_in_order(paths: WeekPaths) -> None:
    seen: list[tuple[int, int]] = []
    found = run(paths, progress=lambda done, total: seen.append((done, total)))
    table = read_week(paths.waveforms)
    offsets = (table.start_utc - np.datetime64(START_S, "s")) // np.timedelta64(1, "s")
    np.testing.assert_array_equal(offsets, [100 * h + 10 * i for h in range(3) for i in range(4)])
    np.testing.assert_allclose(table.rms_a, np.repeat([1.0, 2.0, 3.0], 4), rtol=1e-3)
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert found.rows_present == 12
    assert found.files_left_out == []
    assert quality.read_quality(paths.quality) == found


def test_recordings_and_calibration_are_never_touched(paths: WeekPaths) -> None:
    def raw() -> dict[Path, tuple[bytes, int]]:
        files = (p for p in paths.house_folder.rglob("*") if p.is_file())
        return {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in files}

    before = raw()
    run(paths)
    assert raw() == before


def test_running_again_does_no_work(paths: WeekPaths) -> None:
    first = run(paths)
    times = pieces_times(paths)
    assert run(paths) == first
    assert pieces_times(paths) == times


def test_a_new_and_a_changed_hour_redo_only_themselves_and_the_week(
    paths: WeekPaths, write_recording: Write
) -> None:
    run(paths)
    times = pieces_times(paths)
    folder = paths.house_folder / WEEK.folder
    write_recording(folder, f"{START_S + 100}_0", rms_a=9.0)
    write_recording(folder, f"{START_S + 300}_0", rms_a=5.0)
    assert run(paths).rows_present == 16
    np.testing.assert_allclose(
        read_week(paths.waveforms).rms_a, np.repeat([1.0, 9.0, 3.0, 5.0], 4), rtol=1e-3
    )
    after = pieces_times(paths)
    redone = {name for name in after if after[name] != times.get(name)}
    hours = (f"vi-{START_S + 100}_0", f"vi-{START_S + 300}_0")
    assert redone == {f"{h}{end}" for h in hours for end in (".arrow", ".json")} | {
        f"{WEEK}.parquet",
        f"{WEEK}.quality.json",
        f"{WEEK}.manifest.json",
    }


def test_a_removed_hour_leaves_the_week(paths: WeekPaths) -> None:
    run(paths)
    (paths.house_folder / WEEK.folder / f"vi-{START_S}_0.flac").unlink()
    assert run(paths).rows_present == 8


def test_a_changed_option_or_calibration_redoes_all(paths: WeekPaths) -> None:
    run(paths)
    assert ingest_week(paths, sampling=Sampling(interval_s=10, n_points=64, probe_s=0)).rows_present == 12
    assert read_week(paths.waveforms).current_a.shape == (12, 64)
    text = paths.calibration.read_text()
    paths.calibration.write_text(text.replace("4.9224284384e-08", "9.8448568768e-08"))
    run(paths)
    np.testing.assert_allclose(read_week(paths.waveforms).rms_a[:4], 2.0, rtol=1e-3)


def test_deleted_or_damaged_outputs_are_made_again_byte_for_byte(paths: WeekPaths) -> None:
    run(paths)
    before = outputs(paths)
    for name in before:
        (paths.data_root / "waveforms" / name).unlink()
        run(paths)
        assert outputs(paths) == before
        (paths.data_root / "waveforms" / name).write_bytes(b"damaged")
        run(paths)
        assert outputs(paths) == before


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process whose only thread is the caller, whatever else the tests have left running."""
    monkeypatch.setattr(ingest.threading, "active_count", lambda: 1)


@pytest.fixture
def another_thread() -> Iterator[None]:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    yield
    end.set()
    thread.join()


@pytest.mark.parametrize(
    ("circumstances", "kind"), [("alone", ProcessPoolExecutor), ("another_thread", ThreadPoolExecutor)]
)
def test_two_workers_give_the_same_bytes(
    circumstances: str, kind: type, paths: WeekPaths, request: pytest.FixtureRequest
) -> None:
    run(paths)
    one = outputs(paths)
    shutil.rmtree(paths.data_root / "waveforms")
    request.getfixturevalue(circumstances)
    with ingest._pool(2) as pool:
        assert isinstance(pool, kind)
    run(paths, workers=2)
    assert outputs(paths) == one


def test_a_worker_that_is_killed_is_an_error_in_words_and_the_next_run_goes_on(
    paths: WeekPaths, alone: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(ingest, "ingest_hour", lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        with pytest.raises(NilmError, match=r"2015-wk04: one of 2 workers was killed.*fewer workers"):
            run(paths, workers=2)
    assert run(paths, workers=2).rows_present == 12


def test_bad_hours_are_left_out_named_and_do_not_stop_the_week(
    paths: WeekPaths, write_recording: Write
) -> None:
    folder = paths.house_folder / WEEK.folder
    truncated = write_recording(folder, f"{START_S + 3600}")
    truncated.write_bytes(truncated.read_bytes()[:-5000])
    write_recording(folder, f"{START_S + 7200}", rate_hz=8_000)
    write_recording(folder, f"{START_S + 10800}", samples=np.zeros((160_000, 1)))
    write_recording(folder, f"{START_S + 14400}", samples=np.zeros((160_000, 2)))
    (folder / f"vi-{START_S + 18000}.flac").write_bytes(b"")
    (folder / "vi-lunch.flac").write_bytes(b"")
    write_recording(folder, f"{START_S + 30 * 86400}")
    found = run(paths)
    assert found.rows_present == 12
    reasons = {entry["file"]: entry["reason"] for entry in found.files_left_out}
    assert {name: reason.split(":")[0] for name, reason in reasons.items()} == {
        f"vi-{START_S + 3600}.flac": "truncated",
        f"vi-{START_S + 7200}.flac": "sample rate 8000 Hz, expected 16000 Hz",
        f"vi-{START_S + 10800}.flac": "1 channels, expected 2 (voltage, current)",
        f"vi-{START_S + 14400}.flac": "no voltage (below 50 V RMS) in every row",
        f"vi-{START_S + 18000}.flac": "cannot be read as FLAC",
        "vi-lunch.flac": "its name holds no time (expected vi-<unix time>.flac)",
        f"vi-{START_S + 30 * 86400}.flac": "none of its rows lies in the week",
    }
    assert any("left out: truncated" in gap["reason"] for gap in found.gaps)
    assert len(found.hours) == 10
    assert run(paths) == found


def test_an_hour_that_was_left_out_comes_in_when_it_is_mended(
    paths: WeekPaths, write_recording: Write
) -> None:
    path = paths.house_folder / WEEK.folder / f"vi-{START_S + 100}_0.flac"
    whole = path.read_bytes()
    path.write_bytes(whole[:-5000])
    assert run(paths).rows_present == 8
    path.write_bytes(whole)
    found = run(paths)
    assert found.rows_present == 12
    assert found.files_left_out == []


def test_a_file_that_the_system_does_not_give_is_tried_again_next_time(
    paths: WeekPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    fingerprint = files.fingerprint

    def failing(path: Path) -> str:
        if path.name == f"vi-{START_S}_0.flac":
            raise PermissionError(13, "Permission denied")
        return fingerprint(path)

    with monkeypatch.context() as patched:
        patched.setattr(files, "fingerprint", failing)
        found = run(paths)
    assert found.files_left_out == [
        {"file": f"vi-{START_S}_0.flac", "reason": "cannot be read: Permission denied"}
    ]
    assert found.rows_present == 8
    assert run(paths).rows_present == 12


def test_overlapping_files_give_each_instant_once(paths: WeekPaths, write_recording: Write) -> None:
    # Shares the instants 20 and 30 with the first file, whose rows win: same quality, earlier file.
    write_recording(paths.house_folder / WEEK.folder, f"{START_S + 15}_0", rms_a=7.0, seconds=30)
    found = run(paths)
    table = read_week(paths.waveforms)
    assert found.seconds_recorded_twice == 20
    assert found.rows_present == len(table) == 13
    np.testing.assert_allclose(table.rms_a[:5], [1, 1, 1, 1, 7], rtol=1e-3)
    assert found.overlaps == [
        {"files": [f"vi-{START_S}_0.flac", f"vi-{START_S + 15}_0.flac"], "seconds": 16.0}
    ]


def test_of_two_rows_the_sound_one_and_then_the_longer_one_is_used(
    tmp_path: Path, write_recording: Write, signal: Callable[..., np.ndarray]
) -> None:
    paths = house(tmp_path / "data")
    folder = paths.house_folder / WEEK.folder
    clipped = np.clip(signal(31 * 16_000, rms_a=90.0), -1, 1)
    write_recording(folder, f"{START_S}_0", samples=clipped)
    write_recording(folder, f"{START_S + 5}_0", rms_a=2.0, seconds=15.1)  # the row at 20 is cut short
    write_recording(folder, f"{START_S + 15}_0", rms_a=3.0, seconds=10)
    run(paths)
    table = read_week(paths.waveforms)
    np.testing.assert_allclose(table.rms_a[[1, 2]], [2.0, 3.0], rtol=1e-3)


def test_hours_that_straddle_monday_give_each_week_its_rows(tmp_path: Path, write_recording: Write) -> None:
    paths = house(tmp_path / "data")
    write_recording(paths.house_folder / WEEK.previous.folder, f"{START_S - 15}_0")  # rows at −10, 0, 10
    write_recording(paths.house_folder / WEEK.previous.folder, f"{START_S - 2000}_0")  # ends before Monday
    found = run(paths)
    assert found.rows_present == 2
    assert found.files_left_out == []
    assert run(WeekPaths(paths.data_root, "house_1", WEEK.previous)).rows_present == 5


def test_an_empty_week_is_an_error_that_says_where_to_copy_it(tmp_path: Path) -> None:
    paths = house(tmp_path / "data")
    with pytest.raises(NothingUsableError, match=r"house_1 2015-wk04: no recording .* copy the week there"):
        run(paths)


def test_a_week_with_nothing_usable_is_an_error_that_names_each_file(
    tmp_path: Path, write_recording: Write
) -> None:
    paths = house(tmp_path / "data")
    write_recording(paths.house_folder / WEEK.folder, f"{START_S}", rate_hz=8_000)
    (paths.house_folder / WEEK.folder / "vi-x.flac").write_bytes(b"")
    with pytest.raises(NothingUsableError) as caught:
        run(paths)
    assert f"vi-{START_S}.flac: sample rate 8000 Hz" in str(caught.value)
    assert "vi-x.flac: its name holds no time" in str(caught.value)
    assert not paths.waveforms.exists()


def test_a_bad_calibration_stops_the_week_with_one_error(paths: WeekPaths) -> None:
    paths.calibration.write_text("[Calibration]\n")
    with pytest.raises(InputFileError, match="no volts_per_adc_step"):
        run(paths)
    paths.calibration.unlink()
    with pytest.raises(InputFileError, match=r"calibration\.cfg is missing"):
        run(paths)


def test_a_run_killed_at_any_write_ends_like_an_undisturbed_one(
    paths: WeekPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(paths)
    undisturbed = outputs(paths)
    shutil.rmtree(paths.data_root / "waveforms")
    rename = Path.replace
    for survivors in range(len(undisturbed)):
        left = iter(range(survivors))

        def dying(self: Path, target: Path, left: Iterator[int] = left) -> Path:
            if next(left, None) is None:
                raise Killed
            return rename(self, target)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "replace", dying)
            with pytest.raises(Killed):
                run(paths)
        assert run(paths).rows_present == 12
        assert outputs(paths) == undisturbed
        shutil.rmtree(paths.data_root / "waveforms")


def test_options_and_names_out_of_range_are_refused(paths: WeekPaths) -> None:
    with pytest.raises(OptionError, match="workers must be at least 1, got 0"):
        run(paths, workers=0)
    with pytest.raises(OptionError, match="house must be"):
        WeekPaths(paths.data_root, "../raw", WEEK)


def test_a_piece_without_its_manifest_is_an_error_of_the_caller(paths: WeekPaths) -> None:
    recordings = sorted((paths.house_folder / WEEK.folder).iterdir())
    with pytest.raises(FileNotFoundError):
        ingest.assemble_week(paths, recordings, sampling=SAMPLING)


def test_a_full_disk_stops_the_week_and_is_no_recordings_fault(
    paths: WeekPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(piece: Path, _: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(piece))

    with monkeypatch.context() as patched:
        patched.setattr(ingest, "write_piece", full)
        with pytest.raises(OSError, match="No space left on device"):
            run(paths)
    assert run(paths).files_left_out == []
