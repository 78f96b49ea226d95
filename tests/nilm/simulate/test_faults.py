from pathlib import Path

import numpy as np
import pytest
import soundfile

from nilm.errors import OptionError
from nilm.recordings.ukdale import hour_start_s
from nilm.simulate import Fault, FaultKind, simulate_week

MONDAY_S = 1_419_811_200
HOUR = 1  # the faulty one of three


def faulty(tmp_path: Path, kind: FaultKind) -> list[Path]:
    week = simulate_week(tmp_path, seed=0, days=0.125, n_appliances=3, faults=[Fault(kind, HOUR)])
    return sorted((tmp_path / "house_sim" / "2015" / "wk01").iterdir()) if week.hours else []


def window(path: Path, row: int) -> np.ndarray:
    """Samples of 0.2 s from a row's instant on."""
    start_s = hour_start_s(path.name)
    assert start_s is not None
    with soundfile.SoundFile(path) as file:
        file.seek(round((MONDAY_S + row * 120 - start_s) * file.samplerate))
        return file.read(file.samplerate // 5)


def test_a_missing_hour_is_not_there_and_the_others_are_as_without_the_fault(tmp_path: Path) -> None:
    left = faulty(tmp_path / "a", FaultKind.MISSING)
    whole = simulate_week(tmp_path / "b", seed=0, days=0.125, n_appliances=3)
    assert [p.name for p in left] == [whole.hours[0].name, whole.hours[2].name]
    assert left[1].read_bytes() == whole.hours[2].read_bytes()


def test_a_late_start_is_in_the_name_and_in_the_length(tmp_path: Path) -> None:
    path = faulty(tmp_path, FaultKind.LATE_START)[HOUR]
    assert hour_start_s(path.name) == pytest.approx(MONDAY_S + 3600 + 1200, abs=1)
    assert soundfile.info(path).frames == 40 * 60 * 16_000
    assert window(path, 40).std() > 0.1


def test_an_overlap_holds_rows_of_the_next_hour_a_second_time(tmp_path: Path) -> None:
    _, long, after = faulty(tmp_path, FaultKind.OVERLAP)
    assert soundfile.info(long).frames == 70 * 60 * 16_000
    # The same signal twice, with other noise.
    np.testing.assert_allclose(window(long, 62), window(after, 62), atol=0.003)


def test_a_truncated_file_ends_before_its_header_says(tmp_path: Path) -> None:
    path = faulty(tmp_path, FaultKind.TRUNCATED)[HOUR]
    assert soundfile.info(path).frames == 57_600_000
    assert window(path, 31).std() > 0.1
    with pytest.raises(soundfile.LibsndfileError):
        window(path, 58)


def test_clipped_samples_stand_at_full_scale(tmp_path: Path) -> None:
    before, path, _ = faulty(tmp_path, FaultKind.CLIPPED)
    voltage = window(path, 35)[:, 0]
    assert np.mean(np.abs(voltage) > 0.9999) > 0.2
    assert np.abs(window(before, 5)).max() < 0.95


def test_a_wrong_rate_is_stated_and_true(tmp_path: Path) -> None:
    path = faulty(tmp_path, FaultKind.WRONG_RATE)[HOUR]
    info = soundfile.info(path)
    assert (info.samplerate, info.frames) == (8_000, 3600 * 8_000)
    spectrum = np.abs(np.fft.rfft(window(path, 35)[:, 0]))
    assert np.argmax(spectrum) == 10  # 50 Hz in 0.2 s


def test_swapped_channels_have_the_current_on_the_left(tmp_path: Path) -> None:
    before, path, _ = faulty(tmp_path, FaultKind.SWAPPED)
    assert window(before, 5)[:, 0].std() > 0.5
    assert window(path, 35)[:, 1].std() > 0.5
    assert window(path, 35)[:, 0].std() < 0.3


def test_a_dc_offset_is_on_both_channels(tmp_path: Path) -> None:
    path = faulty(tmp_path, FaultKind.DC_OFFSET)[HOUR]
    np.testing.assert_allclose(window(path, 35).mean(axis=0), 0.02, atol=0.005)


def test_an_outage_has_no_voltage_for_five_rows(tmp_path: Path) -> None:
    path = faulty(tmp_path, FaultKind.OUTAGE)[HOUR]
    level = np.array([window(path, row)[:, 0].std() for row in range(30, 60)])
    np.testing.assert_array_equal(np.flatnonzero(level < 0.01), np.arange(10, 15))
    assert level[level > 0.01].min() > 0.5


def test_a_fault_is_written_kind_and_hour() -> None:
    assert Fault.parse("dc-offset:12") == Fault(FaultKind.DC_OFFSET, 12)
    for wrong in ("clipped", "burnt:3", "clipped:x", "clipped:-1"):
        with pytest.raises(OptionError, match="late-start"):
            Fault.parse(wrong)
    with pytest.raises(OptionError, match="167"):
        Fault.parse("clipped:168")
