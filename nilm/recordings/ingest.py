"""From a week of recordings to one Parquet file: each hour by itself, then the week; only what is new.

Owns which pieces a week is made of and when they are redone. `flows` maps `ingest_hour` and calls
`assemble_week`; `ingest_week` does the same without Prefect. A bad hour never stops a week: it is left
out and recorded with its reason. Whoever calls holds `store.week_lock`.
"""

import errno
import logging
import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from nilm import store
from nilm.errors import NilmError, NothingUsableError, OptionError
from nilm.recordings import ukdale
from nilm.recordings.overlaps import cut_to, each_instant_once
from nilm.recordings.quality import (
    HourRecord,
    WeekQuality,
    left_out,
    read_quality,
    reasons_in_words,
    week_quality,
)
from nilm.recordings.tables import WeekTable, concatenate, read_piece, write_piece, write_week
from nilm.recordings.ukdale import Week
from nilm.recordings.waveforms import Sampling, UnusableRecordingError, read_hour

log = logging.getLogger(__name__)

HOUR_STEP, WEEK_STEP = "ingest hour", "assemble week"
HOURS_AT_ONCE = 4  # handed to a worker; one at a time, and the handing over shows
_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # no fault of a recording
UNREADABLE = "cannot be read: "  # begins the reason of a recording that is worth another try


@dataclass(frozen=True)
class WeekPaths:
    """Where one house and week lies below the data root."""

    data_root: Path
    house: str
    week: Week

    def __post_init__(self) -> None:
        ukdale.check_house(self.house)

    @property
    def house_folder(self) -> Path:
        """The recordings, read only."""
        return self.data_root / "raw" / self.house

    @property
    def calibration(self) -> Path:
        """The house's calibration.cfg."""
        return self.house_folder / "calibration.cfg"

    @property
    def waveforms(self) -> Path:
        """The week's Parquet file."""
        return self.data_root / "waveforms" / self.house / f"{self.week}.parquet"

    @property
    def quality(self) -> Path:
        """What the Parquet file lacks, as JSON."""
        return self.waveforms.with_suffix(".quality.json")

    @property
    def manifest(self) -> Path:
        """The manifest of the week's assembly."""
        return self.waveforms.with_suffix(".manifest.json")

    def hour_piece(self, recording: Path) -> Path:
        """The file of one recording's rows; its manifest lies beside it, as `.json`."""
        return self.waveforms.parent / "hours" / str(self.week) / f"{recording.stem}.arrow"


def ingest_hour(recording: Path, piece: Path, *, calibration_file: Path, sampling: Sampling) -> HourRecord:
    """What became of one recording; its rows are in `piece`, made only if it is not current.

    An unusable recording gives a record with its reason and no piece. Raises OSError where the file system
    fails, which may be worth another try, and InputFileError for a bad calibration.
    """
    manifest = piece.with_suffix(".json")
    calibration = ukdale.read_calibration(calibration_file)
    step = store.Step(
        HOUR_STEP,
        inputs={recording.name: store.fingerprint(recording)},
        options=asdict(sampling) | asdict(calibration),
        code=store.code_version(__name__),
    )
    reason = store.why_redo(manifest, step)
    if reason is None:
        return HourRecord(**store.recorded_result(manifest, HOUR_STEP))
    log.debug("%s: %s", recording.name, reason)
    try:
        reading = read_hour(recording, calibration=calibration, sampling=sampling)
    except UnusableRecordingError as error:
        return _leave_out(recording, piece, str(error), step)
    write_piece(piece, reading.table)
    record = replace(
        left_out(recording, ""),
        duration_s=reading.duration_s,
        rows=len(reading.table),
        dropped=[asdict(dropped) for dropped in reading.dropped],
        untimed=reading.untimed,
    )
    store.record(manifest, step, [piece], result=record.as_json(), durable=False)
    return record


def give_up_hour(recording: Path, piece: Path, error: OSError) -> HourRecord:
    """The record of a recording that the file system did not give, to call when no more tries are made.

    The week goes on without it; the next run tries it again, for the manifest does not record the file.
    Raises `error` itself where it is our side that cannot be written.
    """
    if error.errno in _CANNOT_WRITE:
        raise error
    reason = f"{UNREADABLE}{error.strerror or error}"
    return _leave_out(recording, piece, reason, store.Step(HOUR_STEP))


def _leave_out(recording: Path, piece: Path, reason: str, step: store.Step) -> HourRecord:
    record = left_out(recording, reason)
    store.record(piece.with_suffix(".json"), step, [], result=record.as_json(), durable=False)
    piece.unlink(missing_ok=True)
    return record


