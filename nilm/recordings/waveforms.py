"""Phase-locked, calibrated mains cycles from an hour-long recording, by seeking in it.

Owns the reading of FLAC and the measures of a row. Which files there are is `nilm.recordings.ukdale`, the
arithmetic of the phase lock `nilm.recordings.phase_lock`, the words of what is wrong
`nilm.recordings.quality`. Recordings are only read.

A row that is measured at the instant t covers the window [t, t + 0.225 s]: up to ten whole cycles from the
first rising zero crossing on. On the plain grid t is every multiple of the interval in UTC. Otherwise the
recording is also probed for changes, and every time without one gets a row
(docs/decisions/0190-adaptive-reading.md). Nothing else of the hour is decoded.
"""

import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from numpy.typing import NDArray

from lfm.arrays import BoolArray, FloatArray, IntArray
from nilm.errors import InputFileError, OptionError
from nilm.recordings import quality
from nilm.recordings.adaptive.probes import probe_grid, probe_samples
from nilm.recordings.adaptive.stretches import cut_into_rows
from nilm.recordings.adaptive.switch_times import Read, find_switches
from nilm.recordings.flac.windows import FlacWindows, FrameError
from nilm.recordings.phase_lock import MAINS_HZ, average_cycles, fit_fundamental
from nilm.recordings.quality import Dropped, Flag
from nilm.recordings.tables import WeekTable, concatenate
from nilm.recordings.ukdale import HOUR_S, Calibration, hour_start_s
from nilm.thresholds import ROWS
from nilm.timeline import utc

log = logging.getLogger(__name__)

RATE_HZ = 16_000
CHANNELS = 2  # left is voltage, right is current
SLOWEST_HZ = 49.0  # the window holds all cycles asked for down to this frequency
FULL_SCALE = 1 - 2**-15
BATCH_SAMPLES = 100_000  # in memory at a time, whatever the file's length and the interval

FlagArray = NDArray[np.uint16]


@dataclass(frozen=True)
class Sampling:
    """How rows are taken."""

    interval_s: int = 120  # at least one row is measured in every interval; 1 to 3600, a divisor of an hour
    n_points: int = 320  # D, 16 to 4096
    n_cycles: int = 10  # averaged per row, 3 to 50
    probe_s: float = 10.0  # from look to look for changes, 1 to 600; 0 is the plain grid, without looking
    edge_s: float = 0.1  # to which a change is timed, 0.02 to 5
    reads_per_hour: int = 3000  # looks for changes in an hour, 100 or more; then changes stay untimed

    def __post_init__(self) -> None:
        if not (1 <= self.interval_s <= 3600 and 3600 % self.interval_s == 0):
            raise OptionError(f"interval_s must divide an hour (1 to 3600 s), got {self.interval_s}")
        if not 16 <= self.n_points <= 4096:
            raise OptionError(f"n_points must be 16 to 4096, got {self.n_points}")
        if not ROWS.fewest_cycles <= self.n_cycles <= 50:
            raise OptionError(f"n_cycles must be {ROWS.fewest_cycles} to 50, got {self.n_cycles}")
        if not (self.probe_s == 0 or 1 <= self.probe_s <= 600):
            raise OptionError(f"probe_s must be 1 to 600 s, or 0 for the plain grid, got {self.probe_s}")
        if not 0.02 <= self.edge_s <= 5:
            raise OptionError(f"edge_s must be 0.02 to 5 s, got {self.edge_s}")
        if self.reads_per_hour < 100:
            raise OptionError(f"reads_per_hour must be at least 100, got {self.reads_per_hour}")

    @property
    def window(self) -> int:
        """Samples read per row: the cycles, one more for the first crossing, the interpolation's edges."""
        return _samples_for(self.n_cycles)


def _samples_for(n_cycles: int) -> int:
    return round((n_cycles + 1) / SLOWEST_HZ * RATE_HZ) + 8


class _Recording(soundfile.SoundFile):  # type: ignore[misc]  # soundfile has no types
    """A recording that is read window by window, each after a seek of ours."""

    def seekable(self) -> bool:
        """False: after every read from a seekable file soundfile seeks again, half as costly as the read."""
        return False


