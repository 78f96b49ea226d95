"""From a week of recordings to one Parquet file: hour by hour, then the week; only what is new is read.

Owns which pieces a week is made of and when they are redone. A bad hour never stops a week: it is left out
and recorded with its reason. Whoever calls holds `nilm.files.week_lock`.

A recording is marked before it is read. One that is still being written when it is read (its mark has changed
by the end) is left out by name, and left to the next run.
"""

import errno
import logging
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from nilm import files, versions
from nilm.errors import InputFileError, NilmError, NothingUsableError, OptionError
from nilm.manifest import Step, record, recorded, why_redo
from nilm.paths import WeekPaths
from nilm.recordings import ukdale
from nilm.recordings.overlaps import cut_to, each_instant_once
from nilm.recordings.quality import (
    NO_TIME,
    HourRecord,
    WeekQuality,
    left_out,
    read_quality,
    reasons_in_words,
    week_quality,
)
from nilm.recordings.tables import WeekTable, concatenate, read_piece, write_piece, write_week
from nilm.recordings.waveforms import Sampling, UnusableRecordingError, read_hour
from nilm.workers import begin_worker

log = logging.getLogger(__name__)

HOUR_STEP, WEEK_STEP = "ingest hour", "assemble week"
HOURS_AT_ONCE = 4  # handed to a worker at most; one at a time, and the handing over shows
_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # no fault of a recording
CALIBRATION = "calibration.cfg"
STILL_WRITTEN = "still being written: it changed while it was read; the next run reads it"
_STAYS = (FileNotFoundError, PermissionError, IsADirectoryError)  # another try at once would not help
RETRY_DELAYS_S = (1.0, 5.0)  # a network disk, a file being copied: it may pass


def ingest_hour(recording: Path, piece: Path, *, calibration_file: Path, sampling: Sampling) -> HourRecord:
    """What became of one recording; its rows are in `piece`, made only if it is not current.

    An unusable recording gives a record with its reason and no piece. Raises OSError where the file system
    fails, which may be worth another try, and InputFileError for a bad calibration.
    """
    if ukdale.hour_start_s(recording.name) is None:  # any name at all, perhaps too long for a piece
        return left_out(recording, NO_TIME)
    manifest = piece.with_suffix(".json")
    marks = {recording.name: files.fingerprint(recording), CALIBRATION: files.digest(calibration_file)}
    calibration = ukdale.read_calibration(calibration_file)
    step = Step(
        HOUR_STEP,
        inputs=marks,
        options=asdict(sampling) | asdict(calibration),
        version=versions.INGEST,
    )
    reason = why_redo(manifest, step)
    if reason is None and (known := _known_hour(manifest)) is not None:
        return known
    log.debug("%s: %s", recording.name, reason)
    try:
        reading = read_hour(recording, calibration=calibration, sampling=sampling)
    except UnusableRecordingError as error:
        return _leave_out(recording, piece, str(error), step)
    if files.fingerprint(recording) != marks[recording.name]:
        return _leave_out(recording, piece, STILL_WRITTEN, Step(HOUR_STEP))
    write_piece(piece, reading.table)
    hour = replace(
        left_out(recording, ""),
        duration_s=reading.duration_s,
        rows=len(reading.table),
        dropped=[asdict(dropped) for dropped in reading.dropped],
        untimed=reading.untimed,
    )
    record(manifest, step, [piece], result=asdict(hour), durable=False)
    return hour


def ingest_hour_or_leave_out(recording: Path, *, paths: WeekPaths, sampling: Sampling) -> HourRecord:
    """What became of one recording, after up to three tries; one that cannot be read is left out.

    The week goes on without it, and the next run tries it again: the manifest does not record the file. An
    OSError goes on to the caller where it is our own side that cannot be written.
    """
    piece = paths.hour_piece(recording)
    for delay_s in (*RETRY_DELAYS_S, None):
        try:
            return ingest_hour(recording, piece, calibration_file=paths.calibration, sampling=sampling)
        except OSError as error:
            if error.errno in _CANNOT_WRITE:
                raise
            if delay_s is None or isinstance(error, _STAYS):
                reason = f"cannot be read: {error.strerror or error}"
                return _leave_out(recording, piece, reason, Step(HOUR_STEP))
            log.debug("%s: %s; trying again in %g s", recording.name, error, delay_s)
            time.sleep(delay_s)
    raise AssertionError("the last try returns or raises")


def _leave_out(recording: Path, piece: Path, reason: str, step: Step) -> HourRecord:
    hour = left_out(recording, reason)
    record(piece.with_suffix(".json"), step, [], result=asdict(hour), durable=False)
    piece.unlink(missing_ok=True)
    return hour


def _known_hour(manifest: Path) -> HourRecord | None:
    """The recorded hour; None if the manifest's record of it is damaged."""
    try:
        return HourRecord.from_json(recorded(manifest, HOUR_STEP).result)
    except InputFileError as error:
        log.warning("%s: %s; the recording is read again", manifest, error)
        return None


def marks_now(paths: WeekPaths) -> dict[str, str]:
    """The mark of each recording of the week, and of the calibration, as they are at this moment."""
    marks = {CALIBRATION: files.digest(paths.calibration)} if paths.calibration.is_file() else {}
    for recording in ukdale.week_hours(paths.house_folder, paths.week):
        try:
            timed = ukdale.hour_start_s(recording.name) is not None
            marks[ukdale.shown_name(recording)] = files.fingerprint(recording) if timed else NO_TIME
        except OSError as error:  # the week goes on without it, and is current only until it can be read
            log.debug("%s: %s", recording, error)
    return marks


def marks_read(paths: WeekPaths) -> dict[str, str]:
    """The same as they were before the week's rows were read; what could not be read is not among them."""
    marks = recorded(paths.waveforms_manifest, WEEK_STEP).result
    return dict(marks) if isinstance(marks, dict) else {}


