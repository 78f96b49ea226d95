from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from nilm.errors import OptionError
from nilm.recordings import quality
from nilm.recordings.quality import Flag
from nilm.recordings.ukdale import Calibration
from nilm.recordings.waveforms import Reading, Sampling, UnusableRecordingError, read_hour

SAMPLING = Sampling(interval_s=10, probe_s=0)
HOUSE_1 = Calibration(1.90101491444e-07 * 2**31, 4.9224284384e-08 * 2**31)
Write = Callable[..., Path]
Signal = Callable[..., np.ndarray]


def read(path: Path, sampling: Sampling = SAMPLING) -> Reading:
    return read_hour(path, calibration=HOUSE_1, sampling=sampling)


def reason(path: Path) -> str:
    with pytest.raises(UnusableRecordingError) as caught:
        read(path)
    return str(caught.value)


def test_rows_stand_at_multiples_of_the_interval_and_measure_what_was_written(
    tmp_path: Path, write_recording: Write
) -> None:
    lag = 0.6
    path = write_recording(tmp_path, "1421625604_25", hz=50.1, rms_v=241.0, rms_a=7.0, lag=lag)
    reading = read(path)
    table = reading.table
    expected = np.datetime64(1421625610, "s") + 10 * np.arange(3)
    np.testing.assert_array_equal(table.start_utc, expected)
    assert reading.dropped == []
    assert reading.duration_s == 31.0
    np.testing.assert_allclose(table.mains_hz, 50.1, atol=1e-4)
    np.testing.assert_allclose(table.rms_a, 7.0, rtol=1e-4)
    np.testing.assert_allclose(table.rms_v, 241.0 * np.sqrt(1 + 0.03**2 + 0.02**2), rtol=1e-4)
    np.testing.assert_allclose(table.active_w, 241 * 7 * np.cos(lag), rtol=2e-4)
    np.testing.assert_allclose(table.reactive_var, 241 * 7 * np.sin(lag), rtol=2e-4)
    np.testing.assert_allclose(table.apparent_va, table.rms_v * table.rms_a)
    assert set(table.n_cycles) == {10}
    assert set(table.source_file) == {path.name}
    assert not np.any(table.flags)
    cycle = np.sqrt(2) * 7 * np.sin(2 * np.pi * np.arange(320) / 320 - lag)
    np.testing.assert_allclose(table.current_a, np.tile(cycle, (3, 1)), atol=0.005)


def test_current_that_flows_back_has_negative_power(tmp_path: Path, write_recording: Write) -> None:
    table = read(write_recording(tmp_path, "1421625600", rms_a=5.0, lag=np.pi)).table
    np.testing.assert_allclose(table.active_w, -240 * 5, rtol=1e-3)


def test_other_numbers_of_points_and_cycles_are_taken_as_asked(
    tmp_path: Path, write_recording: Write
) -> None:
    path = write_recording(tmp_path, "1421625600")
    table = read(path, Sampling(interval_s=15, n_points=128, n_cycles=4, probe_s=0)).table
    assert table.current_a.shape == (3, 128)
    assert set(table.n_cycles) == {4}


def test_seeking_gives_the_same_bits_as_decoding_the_whole_file(
    tmp_path: Path, write_recording: Write
) -> None:
    path = write_recording(tmp_path, "1421625600", noise=0.01)
    whole = soundfile.read(path)[0]
    with soundfile.SoundFile(path) as recording:
        for first in (0, 4095, 4096, 160_000, 300_001, len(whole) - 3600):
            recording.seek(first)
            np.testing.assert_array_equal(recording.read(3600), whole[first : first + 3600])


def test_reading_leaves_the_recording_as_it_was(tmp_path: Path, write_recording: Write) -> None:
    path = write_recording(tmp_path, "1421625600")
    before, stat = path.read_bytes(), path.stat()
    read(path)
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == stat.st_mtime_ns
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_rows_at_the_edges_use_what_the_file_has_of_them(tmp_path: Path, write_recording: Write) -> None:
    # Starts 0.1 s after one instant and ends 0.1 s after another: about 5 cycles of each are there.
    path = write_recording(tmp_path, "1421625600_1", seconds=20.0)
    table = read(path).table
    np.testing.assert_array_equal(table.start_utc.astype("datetime64[s]").astype(int) % 100, [0, 10, 20])
    np.testing.assert_array_equal(table.flags, [Flag.FEW_CYCLES, 0, Flag.FEW_CYCLES])
    assert np.all((table.n_cycles[[0, 2]] >= 3) & (table.n_cycles[[0, 2]] <= 6))
    np.testing.assert_allclose(table.active_w, 2400, rtol=1e-3)


@pytest.mark.parametrize("share", [0.999, 0.5, 0.05])
def test_a_truncated_file_is_noticed_wherever_it_ends(
    tmp_path: Path, write_recording: Write, share: float
) -> None:
    path = write_recording(tmp_path, "1421625600")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert reason(path) == "truncated: the last of its 496000 samples cannot be read"


def test_a_file_damaged_in_the_middle_is_left_out(tmp_path: Path, write_recording: Write) -> None:
    path = write_recording(tmp_path, "1421625600")
    content = bytearray(path.read_bytes())
    first, last = int(0.3 * len(content)), int(0.7 * len(content))
    content[first:last] = np.random.default_rng(0).bytes(last - first)
    path.write_bytes(content)
    assert reason(path).startswith(("cannot be read as FLAC", "damaged"))


