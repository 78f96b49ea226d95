"""Which weeks of a house are published, told by their folders below `outputs/`. Light to import."""

from pathlib import Path

from nilm.errors import NilmError
from nilm.recordings.ukdale import Week

SUMMARY_FILE = "summary.json"


def week_of(folder: Path) -> Week | None:
    """The week whose folder this is; None for another folder, a piece of music's or a note's."""
    try:
        return Week.parse(folder.name)
    except NilmError:
        return None


def summaries_before(folder: Path, *, most: int = 4) -> list[Path]:
    """The summaries of the last `most` weeks before the week in `folder`, oldest first, of the same house."""
    this = Week.parse(folder.name)
    found = folder.parent.glob(f"*/{SUMMARY_FILE}")
    weeks = sorted(week for path in found if (week := week_of(path.parent)))
    return [folder.parent / str(week) / SUMMARY_FILE for week in weeks if week < this][-most:]