def assemble_week(paths: WeekPaths, recordings: Sequence[Path], *, sampling: Sampling) -> WeekQuality:
    """What the week's Parquet file holds and lacks; the file is made only if it is not current.

    Every recording has been through `ingest_hour`. Each instant is used once
    (`nilm.recordings.overlaps`). NothingUsableError if there is no row.
    """
    pieces = {recording: paths.hour_piece(recording) for recording in recordings}
    step = store.Step(
        WEEK_STEP,
        inputs={file.name: store.digest(piece.with_suffix(".json")) for file, piece in pieces.items()},
        options=asdict(sampling),
        code=store.code_version(__name__),
    )
    reason = store.why_redo(paths.manifest, step)
    if reason is None:
        return read_quality(paths.quality)
    log.info("%s %s: assembling the week (%s)", paths.house, paths.week, _shortened(reason))
    records: list[HourRecord] = []
    tables: list[WeekTable] = []
    for recording, piece in pieces.items():
        record = HourRecord(**store.recorded_result(piece.with_suffix(".json"), HOUR_STEP))
        if not record.left_out:
            table = _rows_of_week(read_piece(piece), paths.week)
            if len(table):
                tables.append(table)
            elif recording.parent != paths.house_folder / paths.week.folder:
                continue  # a neighbour's hour that does not reach into the week after all
            else:
                record = replace(record, left_out="none of its rows lies in the week")
        records.append(record)
    if not tables:
        raise NothingUsableError(_nothing_usable(paths, records))
    offered = concatenate(tables)
    table = each_instant_once(offered)
    quality = week_quality(
        records,
        house=paths.house,
        week=paths.week,
        interval_s=sampling.interval_s,
        start_utc=table.start_utc,
        duration_s=table.duration_s,
        flags=table.flags,
        seconds_recorded_twice=round(float(offered.duration_s.sum() - table.duration_s.sum()), 1),
    )
    write_week(paths.waveforms, table)
    store.write_json(paths.quality, quality.as_json())
    store.record(paths.manifest, step, [paths.waveforms, paths.quality])
    log.info(
        "%s %s: %d rows for %.1f%% of the week, %d of %d recordings left out",
        paths.house,
        paths.week,
        quality.rows_present,
        100 * quality.coverage,
        len(quality.files_left_out),
        len(records),
    )
    return quality


def _rows_of_week(table: WeekTable, week: Week) -> WeekTable:
    """The rows that reach into the week, cut at its ends."""
    return cut_to(table, float(week.start.timestamp()), float(week.end.timestamp()))


def _nothing_usable(paths: WeekPaths, records: Sequence[HourRecord]) -> str:
    folder = paths.house_folder / paths.week.folder
    if not records:
        return (
            f"{paths.house} {paths.week}: no recording vi-<unix time>.flac in {folder}; copy the week there"
        )
    return f"{paths.house} {paths.week}: not one usable row in {folder}. {reasons_in_words(records)}"


def _shortened(reason: str) -> str:
    return reason if len(reason) <= 200 else reason[:200] + " …"


def ingest_week(
    paths: WeekPaths,
    *,
    sampling: Sampling | None = None,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> WeekQuality:
    """What the week's Parquet file holds and lacks, after ingesting what is new or changed of its recordings.

    `workers` hours are read at the same time. `progress(done, total)` is called after each hour.
    """
    if workers < 1:
        raise OptionError(f"workers must be at least 1, got {workers}")
    sampling = sampling or Sampling()
    ukdale.read_calibration(paths.calibration)  # one clear error, instead of one for each hour
    recordings = ukdale.week_hours(paths.house_folder, paths.week)
    for folder in (paths.waveforms.parent, paths.hour_piece(Path("any")).parent):
        store.remove_stale(folder)

    ingest = partial(_ingest_or_give_up, paths=paths, sampling=sampling)
    try:
        with _pool(workers) as pool:
            for done, record in enumerate(pool.map(ingest, recordings, chunksize=HOURS_AT_ONCE), start=1):
                if record.left_out:
                    log.warning("%s is left out: %s", record.source_file, record.left_out)
                if progress:
                    progress(done, len(recordings))
    except BrokenExecutor as error:
        raise NilmError(
            f"{paths.house} {paths.week}: one of {workers} workers was killed, perhaps for want of memory; "
            "run again with fewer workers, what is done stays done"
        ) from error
    return assemble_week(paths, recordings, sampling=sampling)


def _pool(workers: int) -> Executor:
    """Workers that are copies of this process; threads where a copy would not be safe, or not be needed.

    A copy of a process in which other threads run may inherit a lock that nobody will release
    (docs/decisions/0022-workers-of-the-ingest.md).
    """
    if workers == 1 or threading.active_count() > 1 or sys.platform != "linux":
        return ThreadPoolExecutor(workers)
    context = multiprocessing.get_context("fork")
    return ProcessPoolExecutor(workers, context, initializer=_leave_interrupts_to_the_parent)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _ingest_or_give_up(recording: Path, *, paths: WeekPaths, sampling: Sampling) -> HourRecord:
    piece = paths.hour_piece(recording)
    try:
        return ingest_hour(recording, piece, calibration_file=paths.calibration, sampling=sampling)
    except OSError as error:
        return give_up_hour(recording, piece, error)
