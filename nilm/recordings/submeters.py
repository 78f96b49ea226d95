"""A house's submeters on the rows of a week: mean watts per row, absent where there was no reading.

Owns the resampling and the choice of channels. The files' format is `nilm.recordings.ukdale`'s business.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lfm.arrays import FloatArray
from nilm.errors import InputFileError
from nilm.recordings.ukdale import Week, channel_file, read_channel, read_labels, readings_between
from nilm.timeline import TimeArray, seconds

AGGREGATE_NAMES = frozenset({"aggregate", "mains", "site meter", "whole house"})


@dataclass(frozen=True, eq=False)
class Submeter:
    """One submeter's power on the rows of a week."""

    channel: int
    name: str  # as labels.dat says it, any text
    watts: FloatArray  # (N,) mean over the row; NaN where it has no reading


def submeter_marks(house_folder: Path, week: Week) -> dict[str, str]:
    """What of the submeters' files decides a week's report: digests of names and of readings in the week.

    A channel's file holds years, so that readings of other weeks are not in its mark, and a channel without
    readings in the week has none.
    """
    labels = house_folder / "labels.dat"
    if not labels.is_file():
        return {}
    try:
        channels = read_labels(labels)
    except InputFileError as error:
        return {labels.name: f"unreadable: {error}"}
    marks = {labels.name: "readable"}
    between_s = (week.start.timestamp(), week.end.timestamp())
    for channel, name in channels.items():
        path = channel_file(house_folder, channel)
        try:
            part = readings_between(path, between_s)
        except FileNotFoundError:
            part, marks[path.name] = b"", "absent"  # which the report says
        except OSError as error:  # the week goes on without it, and is current only until it can be read
            marks[path.name] = f"unreadable: {error.strerror}"
            continue
        if part:
            marks[path.name] = f"sha256:{hashlib.sha256(name.encode() + part).hexdigest()}"
    return marks


def read_submeters(
    house_folder: Path, start_utc: TimeArray, *, duration_s: FloatArray
) -> tuple[list[Submeter], tuple[str, ...]]:
    """The submeters of a house on the rows of a week, and notes on what was left out.

    Rows stand for `duration_s` (N,) from `start_utc` (N,) on. Channels named as the whole house's meter are
    passed over. A house without labels.dat has none; a file that cannot be read, and lines of one that
    cannot, are left out and named in the notes.
    """
    labels_path = house_folder / "labels.dat"
    if not labels_path.is_file():
        return [], ("This house has no submeters (no labels.dat), so names are descriptions.",)
    try:
        labels = read_labels(labels_path)
    except InputFileError as error:
        return [], (f"The submeters were left out: {error}",)
    times = seconds(start_utc)
    week_s = (float(times[0]), float(times[-1] + duration_s[-1])) if len(times) else (0.0, 0.0)
    found, notes = [], []
    for channel, name in labels.items():
        if name.strip().lower() in AGGREGATE_NAMES:
            continue
        try:
            series = read_channel(channel_file(house_folder, channel), between_s=week_s)
        except InputFileError as error:
            notes.append(f"Submeter {channel} ({name}) was left out: {error}")
            continue
        if series.bad_lines:
            lines = "1 line" if series.bad_lines == 1 else f"{series.bad_lines:,} lines"
            why = "not a time and watts, or a time already read"
            notes.append(f"Submeter {channel} ({name}): {lines} left out ({why}).")
        watts = mean_on_rows(series.time_s, series.values[:, 0], start_utc, duration_s=duration_s)
        found.append(Submeter(channel, name.replace("_", " "), watts))  # labels.dat has no blanks in names
    return found, tuple(notes)


def mean_on_rows(
    time_s: FloatArray, values: FloatArray, start_utc: TimeArray, *, duration_s: FloatArray
) -> FloatArray:
    """The mean (N,) of the readings within each row's time; NaN where there is none.

    time_s (M,) are UNIX times in order, values (M,).
    """
    start_s = seconds(start_utc)
    first = np.searchsorted(time_s, start_s, side="left")
    after = np.searchsorted(time_s, start_s + duration_s, side="left")
    total = np.concatenate([[0.0], np.cumsum(values)])
    count = after - first
    mean = np.full(len(start_s), np.nan)
    has = count > 0
    mean[has] = (total[after[has]] - total[first[has]]) / count[has]
    return mean
