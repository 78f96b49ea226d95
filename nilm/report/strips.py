"""Drawings that stretch with the page: an appliance's row of the timeline, and its heat map.

Owns their SVG. They are written here and not by matplotlib because a row must stretch to any width while
its label stays readable, the script zooms it by its viewBox, and a hundred of them must stay small.
"""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from nilm.appliances.naming import duration_words
from nilm.report import words
from nilm.report.palette import style_of
from nilm.report.when import DAY_S, Hours, Window
from nilm.results import Appliance, WeekResult

_CELL, _LEFT, _TOP = 12, 44, 14


def _minutes(seconds: float) -> str:
    """Seconds as minutes with at most two decimals: the unit of a row's viewBox."""
    return f"{seconds / 60:.2f}".rstrip("0").rstrip(".")


def bars(stretches: Sequence[tuple[float, float]]) -> str:
    """One path of bars, from (start, end) in seconds of the window; the script reads it back."""
    return "".join(f"M{_minutes(a)} 0h{_minutes(b - a)}v10H{_minutes(a)}z" for a, b in stretches if b > a)


def row(
    stretches: Sequence[tuple[float, float]],
    holes: Sequence[tuple[float, float]],
    window: Window,
    *,
    colour: int,
    label: str,
) -> Markup:
    """One row of a timeline: holes in the data grey, `stretches` (s) in the appliance's colour."""
    return Markup(
        '<svg class="row" viewBox="0 0 {} 10" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<path class="hole" d="{}"/><path class="run" d="{}" style="--c:{}"/></svg>'
    ).format(window.days * DAY_S // 60, label, bars(holes), bars(stretches), style_of(colour).colour)


def activations_row(appliance: Appliance, holes: Sequence[tuple[float, float]], window: Window) -> Markup:
    """The appliance's activations over the window."""
    stretches = [
        (float(window.seconds(a.start_utc)), float(window.seconds(a.end_utc))) for a in appliance.activations
    ]
    on_s = sum(a.duration_s for a in appliance.activations)
    n = len(appliance.activations)
    label = f"{appliance.name}: {n} run{'' if n == 1 else 's'}, {duration_words(on_s)} in all"
    return row(stretches, holes, window, colour=appliance.colour, label=label)


def on_stretches(on: NDArray[np.uint8], result: WeekResult, window: Window) -> list[tuple[float, float]]:
    """Runs of ones in a column of Z, (start, end) in seconds of the window; a hole ends a run."""
    start = window.seconds(result.start_utc)
    ones = np.flatnonzero(on)
    if not len(ones):
        return []
    follows = (np.diff(ones) == 1) & (np.diff(start[ones]) < 1.5 * result.interval_s)
    first = ones[np.concatenate([[True], ~follows])]
    last = ones[np.concatenate([~follows, [True]])]
    end = window.days * DAY_S
    pairs = zip(start[first], start[last] + result.interval_s, strict=True)
    return [(max(float(a), 0.0), min(float(b), end)) for a, b in pairs if b > 0 and a < end]


def _squares(where: NDArray[np.bool_]) -> str:
    """One path with a square for each True of a (days, 24) grid."""
    return "".join(f"M{_LEFT + h * _CELL} {_TOP + d * _CELL}h11v11h-11z" for d, h in np.argwhere(where))


def heat_map(appliance: Appliance, hours: Hours, window: Window, *, usual: str) -> Markup:
    """Energy for each hour of each day, from nothing (the page's ground) to the appliance's own most."""
    most = float(np.abs(hours.energy_wh).max())
    days = range(window.days)
    # Eight shades are as many as an eye tells apart here, and one path for each keeps the page small.
    shade = np.ceil(8 * np.abs(hours.energy_wh) / (most or 1.0)).astype(np.int64)
    cells = [
        Markup('<path d="{}" fill-opacity="{}"/>').format(_squares(shade == level), level / 8)
        for level in range(1, 9)
        if (shade == level).any()
    ]
    holes = "".join(
        f"M{_LEFT + h * _CELL + 2} {_TOP + d * _CELL + 9}l7 -7"
        for d in days
        for h in range(24)
        if not hours.data_s[d, h]
    )
    ground = _squares(np.ones_like(shade, dtype=bool))
    ticks = [
        Markup('<text x="{}" y="10">{:02d}</text>').format(_LEFT + h * _CELL, h) for h in range(0, 24, 6)
    ]
    names = [
        Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(
            _LEFT - 5,
            _TOP + d * _CELL + 9.5,
            words.day(window.start + np.timedelta64(d * DAY_S, "s"), "%a %-d"),
        )
        for d in days
    ]
    values = ",".join(
        "" if not seen else f"{wh:.0f}"
        for wh, seen in zip(hours.energy_wh.ravel(), hours.data_s.ravel(), strict=True)
    )
    return Markup(
        '<svg class="heat" viewBox="0 0 {} {}" role="img" aria-label="{}" data-wh="{}" style="--c:{}">'
        '<path class="cells" d="{}"/><g fill="{}">{}</g><path class="nodata" d="{}"/>{}{}</svg>'
    ).format(
        _LEFT + 24 * _CELL,
        _TOP + window.days * _CELL,
        f"Energy of {appliance.name} by hour and day: {usual}; at most {most:.0f} Wh in an hour",
        values,
        style_of(appliance.colour).colour,
        ground,
        style_of(appliance.colour).colour,
        Markup("").join(cells),
        holes,
        Markup("").join(ticks),
        Markup("").join(names),
    )
