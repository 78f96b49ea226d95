"""Whether a house still records: when its last recording ended, and when silence becomes a failure."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from nilm.errors import NilmError
from nilm.recordings.ukdale import HOUR_S, hour_start_s, week_hours, weeks_present


class SilentHouseError(NilmError):
    """A house has sent no recordings for longer than the setting allows."""


def last_recorded(house_folder: Path) -> datetime | None:
    """When the last recording of a house ended, by its name; None if no name holds a time."""
    for week in reversed(weeks_present(house_folder)):
        starts = [hour_start_s(path.name) for path in week_hours(house_folder, week)]
        known = [start for start in starts if start is not None]
        if known:
            return datetime.fromtimestamp(max(known) + HOUR_S, UTC)
    return None


def silence(house: str, last: datetime | None) -> str:
    """How long a house has been silent, in words."""
    return f"{house}: no recordings since {last:%Y-%m-%d %H:%M} UTC" if last else f"{house}: no recordings"


def check_silence(house: str, last: datetime | None, *, most_days: float | None, now: datetime) -> None:
    """Raise SilentHouseError if the last recording is older than `most_days`; None means any age will do."""
    if most_days is not None and (last is None or now - last > timedelta(days=most_days)):
        raise SilentHouseError(
            f"{silence(house, last)}, longer than fail_after_silent_days = {most_days:g}; see to the "
            "recorder and to whatever copies its files"
        )
