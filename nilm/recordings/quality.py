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

from nilm import results
from nilm.errors import InputFileError
from nilm.files import MADE_ANEW, read_json
from nilm.recordings.ukdale import HOUR_S, Week, hour_start_s, shown_name

TimeArray = NDArray[np.datetime64]


class Flag(IntFlag):
    """Bits of the column `flags`; 0 is a row with nothing to say about."""

    CLIPPED_VOLTAGE = 1
    CLIPPED_CURRENT = 2
    FEW_CYCLES = 4
    DC_OFFSET = 8
    ODD_FREQUENCY = 16
    ODD_VOLTAGE = 32
    DISTORTED = 64


FLAG_MEANINGS: Mapping[Flag, str] = {
    Flag.CLIPPED_VOLTAGE: "voltage samples stand at the converter's full scale",
    Flag.CLIPPED_CURRENT: "current samples stand at the converter's full scale: the peak is cut off",
    Flag.FEW_CYCLES: "fewer cycles averaged than asked for, at a file's edge: more noise",
    Flag.DC_OFFSET: "a DC offset above 1% of the RMS voltage or 0.5% of the current's full scale; removed",
    Flag.ODD_FREQUENCY: "mains frequency outside 49.5 to 50.5 Hz",
    Flag.ODD_VOLTAGE: "voltage outside 150 to 300 V RMS",
    Flag.DISTORTED: "the voltage is no steady mains cycle: a disturbance or outage within the row's window",
}
UNFIT = Flag.CLIPPED_VOLTAGE | Flag.CLIPPED_CURRENT | Flag.DISTORTED  # the waveform itself is wrong

NO_VOLTAGE = "no voltage (below 50 V RMS)"
SWAPPED = "voltage and current channels look swapped"
NO_LOCK = "mains frequency outside 45 to 55 Hz"
CUT_SHORT = "fewer than 3 whole cycles recorded"
NOT_RECORDED = "not recorded"


