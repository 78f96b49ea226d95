import hashlib
from pathlib import Path

import numpy as np
import pytest
import soundfile

from nilm.errors import InputFileError, OptionError
from nilm.recordings.ukdale import (
    DEFAULT_ADC_SCALE,
    channel_file,
    hour_start_s,
    read_calibration,
    read_channel,
    read_labels,
)
from nilm.simulate import Conditions, Fault, FaultKind, SimulatedWeek, simulate_week, truth_path
from nilm.simulate.device.meters import AMPS_PER_ADC_STEP, VOLTS_PER_ADC_STEP
from nilm.thresholds import WORLD

MONDAY_S = 1_419_811_200  # 2014-12-29 00:00 UTC, the start of 2015-wk01
THREE_HOURS = 0.125


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SimulatedWeek]:
    root = tmp_path_factory.mktemp("raw")
    return root, simulate_week(root, seed=3, days=THREE_HOURS, clean=True)


@pytest.fixture(scope="module")
def truth(written: tuple[Path, SimulatedWeek]) -> dict[str, np.ndarray]:
    with np.load(written[1].truth, allow_pickle=False) as file:
        return dict(file)


def digests(root: Path) -> dict[str, str]:
    files = (p for p in root.rglob("*") if p.is_file())
    return {str(p.relative_to(root)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def window(path: Path, row_s: float, *, length_s: float = 0.2) -> np.ndarray:
    """Samples (n, 2) in [−1, 1] from an instant (seconds since Monday) on."""
    start_s = hour_start_s(path.name)
    assert start_s is not None
    with soundfile.SoundFile(path) as file:
        file.seek(round((MONDAY_S + row_s - start_s) * file.samplerate))
        return file.read(round(length_s * file.samplerate))


def test_the_week_lies_on_disk_as_uk_dale_does(written) -> None:
    root, week = written
    folder = root / "house_sim"
    assert len(week.hours) == 3
    assert all(p.parent == folder / "2015" / "wk01" for p in week.hours)
    for hour, path in enumerate(week.hours):
        start_s = hour_start_s(path.name)
        assert start_s is not None
        assert "_" in path.name
        assert MONDAY_S + 3600 * hour - 1 < start_s < MONDAY_S + 3600 * hour
        info = soundfile.info(path)
        assert (info.samplerate, info.channels, info.subtype) == (16_000, 2, "PCM_24")
    assert soundfile.info(week.hours[0]).frames == 57_600_000
    calibration = read_calibration(folder / "calibration.cfg")
    assert calibration.volts_per_sample == pytest.approx(408, abs=1)
    assert calibration.amps_per_sample == pytest.approx(106, abs=1)
    labels = read_labels(folder / "labels.dat")
    assert labels[1] == "aggregate"
    assert "washing_machine" in labels.values()
    assert "standby" not in labels.values()
    assert {channel_file(folder, c).is_file() for c in labels} == {True}
    assert week.truth == truth_path(root, "house_sim", "2015-wk01")
    assert not list(folder.rglob("*.tmp"))


def test_a_week_stays_small(written) -> None:
    # 168 of these must stay far below 500 MB.
    assert written[1].size_bytes / 3 < 2.5e6


def test_the_truth_file_holds_rows_at_multiples_of_its_clock(truth) -> None:
    assert truth["Z"].shape == (720, 10)
    assert truth["W"].shape == (10, 320)
    unix_s = truth["start_utc"].astype("datetime64[s]").astype(np.int64)
    assert unix_s[0] == MONDAY_S
    assert not (unix_s % 15).any()
    switch = truth["switch_utc"][1:]
    assert np.all((switch > truth["start_utc"][:-1]) & (switch < truth["start_utc"][1:]))
    np.testing.assert_allclose(truth["watts"], truth["W"] @ truth["voltage_v"] / 320)


def test_samples_around_a_row_have_the_true_power_and_the_rest_is_silence(written, truth) -> None:
    _, week = written
    for row in (0, 29, 30, 55, 89):
        samples = window(week.hours[row // 30], row * 120.0)
        volts = samples[:, 0] * VOLTS_PER_ADC_STEP * 2**31
        amps = samples[:, 1] * AMPS_PER_ADC_STEP * 2**31
        # Ten cycles, but for the drift of the mains: the ingest cuts whole ones and does better.
        assert np.mean(volts * amps) == pytest.approx(truth["active_w"][row * 8], rel=0.01)
        assert np.sqrt(np.mean(volts**2)) == pytest.approx(truth["rms_v"][row * 8], rel=0.005)
        assert not window(week.hours[row // 30], row * 120.0 + 0.3, length_s=1.0).any()


def test_the_same_arguments_give_the_same_bytes_and_replace_what_was_there(written, tmp_path: Path) -> None:
    root, _ = written
    first = digests(root)
    simulate_week(tmp_path, seed=3, days=THREE_HOURS, clean=True, faults=[Fault(FaultKind.MISSING, 1)])
    assert len(digests(tmp_path)) == len(first) - 1
    simulate_week(tmp_path, seed=3, days=THREE_HOURS, clean=True)
    assert digests(tmp_path) == first


def test_submeters_agree_with_the_truth_at_its_rows(written, truth) -> None:
    root, week = written
    folder = root / "house_sim"
    nominal = truth["amplitudes"] * truth["watts"]
    for channel, name in read_labels(folder / "labels.dat").items():
        if channel == 1:
            continue
        parts = [k for k, m in enumerate(truth["machines"]) if m.replace(" ", "_") == name]
        series = read_channel(channel_file(folder, channel))
        assert series.bad_lines == 0
        row_s = MONDAY_S + week.house.row_s[::2]  # every 30 s, as the submeters every 6 s
        at = np.searchsorted(series.time_s, row_s)
        heard = series.time_s[np.minimum(at, len(series.time_s) - 1)] == row_s
        assert heard.mean() > 0.9
        expected = nominal[::2][heard][:, parts].sum(axis=1)
        # Whole watts, and the voltage is within 1.5 % of nominal.
        np.testing.assert_allclose(series.values[at[heard], 0], expected, rtol=0.03, atol=0.5)
        steps = np.diff(series.time_s)
        assert set(steps % 6) == {0.0}
        assert np.mean(steps > 6) == pytest.approx(WORLD.lost_share, abs=0.01)


def test_energy_of_the_mains_is_the_sum_of_the_submeters_and_the_standby(written, truth) -> None:
    root, _ = written
    folder = root / "house_sim"
    time_s, active, apparent, volts = np.loadtxt(folder / "mains.dat").T
    assert len(np.unique(time_s)) == 3 * 3600
    joules = active.sum()
    parts = truth["watts"][0] * 3 * 3600.0
    for channel in list(read_labels(folder / "labels.dat"))[1:]:
        series = read_channel(channel_file(folder, channel))
        grid = np.arange(MONDAY_S, MONDAY_S + 3 * 3600, 6)
        parts += 6 * np.interp(grid, series.time_s, series.values[:, 0]).sum()
    # Submeters sample every 6 s, whole watts, some readings lost; standby follows the voltage.
    assert joules == pytest.approx(parts, rel=0.01)
    assert (apparent >= active).all()
    assert np.abs(volts - 240).max() < 6


def test_a_second_week_is_the_same_house_and_is_laid_into_its_files(tmp_path: Path) -> None:
    options = {"seed": 1, "days": 0.0834, "clean": True}
    simulate_week(tmp_path, week="2015-wk02", **options)
    folder = tmp_path / "house_sim"
    before = read_channel(channel_file(folder, 1))
    simulate_week(tmp_path, week="2015-wk01", **options)
    both = read_channel(channel_file(folder, 1))
    assert both.bad_lines == 0
    assert len(both.time_s) > len(before.time_s)
    np.testing.assert_array_equal(both.time_s[-len(before.time_s) :], before.time_s)
    first, second = (np.load(truth_path(tmp_path, "house_sim", w)) for w in ("2015-wk01", "2015-wk02"))
    np.testing.assert_array_equal(first["W"], second["W"])
    assert (first["Z"] != second["Z"]).any()
    simulate_week(tmp_path, week="2015-wk03", seed=1, days=0.0834, n_appliances=11)  # a new appliance
    assert len(read_labels(folder / "labels.dat")) == 10
    simulate_week(tmp_path, week="2015-wk04", **options)  # gone again, its channel stays
    assert len(read_labels(folder / "labels.dat")) == 10


def test_another_house_is_not_laid_into_a_folder_that_has_one(tmp_path: Path, real_data: Path) -> None:
    simulate_week(tmp_path, seed=1, days=0.0834, clean=True)
    before = digests(tmp_path)
    with pytest.raises(OptionError, match="another house name"):
        simulate_week(
            tmp_path, days=0.0834, n_appliances=4, waveforms=real_data / "appliances" / "hfhad_cycles.npz"
        )
    assert digests(tmp_path) == before


def test_data_that_was_not_simulated_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "house_1" / "2015" / "wk01").mkdir(parents=True)
    kept = tmp_path / "house_1" / "2015" / "wk01" / "vi-1419811200_000000.flac"
    kept.write_bytes(b"precious")
    with pytest.raises(OptionError, match="not simulated"):
        simulate_week(tmp_path, house="house_1", days=0.0834)
    assert kept.read_bytes() == b"precious"


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"house": "../escape"}, "house"),
        ({"week": "2015-1"}, "2015-wk01"),
        ({"days": 8}, "days"),
        ({"interval_s": 7}, "interval_s"),
        ({"days": 0.125, "faults": [Fault(FaultKind.OUTAGE, 3)]}, "outage:3"),
        ({"days": 0.125, "solar": True}, "daylight"),
        ({"seed": -1}, "seed"),
    ],
)
def test_options_out_of_range_leave_nothing_behind(tmp_path: Path, options, word: str) -> None:
    with pytest.raises(OptionError, match=word):
        simulate_week(tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_a_missing_file_of_waveforms_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"gone\.npz"):
        simulate_week(tmp_path, waveforms=tmp_path / "gone.npz")


def test_continuous_files_hold_the_same_windows_and_no_silence(tmp_path: Path) -> None:
    quiet = Conditions(noise_a=0, noise_v=0)
    # Twenty rows in five minutes.
    options = {"seed": 2, "days": 1 / 288, "interval_s": 15, "n_appliances": 2, "conditions": quiet}
    sparse = simulate_week(tmp_path / "a", **options)
    whole = simulate_week(tmp_path / "b", continuous=True, **options)
    assert [p.name for p in whole.hours] == [p.name for p in sparse.hours]
    step = 2.0**-23
    for row in (0, 7, 19):
        a, b = (window(w.hours[0], row * 15.0) for w in (sparse, whole))
        np.testing.assert_allclose(a, b, atol=step)
        assert window(whole.hours[0], row * 15.0 + 7).std(axis=0).min() > 0
    assert (tmp_path / "b" / "house_sim" / "mains.dat").read_bytes() == (
        tmp_path / "a" / "house_sim" / "mains.dat"
    ).read_bytes()


def test_solar_feeds_in_by_day_and_the_truth_keeps_its_amplitudes(tmp_path: Path) -> None:
    week = simulate_week(tmp_path, seed=5, days=0.6, n_appliances=3, solar=True, interval_s=900, clock_s=900)
    truth = np.load(week.truth)
    assert truth["names"][-1] == "solar"
    assert truth["kinds"][-1] == "generator"
    assert truth["watts"][-1] == pytest.approx(-2500)
    hour = week.house.row_s / 3600
    sun = truth["amplitudes"][:, -1]
    assert not sun[hour < 8].any()
    assert sun.max() > 0.3
    row = int(np.argmin(truth["active_w"]))
    samples = window(week.hours[int(hour[row])], week.house.row_s[row])
    watts = np.mean(samples[:, 0] * samples[:, 1]) * VOLTS_PER_ADC_STEP * AMPS_PER_ADC_STEP * 2**62
    assert watts < -500
    assert watts == pytest.approx(truth["active_w"][row], rel=0.02)


def test_a_house_is_lifelike_unless_it_is_asked_to_be_clean(tmp_path: Path) -> None:
    week = simulate_week(tmp_path, seed=2, days=0.0834)
    with np.load(week.truth, allow_pickle=False) as file:
        truth = dict(file)
    fridge = list(truth["names"]).index("fridge")
    drawn = truth["amplitudes"][truth["Z"][:, fridge] == 1, fridge]
    assert drawn.max() > 1.05 * drawn.min(), "its power falls within each run"
    labels = read_labels(tmp_path / "house_sim" / "labels.dat")
    assert 15 <= len(labels) - 1 <= 20
    assert list(labels.values()).count("heat_pump") == 1


def test_real_habits_become_recordings_with_their_truth_beside_them(tmp_path: Path) -> None:
    watts = np.zeros((180, 2))  # three hours from 01:00, a sample a minute
    watts[:, 0] = 40 + 30 * (np.arange(180) // 7 % 3)
    watts[20:40, 1] = 2000
    valid = np.ones(180, bool)
    valid[60:120] = False
    start = 1_400_000_400 // 86_400 * 86_400 + 3600
    np.savez(
        tmp_path / "habits.npz",
        times=start + 60 * np.arange(180),
        watts=watts,
        channels=["fridge", "kettle"],
        step_s=np.array(60),
        valid=valid,
    )
    week = simulate_week(tmp_path / "raw", days=0.25, habits=tmp_path / "habits.npz")
    hours = [(hour_start_s(path.name) + 1 - MONDAY_S) // 3600 for path in week.hours]
    assert hours == [1, 3], "the hours that the file holds, at their own time of the day"
    with np.load(week.truth, allow_pickle=False) as file:
        power = file["watts"] * file["amplitudes"]
        assert list(file["names"]) == ["standby", "fridge", "kettle"]
        active_w = file["active_w"]
    rows = np.r_[60:120, 180:240]
    np.testing.assert_allclose(power[rows].sum(axis=1), watts[valid].sum(axis=1), rtol=0.1)
    np.testing.assert_allclose(power[:, 0], 40, rtol=1e-6)
    steps = window(week.hours[0], 3600 + 26 * 60.0)
    volts, amps = (steps * (VOLTS_PER_ADC_STEP, AMPS_PER_ADC_STEP) * DEFAULT_ADC_SCALE).T
    assert np.mean(volts * amps) == pytest.approx(active_w[60 + 26], rel=0.01)


def test_habits_bring_their_own_appliances(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="real house"):
        simulate_week(tmp_path, habits=tmp_path / "habits.npz", n_appliances=3)
