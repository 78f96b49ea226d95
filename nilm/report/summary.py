"""The week in a few numbers: summary.json, written beside the report and read by the index.

Owns the file's form, both ways. The index and the house pages read only these files, so they can be made
again at any time from what `outputs/` holds, whatever became of the catalogue.
"""

import json
import logging
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from nilm.appliances.certainty.doubts import GUESS, sure_word
from nilm.errors import InputFileError
from nilm.report.folders import summaries_before
from nilm.report.when import Window, hours_of, week_window
from nilm.results import Appliance, WeekResult
from nilm.timeline import J_PER_KWH

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ApplianceLine:
    """One appliance in one week."""

    appliance_id: str
    name: str
    kind: str
    colour: int
    energy_kwh: float
    name_source: str = "description"
    part_of: str | None = None
    runs: int = 0
    on_s: float = 0.0  # how long it was on, in all
    sure: float | None = None
    weekday_w: tuple[float, ...] = ()  # (24,) mean watts in each hour of the house's clock; empty: not known
    weekend_w: tuple[float, ...] = ()
    low_kwh: float | None = None  # 90% range of the energy; None: not known
    high_kwh: float | None = None

    @property
    def mean_w(self) -> float:
        """Its power while it is on; 0 where it never was."""
        return abs(self.energy_kwh) * J_PER_KWH / self.on_s if self.on_s > 0 else 0.0

    @property
    def is_guess(self) -> bool:
        """Whether its probability of being right is known, and that of a guess."""
        return self.sure is not None and sure_word(self.sure) == GUESS

    @property
    def run_s(self) -> float:
        """How long one run lasts on average; 0 where none was counted."""
        return self.on_s / self.runs if self.runs else 0.0


@dataclass(frozen=True)
class WeekSummary:
    """One house and week, as its line of the index shows it."""

    house: str
    week: str
    metered_kwh: float
    unexplained_kwh: float
    coverage: float
    tariff_per_kwh: float
    currency: str
    appliances: tuple[ApplianceLine, ...]

    @property
    def guessed(self) -> float | None:
        """The share of the appliances' energy that is a guess; None where there is no energy."""
        found_kwh = sum(abs(line.energy_kwh) for line in self.appliances)
        guessed_kwh = sum(abs(line.energy_kwh) for line in self.appliances if line.is_guess)
        return guessed_kwh / found_kwh if found_kwh > 0 else None


def summary_of(result: WeekResult) -> WeekSummary:
    """The week in a few numbers."""
    window = week_window(result)
    return WeekSummary(
        house=result.house,
        week=result.week,
        metered_kwh=float(result.metered_kwh),
        unexplained_kwh=float(result.unexplained_kwh),
        coverage=float(result.quality.coverage),
        tariff_per_kwh=float(result.tariff_per_kwh),
        currency=result.currency,
        appliances=tuple(_line(result, appliance, window) for appliance in result.appliances),
    )


def _line(result: WeekResult, appliance: Appliance, window: Window) -> ApplianceLine:
    weekday_w, weekend_w = hours_of(result, appliance, window).typical_w(window)
    return ApplianceLine(
        appliance.appliance_id,
        appliance.name,
        appliance.kind,
        int(appliance.colour),
        float(appliance.energy_kwh),
        appliance.name_source,
        appliance.part_of,
        len(appliance.activations),
        float(appliance.on @ result.duration_s),
        appliance.sure,
        tuple(np.round(weekday_w, 1).tolist()),
        tuple(np.round(weekend_w, 1).tolist()),
        appliance.energy_low_kwh,
        appliance.energy_high_kwh,
    )


def week_summary(result: WeekResult) -> dict[str, Any]:
    """The content of summary.json for one week, ready for `json.dump`."""
    return asdict(summary_of(result))


def read_earlier(folder: Path) -> list[WeekSummary]:
    """What `summaries_before` hold; one that cannot be read is left out with a word in the log."""
    found = []
    for path in summaries_before(folder):
        try:
            found.append(read_summary(path))
        except InputFileError as error:
            _log.warning("nothing is compared with %s: %s", path.parent.name, error)
    return found


def read_summary(path: Path) -> WeekSummary:
    """The summary in one file; InputFileError where it is not one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        lines = tuple(ApplianceLine(**line) for line in content.pop("appliances"))
        known = {field.name for field in fields(WeekSummary)}  # an older version wrote more
        summary = WeekSummary(**{k: v for k, v in content.items() if k in known}, appliances=lines)
        for value in (summary.metered_kwh, summary.unexplained_kwh, summary.coverage):
            math.isfinite(value)  # TypeError where it is no number
        for line in lines:
            math.isfinite(line.energy_kwh + line.colour + line.runs + line.on_s)
        return summary
    except (
        OSError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise InputFileError(
            f"{path} is not a week's summary ({error}); publish the week again to write it anew"
        ) from error
