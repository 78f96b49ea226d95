"""UK-DALE as it lies on disk: which recordings a week has and when they start, calibration, submeters.

Owns names, weeks, times and the small text files. It opens no recording: that is `nilm.recordings.waveforms`.
Nothing here writes. Names in labels.dat are data from outside: they are passed on as text and never become a
path.

A house is a folder: `<year>/wkNN/vi-<unix time>.flac`, with the underscore as decimal point, and beside the
years `calibration.cfg`, `labels.dat`, `channel_N.dat`, and `mains.dat`, which nothing needs. Weeks are ISO
weeks in UTC.
"""

import configparser
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import numpy as np

from lfm.arrays import FloatArray
from nilm.errors import InputFileError, OptionError
from nilm.thresholds import INPUT, ROWS

HOUR_S = 3600
EVER = (-math.inf, math.inf)
DEFAULT_ADC_SCALE = 2.0**31  # houses 1 and 2: 24-bit samples stored in 32; house 5: 2**15

_WEEK = re.compile(r"(\d{4})-wk(\d{2})", re.ASCII)
_HOUR_NAME = re.compile(r"vi-(\d{1,10}(?:_\d{1,9})?)\.flac", re.ASCII)
# Times are nanoseconds since 1970 in 64 bits, which end in April 2262.
FIRST_WEEK, LAST_WEEK = (1970, 2), (2261, 52)
_LAST_S = 9_214_473_600.0  # the end of the last week
_HOUSE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII)


def check_house(house: str) -> str:
    """`house` itself if it is a safe folder name; OptionError if not (`../x` would leave the data root)."""
    if not _HOUSE.fullmatch(house):
        raise OptionError(f"house must be letters, digits, '_' and '-', such as house_1; got {house!r}")
    return house


@dataclass(frozen=True, order=True)
class Week:
    """One ISO week, Monday 00:00 UTC to the next; written `2015-wk01`."""

    year: int
    number: int

    def __post_init__(self) -> None:
        try:
            date.fromisocalendar(self.year, self.number, 1)
        except ValueError as error:
            raise OptionError(f"there is no week {self}: {error}") from error
        if not FIRST_WEEK <= (self.year, self.number) <= LAST_WEEK:
            first, last = (f"{year}-wk{number:02d}" for year, number in (FIRST_WEEK, LAST_WEEK))
            raise OptionError(f"weeks run from {first} to {last}, the range of our times; got {self}")

    @classmethod
    def parse(cls, text: str) -> "Week":
        """The week that `text` names; OptionError unless it is like `2015-wk01` and in the calendar."""
        match = _WEEK.fullmatch(text)
        if match is None:
            raise OptionError(f"a week is written like 2015-wk01; got {text!r}")
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def named(cls, text: str) -> "Week | None":
        """The week that `text` names; None where it names none."""
        try:
            return cls.parse(text)
        except OptionError:
            return None

    @classmethod
    def of(cls, when: datetime) -> "Week":
        """The week that holds an instant; a `when` without time zone is taken as UTC."""
        utc = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
        calendar = utc.isocalendar()
        return cls(calendar.year, calendar.week)

    def __str__(self) -> str:
        return f"{self.year:04d}-wk{self.number:02d}"

    @property
    def start(self) -> datetime:
        """Monday 00:00 UTC."""
        monday = date.fromisocalendar(self.year, self.number, 1)
        return datetime(monday.year, monday.month, monday.day, tzinfo=UTC)

    @property
    def end(self) -> datetime:
        """The next Monday 00:00 UTC, which is no longer in the week."""
        return self.start + timedelta(days=7)

    @property
    def next(self) -> "Week":
        """The week after; OptionError after the last."""
        return Week.of(self.end)

    @property
    def previous(self) -> "Week":
        """The week before; OptionError before the first."""
        return Week.of(self.start - timedelta(days=7))

    @property
    def neighbours(self) -> "list[Week]":
        """The weeks before and after, where there are such weeks."""
        here = (self.year, self.number)
        before = [] if here == FIRST_WEEK else [self.previous]
        return before if here == LAST_WEEK else [*before, self.next]

    @property
    def folder(self) -> Path:
        """Where the week's recordings lie below the house: `2015/wk01`."""
        return Path(f"{self.year:04d}") / f"wk{self.number:02d}"


def parse_weeks(text: str) -> list[Week]:
    """The weeks of `2015-wk01:2015-wk08` (both ends included), of `2015-wk01`, or of several, with commas."""
    weeks: list[Week] = []
    for part in text.split(","):
        first, colon, last = part.strip().partition(":")
        start = Week.parse(first)
        end = Week.parse(last) if colon else start
        if end < start:
            raise OptionError(f"the range {part.strip()!r} ends before it starts; write {last}:{first}")
        weeks.append(start)
        while weeks[-1] < end:
            weeks.append(weeks[-1].next)
    return weeks