def test_a_header_without_length_is_left_out(tmp_path: Path, write_recording: Write) -> None:
    path = write_recording(tmp_path, "1421625600")
    content = bytearray(path.read_bytes())
    content[21] &= 0xF0
    content[22:26] = bytes(4)  # STREAMINFO's number of samples
    path.write_bytes(content)
    assert "states no length" in reason(path)


@pytest.mark.parametrize("content", [b"", b"not a recording", b"fLaC"])
def test_what_is_no_flac_is_left_out(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "vi-1421625600.flac"
    path.write_bytes(content)
    assert reason(path).startswith("cannot be read as FLAC")


def test_other_formats_rates_and_channels_are_left_out(
    tmp_path: Path, write_recording: Write, signal: Signal
) -> None:
    assert reason(write_recording(tmp_path, "1", rate_hz=44_100)) == "sample rate 44100 Hz, expected 16000 Hz"
    for channels in (1, 3):
        path = write_recording(tmp_path, "2", samples=np.zeros((16_000, channels)))
        assert reason(path) == f"{channels} channels, expected 2 (voltage, current)"
    path = tmp_path / "vi-3.flac"
    soundfile.write(path, signal(16_000), 16_000, subtype="PCM_24", format="WAV")
    assert reason(path) == "is WAV, not FLAC"


def test_a_name_without_time_is_left_out_before_the_file_is_opened(tmp_path: Path) -> None:
    assert "no time" in reason(tmp_path / "vi-morning.flac")


def test_a_file_between_two_instants_has_no_row(tmp_path: Path, write_recording: Write) -> None:
    assert "too short for one row" in reason(write_recording(tmp_path, "1421625601", seconds=5))


def test_an_outage_drops_its_rows_with_the_reason(
    tmp_path: Path, write_recording: Write, signal: Signal
) -> None:
    samples = signal(31 * 16_000)
    samples[15 * 16_000 : 25 * 16_000] = 0
    reading = read(write_recording(tmp_path, "1421625600", samples=samples))
    assert [(quality.iso(d.start_s), d.duration_s, d.reason) for d in reading.dropped] == [
        ("2015-01-19T00:00:20Z", 10.0, quality.NO_VOLTAGE)
    ]
    assert len(reading.table) == 3
    silent = write_recording(tmp_path, "1421625700", samples=np.zeros((31 * 16_000, 2)))
    assert reason(silent) == f"{quality.NO_VOLTAGE} in every row"


def test_swapped_channels_are_not_swapped_back_but_left_out(
    tmp_path: Path, write_recording: Write, signal: Signal
) -> None:
    path = write_recording(tmp_path, "1421625600", samples=signal(31 * 16_000)[:, ::-1])
    assert reason(path) == f"{quality.SWAPPED} in every row"


def test_clipped_samples_flag_the_row_and_the_channel(
    tmp_path: Path, write_recording: Write, signal: Signal
) -> None:
    samples = signal(31 * 16_000)
    samples[9 * 16_000 : 11 * 16_000, 1] *= 20
    samples[19 * 16_000 : 21 * 16_000, 0] *= 1.4
    table = read(write_recording(tmp_path, "1421625600", samples=np.clip(samples, -1, 1))).table
    assert table.flags[1] == Flag.CLIPPED_CURRENT
    assert table.flags[2] & Flag.CLIPPED_VOLTAGE
    assert not np.any(table.flags[[0, 3]])
    np.testing.assert_array_equal(table.fit_for_use, [True, False, False, True])


def test_a_dc_offset_is_removed_and_flagged(tmp_path: Path, write_recording: Write, signal: Signal) -> None:
    samples = signal(31 * 16_000, hz=50.07) + np.array([0.02, 0.03])
    table = read(write_recording(tmp_path, "1421625600", samples=samples)).table
    assert set(table.flags) == {int(Flag.DC_OFFSET)}
    np.testing.assert_allclose(table.current_a.mean(axis=1), 0, atol=1e-5)
    np.testing.assert_allclose(table.active_w, 2400, rtol=1e-3)
    assert np.all(table.fit_for_use)


def test_odd_frequency_odd_voltage_and_a_disturbance_are_flagged(
    tmp_path: Path, write_recording: Write, signal: Signal
) -> None:
    assert set(read(write_recording(tmp_path, "1", hz=49.3)).table.flags) == {int(Flag.ODD_FREQUENCY)}
    assert set(read(write_recording(tmp_path, "2", rms_v=110)).table.flags) == {int(Flag.ODD_VOLTAGE)}
    samples = signal(31 * 16_000)
    samples[int(10.15 * 16_000) : 12 * 16_000] = 0  # the voltage breaks off within the row's window
    flags = read(write_recording(tmp_path, "1421625600", samples=samples)).table.flags
    assert flags[1] & Flag.DISTORTED
    assert not np.any(np.delete(flags, 1))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("interval_s", 0),
        ("interval_s", 7),
        ("n_points", 8),
        ("n_cycles", 2),
        ("probe_s", 0.5),
        ("edge_s", 0),
        ("reads_per_hour", 1),
    ],
)
def test_options_out_of_range_are_refused_with_their_value(option: str, value: float) -> None:
    with pytest.raises(OptionError, match=f"{option} must.* got {value}"):
        Sampling(**{option: value})