@dataclass(frozen=True)
class HourRecord:
    """What became of one recording."""

    source_file: str  # the name alone
    start_utc: str | None = None  # ISO, from the name; None if it has no time
    duration_s: float = 0.0  # as far as known
    rows: int = 0
    left_out: str = ""  # why no row of it is used; empty if it is used
    dropped: Mapping[str, str] = field(default_factory=dict)  # start of row, ISO → why it is missing

    def as_json(self) -> dict[str, Any]:
        """The record as a JSON value; `HourRecord.from_json` gives it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> "HourRecord":
        """The record that `as_json` wrote; InputFileError if the value is none."""
        try:
            hour = cls(**value)
            texts = [hour.source_file, hour.start_utc or "", hour.left_out, *hour.dropped.values()]
            numbers = [hour.duration_s, hour.rows]
        except (TypeError, AttributeError) as error:
            raise InputFileError(f"not the record of an hour: {error}") from error
        if not all(isinstance(text, str) for text in texts):
            raise InputFileError("not the record of an hour: a text is none")
        if not all(isinstance(number, int | float) for number in numbers):
            raise InputFileError("not the record of an hour: a number is none")
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
    rows_expected: int
    rows_present: int
    rows_unfit: int  # present, with a flag that says that the waveform itself is wrong
    rows_clipped: int  # present, with clipped voltage, current or both
    coverage: float  # rows_present / rows_expected
    flags: Mapping[str, int]  # rows by flag
    flag_meanings: Mapping[str, str]
    gaps: Sequence[Mapping[str, Any]]  # {"start_utc", "end_utc", "rows", "reason"}, in order of time
    hours_missing: Sequence[str]  # starts of UTC hours without one row
    files_left_out: Sequence[Mapping[str, str]]  # {"file", "reason"}
    overlaps: Sequence[Mapping[str, Any]]  # {"files": [a, b], "seconds"}: recorded twice, used once
    rows_recorded_twice: int  # instants that two files offered; the better row is used
    notes: Sequence[str]
    hours: Sequence[Mapping[str, Any]]  # every HourRecord

    def as_json(self) -> dict[str, Any]:
        """The quality as a JSON value; `WeekQuality(**value)` gives it back."""
        return asdict(self)

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
    flags: NDArray[np.uint16],
    rows_recorded_twice: int,
) -> WeekQuality:
    """The quality of a week from its recordings' records and the rows it holds (`start_utc`, `flags`)."""
    first_s, last_s = int(week.start.timestamp()), int(week.end.timestamp())
    expected = np.arange(-(-first_s // interval_s) * interval_s, last_s, interval_s)
    present_s = start_utc.astype("datetime64[s]").astype(np.int64)
    missing = expected[~np.isin(expected, present_s)]
    hours = np.arange(first_s, last_s, HOUR_S)
    hours_missing = hours[~np.isin(hours, present_s // HOUR_S * HOUR_S)]
    counts = {flag.name or "": int(np.count_nonzero(flags & flag)) for flag in Flag}
    overlaps = _overlaps(records)
    return WeekQuality(
        house=house,
        week=str(week),
        interval_s=interval_s,
        rows_expected=len(expected),
        rows_present=len(present_s),
        rows_unfit=int(np.count_nonzero(flags & UNFIT)),
        rows_clipped=int(np.count_nonzero(flags & (Flag.CLIPPED_VOLTAGE | Flag.CLIPPED_CURRENT))),
        coverage=len(present_s) / len(expected),
        flags=counts,
        flag_meanings={flag.name or "": meaning for flag, meaning in FLAG_MEANINGS.items()},
        gaps=_gaps(missing, _reasons(records), interval_s),
        hours_missing=[iso(s) for s in hours_missing],
        files_left_out=[{"file": r.source_file, "reason": r.left_out} for r in records if r.left_out],
        overlaps=overlaps,
        rows_recorded_twice=rows_recorded_twice,
        notes=_notes(counts, len(present_s), overlaps),
        hours=[record.as_json() for record in records],
    )


def _reasons(records: Sequence[HourRecord]) -> "_Reasons":
    dropped = {
        int(np.datetime64(start.removesuffix("Z"), "s").astype(np.int64)): reason
        for record in records
        for start, reason in record.dropped.items()
    }
    spans = []
    for record in records:
        start_s = hour_start_s(record.source_file)
        if record.left_out and start_s is not None:
            # A file that cannot be read does not say how long it was: an hour, as all are.
            spans.append((start_s, start_s + (record.duration_s or HOUR_S), record))
    return _Reasons(dropped, spans)


@dataclass(frozen=True)
class _Reasons:
    """Why an instant is missing: its row was dropped, its file left out, or nothing was recorded."""

    dropped: Mapping[int, str]  # by instant, in UNIX seconds
    spans: Sequence[tuple[float, float, HourRecord]]

    def of(self, instant_s: int) -> str:
        if (reason := self.dropped.get(instant_s)) is not None:
            return reason
        for start_s, end_s, record in self.spans:
            if start_s <= instant_s < end_s:
                return f"{record.source_file} left out: {record.left_out}"
        return NOT_RECORDED


def _gaps(missing: NDArray[np.int64], reasons: _Reasons, interval_s: int) -> list[dict[str, Any]]:
    """Runs of missing instants with one reason."""
    runs: list[tuple[int, int, str]] = []  # start, end, reason
    for instant in missing.tolist():
        reason = reasons.of(instant)
        start = instant
        if runs and runs[-1][1:] == (instant, reason):
            start = runs.pop()[0]
        runs.append((start, instant + interval_s, reason))
    return [
        {
            "start_utc": iso(start),
            "end_utc": iso(end),
            "rows": (end - start) // interval_s,
            "reason": reason,
        }
        for start, end, reason in runs
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


def _notes(counts: Mapping[str, int], n_rows: int, overlaps: Sequence[Any]) -> list[str]:
    notes = [
        f"{count} of {n_rows} rows: {FLAG_MEANINGS[Flag[name]]}" for name, count in counts.items() if count
    ]
    if n_rows and counts["ODD_VOLTAGE"] == n_rows:
        notes.append("every row's voltage is implausible: check adc_scale in calibration.cfg")
    if overlaps:
        notes.append(f"{len(overlaps)} pairs of files overlap; each instant is used once")
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