class UnusableRecordingError(InputFileError):
    """A recording of which no row can be used; the message is the reason, without the file's name."""


@dataclass(frozen=True)
class Reading:
    """What one recording gave."""

    table: WeekTable
    dropped: list[Dropped]
    duration_s: float
    untimed: int = 0  # changes that are not timed: the reads were spent


@dataclass(frozen=True)
class Rows:
    """The rows to measure, R of them: what each stands for, and which samples are read for it."""

    start_s: FloatArray  # (R,) UNIX seconds
    duration_s: FloatArray
    begin: IntArray  # first sample
    size: IntArray  # number of samples
    inrush: FloatArray
    inrush_s: FloatArray
    flags: FlagArray  # known before the row is measured

    def take(self, rows: Any) -> "Rows":
        """The rows that an index array or mask selects."""
        return Rows(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})


def read_hour(path: Path, *, calibration: Calibration, sampling: Sampling) -> Reading:
    """The rows of one recording; UnusableRecordingError if there is not one.

    A file cut off anywhere is noticed although little of it is read: its last sample cannot be read.
    """
    start_s = hour_start_s(path.name)
    if start_s is None:
        raise UnusableRecordingError(quality.NO_TIME)
    tables: list[WeekTable] = []
    dropped: list[Dropped] = []
    try:
        with _Recording(path) as recording:
            _check_format(recording)
            duration_s = recording.frames / RATE_HZ
            rows, untimed = _rows_to_measure(path, recording, start_s, calibration, sampling)
            for batch, samples in _windows(recording, rows):
                table, reasons = _measure(batch, samples, start_s, calibration, sampling, path.name)
                tables.append(table)
                dropped += reasons
    except soundfile.LibsndfileError as error:
        raise UnusableRecordingError(f"cannot be read as FLAC: {error.error_string}") from error
    if not tables:
        raise UnusableRecordingError(
            f"too short for one row ({duration_s:.3f} s from {quality.iso(start_s)})"
        )
    table = concatenate(tables)
    if not len(table):
        raise UnusableRecordingError(
            "; ".join(f"{reason} in every row" for reason in sorted({d.reason for d in dropped}))
        )
    dropped.sort(key=lambda d: d.start_s)
    return Reading(table.take(np.argsort(table.start_utc)), dropped, duration_s, untimed)


def _rows_to_measure(
    path: Path, recording: _Recording, start_s: float, calibration: Calibration, sampling: Sampling
) -> tuple[Rows, int]:
    """The rows of a recording, and how many changes are not timed."""
    rows = partial(
        rows_to_measure,
        n_samples=recording.frames,
        start_s=start_s,
        calibration=calibration,
        sampling=sampling,
    )
    try:
        with FlacWindows(path, n_samples=recording.frames) as windows:
            return rows(windows.read)
    except FrameError as error:  # an unusual file, or a damaged one: libFLAC decides which
        log.debug("%s: %s", path, error)
        return rows(partial(_read, recording))


def rows_to_measure(
    read: Read, *, n_samples: int, start_s: float, calibration: Calibration, sampling: Sampling
) -> tuple[Rows, int]:
    """The rows of `n_samples` that start at the UNIX time `start_s`, and how many changes are not timed.

    `read` gives the samples that are looked at to find the changes; those of the rows are not read.
    """
    if sampling.probe_s == 0 or n_samples < 2 * probe_samples(RATE_HZ):
        return plain_grid(n_samples, start_s, sampling), 0
    length_s = n_samples / RATE_HZ
    found = find_switches(
        read,
        probe_grid(n_samples, start_s, probe_s=sampling.probe_s, rate_hz=RATE_HZ),
        rate_hz=RATE_HZ,
        calibration=calibration,
        edge_s=sampling.edge_s,
        max_reads=math.ceil(sampling.reads_per_hour * length_s / HOUR_S),
        full_scale=FULL_SCALE,
    )
    stretches = cut_into_rows(
        found.time_s,
        length_s=length_s,
        first_grid_s=-start_s % sampling.interval_s,
        interval_s=sampling.interval_s,
        window_s=sampling.window / RATE_HZ,
    )
    begin = np.rint(stretches.window_s * RATE_HZ).astype(np.int64)
    end = np.floor((stretches.start_s + stretches.duration_s) * RATE_HZ).astype(np.int64)
    switch = np.searchsorted(
        found.time_s, stretches.start_s
    )  # the switch at a row's start, where there is one
    begins = np.append(found.time_s, np.inf)[switch] == stretches.start_s
    inrush, inrush_s, clipped = (
        np.where(begins, np.append(values, 0)[switch], 0)
        for values in (found.inrush, found.inrush_s, found.clipped)
    )
    rows = Rows(
        start_s=start_s + stretches.start_s,
        duration_s=stretches.duration_s,
        begin=begin,
        size=np.minimum(end - begin, sampling.window),
        inrush=inrush,
        inrush_s=inrush_s,
        flags=np.where(clipped, Flag.CLIPPED_INRUSH, 0).astype(np.uint16),
    )
    return rows, found.untimed


