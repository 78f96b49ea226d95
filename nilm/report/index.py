"""The index of every house and week, and a house's page from week to week, from the files in `outputs/`.

Owns what these pages list; what changed between weeks is found by `changes`. Reads only the summaries beside
the reports, and the notes on failures. A week that failed, or whose summary cannot be read, is listed with
the reason, never left out in silence; so is a house that is late.

Neither page grows with the years: both show the last `weeks_shown` weeks of a house, and older ones are on a
page for each year. So a week costs the same to publish after ten years as after one.
"""

import itertools
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np
from markupsafe import Markup

from nilm.appliances.thresholds import PAGE
from nilm.errors import InputFileError
from nilm.recordings.ukdale import Week
from nilm.report.changes import Arrivals, Comparison, arrivals, compare
from nilm.report.figures import palette, strips, wide
from nilm.report.figures.chart import Layer, small_ones_together
from nilm.report.folders import SUMMARY_FILE
from nilm.report.rendering import render
from nilm.report.summary import ApplianceLine, WeekSummary, read_summary
from nilm.report.troubles import FAILED_FILE, failure_of, silence_of

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WeekLine:
    """One week of a house: its folder's name, its summary, or why there is none."""

    week: str
    summary: WeekSummary | None
    problem: str = ""
    failure: str = ""  # of its last run; the report, if there is one, is older
    has_report: bool = True

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
    n_weeks: int  # with those that are not on this page
    spark: Markup  # metered energy by week
    silence: str  # since when it is late; empty if it is not
    comparison: Comparison | None  # of the last week with those before it

    @property
    def link(self) -> str:
        """The house's folder, from the index."""
        return quote(self.house)

    @property
    def last(self) -> WeekLine:
        """The newest week that can be read, else the newest."""
        return next((week for week in self.weeks if week.summary is not None), self.weeks[0])

    @property
    def troubles(self) -> list[str]:
        """Why it is late, weeks that failed or cannot be read, and those missing between others, in words."""
        said = [self.silence] if self.silence else []
        said += [f"{week.week}: {words}" for week in self.weeks if (words := week.problem or week.failure)]
        for newer, older in itertools.pairwise(self.weeks):
            days = (Week.parse(newer.week).start - Week.parse(older.week).start).days
            if days > 7:
                n = round(days / 7) - 1
                said.append(f"{n} week{'' if n == 1 else 's'} without a report after {older.week}")
        return said


@dataclass(frozen=True)
class ApplianceRow:
    """One appliance through the weeks of a house."""

    appliance_id: str
    name: str  # of the newest week that has it
    earlier_names: tuple[str, ...]  # what older weeks called it
    style: palette.Style
    kwh: tuple[float | None, ...]  # by week; None where it was not seen
    trend: Markup
    day: Markup | str  # typical day of the newest week that knows one

    @property
    def total(self) -> float:
        """Its energy over all weeks."""
        return sum(k for k in self.kwh if k is not None)


@dataclass(frozen=True)
class Changes:
    """What came and went in a week."""

    week: WeekLine
    arrivals: Arrivals
    first: bool


def render_index(outputs_root: Path) -> str:
    """The page `outputs/index.html`: one line per house, and every week that has a report."""
    folders = sorted(p for p in outputs_root.iterdir() if p.is_dir()) if outputs_root.is_dir() else []
    found = [(folder, _week_folders(folder)) for folder in folders]
    houses = [_house_line(folder, weeks) for folder, weeks in found if weeks]
    return render("index.html", houses=houses, others=_other_pages(outputs_root))


def _house_line(folder: Path, folders: Sequence[Path]) -> HouseLine:
    house, weeks = folder.name, _weeks(folders[-PAGE.weeks_shown :])
    summaries = [week.summary for week in weeks if week.summary is not None]
    label = f"Energy of {house} by week, kWh"
    spark = strips.spark([s.metered_kwh for s in summaries], label=label) if summaries else Markup()
    comparison = compare(summaries[-1], summaries) if summaries else None
    return HouseLine(house, tuple(reversed(weeks)), len(folders), spark, silence_of(folder), comparison)


def _other_pages(outputs_root: Path) -> list[tuple[str, str]]:
    """(words, address) of the pages beside the houses: the paper's experiments and pieces of music."""
    experiments = outputs_root / "experiments" / "index.html"
    found = [("The paper, computed again", "experiments/index.html")] if experiments.is_file() else []
    pieces = sorted(outputs_root.glob("piano/*/report.html"))
    return found + [
        (f"Notes of {page.parent.name}", f"piano/{quote(page.parent.name)}/report.html") for page in pieces
    ]


