"""Which files an export writes, in which format; each is whole or absent."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from nilm.errors import OptionError
from nilm.export.home_assistant import statistic_ids, statistics_csv
from nilm.export.house_power import ALL, published_houses, read_house
from nilm.export.nilmtk import nilmtk_hdf5
from nilm.export.spreadsheet import spreadsheet_csv
from nilm.files import write_bytes


def export(
    outputs_root: Path,
    folder: Path,
    form: str,
    *,
    houses: Sequence[str] = (),
    weeks: str = ALL,
    timezone: str = "Europe/London",
) -> Iterator[str]:
    """Write published weeks to `folder`, one file per house, for nilmtk one of all; yield what was written.

    `houses` are all that are published if empty, `weeks` as for `read_house`. OptionError if there is none.
    """
    chosen = list(dict.fromkeys(houses)) or published_houses(outputs_root)
    if not chosen:
        raise OptionError(f"{outputs_root} holds no published week; `nilm run` makes one")
    if form == "nilmtk":
        path = folder / "nilmtk.h5"
        powers = [read_house(outputs_root, house, weeks) for house in chosen]
        write_bytes(path, nilmtk_hdf5(powers, timezone=timezone))
        yield f"written: {path}"
        return
    for house in chosen:
        power = read_house(outputs_root, house, weeks)
        if form == "csv":
            path, content = folder / f"{house}.csv", spreadsheet_csv(power)
        else:
            path = folder / f"{house}.home-assistant.csv"
            every_week = read_house(outputs_root, house)
            content = statistics_csv(every_week, from_utc=power.start_utc[0])
            yield from (f"{statistic}: {name}" for statistic, name in statistic_ids(every_week).items())
        write_bytes(path, content)
        yield f"written: {path}"
