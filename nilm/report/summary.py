"""The week in a few numbers: summary.json, written beside the report and read by the index.

Owns the file's form, both ways. The index and the house pages read only these files, so they can be made
again at any time from what `outputs/` holds, whatever became of the catalogue.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nilm.errors import InputFileError
from nilm.results import WeekResult

FILE_NAME = "summary.json"


@dataclass(frozen=True)
class ApplianceLine:
    """One appliance in one week."""

    appliance_id: str
    name: str
    kind: str
    colour: int
    energy_kwh: float


@dataclass(frozen=True)
class WeekSummary:
    """One house and week, as its line of the index shows it."""

    house: str
    week: str
    first_utc: str  # ISO, start of the first row
    last_utc: str  # ISO, start of the last row
    metered_kwh: float
    unexplained_kwh: float
    coverage: float
    verdict: str
    tariff_per_kwh: float
    currency: str
    appliances: tuple[ApplianceLine, ...]


def week_summary(result: WeekResult) -> dict[str, Any]:
    """The content of summary.json for one week, ready for `json.dump`."""
    summary = WeekSummary(
        house=result.house,
        week=result.week,
        first_utc=str(np.datetime_as_string(result.start_utc.min(), unit="s")) + "Z",
        last_utc=str(np.datetime_as_string(result.start_utc.max(), unit="s")) + "Z",
        metered_kwh=float(result.metered_kwh),
        unexplained_kwh=float(result.unexplained_kwh),
        coverage=float(result.quality.coverage),
        verdict=result.certainty.verdict,
        tariff_per_kwh=float(result.tariff_per_kwh),
        currency=result.currency,
        appliances=tuple(
            ApplianceLine(a.appliance_id, a.name, a.kind, int(a.colour), float(a.energy_kwh))
            for a in result.appliances
        ),
    )
    return asdict(summary)


def read_summary(path: Path) -> WeekSummary:
    """The summary in one file; InputFileError where it is not one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        lines = tuple(ApplianceLine(**line) for line in content.pop("appliances"))
        summary = WeekSummary(**content, appliances=lines)
        for value in (summary.metered_kwh, summary.unexplained_kwh, summary.coverage):
            math.isfinite(value)  # TypeError where it is no number
        for line in lines:
            math.isfinite(line.energy_kwh + line.colour)
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