def years_of(outputs_root: Path, house: str) -> list[int]:
    """The years that have a page of their own; none while all weeks are on the house's page."""
    folders = _week_folders(outputs_root / house)
    return sorted({_year(folder) for folder in folders}) if len(folders) > PAGE.weeks_shown else []


def render_house(outputs_root: Path, house: str, year: int | None = None) -> str:
    """The page `outputs/<house>/index.html`: energy of each appliance by week, its trend and typical day.

    It holds the last `weeks_shown` weeks, or those of a `year`: then it is `outputs/<house>/<year>.html`.
    """
    folders = _week_folders(outputs_root / house)
    years = years_of(outputs_root, house)
    shown = folders[-PAGE.weeks_shown :] if year is None else [f for f in folders if _year(f) == year]
    weeks = _weeks(shown)
    read = [week for week in weeks if week.summary is not None]
    summaries = [week.summary for week in read if week.summary is not None]
    rows = _rows(summaries)
    layers = _layers(rows)
    return render(
        "house.html",
        house=house,
        year=year,
        years=years,
        older=len(folders) > len(shown) and shown[:1] != folders[:1],
        weeks=weeks,
        read=read,
        rows=rows,
        layers=layers,
        trend=strips.spark([s.metered_kwh for s in summaries], label=f"Energy of {house} by week, kWh"),
        changes=[
            Changes(read[n], arrivals(summaries[n], summaries[:n]), first=n == 0)
            for n in reversed(range(len(read)))
        ],
        picture=wide.energy_by_week(
            [w.week for w in read], [(layer.style, layer.values) for layer in layers], name="weeks"
        )
        if rows
        else "",
    )


def _year(folder: Path) -> int:
    return Week.parse(folder.name).year


def _week_folders(folder: Path) -> list[Path]:
    """The weeks in a house's folder, oldest first: folders named like a week, with a report or a failure."""
    if not folder.is_dir():
        return []
    named = sorted(path for path in folder.iterdir() if path.is_dir() and Week.named(path.name))
    shown = ("report.html", SUMMARY_FILE, FAILED_FILE)
    return [path for path in named if any((path / name).is_file() for name in shown)]


def _weeks(folders: Sequence[Path]) -> list[WeekLine]:
    weeks = []
    for path in folders:
        failure, has_report = failure_of(path), (path / "report.html").is_file()
        if not (has_report or (path / SUMMARY_FILE).is_file()):
            weeks.append(WeekLine(path.name, None, failure, failure, has_report=False))
            continue
        try:
            weeks.append(
                WeekLine(path.name, read_summary(path / SUMMARY_FILE), failure=failure, has_report=has_report)
            )
        except InputFileError as error:
            _log.warning("%s", error)
            weeks.append(
                WeekLine(path.name, None, f"its {SUMMARY_FILE} cannot be read; publish the week again")
            )
    return weeks


def _rows(summaries: Sequence[WeekSummary]) -> list[ApplianceRow]:
    """One row per appliance id, the largest first."""
    lines: dict[str, list[ApplianceLine]] = {}
    for summary in summaries:
        for line in summary.appliances:
            lines.setdefault(line.appliance_id, []).append(line)
    by_week = [{line.appliance_id: line.energy_kwh for line in s.appliances} for s in summaries]
    rows = [
        _row(seen, tuple(week.get(appliance_id) for week in by_week)) for appliance_id, seen in lines.items()
    ]
    return sorted(rows, key=lambda row: (-row.total, row.appliance_id))


def _row(seen: Sequence[ApplianceLine], kwh: tuple[float | None, ...]) -> ApplianceRow:
    """One appliance from its lines, oldest first, and its energy by week."""
    newest = seen[-1]
    profile = next((line for line in reversed(seen) if line.weekday_w and line.weekend_w), None)
    return ApplianceRow(
        appliance_id=newest.appliance_id,
        name=newest.name,
        earlier_names=tuple(dict.fromkeys(line.name for line in seen if line.name != newest.name)),
        style=palette.style_of(newest.colour),
        kwh=kwh,
        trend=strips.spark(
            [k or 0.0 for k in kwh], label=f"Trend of {newest.name}, kWh by week", colour=newest.colour
        ),
        day=strips.typical_day(
            newest.name, newest.colour, np.array(profile.weekday_w), np.array(profile.weekend_w)
        )
        if profile
        else "",
    )


def _layers(rows: Sequence[ApplianceRow]) -> list[Layer]:
    """The largest appliances, and all others together without a colour, with their kWh by week."""
    rows = sorted(rows, key=lambda row: -abs(row.total))  # what feeds in is large too
    return small_ones_together(
        [Layer(row.name, row.style, np.array([k or 0.0 for k in row.kwh], np.float64)) for row in rows]
    )
