"""Which weeks of a house are published, told by their folders below `outputs/`. Light to import."""

from pathlib import Path

from nilm.appliances.thresholds import PAGE
from nilm.recordings.ukdale import Week

SUMMARY_FILE = "summary.json"


def summaries_before(folder: Path) -> list[Path]:
    """The summaries that the week in `folder` is compared with: of the last weeks before it, oldest first."""
    this = Week.parse(folder.name)
    found = folder.parent.glob(f"*/{SUMMARY_FILE}")
    weeks = sorted(week for path in found if (week := Week.named(path.parent.name)))
    return [folder.parent / str(week) / SUMMARY_FILE for week in weeks if week < this][-PAGE.usual_weeks :]
