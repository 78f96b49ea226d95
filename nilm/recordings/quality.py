"""What a week's data lacks, and why: flags of rows, reasons of rows and files left out, coverage.

Owns the words. The measuring is done in `nilm.recordings.waveforms`, the counting over a week in
`week_quality` here. A row is either present (perhaps with flags) or missing (with one reason); a file is used
or left out (with one reason). Everything is plain JSON, for the report and for whoever asks later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import IntFlag
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lfm.arrays import FloatArray
from nilm import results
from nilm.errors import InputFileError
from nilm.files import MADE_ANEW, read_json
from nilm.recordings.phase_lock import MAINS_HZ
from nilm.recordings.spans import Span, cut_by_reason, holes
from nilm.recordings.ukdale import HOUR_S, Week, hour_start_s, shown_name
from nilm.thresholds import ROWS
from nilm.timeline import TimeArray, seconds


class Flag(IntFlag):
    """Bits of the column `flags`; 0 is a row with nothing to say about."""

    CLIPPED_VOLTAGE = 1
    CLIPPED_CURRENT = 2
    FEW_CYCLES = 4
    DC_OFFSET = 8
    ODD_FREQUENCY = 16
    ODD_VOLTAGE = 32
    DISTORTED = 64
    CLIPPED_INRUSH = 128


def _mains_range(off_hz: float) -> str:
    return f"{MAINS_HZ - off_hz:g} to {MAINS_HZ + off_hz:g} Hz"


FLAG_MEANINGS: Mapping[Flag, str] = {
    Flag.CLIPPED_VOLTAGE: "voltage samples stand at the converter's full scale",
    Flag.CLIPPED_CURRENT: "current samples stand at the converter's full scale: the peak is cut off",
    Flag.FEW_CYCLES: "fewer cycles averaged than asked for, at a file's edge: more noise",
    Flag.DC_OFFSET: (
        f"a DC offset above {ROWS.offset_v:.0%} of the RMS voltage or {ROWS.offset_a:.1%} of the "
        "current's full scale; removed"
    ),
    Flag.ODD_FREQUENCY: f"mains frequency outside {_mains_range(ROWS.odd_hz)}",
    Flag.ODD_VOLTAGE: f"voltage outside {ROWS.low_v:g} to {ROWS.high_v:g} V RMS",
    Flag.DISTORTED: "the voltage is no steady mains cycle: a disturbance or outage within the row's window",
    Flag.CLIPPED_INRUSH: "the inrush before the row reached the converter's full scale: it was larger",
}
UNFIT = Flag.CLIPPED_VOLTAGE | Flag.CLIPPED_CURRENT | Flag.DISTORTED  # the waveform itself is wrong

NO_TIME = "its name holds no time (expected vi-<unix time>.flac)"
NO_VOLTAGE = f"no voltage (below {ROWS.least_v:g} V RMS)"
SWAPPED = "voltage and current channels look swapped"
NO_LOCK = f"mains frequency outside {_mains_range(ROWS.lock_hz)}"
CUT_SHORT = f"fewer than {ROWS.fewest_cycles} whole cycles recorded"


@dataclass(frozen=True)
class Dropped:
    """A time of a recording that has no row, and why."""

    start_s: float  # UNIX
    duration_s: float
    reason: str


@dataclass(frozen=True)
class HourRecord:
    """What became of one recording."""

    source_file: str  # the name alone
    start_utc: str | None = None  # ISO, from the name; None if it has no time
    duration_s: float = 0.0  # as far as known
    rows: int = 0
    left_out: str = ""  # why no row of it is used; empty if it is used
    dropped: Sequence[Mapping[str, Any]] = field(default_factory=list)  # what `asdict` makes of `Dropped`
    untimed: int = 0  # changes that are known only to lie between two probes

    @classmethod
    def from_json(cls, value: Any) -> "HourRecord":
        """The record that `asdict` turned into `value`; InputFileError if it is of another form."""
        try:
            hour = cls(**value)
            dropped = [Dropped(**entry) for entry in hour.dropped]
        except TypeError as error:
            raise InputFileError(f"not the record of an hour: {error}") from error
        texts = [hour.source_file, hour.start_utc or "", hour.left_out, *(entry.reason for entry in dropped)]
        numbers = [hour.duration_s, hour.rows, hour.untimed]
        numbers += [number for entry in dropped for number in (entry.start_s, entry.duration_s)]
        if not all(isinstance(text, str) for text in texts):
            raise InputFileError("not the record of an hour: a field that must be text is not")
        if not all(isinstance(number, int | float) for number in numbers):
            raise InputFileError("not the record of an hour: a field that must be a number is not")
        return hour


def left_out(path: Path, reason: str) -> HourRecord:
    """The record of a recording of which nothing is used."""
    start_s = hour_start_s(path.name)
    return HourRecord(shown_name(path), None if start_s is None else iso(start_s), left_out=reason)


def iso(unix_s: float) -> str:
    """A UNIX time as ISO text in UTC, to the second."""
    return f"{np.datetime64(round(unix_s), 's')}Z"


@dataclass(frozen=True)
class WeekQuality:
    """What a week's Parquet holds and lacks; written beside it as `<week>.quality.json`."""

    house: str
    week: str
    interval_s: int
    rows_expected: int  # at least so many in a week without gaps: one in every interval
    rows_present: int
    rows_unfit: int  # present, with a flag that says that the waveform itself is wrong
    rows_clipped: int  # present, with clipped voltage, current or both
    coverage: float  # share of the week's seconds that a row stands for
    flags: Mapping[str, int]  # rows by flag
    flag_meanings: Mapping[str, str]
    gaps: Sequence[Mapping[str, Any]]  # {"start_utc", "end_utc", "seconds", "reason"}, in order of time
    hours_missing: Sequence[str]  # starts of UTC hours without one row
    files_left_out: Sequence[Mapping[str, str]]  # {"file", "reason"}
    overlaps: Sequence[Mapping[str, Any]]  # {"files": [a, b], "seconds"}: recorded twice, used once
    seconds_recorded_twice: float  # that two files offered; the better row is used
    changes_untimed: int  # known only to lie between two probes, in hours with more changes than reads
    notes: Sequence[str]
    hours: Sequence[Mapping[str, Any]]  # every HourRecord

    def as_result(self) -> results.Quality:
        """The part that the week's report shows."""
        return results.Quality(
            rows_expected=self.rows_expected,
            rows_used=self.rows_present - self.rows_unfit,
            rows_flagged=self.rows_unfit,
            coverage=self.coverage,
            hours_missing=tuple(self.hours_missing),
            files_left_out=tuple(self.files_left_out),
            clipped_rows=self.rows_clipped,
            notes=tuple(self.notes),
        )


