"""Which weeks of a house a word means. Reads no recording.

A week is asked for as `2015-wk01`, as a range or list, as `latest` (the last one with recordings) or as `new`
(every one whose report is missing or out of date). What is not there is answered with what is.
"""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from nilm.errors import OptionError
from nilm.paths import WeekPaths
from nilm.recordings.ukdale import Week, check_house, parse_weeks, weeks_present

log = logging.getLogger(__name__)

LATEST, NEW = "latest", "new"
RANGE = ":"  # as in 2015-wk01:2015-wk08


def houses(data_root: Path) -> list[str]:
    """The names of the houses that have at least one week of recordings, sorted."""
    raw = data_root / "raw"
    found = sorted(folder.name for folder in raw.iterdir() if weeks_present(folder)) if raw.is_dir() else []
    if not found:
        raise OptionError(
            f"no house with recordings in {raw}; copy UK-DALE there (see data/README.md), set data_root, "
            "or run `nilm simulate`"
        )
    return found


def places(
    house: str,
    weeks: str,
    *,
    data_root: Path,
    outputs_root: Path,
    is_current: Callable[[WeekPaths], bool],
) -> list[WeekPaths]:
    """The places that `weeks` means for a house, in order of time; empty only for `new` with nothing to do.

    A range means those of its weeks that have recordings. OptionError for a house, a week or a whole range
    without recordings lists those that there are.
    """
    check_house(house)
    known = houses(data_root)
    if house not in known:
        raise OptionError(f"no recordings of {house!r} in {data_root / 'raw'}; there are {', '.join(known)}")
    present = weeks_present(data_root / "raw" / house)

    def place(week: Week) -> WeekPaths:
        return WeekPaths(data_root, house, week, outputs_root)

    if weeks == LATEST:
        return [place(present[-1])]
    if weeks == NEW:
        return [place(week) for week in present if not is_current(place(week))]
    try:
        wanted = parse_weeks(weeks)
    except OptionError as error:
        raise OptionError(f"{error}; the words {LATEST} and {NEW} are understood too") from error
    missing = [week for week in wanted if week not in present]
    if missing:
        words = f"{house} has no recordings of {_in_short(missing)} in {data_root / 'raw' / house}"
        if RANGE not in weeks or len(missing) == len(wanted):
            raise OptionError(f"{words}; there are {_in_short(present)}")
        log.warning("%s; left out", words)
    return [place(week) for week in wanted if week in present]


def places_of_houses(
    houses_asked: Sequence[str] | None,
    weeks: str,
    *,
    data_root: Path,
    outputs_root: Path,
    is_current: Callable[[WeekPaths], bool],
) -> list[WeekPaths]:
    """The places that `weeks` means for several houses, all that there are if none is asked for.

    OptionError as for `places`; but of all houses those that lack the weeks are left out with a word, unless
    that leaves none.
    """
    chosen: list[WeekPaths] = []
    lacking: list[OptionError] = []
    for house in dict.fromkeys(houses_asked or houses(data_root)):
        try:
            chosen += places(
                house, weeks, data_root=data_root, outputs_root=outputs_root, is_current=is_current
            )
        except OptionError as error:
            if houses_asked:
                raise
            lacking.append(error)
    if lacking and not chosen:
        raise lacking[0]
    for reason in lacking:
        log.warning("left out: %s", reason)
    return chosen


def _in_short(weeks: list[Week]) -> str:
    """The weeks in words, at most eight of them."""
    if len(weeks) <= 8:
        return ", ".join(map(str, weeks))
    return f"{', '.join(map(str, weeks[:4]))}, … {weeks[-1]} ({len(weeks)} weeks)"
