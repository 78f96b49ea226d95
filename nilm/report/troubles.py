"""What went wrong, for the index: a week whose last run failed, a house that has sent nothing for long.

Owns two small files below `outputs/`, both ways: `<house>/<week>/failed.json`, which the week's next report
takes away, and `<house>/silent.json`, which the house's next report does. Light to import.
"""

import json
from datetime import datetime, timedelta
from pathlib import Path

from nilm.appliances.thresholds import PAGE
from nilm.files import write_json

FAILED_FILE, SILENT_FILE = "failed.json", "silent.json"
LATE_AFTER = timedelta(days=8)  # a week's recordings are there on its last day; one day to copy them


def note_failure(week_folder: Path, reason: str, *, now: datetime) -> None:
    """Keep why the last run of a week failed."""
    write_json(week_folder / FAILED_FILE, _said(f"failed on {now:%Y-%m-%d %H:%M} UTC: {reason}"))


def note_silence(house_folder: Path, last: datetime | None, *, now: datetime) -> bool:
    """Keep since when a house is silent; False and nothing kept if that is not long enough to be late."""
    if last is not None and now - last <= LATE_AFTER:
        return False
    since = f"no recordings since {last:%Y-%m-%d %H:%M} UTC" if last else "no recordings"
    write_json(house_folder / SILENT_FILE, _said(f"late: {since}, looked at on {now:%Y-%m-%d}"))
    return True


def forget_troubles(week_folder: Path) -> None:
    """Take the notes away: the week has its report, so its house is not silent either."""
    (week_folder / FAILED_FILE).unlink(missing_ok=True)
    (week_folder.parent / SILENT_FILE).unlink(missing_ok=True)


def failure_of(week_folder: Path) -> str:
    """Why the last run of a week failed, in words; empty if it did not."""
    return _read(week_folder / FAILED_FILE)


def silence_of(house_folder: Path) -> str:
    """Since when a house is silent, in words; empty if it is not."""
    return _read(house_folder / SILENT_FILE)


def _said(words: str) -> dict[str, str]:
    return {"words": words if len(words) <= PAGE.most_said else f"{words[: PAGE.most_said - 1]}…"}


def _read(path: Path) -> str:
    if not path.is_file():
        return ""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["words"])
    except (OSError, ValueError, TypeError, KeyError):
        return f"failed; {path.name} cannot be read"
