"""The ingest of a simulated house against the simulator's truth: phase, frequency, volts, amps and watts."""

from pathlib import Path

import numpy as np
import pytest

from nilm.recordings.ingest import WeekPaths, ingest_week
from nilm.recordings.quality import NO_VOLTAGE, SWAPPED, Flag, WeekQuality
from nilm.recordings.tables import WeekTable, read_week
from nilm.recordings.ukdale import Week
from nilm.recordings.waveforms import Sampling
from nilm.simulate.faults import Fault
from nilm.simulate.grid import Conditions
from nilm.simulate.week import simulate_week

Truth = dict[str, np.ndarray]


def simulated(
    root: Path, *, days: float, faults: str = "", **conditions: float
) -> tuple[WeekTable, Truth, WeekQuality]:
    week = simulate_week(
        root / "raw",
        seed=1000,
        days=days,
        clock_s=120,
        clean=True,
        conditions=Conditions(**conditions),
        faults=[Fault.parse(fault) for fault in faults.split()],
    )
    paths = WeekPaths(root, "house_sim", Week(2015, 1))
    quality = ingest_week(paths, sampling=Sampling(probe_s=0))
    with np.load(week.truth) as truth:
        return read_week(paths.waveforms), dict(truth), quality


def degrees_between(cycles: np.ndarray, true_cycles: np.ndarray) -> np.ndarray:
    """Phase of the fundamental of each row against the truth's."""
    found, true = (np.fft.rfft(rows, axis=-1)[..., 1] for rows in (cycles, true_cycles))
    return np.degrees(np.angle(found * np.conj(true)))


@pytest.fixture(scope="module")
def noiseless(tmp_path_factory: pytest.TempPathFactory) -> tuple[WeekTable, Truth, WeekQuality]:
    """A day without noise, drift or sag: X = ZW, so that all error is the ingest's own."""
    quiet = {"noise_v": 0.0, "noise_a": 0.0, "drift": 0.0, "source_ohm": 0.0, "voltage_swing": 0.0}
    return simulated(tmp_path_factory.mktemp("noiseless"), days=1.0, **quiet)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> tuple[WeekTable, Truth, WeekQuality]:
    """A day under the simulator's usual conditions."""
    return simulated(tmp_path_factory.mktemp("usual"), days=1.0)


def test_phase_watts_and_waveforms_are_right_over_the_whole_range_of_frequency(
    noiseless: tuple[WeekTable, Truth, WeekQuality],
) -> None:
    table, truth, quality = noiseless
    assert np.array_equal(table.start_utc, truth["start_utc"])
    assert quality.rows_present == 720
    assert table.mains_hz.min() < 49.85
    assert table.mains_hz.max() > 50.15
    X = truth["Z"] @ truth["W"]
    assert np.abs(degrees_between(table.voltage_v, truth["voltage_v"])).max() < 0.1
    assert np.abs(degrees_between(table.current_a, X)).max() < 0.1
    np.testing.assert_allclose(table.active_w, truth["active_w"], rtol=0.002)
    np.testing.assert_allclose(table.active_w, truth["Z"] @ truth["watts"], rtol=0.002)
    np.testing.assert_allclose(table.mains_hz, truth["mains_hz"], atol=1e-3)
    misfit = np.linalg.norm(table.current_a - X, axis=1) / np.linalg.norm(X, axis=1)
    assert misfit.max() < 0.01


def test_the_usual_noise_leaves_phase_and_watts_right(usual: tuple[WeekTable, Truth, WeekQuality]) -> None:
    table, truth, _ = usual
    assert not np.any(table.flags)
    assert np.abs(degrees_between(table.voltage_v, truth["voltage_v"])).max() < 0.1
    np.testing.assert_allclose(table.rms_v, truth["rms_v"], rtol=0.002)
    np.testing.assert_allclose(table.mains_hz, truth["mains_hz"], atol=1e-3)
    error = table.active_w - truth["active_w"]
    # Noise of 0.02 A a sample, averaged over 3200 samples, is 0.085 W: more than 0.2% of a few dozen watts.
    noise_w = truth["rms_v"] * Conditions().noise_a / np.sqrt(10 * 320)
    assert np.all(np.abs(error) < 0.002 * truth["active_w"] + 4 * noise_w)
    assert np.sqrt(np.mean((error / truth["active_w"]) ** 2)) < 0.002
    large = truth["active_w"] > 200
    assert large.any()
    np.testing.assert_allclose(table.active_w[large], truth["active_w"][large], rtol=0.002)
    assert table.active_w.sum() == pytest.approx(truth["active_w"].sum(), rel=1e-4)


def test_a_house_that_wanders_is_read_without_bisecting_every_change(tmp_path: Path) -> None:
    """Nothing that a reader looks at may be silence, and what only wanders gets no rows of its own."""
    simulated_week = simulate_week(tmp_path / "raw", seed=5, days=0.5)
    paths = WeekPaths(tmp_path, "house_sim", Week(2015, 1))
    quality = ingest_week(paths)
    assert NO_VOLTAGE not in {gap["reason"] for gap in quality.gaps}
    table = read_week(paths.waveforms)
    with np.load(simulated_week.truth) as truth:
        changes = np.count_nonzero(np.any(np.diff(truth["amplitudes"], axis=0) != 0, axis=1))
        switches = np.count_nonzero(np.any(np.diff(truth["Z"].astype(int), axis=0) != 0, axis=1))
        energy = float((truth["active_w"] * truth["interval_s"]).sum())
    assert changes > 2000  # of 2880 instants: some load or other moves nearly all the time
    assert np.count_nonzero(table.inrush) < 3 * switches
    assert float(table.active_w @ table.duration_s) == pytest.approx(energy, rel=0.005)


def test_every_fault_of_the_simulator_is_told_and_none_stops_the_week(tmp_path: Path) -> None:
    faults = (
        "missing:1 late-start:2 overlap:3 truncated:5 clipped:6 wrong-rate:7 swapped:8 dc-offset:9 outage:10"
    )
    table, truth, quality = simulated(tmp_path, days=0.5, faults=faults)
    reasons = {entry["file"]: entry["reason"] for entry in quality.files_left_out}
    assert sorted(reason.split(":")[0] for reason in reasons.values()) == [
        "sample rate 8000 Hz, expected 16000 Hz",
        "truncated",
        f"{SWAPPED} in every row",
    ]
    hour = ((table.start_utc - truth["start_utc"][0]) // np.timedelta64(1, "h")).astype(int)
    rows = np.bincount(hour, minlength=12)
    # Hours 1, 5, 7 and 8 are missing, truncated, at another rate, swapped; the outage takes five rows of 10.
    np.testing.assert_array_equal(rows, [30, 0, 20, 30, 30, 0, 30, 0, 0, 30, 25, 30])
    assert quality.flags["CLIPPED_VOLTAGE"] > 0
    assert set(hour[table.flags & Flag.CLIPPED_VOLTAGE > 0]) == {6}
    assert set(hour[table.flags & Flag.DC_OFFSET > 0]) == {9}
    assert [gap["seconds"] for gap in quality.gaps if gap["reason"] == NO_VOLTAGE] == [600]
    assert len(quality.overlaps) == 1
    assert quality.seconds_recorded_twice == 600
    clean = table.fit_for_use
    true_w = truth["active_w"][np.searchsorted(truth["start_utc"], table.start_utc[clean])]
    assert np.abs(table.active_w[clean] - true_w).max() < 0.002 * true_w.max() + 0.5