def hour_start_s(name: str) -> float | None:
    """The UNIX time (s, UTC) in a recording's name, `vi-1421625600_123456.flac`; None if it holds none.

    None also for a time beyond the last week, and for more digits than any recorder writes.
    """
    match = _HOUR_NAME.fullmatch(name)
    start_s = float(match[1].replace("_", ".")) if match else math.inf
    return start_s if start_s < _LAST_S else None


def shown_name(path: Path) -> str:
    """A file's name as text that every file of ours can hold, also where it is not UTF-8."""
    return path.name.encode("utf-8", "backslashreplace").decode("utf-8")


def week_hours(house_folder: Path, week: Week) -> list[Path]:
    """The recordings that may hold rows of `week`, sorted by name; empty if there is no such folder.

    Every `*.flac` of the week's own folder is listed, also one whose name has no time, so that it can be
    reported. From the folders before and after come those that by their names start in the hour before the
    week or within it: an hour can straddle Monday, and the recorder named folders by London's clock. One that
    starts within the last moment of the week (`ROWS.gap_s`) is not listed: it gives the week no row, and the
    week stays current when it arrives.
    """
    hours = {path.name: path for path in (house_folder / week.folder).glob("*.flac")}
    earliest, latest = week.start.timestamp() - HOUR_S, week.end.timestamp() - ROWS.gap_s
    for neighbour in week.neighbours:
        for path in (house_folder / neighbour.folder).glob("vi-*.flac"):
            start_s = hour_start_s(path.name)
            if start_s is not None and earliest < start_s < latest:
                hours.setdefault(path.name, path)  # the same name in two folders is the same hour, copied
    return [hours[name] for name in sorted(hours) if not name.startswith(".")]


def weeks_present(house_folder: Path) -> list[Week]:
    """The weeks whose folder holds at least one recording of the week, in order of time.

    A recording whose name has a time outside of the week does not count: the recorder named folders by
    London's clock, so that in summer the last hour of a Sunday lies alone in the next week's folder until
    more follow. One whose name has no time counts, so that somebody is told. Other folders are passed over.
    """
    weeks = set()
    for folder in house_folder.glob("[0-9][0-9][0-9][0-9]/wk[0-9][0-9]"):
        try:
            week = Week(int(folder.parent.name), int(folder.name[2:]))
        except OptionError:
            continue
        if any(_may_hold(week, path.name) for path in folder.glob("*.flac")):
            weeks.add(week)
    return sorted(weeks)


def _may_hold(week: Week, name: str) -> bool:
    """Whether a recording, an hour long as they all are, may hold more than a moment of the week."""
    start_s = hour_start_s(name)
    if start_s is None:
        return not name.startswith(".")
    return week.start.timestamp() < start_s + HOUR_S - ROWS.least_in_week_s and start_s < week.end.timestamp()


@dataclass(frozen=True)
class Calibration:
    """What turns samples in [−1, 1] into volts and amperes."""

    volts_per_sample: float  # V at a sample of 1.0, the voltage channel's full scale
    amps_per_sample: float  # A at a sample of 1.0


def read_calibration(path: Path) -> Calibration:
    """The calibration of a house; InputFileError if the file is missing, incomplete or out of range.

    volts = volts_per_adc_step × adc_scale × sample. The recorder's file does not say how many steps full
    scale is: 2³¹ for houses 1 and 2, which is taken if the section has no `adc_scale`; for house 5 add the
    line `adc_scale = 32768` (docs/decisions/0020-adc-scale.md). `phase_difference` is ignored, as the data's
    author advises.
    """
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(path.read_text(encoding="utf-8"), source=str(path))
    except FileNotFoundError as error:
        raise InputFileError(
            f"{path} is missing; copy it from the data set, beside the years' folders"
        ) from error
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except (configparser.Error, UnicodeDecodeError) as error:
        raise InputFileError(f"{path} is not a configuration file: {error}") from error
    if not parser.has_section("Calibration"):
        raise InputFileError(f"{path} has no section [Calibration]; found {parser.sections()}")
    adc_scale = _positive(parser, path, "adc_scale", default=DEFAULT_ADC_SCALE)
    full_scale = {}
    for key in ("volts_per_adc_step", "amps_per_adc_step"):
        full_scale[key] = _positive(parser, path, key) * adc_scale
        if full_scale[key] > INPUT.most_full_scale:
            raise InputFileError(
                f"{path}: {key} × adc_scale gives a full scale of {full_scale[key]:.3g}, more than any meter "
                f"measures ({INPUT.most_full_scale:g}); correct {key} or adc_scale"
            )
    return Calibration(full_scale["volts_per_adc_step"], full_scale["amps_per_adc_step"])


