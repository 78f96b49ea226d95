"""Recordings read adaptively: what the rows stand for, and what bad input does to them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nilm.recordings import quality
from nilm.recordings.ingest import WeekPaths, ingest_week
from nilm.recordings.quality import Flag
from nilm.recordings.tables import read_week
from nilm.recordings.ukdale import Calibration, Week
from nilm.recordings.waveforms import Reading, Sampling, read_hour
from nilm.timeline import seconds

Signal = Callable[..., np.ndarray]
Write = Callable[..., Path]

START_S = int(Week(2015, 4).start.timestamp())
CALIBRATION = Calibration(1.90101491444e-07 * 2**31, 4.9224284384e-08 * 2**31)
RATE_HZ = 16_000


@pytest.fixture
def hour(tmp_path: Path, write_recording: Write, signal: Signal) -> Callable[..., Reading]:
    """Read a recording of one ampere of which stretches (from, until, times the current) are changed."""

    def make(*changes: tuple[float, float, float], length_s: float = 125.0, **sampling: float) -> Reading:
        samples = signal(round(length_s * RATE_HZ), rms_a=1.0, noise=2e-5)
        for begin, end, factor in changes:
            samples[round(begin * RATE_HZ) : round(end * RATE_HZ), 1] *= factor
        path = write_recording(tmp_path, str(START_S), samples=np.clip(samples, -1, 1))
        return read_hour(path, calibration=CALIBRATION, sampling=Sampling(**sampling))

    return make


def times(reading: Reading) -> np.ndarray:
    """Starts of the rows, in seconds from the start of the file."""
    return seconds(reading.table.start_utc) - START_S


def test_a_run_between_two_instants_is_a_row_with_its_own_times(hour: Callable[..., Reading]) -> None:
    reading = hour((31.37, 46.72, 8.0))
    np.testing.assert_allclose(times(reading), [0, 31.37, 46.72], atol=0.05)
    np.testing.assert_allclose(reading.table.duration_s, [31.37, 15.35, 125 - 46.72], atol=0.05)
    np.testing.assert_allclose(reading.table.rms_a, [1, 8, 1], rtol=1e-3)
    assert reading.table.n_cycles.tolist() == [10, 10, 10]
    assert not reading.table.gap_before[1:].any()


def test_the_plain_grid_does_not_look(hour: Callable[..., Reading]) -> None:
    reading = hour((31.37, 46.72, 8.0), probe_s=0)
    np.testing.assert_allclose(times(reading), [0, 120])
    np.testing.assert_allclose(reading.table.duration_s, 120)


def test_slow_drift_and_noise_are_no_switches(tmp_path: Path, write_recording: Write, signal: Signal) -> None:
    samples = signal(125 * RATE_HZ, rms_a=5.0, noise=2e-4)
    samples[:, 1] *= np.linspace(1, 1.2, len(samples))
    path = write_recording(tmp_path, str(START_S), samples=samples)
    reading = read_hour(path, calibration=CALIBRATION, sampling=Sampling(interval_s=60))
    np.testing.assert_allclose(times(reading), [0, 60, 120])


def test_two_switches_in_one_probe_interval_are_both_timed(hour: Callable[..., Reading]) -> None:
    reading = hour((32.2, 125.0, 2.0), (36.9, 125.0, 2.0))
    np.testing.assert_allclose(times(reading)[:3], [0, 32.2, 36.9], atol=0.05)


def test_an_inrush_is_measured_and_is_no_row(hour: Callable[..., Reading]) -> None:
    reading = hour((50.0, 125.0, 3.0), (50.0, 50.2, 4.0))  # 12 A for 0.2 s, then 3 A, from 1 A
    table = reading.table
    np.testing.assert_allclose(times(reading), [0, 50], atol=0.05)
    assert table.inrush[1] == pytest.approx(11 / 2, rel=0.02)
    assert table.inrush_s[1] == pytest.approx(0.2, abs=0.03)
    assert table.inrush[0] == 0
    assert table.rms_a[1] == pytest.approx(3, rel=1e-3)


def test_a_heater_has_no_inrush(hour: Callable[..., Reading]) -> None:
    table = hour((50.0, 125.0, 9.0)).table
    assert table.inrush[1] == pytest.approx(1, abs=0.02)
    assert table.inrush_s[1] < 0.05


def test_a_clipped_inrush_is_flagged_and_its_row_is_sound(hour: Callable[..., Reading]) -> None:
    table = hour((50.0, 125.0, 3.0), (50.0, 50.2, 40.0)).table
    assert table.flags.tolist() == [0, int(Flag.CLIPPED_INRUSH)]
    assert table.fit_for_use.all()
    assert table.rms_a[1] == pytest.approx(3, rel=1e-3)


@pytest.mark.parametrize("at_s", [0.02, 0.15, 124.8, 124.97])
def test_a_change_at_the_edge_of_a_file_loses_no_time(hour: Callable[..., Reading], at_s: float) -> None:
    reading = hour((at_s, 125.0, 4.0))
    assert times(reading)[0] == 0
    assert reading.table.duration_s.sum() == pytest.approx(125, abs=0.1)
    longest = int(np.argmax(reading.table.duration_s))
    assert reading.table.rms_a[longest] == pytest.approx(4 if at_s < 60 else 1, rel=1e-3)


def test_a_recording_that_starts_in_the_middle_of_a_run_starts_with_it(hour: Callable[..., Reading]) -> None:
    reading = hour((0.0, 12.4, 6.0))
    np.testing.assert_allclose(times(reading)[:2], [0, 12.4], atol=0.05)
    assert reading.table.inrush[0] == 0  # it was not seen to switch
    np.testing.assert_allclose(reading.table.rms_a[:2], [6, 1], rtol=1e-3)


def test_an_outage_is_cut_out_and_named(tmp_path: Path, write_recording: Write, signal: Signal) -> None:
    samples = signal(125 * RATE_HZ, rms_a=1.0)
    samples[round(33.3 * RATE_HZ) : round(77.7 * RATE_HZ)] = 0
    path = write_recording(tmp_path, str(START_S), samples=samples)
    reading = read_hour(path, calibration=CALIBRATION, sampling=Sampling())
    (dropped,) = reading.dropped
    assert dropped.reason == quality.NO_VOLTAGE
    assert dropped.start_s - START_S == pytest.approx(33.3, abs=0.05)
    assert dropped.duration_s == pytest.approx(44.4, abs=0.1)
    assert reading.table.gap_before.tolist() == [True, True]
    np.testing.assert_allclose(reading.table.rms_a, 1, rtol=1e-3)


def test_constant_flicker_stays_within_the_reads_and_is_told(hour: Callable[..., Reading]) -> None:
    flicker = [(t, t + 0.7, 5.0) for t in np.arange(1.0, 240.0, 1.9)]
    reading = hour(*flicker, length_s=240.0, reads_per_hour=100)
    assert reading.untimed > 0
    assert len(reading.table) < 60
    assert reading.table.duration_s.sum() == pytest.approx(240, abs=0.2)


def test_overlapping_recordings_give_each_instant_once(
    tmp_path: Path, write_recording: Write, signal: Signal
) -> None:
    paths = WeekPaths(tmp_path, "house_1", Week(2015, 4))
    folder = paths.house_folder / paths.week.folder
    folder.mkdir(parents=True)
    paths.calibration.write_text(
        "[Calibration]\nvolts_per_adc_step = 1.90101491444e-07\namps_per_adc_step = 4.9224284384e-08\n"
    )
    samples = signal(200 * RATE_HZ, rms_a=1.0)
    samples[round(90.5 * RATE_HZ) : round(115.2 * RATE_HZ), 1] *= 7
    write_recording(folder, str(START_S), samples=samples[: 110 * RATE_HZ])
    write_recording(folder, str(START_S + 80), samples=samples[80 * RATE_HZ :])
    found = ingest_week(paths)
    table = read_week(paths.waveforms)
    assert found.seconds_recorded_twice == pytest.approx(30, abs=0.1)
    assert table.duration_s.sum() == pytest.approx(200, abs=0.01)
    assert not table.gap_before[1:].any()
    on = table.rms_a > 4
    assert table.duration_s[on].sum() == pytest.approx(24.7, abs=0.1)
