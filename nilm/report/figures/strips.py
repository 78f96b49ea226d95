"""Drawings that stretch with the page: an appliance's row of the timeline, and its heat map.

Owns their SVG. They are written here and not by matplotlib because a row must stretch to any width while
its label stays readable, the script zooms it by its viewBox, and a hundred of them must stay small.
"""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from lfm import runs_of_ones
from lfm.arrays import FloatArray
from nilm.appliances.naming import duration_words
from nilm.report.figures.palette import style_of
from nilm.report.text import words
from nilm.report.when import Hours, Timed, Window
from nilm.results import Appliance
from nilm.thresholds import ROWS
from nilm.timeline import DAY_S

_CELL, _LEFT, _TOP = 12, 44, 14
_STRIP = 40  # height of a strip of power, in units of its viewBox
_SPARK = (120, 28)  # CSS pixels


def _minutes(seconds: float) -> str:
    """Seconds as minutes with at most two decimals: the unit of a row's viewBox."""
    return f"{seconds / 60:.2f}".rstrip("0").rstrip(".")


def bars(stretches: Sequence[tuple[float, float]], height: int = 10) -> str:
    """One path of bars, from (start, end) in seconds of the window; the script reads it back."""
    return "".join(
        f"M{_minutes(a)} 0h{_minutes(b - a)}v{height}H{_minutes(a)}z" for a, b in stretches if b > a
    )


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
    """The appliance's activations over the window, with each one's watts and kWh for the script."""
    runs = appliance.activations
    starts = [float(window.seconds(run.start_utc)) for run in runs]
    stretches = [(a, a + run.duration_s) for a, run in zip(starts, runs, strict=True)]
    on_s = sum(run.duration_s for run in runs)
    n = len(runs)
    label = f"{appliance.name}: {n} run{'' if n == 1 else 's'}, {duration_words(on_s)} in all"
    drawn = row(stretches, holes, window, colour=appliance.colour, label=label)
    watts = [f"{run.mean_w:.0f}" for run in runs]
    if len(set(watts)) == 1:  # of an appliance that is on or off, one number is enough
        watts = watts[:1]
    numbers = Markup(' data-w="{}" data-kwh="{}"').format(
        ",".join(watts), ",".join(f"{run.energy_kwh:.3g}" for run in runs)
    )
    return Markup("<svg{}{}").format(numbers, drawn.removeprefix("<svg"))


def power_strip(
    appliance: Appliance, power_w: FloatArray, holes: Sequence[tuple[float, float]], window: Window
) -> Markup:
    """Its power over the week, from 0 to its own most; `power_w` are means over equal bins."""
    most = float(np.nanmax(np.abs(power_w))) if np.isfinite(power_w).any() else 0.0
    tops = np.round(_STRIP - np.nan_to_num(np.abs(power_w)) / (most or 1.0) * _STRIP, 1)
    width = window.days * DAY_S / 60 / max(1, len(tops))  # minutes a bin
    steps = [f"V{top:g}h{n * width:.6g}" for top, n in _level(tops)]
    path = f"M0 {_STRIP}{''.join(steps)}V{_STRIP}z" if most else ""
    shown = words.watts_text(most)
    return Markup(
        '<svg class="power" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<path class="hole" d="{}"/><path class="run" d="{}" style="--c:{}"/></svg>'
    ).format(
        window.days * DAY_S // 60,
        _STRIP,
        f"Power of {appliance.name} over the week, at most {shown} over a quarter of an hour",
        bars(holes, _STRIP),
        path,
        style_of(appliance.colour).colour,
    )


def _level(values: FloatArray) -> list[tuple[float, int]]:
    """Each stretch of equal values, as the value and how many there are."""
    first = np.flatnonzero(np.append(True, np.diff(values) != 0))
    counts = np.diff(np.append(first, len(values)))
    return [(float(values[at]), int(n)) for at, n in zip(first, counts, strict=True)]


def typical_day(name: str, colour: int, weekday_w: FloatArray, weekend_w: FloatArray) -> Markup:
    """Mean power in each hour of a weekday (filled) and of the weekend (a line), from 0 to its own most."""
    weekday, weekend = np.abs(weekday_w), np.abs(weekend_w)
    most = float(max(weekday.max(), weekend.max()))
    scale = _STRIP / (most or 1.0)
    filled = "".join(
        f"M{h} {_STRIP}v{-scale * w:.1f}h.9v{scale * w:.1f}z" for h, w in enumerate(weekday) if w > 0
    )
    line = "".join(f"{'M0 ' if h == 0 else 'V'}{_STRIP - scale * w:.1f}h1" for h, w in enumerate(weekend))
    return Markup(
        '<svg class="day" viewBox="0 0 24 {}" preserveAspectRatio="none" role="img" aria-label="{}" '
        'style="--c:{}">'
        '<path class="weekday" d="{}"/><path class="weekend" d="{}"/></svg>'
    ).format(
        _STRIP,
        f"Typical day of {name}: mean power in each hour, at most {words.watts_text(most)}",
        style_of(colour).colour,
        filled,
        line if weekend.any() else "",
    )


def spark(values: Sequence[float], *, label: str, colour: int | None = None) -> Markup:
    """A small line through `values`, week by week, with a dot on the last."""
    n = len(values)
    low, high = min([0.0, *values]), max([0.0, *values])
    scale = (_SPARK[1] - 6) / ((high - low) or 1.0)
    points = [
        (3 + (_SPARK[0] - 6) * (k / (n - 1) if n > 1 else 1.0), _SPARK[1] - 3 - (value - low) * scale)
        for k, value in enumerate(values)
    ]
    x, y = points[-1] if points else (0.0, 0.0)
    return Markup(
        '<svg class="spark" viewBox="0 0 {} {}" role="img" aria-label="{}" style="--c:{}">'
        '<polyline points="{}"/><circle cx="{:.1f}" cy="{:.1f}" r="2.5"/></svg>'
    ).format(
        *_SPARK,
        f"{label}: {', '.join(words.decimals(value, 1) for value in values)}",
        "currentColor" if colour is None else style_of(colour).colour,
        " ".join(f"{a:.1f},{b:.1f}" for a, b in points),
        x,
        y,
    )


def on_stretches(on: NDArray[np.uint8], result: Timed, window: Window) -> list[tuple[float, float]]:
    """Runs of ones in a column of Z, (start, end) in seconds of the window; a hole ends a run."""
    start = window.seconds(result.start_utc)
    stop = start + result.duration_s
    holes = np.append(False, start[1:] - stop[:-1] > ROWS.gap_s)
    pairs = [(float(start[first]), float(stop[after - 1])) for first, after in runs_of_ones(on, holes)]
    end = window.days * DAY_S
    return [(max(a, 0.0), min(b, end)) for a, b in pairs if b > 0 and a < end]


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
    # One dashed line a day, as wide as a cell: a square for each hour would be most of the drawing.
    ground = "".join(f"M{_LEFT} {_TOP + d * _CELL + 5.5}h{24 * _CELL}" for d in days)
    ticks = [
        Markup('<text x="{}" y="10">{:02d}</text>').format(_LEFT + h * _CELL, h) for h in range(0, 24, 6)
    ]
    names = [
        Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(
            _LEFT - 5,
            _TOP + d * _CELL + 9.5,
            window.day(d, "%a %-d"),
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
