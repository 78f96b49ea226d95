"""The index of every house and week, and a house's page from week to week, from the files in `outputs/`.

Owns what is compared between weeks: the energy of each appliance, which are new, which have gone. Reads
only the summaries beside the reports. A week whose summary cannot be read is listed with the reason, never
left out in silence.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np

from nilm.errors import InputFileError, NilmError
from nilm.recordings.ukdale import Week
from nilm.report import figures, palette
from nilm.report.page import environment
from nilm.report.summary import FILE_NAME, ApplianceLine, WeekSummary, read_summary
from nilm.results import FloatArray

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WeekLine:
    """One week of a house: its folder's name, its summary, or why there is none."""

    week: str
    summary: WeekSummary | None
    problem: str = ""

    @property
    def link(self) -> str:
        """The report's address from the house's folder."""
        return f"{quote(self.week)}/report.html"

    @property
    def explained(self) -> float | None:
        """The share of the energy used that the appliances explain."""
        if self.summary is None:
            return None
        generated_kwh = -sum(min(line.energy_kwh, 0.0) for line in self.summary.appliances)
        used_kwh = self.summary.metered_kwh + generated_kwh
        return 1 - self.summary.unexplained_kwh / used_kwh if used_kwh > 0 else None


@dataclass(frozen=True)
class HouseLine:
    """One house and its weeks, newest first."""

    house: str
    weeks: tuple[WeekLine, ...]

    @property
    def link(self) -> str:
        """The house's folder, from the index."""
        return quote(self.house)


@dataclass(frozen=True)
class ApplianceRow:
    """One appliance through the weeks of a house."""

    appliance_id: str
    name: str  # of the newest week that has it
    style: palette.Style
    colour: int
    kwh: tuple[float | None, ...]  # by week; None where it was not seen

    @property
    def total(self) -> float:
        """Its energy over all weeks."""
        return sum(k for k in self.kwh if k is not None)


@dataclass(frozen=True)
class Changes:
    """What a week has that the week before had not, and the other way round."""

    week: WeekLine
    new: tuple[str, ...]  # in no week before
    back: tuple[str, ...]  # in an earlier week, not in the one before
    vanished: tuple[str, ...]  # in the week before, not in this one
    first: bool


def render_index(outputs_root: Path) -> str:
    """The page `outputs/index.html`: every house and week that has a report."""
    folders = sorted(p for p in outputs_root.iterdir() if p.is_dir()) if outputs_root.is_dir() else []
    houses = [HouseLine(folder.name, tuple(reversed(_weeks(folder)))) for folder in folders]
    return (
        environment()
        .get_template("index.html")
        .render(houses=[h for h in houses if h.weeks], others=_other_pages(outputs_root))
    )


def _other_pages(outputs_root: Path) -> list[tuple[str, str]]:
    """(words, address) of the pages beside the houses: the paper's experiments and pieces of music."""
    experiments = outputs_root / "experiments" / "index.html"
    found = [("The paper, computed again", "experiments/index.html")] if experiments.is_file() else []
    pieces = sorted(outputs_root.glob("piano/*/report.html"))
    return found + [
        (f"Notes of {page.parent.name}", f"piano/{quote(page.parent.name)}/report.html") for page in pieces
    ]


def render_house(outputs_root: Path, house: str) -> str:
    """The page `outputs/<house>/index.html`: energy of each appliance by week, new and vanished ones."""
    weeks = _weeks(outputs_root / house)
    read = [week for week in weeks if week.summary is not None]
    summaries = [week.summary for week in read if week.summary is not None]
    rows = _rows(summaries)
    return (
        environment()
        .get_template("house.html")
        .render(
            house=house,
            weeks=weeks,
            read=read,
            rows=rows,
            changes=[_changes(read, index) for index in reversed(range(len(read)))],
            picture=figures.energy_by_week([w.week for w in read], _layers(rows), name="weeks")
            if rows
            else "",
        )
    )


def _weeks(folder: Path) -> list[WeekLine]:
    """The weeks in a house's folder, oldest first: folders named like a week, with a report or a summary."""
    if not folder.is_dir():
        return []
    weeks = []
    for path in sorted(p for p in folder.iterdir() if p.is_dir() and _is_week(p.name)):
        if not ((path / "report.html").is_file() or (path / FILE_NAME).is_file()):
            continue
        try:
            weeks.append(WeekLine(path.name, read_summary(path / FILE_NAME)))
        except InputFileError as error:
            _log.warning("%s", error)
            weeks.append(WeekLine(path.name, None, f"its {FILE_NAME} cannot be read; publish the week again"))
    return weeks


def _is_week(name: str) -> bool:
    """Whether a folder is called like a week; other folders, a piece of music's, are none of a house."""
    try:
        Week.parse(name)
    except NilmError:
        return False
    return True


def _rows(summaries: Sequence[WeekSummary]) -> list[ApplianceRow]:
    """One row per appliance id, the largest first."""
    newest: dict[str, ApplianceLine] = {}
    for summary in summaries:
        newest.update({line.appliance_id: line for line in summary.appliances})
    by_week = [{line.appliance_id: line.energy_kwh for line in s.appliances} for s in summaries]
    rows = [
        ApplianceRow(
            appliance_id=line.appliance_id,
            name=line.name,
            style=palette.style_of(line.colour),
            colour=line.colour,
            kwh=tuple(week.get(line.appliance_id) for week in by_week),
        )
        for line in newest.values()
    ]
    return sorted(rows, key=lambda row: (-row.total, row.appliance_id))


def _layers(rows: Sequence[ApplianceRow]) -> list[tuple[str, int | None, FloatArray]]:
    """(name, colour, kWh by week) of the largest appliances, and of all others together without a colour."""
    rows = sorted(rows, key=lambda row: -abs(row.total))  # what feeds in is large too
    kwh = [np.array([k or 0.0 for k in row.kwh], dtype=np.float64) for row in rows]
    n_own = figures.own_layers(len(rows))
    layers: list[tuple[str, int | None, FloatArray]] = [
        (row.name, row.colour, k) for row, k in zip(rows[:n_own], kwh, strict=False)
    ]
    others = kwh[n_own:]
    if others:
        layers.append((f"{len(others)} others", None, np.sum(others, axis=0)))
    return layers


def _changes(read: Sequence[WeekLine], index: int) -> Changes:
    """What came and went in the week at `index`, against the weeks before it."""
    lines = [{a.appliance_id: a.name for a in w.summary.appliances} if w.summary else {} for w in read]
    this, last = lines[index], lines[index - 1] if index else lines[index]
    ever = {appliance_id for week in lines[:index] for appliance_id in week} if index else set(this)
    return Changes(
        week=read[index],
        new=tuple(name for i, name in this.items() if i not in ever),
        back=tuple(name for i, name in this.items() if i in ever and i not in last),
        vanished=tuple(name for i, name in last.items() if i not in this),
        first=index == 0,
    )