def assemble_week(paths: WeekPaths, recordings: Sequence[Path], *, sampling: Sampling) -> WeekQuality:
    """What the week's Parquet file holds and lacks; the file is made only if it is not current.

    Every recording has been through `ingest_hour`. Each instant is used once
    (`nilm.recordings.overlaps`). NothingUsableError if there is no row.
    """
    hours = {recording: paths.hour_piece(recording).with_suffix(".json") for recording in recordings}
    timed = {file: hour for file, hour in hours.items() if ukdale.hour_start_s(file.name) is not None}
    step = Step(
        WEEK_STEP,
        inputs={
            ukdale.shown_name(file): files.digest(hour) if file in timed else NO_TIME
            for file, hour in hours.items()
        },
        options=asdict(sampling),
        version=versions.INGEST,
    )
    reason = why_redo(paths.waveforms_manifest, step)
    if reason is None and (known := _known_quality(paths.quality)) is not None:
        return known
    log.info("%s: assembling the week (%s)", paths, _shortened(reason))
    records, tables, marks = _gathered(paths, recordings, timed)
    if not tables:
        raise NothingUsableError(_nothing_usable(paths, records))
    offered = concatenate(tables)
    tables.clear()  # a week of rows is in memory twice at most
    table = each_instant_once(offered)
    seconds_offered = float(offered.duration_s.sum())
    del offered
    quality = week_quality(
        records,
        house=paths.house,
        week=paths.week,
        interval_s=sampling.interval_s,
        start_utc=table.start_utc,
        duration_s=table.duration_s,
        flags=table.flags,
        seconds_recorded_twice=round(seconds_offered - float(table.duration_s.sum()), 1),
    )
    write_week(paths.waveforms, table)
    files.write_json(paths.quality, asdict(quality))
    record(paths.waveforms_manifest, step, [paths.waveforms, paths.quality], result=marks)
    log.info(
        "%s: %d rows for %.1f%% of the week, %d of %d recordings left out",
        paths,
        quality.rows_present,
        100 * quality.coverage,
        len(quality.files_left_out),
        len(records),
    )
    return quality


def _gathered(
    paths: WeekPaths, recordings: Sequence[Path], timed: Mapping[Path, Path]
) -> tuple[list[HourRecord], list[WeekTable], dict[str, str]]:
    """What became of each recording, the rows that lie in the week, and marks of what they were read from.

    `timed` are the files beside the pieces of the recordings whose name tells their time.
    """
    records: list[HourRecord] = []
    tables: list[WeekTable] = []
    marks: dict[str, str] = {}
    calibrations: set[str] = set()
    week_s = paths.week.start.timestamp(), paths.week.end.timestamp()
    for recording in recordings:
        if recording not in timed:
            records.append(left_out(recording, NO_TIME))
            marks[ukdale.shown_name(recording)] = NO_TIME
            continue
        entry = recorded(timed[recording], HOUR_STEP)
        marks |= {name: mark for name, mark in entry.inputs.items() if name != CALIBRATION}
        calibrations.add(entry.inputs.get(CALIBRATION, ""))
        hour = HourRecord.from_json(entry.result)
        if not hour.left_out:
            table = cut_to(read_piece(paths.hour_piece(recording)), *week_s)
            if len(table):
                tables.append(table)
            elif recording.parent != paths.house_folder / paths.week.folder:
                continue  # a neighbour's hour that does not reach into the week after all
            else:
                hour = replace(hour, left_out="none of its rows lies in the week")
        records.append(hour)
    if len(calibrations) == 1:  # else it changed while the hours were read, and they are read again
        marks[CALIBRATION] = calibrations.pop()
    return records, tables, marks


def _nothing_usable(paths: WeekPaths, records: Sequence[HourRecord]) -> str:
    folder = paths.house_folder / paths.week.folder
    if not records:
        return f"{paths}: no recording vi-<unix time>.flac in {folder}; copy the week there"
    return f"{paths}: not one usable row in {folder}. {reasons_in_words(records)}"


def _known_quality(path: Path) -> WeekQuality | None:
    """The week's quality as it was written; None if the file is damaged."""
    try:
        return read_quality(path)
    except InputFileError as error:
        log.warning("%s", error)
        return None


def _shortened(reason: str | None) -> str:
    reason = reason or "damaged"
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
    for folder in (paths.waveforms.parent, paths.pieces):
        files.remove_stale(folder)

    ingest = partial(ingest_hour_or_leave_out, paths=paths, sampling=sampling)
    try:
        with _pool(workers) as pool:
            at_once = min(HOURS_AT_ONCE, 1 + len(recordings) // (4 * workers))  # all end at about one time
            for done, hour in enumerate(pool.map(ingest, recordings, chunksize=at_once), start=1):
                if hour.left_out:
                    log.warning("%s is left out: %s", hour.source_file, hour.left_out)
                if progress:
                    progress(done, len(recordings))
    except BrokenExecutor as error:
        raise NilmError(
            f"{paths}: one of {workers} workers was killed, perhaps for want of memory; "
            "run again with fewer workers, what is done stays done"
        ) from error
    return assemble_week(paths, recordings, sampling=sampling)


def _pool(workers: int) -> Executor:
    """Workers that are copies of this process; threads where a copy would not be safe, or not be needed.

    A copy of a process in which other threads run may inherit a lock that is never released
    (docs/decisions/0022-workers-of-the-ingest.md).
    """
    if workers == 1 or threading.active_count() > 1 or sys.platform != "linux":
        return ThreadPoolExecutor(workers)
    context = multiprocessing.get_context("fork")
    return ProcessPoolExecutor(workers, context, initializer=begin_worker)