def read_quality(path: Path) -> WeekQuality:
    """The quality of a week from its JSON file; InputFileError if it is not one."""
    try:
        return WeekQuality(**read_json(path, cure=MADE_ANEW))
    except TypeError as error:
        raise InputFileError(
            f"{path} is not the quality of a week: {error}; ingest the week again"
        ) from error


def week_quality(
    records: Sequence[HourRecord],
    *,
    house: str,
    week: Week,
    interval_s: int,
    start_utc: TimeArray,
    duration_s: FloatArray,
    flags: NDArray[np.uint16],
    seconds_recorded_twice: float,
) -> WeekQuality:
    """The quality of a week from its recordings' records and the rows that it holds."""
    first_s, last_s = int(week.start.timestamp()), int(week.end.timestamp())
    n_rows = len(start_utc)
    start_s = seconds(start_utc)
    hours = np.arange(first_s, last_s, HOUR_S)
    empty = np.searchsorted(start_s, hours + HOUR_S) == np.searchsorted(start_s + duration_s, hours, "right")
    untimed = sum(record.untimed for record in records)
    counts = {flag.name or "": int(np.count_nonzero(flags & flag)) for flag in Flag}
    overlaps = _overlaps(records)
    return WeekQuality(
        house=house,
        week=str(week),
        interval_s=interval_s,
        rows_expected=(last_s - first_s) // interval_s,
        rows_present=n_rows,
        rows_unfit=int(np.count_nonzero(flags & UNFIT)),
        rows_clipped=int(np.count_nonzero(flags & (Flag.CLIPPED_VOLTAGE | Flag.CLIPPED_CURRENT))),
        coverage=float(duration_s.sum()) / (last_s - first_s),
        flags=counts,
        flag_meanings={flag.name or "": meaning for flag, meaning in FLAG_MEANINGS.items()},
        gaps=_gaps(holes(start_s, start_s + duration_s, (first_s, last_s)), _reasons(records)),
        hours_missing=[iso(s) for s in hours[empty]],
        files_left_out=[{"file": r.source_file, "reason": r.left_out} for r in records if r.left_out],
        overlaps=overlaps,
        seconds_recorded_twice=seconds_recorded_twice,
        changes_untimed=untimed,
        notes=_notes(counts, n_rows, overlaps, untimed),
        hours=[asdict(record) for record in records],
    )


