"""A week of a simulated house on disk, laid out as UK-DALE, with its truth beside it.

Owns the order of writing and the truth file. Contract with the ingest: rows lie at multiples of `interval_s`
of UTC (t = k · 120 s since 1970), and a sparse recording holds signal from 0.05 s before each such instant to
0.25 s after it, silence elsewhere.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nilm.errors import OptionError
from nilm.files import atomic_path
from nilm.recordings.ukdale import DEFAULT_ADC_SCALE, HOUR_S, Calibration, Week, check_house
from nilm.simulate.faults import Fault
from nilm.simulate.grid import Conditions
from nilm.simulate.house import House, simulated_house
from nilm.simulate.meters import AMPS_PER_ADC_STEP, VOLTS_PER_ADC_STEP, check_labels, write_meters
from nilm.simulate.recorder import Recorder
from nilm.simulate.schedules import DAY_S
from nilm.simulate.signal import Signal, signal_of
from nilm.simulate.solar import with_solar

log = logging.getLogger(__name__)


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
    n_appliances: int = 10,
    waveforms: Path | None = None,
    interval_s: int = 120,
    conditions: Conditions | None = None,
    solar: bool = False,
    continuous: bool = False,
    faults: Sequence[Fault] = (),
) -> SimulatedWeek:
    """Write one week of a house below raw_root as UK-DALE lies on disk, and its truth.

    The same arguments give the same bytes. One seed is one house: its weeks share appliances and differ in
    schedule. A week simulated before is replaced. `continuous` writes the whole signal (about 200 MB an hour)
    in place of windows around the rows. Raises OptionError for a folder that was not simulated, options out
    of range, and a fault in an hour that the week does not have.
    """
    conditions = conditions or Conditions()
    calendar_week = Week.parse(week)
    folder = raw_root / check_house(house)
    if folder.exists() and not (folder / "truth").is_dir():
        raise OptionError(f"{folder} holds data that was not simulated; choose another house name")
    if interval_s < 1 or DAY_S % interval_s:
        raise OptionError(f"interval_s must be whole seconds that divide a day, got {interval_s}")
    if not 0 < days <= 7:
        raise OptionError(f"days must be above 0 and at most 7, got {days}")
    start = np.datetime64(calendar_week.start.replace(tzinfo=None), "s")
    truth = simulated_house(
        seed=seed,
        days=days,
        n_appliances=n_appliances,
        interval_s=interval_s,
        waveforms=waveforms,
        start_utc=start,
    )
    start_unix_s = int(calendar_week.start.timestamp())
    rng = np.random.default_rng([seed, 3, start_unix_s])
    profile = None
    if solar:
        truth, profile = with_solar(truth, rng)
    check_labels(folder, truth)
    n_hours = int(np.ceil(len(truth.Z) * interval_s / HOUR_S))
    for fault in faults:
        if fault.hour >= n_hours:
            raise OptionError(
                f"{fault.kind}:{fault.hour}: the {days:g} days have hours 0 to {n_hours - 1} only"
            )

    signal = signal_of(truth, conditions, rng, profile=profile)
    recorder = Recorder(
        signal=signal,
        conditions=conditions,
        calibration=Calibration(
            VOLTS_PER_ADC_STEP * DEFAULT_ADC_SCALE, AMPS_PER_ADC_STEP * DEFAULT_ADC_SCALE
        ),
        seed=seed,
        start_unix_s=start_unix_s,
        # Before the hour, so that the first row of an hour lies in its own file.
        early_s=int(rng.integers(200_000, 800_000)) / 1e6,
    )
    truth_file = truth_path(raw_root, house, week)
    truth_file.parent.mkdir(parents=True, exist_ok=True)
    recordings = folder / calendar_week.folder
    for old in sorted(recordings.glob("vi-*.flac")):
        old.unlink()
    hours = []
    for hour in range(n_hours):
        kinds = frozenset(f.kind for f in faults if f.hour == hour)
        path = recorder.write_hour(recordings, hour, kinds, continuous=continuous)
        if path is not None:
            hours.append(path)
    write_meters(folder, signal, calendar_week, rng)
    _write_truth(truth_file, signal)
    size = sum(p.stat().st_size for p in hours)
    log.info("simulated %s %s: %d hours, %.0f MB", house, week, len(hours), size / 1e6)
    return SimulatedWeek(hours=tuple(hours), truth=truth_file, house=truth, size_bytes=size)


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
            active_w=signal.watts(house.row_s).sum(axis=1),
            mains_hz=signal.mains.hz(house.row_s),
            rms_v=signal.rms_v(house.row_s),
            rms_a=signal.rms_a(house.row_s),
        )
