"""The published power of a house, a column for each appliance, read from its power.parquet files.

Owns which weeks are published and how weeks join: an appliance that a week lacks drew nothing in it.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lfm.arrays import FloatArray
from nilm.errors import InputFileError, OptionError
from nilm.recordings.ukdale import Week, check_house, parse_weeks
from nilm.timeline import TimeArray, ends
from nilm.week.tables import POWER, UNEXPLAINED

ALL, LATEST = "all", "latest"
FILE_NAME = "power.parquet"


@dataclass(frozen=True, eq=False)
class HousePower:
    """What a house drew in every reading, and what each of its appliances had of it."""

    house: str
    start_utc: TimeArray  # (N,) in order of time
    duration_s: FloatArray  # (N,)
    names: dict[str, str]  # of the M appliances by id, "unexplained" last; the newest name of each
    power_w: FloatArray  # (N, M)

    @property
    def metered_w(self) -> FloatArray:
        """(N,) what the meter showed: the sum of all."""
        total: FloatArray = self.power_w.sum(axis=1)
        return total

    @property
    def end_utc(self) -> TimeArray:
        """(N,) where each reading ends."""
        return ends(self.start_utc, self.duration_s)


def published_houses(outputs_root: Path) -> list[str]:
    """The houses with at least one published week, sorted."""
    return sorted({path.parents[1].name for path in outputs_root.glob(f"*/*/{FILE_NAME}")})


def published_weeks(outputs_root: Path, house: str) -> list[Week]:
    """The published weeks of a house, in order of time."""
    return sorted(Week.parse(path.parent.name) for path in (outputs_root / house).glob(f"*-wk*/{FILE_NAME}"))


def read_house(outputs_root: Path, house: str, weeks: str = ALL) -> HousePower:
    """The power of a house in `weeks`: all, latest, a week, a range or a list; OptionError if it has none."""
    there = published_weeks(outputs_root, check_house(house))
    if not there:
        raise OptionError(
            f"{house} has no week with a {FILE_NAME} in {outputs_root}; `nilm run --house {house}` makes one"
        )
    wanted = {ALL: there, LATEST: there[-1:]}.get(weeks) or parse_weeks(weeks)
    chosen = [week for week in there if week in wanted]
    if not chosen:
        raise OptionError(
            f"{house} has no published week in {weeks!r}; there are {', '.join(map(str, there))}"
        )
    return _joined(house, [_read(outputs_root / house / str(week) / FILE_NAME) for week in chosen])


def _read(path: Path) -> pd.DataFrame:
    try:
        table = pq.read_table(path, partitioning=None).select(POWER.names)
        table.validate(full=True)
        if [field.type for field in table.schema] != [field.type for field in POWER]:
            raise ValueError("columns of another type")
        power: pd.DataFrame = table.to_pandas()
        at = ["start_utc", "duration_s", "appliance_id"]
        if power.duplicated(at).any():
            raise ValueError("two powers of one appliance at one time")
        if not (power["appliance_id"] == UNEXPLAINED).any() or power[[*at, "power_w"]].isna().any(axis=None):
            raise ValueError("nothing unexplained, or values that are missing")
        return power
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise InputFileError(
            f"{path} is not the power of a week ({error}); delete it, and the next run writes it anew"
        ) from error


def _joined(house: str, weeks: list[pd.DataFrame]) -> HousePower:
    long = pd.concat(weeks, ignore_index=True)
    newest = long.drop_duplicates("appliance_id", keep="last").set_index("appliance_id")["name"]
    ids = [*sorted(i for i in newest.index if i != UNEXPLAINED), UNEXPLAINED]
    wide = long.pivot(index=["start_utc", "duration_s"], columns="appliance_id", values="power_w")
    wide = wide.reindex(columns=ids).fillna(0.0).sort_index()
    return HousePower(
        house=house,
        start_utc=pd.DatetimeIndex(wide.index.get_level_values("start_utc")).tz_convert(None).to_numpy(),
        duration_s=wide.index.get_level_values("duration_s").to_numpy(np.float64),
        names={i: str(newest[i]) for i in ids},
        power_w=wide.to_numpy(np.float64),
    )
