"""A week of a simulated house on disk, laid out as UK-DALE, with its truth beside it.

Owns the order of writing and the truth file. A sparse recording holds signal where the ingest will read it
(`nilm.simulate.device.recorder`): at multiples of `interval_s` of UTC, at every probe for changes, and around
every switch; elsewhere it is silent. Sample by sample it is the continuous recording there, but for
the rounding of a converter's step.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nilm.errors import OptionError
from nilm.files import atomic_path
from nilm.recordings.ukdale import DEFAULT_ADC_SCALE, HOUR_S, Calibration, Week, check_house
from nilm.recordings.waveforms import Sampling
from nilm.simulate.device.meters import AMPS_PER_ADC_STEP, VOLTS_PER_ADC_STEP, check_labels, write_meters
from nilm.simulate.device.recorder import Recorder
from nilm.simulate.faults import Fault
from nilm.simulate.grid import Conditions
from nilm.simulate.habits_house import Recordable, house_of_habits
from nilm.simulate.house import House, simulated_house
from nilm.simulate.lifelike import lifelike_house
from nilm.simulate.signal import Signal, signal_of
from nilm.simulate.solar import with_solar
from nilm.timeline import DAY_S

log = logging.getLogger(__name__)

CLOCK_S = 15  # from row to row of the truth: about the shortest run of an appliance
N_APPLIANCES = 10  # of a clean house
CALIBRATION = Calibration(VOLTS_PER_ADC_STEP * DEFAULT_ADC_SCALE, AMPS_PER_ADC_STEP * DEFAULT_ADC_SCALE)


@dataclass(frozen=True)
class SimulatedWeek:
    """What was written."""

    hours: tuple[Path, ...]  # the recordings
    truth: Path
    house: House
    size_bytes: int  # of the recordings


def truth_path(raw_root: Path, house: str, week: str) -> Path:
    """Where the truth of a simulated week lies; only scoring reads it."""
    return raw_root / house / "truth" / f"{week}.npz"


def simulate_week(
    raw_root: Path,
    *,
    house: str = "house_sim",
    week: str = "2015-wk01",
    seed: int = 0,
    days: float = 7.0,
    n_appliances: int | None = None,
    waveforms: Path | None = None,
    habits: Path | None = None,
    clean: bool = False,
    interval_s: int = 120,
    clock_s: int = CLOCK_S,
    conditions: Conditions | None = None,
    solar: bool = False,
    continuous: bool = False,
    faults: Sequence[Fault] = (),
) -> SimulatedWeek:
    """Write one week of a house below raw_root as UK-DALE lies on disk, and its truth.

    The same arguments give the same bytes. One seed is one house: its weeks share appliances and differ in
    schedule. A week simulated before is replaced.

    The house is lifelike (`nilm.simulate.lifelike`). With `clean`, `n_appliances` or `waveforms` its loads
    are either on or off (`nilm.simulate.house`), ten of them if no number is given. With `habits` it is a
    real one: measured watts, drawn with the recorded waveforms in `waveforms` or with made ones
    (`nilm.simulate.habits_house`); its rows are as far apart as its samples, and hours without samples have
    no recording.

    The truth of a made house has a row every `clock_s`; loads switch at any instant between two of them.
    `interval_s` is that of the ingest. `continuous` writes the whole signal (about 200 MB an hour) in place
    of windows where it is read. Raises OptionError for a folder that was not simulated, options out of range,
    and a fault in an hour that the week does not have.
    """
    conditions = conditions or Conditions()
    calendar_week = Week.parse(week)
    folder = raw_root / check_house(house)
    _check(folder, clock_s, days)
    sampling = Sampling(interval_s=interval_s)
    truth, profile, silent_hours = _house(
        seed=seed,
        days=days,
        n_appliances=n_appliances,
        clean=clean,
        waveforms=waveforms,
        habits=habits,
        interval_s=clock_s,
        start_utc=np.datetime64(calendar_week.start.replace(tzinfo=None), "s"),
    )
    rng = np.random.default_rng([seed, 3, int(calendar_week.start.timestamp())])
    if solar:
        truth, sunny = with_solar(truth, rng)
        profile = np.column_stack([profile, sunny[:, -1]])
    check_labels(folder, truth)
    n_hours = int(np.ceil(len(truth.Z) * truth.interval_s / HOUR_S))
    _check_faults(faults, n_hours, days)
    signal = signal_of(truth, conditions, rng, profile=profile)
    # Before the hour, so that the first row of an hour lies in its own file.
    early_s = int(rng.integers(200_000, 800_000)) / 1e6
    first_s = int(calendar_week.start.timestamp())
    recorder = Recorder(signal, conditions, CALIBRATION, seed, first_s, early_s, sampling)
    truth_file = truth_path(raw_root, house, week)
    truth_file.parent.mkdir(parents=True, exist_ok=True)
    heard = sorted(set(range(n_hours)) - silent_hours)
    hours = _write_hours(recorder, folder / calendar_week.folder, heard, faults, continuous=continuous)
    write_meters(folder, signal, calendar_week, rng)
    _write_truth(truth_file, signal)
    size = sum(p.stat().st_size for p in hours)
    log.info("simulated %s %s: %d hours, %.0f MB", house, week, len(hours), size / 1e6)
    return SimulatedWeek(hours=tuple(hours), truth=truth_file, house=truth, size_bytes=size)


def _check(folder: Path, clock_s: int, days: float) -> None:
    if folder.exists() and not (folder / "truth").is_dir():
        raise OptionError(f"{folder} holds data that was not simulated; choose another house name")
    if clock_s < 1 or DAY_S % clock_s:
        raise OptionError(f"clock_s must be whole seconds that divide a day, got {clock_s}")
    if not 0 < days <= 7:
        raise OptionError(f"days must be above 0 and at most 7, got {days}")


def _check_faults(faults: Sequence[Fault], n_hours: int, days: float) -> None:
    for fault in faults:
        if fault.hour >= n_hours:
            raise OptionError(
                f"{fault.kind}:{fault.hour}: the {days:g} days have hours 0 to {n_hours - 1} only"
            )


def _write_hours(
    recorder: Recorder, folder: Path, hours: Sequence[int], faults: Sequence[Fault], *, continuous: bool
) -> list[Path]:
    """The recordings of these hours; those that the folder held before are gone."""
    for old in sorted(folder.glob("vi-*.flac")):
        old.unlink()
    written = []
    for hour in hours:
        kinds = frozenset(f.kind for f in faults if f.hour == hour)
        path = recorder.write_hour(folder, hour, kinds, continuous=continuous)
        if path is not None:
            written.append(path)
    return written


def _house(
    *,
    seed: int,
    days: float,
    n_appliances: int | None,
    clean: bool,
    waveforms: Path | None,
    habits: Path | None,
    interval_s: float,
    start_utc: np.datetime64,
) -> Recordable:
    """The house that the options of `simulate_week` ask for, its profile, and the hours that it lacks."""
    if habits is not None:
        if clean or n_appliances is not None:
            raise OptionError(
                "habits are those of a real house: it is not clean, and its appliances are given"
            )
        return house_of_habits(habits, waveforms, seed=seed, days=days, start_utc=start_utc)
    if n_appliances is None and waveforms is None and not clean:
        lifelike = lifelike_house(seed=seed, days=days, interval_s=interval_s, start_utc=start_utc)
        return Recordable(*lifelike, frozenset())
    house = simulated_house(
        seed=seed,
        days=days,
        n_appliances=N_APPLIANCES if n_appliances is None else n_appliances,
        interval_s=interval_s,
        waveforms=waveforms,
        start_utc=start_utc,
    )
    return Recordable(house, np.ones(house.Z.shape), frozenset())


def _write_truth(path: Path, signal: Signal) -> None:
    """The truth: Z, W, watts and voltage_v at nominal voltage; the rest as it was at each row's instant."""
    house = signal.house
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            names=np.array(house.names),
            machines=np.array(house.machines),
            kinds=np.array(house.kinds),
            Z=house.Z,
            W=house.W,
            watts=house.watts,
            voltage_v=house.voltage_v,
            start_utc=house.start_utc,
            switch_utc=signal.switch_utc,
            interval_s=np.array(house.interval_s),
            amplitudes=signal.amplitudes,
            inrush=signal.inrush,
            active_w=signal.watts(house.row_s).sum(axis=1),
            mains_hz=signal.mains.hz(house.row_s),
            rms_v=signal.rms_v(house.row_s),
            rms_a=signal.rms_a(house.row_s),
        )