def _reasons(records: Sequence[HourRecord]) -> list[Span]:
    """Why times are missing: their rows were dropped, or their file left out; earlier reasons go first."""
    spans = [
        Span(d["start_s"], d["start_s"] + d["duration_s"], d["reason"])
        for record in records
        for d in record.dropped
    ]
    for record in records:
        start_s = hour_start_s(record.source_file)
        if record.left_out and start_s is not None:
            # A file that cannot be read does not say how long it was: an hour, as all are.
            end_s = start_s + (record.duration_s or HOUR_S)
            spans.append(Span(start_s, end_s, f"{record.source_file} left out: {record.left_out}"))
    return spans


def _gaps(missing: Sequence[tuple[float, float]], known: Sequence[Span]) -> list[dict[str, Any]]:
    """The missing times, cut where their reason changes; a moment goes with what was before it."""
    runs: list[Span] = []
    for hole in missing:
        for span in cut_by_reason(*hole, known):
            last = runs[-1] if runs else None
            short = span.end_s - span.start_s <= ROWS.gap_s
            if last and last.end_s == span.start_s and (last.reason == span.reason or short):
                runs[-1] = last._replace(end_s=span.end_s)
            else:
                runs.append(span)
    return [
        {
            "start_utc": iso(run.start_s),
            "end_utc": iso(run.end_s),
            "seconds": round(run.end_s - run.start_s, 1),
            "reason": run.reason,
        }
        for run in runs
    ]


def _overlaps(records: Sequence[HourRecord]) -> list[dict[str, Any]]:
    """Pairs of used files that follow each other and share more than a second."""
    timed = [(s, r) for r in records if not r.left_out and (s := hour_start_s(r.source_file)) is not None]
    overlaps = []
    for (start_a, a), (start_b, b) in pairwise(sorted(timed, key=lambda pair: pair[0])):
        seconds = min(start_a + a.duration_s, start_b + b.duration_s) - start_b
        if seconds > 1.0:
            overlaps.append({"files": [a.source_file, b.source_file], "seconds": round(seconds, 3)})
    return overlaps


def _notes(counts: Mapping[str, int], n_rows: int, overlaps: Sequence[Any], untimed: int) -> list[str]:
    notes = [
        f"{count} of {n_rows} rows: {FLAG_MEANINGS[Flag[name]]}" for name, count in counts.items() if count
    ]
    if n_rows and counts["ODD_VOLTAGE"] == n_rows:
        notes.append("every row's voltage is implausible: check adc_scale in calibration.cfg")
    if overlaps:
        notes.append(f"{len(overlaps)} pairs of files overlap; each instant is used once")
    if untimed:
        notes.append(
            f"{untimed} changes are known only to lie between two probes: their hours hold more changes than "
            "reads_per_hour allows to time"
        )
    return notes


def reasons_in_words(records: Sequence[HourRecord]) -> str:
    """Why nothing of these recordings is used: each reason with its files, the first five of them by name."""
    files: dict[str, list[str]] = {}
    for record in records:
        files.setdefault(record.left_out, []).append(record.source_file)
    parts = []
    for reason, names in files.items():
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        parts.append(f"{', '.join(names[:5])}{more}: {reason}")
    return "; ".join(parts)