def _positive(
    parser: configparser.ConfigParser, path: Path, key: str, *, default: float | None = None
) -> float:
    text = parser.get("Calibration", key, fallback=None)
    if text is None:
        if default is not None:
            return default
        raise InputFileError(f"{path} has no {key} in [Calibration]; the file is incomplete")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise InputFileError(f"{path}: {key} must be a positive number, got {text!r}")
    return value


@dataclass(frozen=True)
class Series:
    """Readings of one meter, in order of time."""

    time_s: FloatArray  # (N,) UNIX time
    values: FloatArray  # (N, 1) watts
    bad_lines: int  # lines left out: not numbers, too few of them, or a time already seen


def read_channel(path: Path, *, between_s: tuple[float, float] = EVER) -> Series:
    """A submeter's `channel_N.dat`: values (N, 1) in watts, about 6 s apart, gaps left as they are.

    Only the readings from the first to before the second time of `between_s` (UNIX s) are read: a real
    channel has years in it. The file is in order of time, as the logger writes it.
    """
    try:
        text = readings_between(path, between_s).decode("utf-8", errors="replace")
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror or error}") from error
    lines = [line for line in text.splitlines() if line.strip()]
    table = _all_numbers(lines)
    if table is None:
        rows = [row for line in lines if (row := _numbers(line)) is not None]
        table = np.array(rows, dtype=np.float64).reshape(len(rows), 2)
    _, first = np.unique(table[:, 0], return_index=True)  # sorts, and keeps the first of equal times
    return Series(table[first, 0], table[first, 1:], bad_lines=len(lines) - len(first))


def readings_between(path: Path, between_s: tuple[float, float]) -> bytes:
    """The lines of a meter's file from the first to before the second time (UNIX s), as they stand."""
    first_s, end_s = between_s
    with path.open("rb") as file:
        start = first_line_from(file, first_s)
        stop = first_line_from(file, end_s)
        file.seek(start)
        return file.read(max(stop - start, 0))


def first_line_from(file: BinaryIO, time_s: float) -> int:
    """The offset of the first line of a meter's file whose time is at least `time_s`; its end if none is.

    By bisection: the lines are in order of time, as the logger writes them.
    """
    size = file.seek(0, io.SEEK_END)
    if math.isinf(time_s):
        return 0 if time_s < 0 else size
    low, high = 0, size  # every line that starts before low is too early; low is the start of a line
    while low < high:
        middle = (low + high) // 2
        file.seek(middle)
        file.readline()  # the rest of a line that starts before, or the line at low, which is read below
        start, time = _next_time(file)
        if start < high and time < time_s:
            low = file.tell()
        else:
            high = middle
    file.seek(low)
    while True:
        start, time = _next_time(file)
        if time >= time_s:
            return start


def _next_time(file: BinaryIO) -> tuple[int, float]:
    """Where the next line that has a time starts, and its time; (the end, ∞) if there is none."""
    while True:
        start = file.tell()
        line = file.readline()
        if not line:
            return start, math.inf
        try:
            return start, float(line.split(maxsplit=1)[0])
        except (ValueError, IndexError):
            continue


def _all_numbers(lines: list[str]) -> FloatArray | None:
    """Times and values of lines without a fault, read at once, which is several times faster; else None."""
    if not lines:
        return None
    try:
        table = np.loadtxt(lines, comments=None, ndmin=2)
    except ValueError:
        return None
    return table if table.shape[1] == 2 and np.isfinite(table).all() else None


def _numbers(line: str) -> list[float] | None:
    try:
        values = [float(word) for word in line.split()]
    except ValueError:
        return None
    return values if len(values) == 2 and all(map(math.isfinite, values)) else None


def read_labels(path: Path) -> dict[int, str]:
    """The submeters' names by channel, in the file's order; InputFileError names a line of another form."""
    try:
        lines: Sequence[str] = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror or error}") from error
    labels: dict[int, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        channel, _, name = line.strip().partition(" ")
        if not (channel.isascii() and channel.isdigit() and name.strip()):
            raise InputFileError(f"{path}, line {number}: expected '<channel> <name>', got {line!r:.200}")
        if len(channel) > INPUT.most_digits:
            raise InputFileError(
                f"{path}, line {number}: a channel has at most {INPUT.most_digits} digits, "
                f"got {channel!r:.40}; correct the line"
            )
        if int(channel) in labels:
            raise InputFileError(f"{path}, line {number}: channel {channel} has a name already")
        labels[int(channel)] = name.strip()
    return labels


def channel_file(house_folder: Path, channel: int) -> Path:
    """The path of a submeter's readings: by its number, never by its name."""
    return house_folder / f"channel_{channel:d}.dat"