def plain_grid(n_samples: int, start_s: float, sampling: Sampling) -> Rows:
    """One row for each instant of the grid; a window that reaches over an edge of the file is cut there."""
    interval_s, length = sampling.interval_s, sampling.window
    end_s = start_s + n_samples / RATE_HZ
    instants = np.arange(int(start_s // interval_s) * interval_s, int(end_s) + 1, interval_s)
    first = np.rint((instants - start_s) * RATE_HZ).astype(np.int64)
    begin, end = np.maximum(first, 0), np.minimum(first + length, n_samples)
    none = np.zeros(len(instants))
    return Rows(
        start_s=instants.astype(np.float64),
        duration_s=np.full(len(instants), float(interval_s)),
        begin=begin,
        size=end - begin,
        inrush=none,
        inrush_s=none,
        flags=none.astype(np.uint16),
    )


def _check_format(recording: _Recording) -> None:
    """Raise unless the recording is a whole FLAC in the data set's format."""
    if recording.format != "FLAC":
        raise UnusableRecordingError(f"is {recording.format}, not FLAC")
    if recording.samplerate != RATE_HZ:
        raise UnusableRecordingError(f"sample rate {recording.samplerate} Hz, expected {RATE_HZ} Hz")
    if recording.channels != CHANNELS:
        raise UnusableRecordingError(f"{recording.channels} channels, expected 2 (voltage, current)")
    if recording.frames >= 2**36:  # the most that a FLAC header can state; libsndfile's "unknown" is larger
        raise UnusableRecordingError("its header states no length: the recorder did not finish the file")
    if recording.frames == 0:
        raise UnusableRecordingError("holds no samples")
    try:
        recording.seek(recording.frames - 1)
        complete = len(recording.read(1)) == 1
    except soundfile.LibsndfileError:
        complete = False
    if not complete:
        raise UnusableRecordingError(f"truncated: the last of its {recording.frames} samples cannot be read")


def _windows(recording: _Recording, rows: Rows) -> Iterator[tuple[Rows, FloatArray]]:
    """The rows and their samples (R, S, 2), in batches of windows of one length S, long enough for a row."""
    for size in np.unique(rows.size):
        if size < _samples_for(ROWS.fewest_cycles):
            continue
        of_size = np.flatnonzero(rows.size == size)
        for batch in np.array_split(of_size, -(-len(of_size) * int(size) // BATCH_SAMPLES)):
            yield rows.take(batch), _read(recording, rows.begin[batch], int(size))


def _read(recording: _Recording, begin: IntArray, size: int) -> FloatArray:
    """Samples (R, size, 2) from each of these sample numbers on."""
    samples = np.empty((len(begin), size, CHANNELS))
    for index, first in enumerate(begin.tolist()):
        recording.seek(first)
        if len(recording.read(out=samples[index])) != size:
            raise UnusableRecordingError(f"damaged: sample {first} cannot be read")
    return samples


def _measure(
    rows: Rows, samples: FloatArray, start_s: float, calibration: Calibration, sampling: Sampling, name: str
) -> tuple[WeekTable, list[Dropped]]:
    """The rows that can be phase-locked, and why the others cannot; samples (R, S, 2) as read."""
    voltage = fit_fundamental(samples[:, :, 0], rate_hz=RATE_HZ)
    cycles, n_cycles = average_cycles(
        samples, voltage, rate_hz=RATE_HZ, n_cycles=sampling.n_cycles, n_points=sampling.n_points
    )
    offset = cycles.mean(axis=2)
    cycles -= offset[:, :, None]
    voltage_v = cycles[:, 0] * calibration.volts_per_sample
    current_a = cycles[:, 1] * calibration.amps_per_sample
    rms_v, rms_a = (np.sqrt(np.mean(wave**2, axis=1)) for wave in (voltage_v, current_a))
    swapped_v = rms_a / calibration.amps_per_sample * calibration.volts_per_sample
    problems = (
        (quality.SWAPPED, _plausible_v(swapped_v) & ~_plausible_v(rms_v)),
        (
            quality.NO_VOLTAGE,
            voltage.amplitude * calibration.volts_per_sample < np.sqrt(2) * ROWS.least_v,
        ),
        (quality.NO_LOCK, np.abs(voltage.hz - MAINS_HZ) > ROWS.lock_hz),
        (quality.CUT_SHORT, n_cycles < ROWS.fewest_cycles),
    )
    keep, dropped = _usable(rows, problems)
    clipped_v, clipped_a = (np.any(np.abs(samples[:, :, c]) >= FULL_SCALE, axis=1) for c in range(CHANNELS))
    too_far = np.abs(offset[:, 0]) * calibration.volts_per_sample > ROWS.offset_v * rms_v
    flags = _flags(
        {
            Flag.CLIPPED_VOLTAGE: clipped_v,
            Flag.CLIPPED_CURRENT: clipped_a,
            Flag.FEW_CYCLES: n_cycles < sampling.n_cycles,
            Flag.DC_OFFSET: too_far | (np.abs(offset[:, 1]) > ROWS.offset_a),
            Flag.ODD_FREQUENCY: np.abs(voltage.hz - MAINS_HZ) > ROWS.odd_hz,
            Flag.ODD_VOLTAGE: ~_plausible_v(rms_v),
            Flag.DISTORTED: voltage.misfit > ROWS.distorted,
        }
    )
    fundamental_v, fundamental_a = (np.fft.rfft(wave, axis=1)[:, 1] for wave in (voltage_v, current_a))
    table = WeekTable(
        start_utc=utc(rows.start_s),
        current_a=current_a.astype(np.float32),
        voltage_v=voltage_v.astype(np.float32),
        measured_utc=utc(start_s + rows.begin / RATE_HZ),
        duration_s=rows.duration_s,
        mains_hz=voltage.hz,
        rms_v=rms_v,
        rms_a=rms_a,
        active_w=np.mean(voltage_v * current_a, axis=1),
        reactive_var=2 * np.imag(fundamental_v * np.conj(fundamental_a)) / sampling.n_points**2,
        apparent_va=rms_v * rms_a,
        inrush=rows.inrush,
        inrush_s=rows.inrush_s,
        n_cycles=n_cycles.astype(np.int16),
        source_file=np.full(len(samples), name),
        flags=flags | rows.flags,
        interval_s=sampling.interval_s,
    )
    return table.take(keep), dropped


def _usable(rows: Rows, problems: Sequence[tuple[str, BoolArray]]) -> tuple[BoolArray, list[Dropped]]:
    """Which rows are kept, and the others with their reason: the first problem (R,) that applies."""
    keep = ~np.any([wrong for _, wrong in problems], axis=0)
    dropped = [
        Dropped(
            float(rows.start_s[row]),
            float(rows.duration_s[row]),
            next(reason for reason, wrong in problems if wrong[row]),
        )
        for row in np.flatnonzero(~keep)
    ]
    return keep, dropped


def _plausible_v(rms_v: FloatArray) -> BoolArray:
    return (rms_v >= ROWS.low_v) & (rms_v <= ROWS.high_v)


def _flags(conditions: dict[Flag, BoolArray]) -> FlagArray:
    flags = np.zeros(len(next(iter(conditions.values()))), dtype=np.uint16)
    for flag, on in conditions.items():
        flags[on] |= flag.value
    return flags
