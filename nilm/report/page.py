"""The report of one house and week: a self-contained HTML page from a `WeekResult`.

Owns which piece of the result stands where, and the environment of the templates; the drawings come from
`figures` and `strips`, the sentences from `story`. No file is read or written but the package's own
templates.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import jinja2
import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from nilm.report import figures, palette, story, strips, when, words
from nilm.report.panels import Panels
from nilm.results import Activation, Appliance, Correction, WeekResult

# A page of 5 MB holds about this many rows of activations; the CSV holds them all, and the page says so.
MOST_ACTIVATION_ROWS = 6_000
MOST_OPEN = 15  # with more appliances, each one's card is folded under its name, and the later heat maps too


@cache
def environment() -> jinja2.Environment:
    """The templates with autoescape on and every name required, and the constants that all pages share."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("nilm.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    folder = files("nilm.report") / "templates"
    script = (folder / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    made.globals.update(
        # Our own files, which hold no data of a week.
        script=Markup(script),  # noqa: S704
        style=Markup((folder / "style.css").read_text(encoding="utf-8")),  # noqa: S704
        script_digest=f"sha256-{digest}",
        light=palette.css_variables(palette.LIGHT, palette.LIGHT_GROUND),
        dark=palette.css_variables(palette.DARK, palette.DARK_GROUND),
        is_mapping=lambda value: isinstance(value, Mapping),
        is_list=lambda value: isinstance(value, Sequence) and not isinstance(value, str),
    )
    made.filters.update(
        breakable=words.breakable,
        end_moment=words.end_moment,
        fixed=words.fixed,
        percent=words.percent,
        rounded=words.rounded,
        watts=words.watts,
        money=words.money,
        count_of=words.count,
        duration=words.duration,
        moment=words.moment,
        confidence=words.confidence,
        correction=words.correction,
    )
    return made


@dataclass(frozen=True)
class ApplianceView:
    """One appliance with its drawings, ready for the template."""

    appliance: Appliance
    anchor: str
    style: palette.Style
    share: float | None  # of the energy used
    cost: float
    usual: str
    lengths: str
    row: Markup
    heat: Markup
    most_wh: float
    waveform: Markup
    trajectory: Markup
    hours: Markup
    shown: tuple[Activation, ...]
    is_new: bool


@dataclass(frozen=True)
class CorrectionView:
    """One correction with its drawings."""

    correction: Correction
    name: str
    style: palette.Style
    picture: Markup
    day: str  # the day that the two strips show, on which most changed; empty where nothing did
    before: Markup
    after: Markup


def render_report(result: WeekResult) -> str:
    """The page of `result` as HTML; the same result gives the same text."""
    window = when.week_window(result)
    holes = when.gaps(result, window)
    panels = Panels(result.voltage_v, mains_hz=_mains_hz(result))
    views = [_appliance(result, index, window, holes, panels) for index in range(len(result.appliances))]
    by_id = {view.appliance.appliance_id: view for view in views}
    return (
        environment()
        .get_template("report.html")
        .render(
            result=result,
            views=views,
            ordered=_parts_under_machines(views),
            by_id=by_id,
            corrections=[
                _correction(result, index, by_id, window, panels) for index in range(len(result.corrections))
            ],
            day_names=[
                words.day(window.start + np.timedelta64(d, "D"), "%a %-d %b") for d in range(window.days)
            ],
            sentences=story.three_sentences(result),
            cautions=story.cautions(result),
            explained=story.explained_share(result),
            residual=story.residual(result.certainty),
            equivalents=story.equivalents(result.certainty),
            missing=story.missing_hours(result.quality),
            mains=story.mains_words(result),
            stacked=figures.stacked_power(result, window, name="stacked"),
            mains_figure=figures.mains(result, window, name="mains"),
            folded=len(views) > MOST_OPEN,
            most_open=MOST_OPEN,
            largest_kwh=max((abs(a.energy_kwh) for a in result.appliances), default=0.0) or 1.0,
            scores_before={s.truth_name: s for s in result.scores.appliances_before} if result.scores else {},
        )
    )


def _mains_hz(result: WeekResult) -> float:
    """The week's usual mains frequency, 50 where none was measured: it only scales an axis."""
    known = result.mains_hz[np.isfinite(result.mains_hz) & (result.mains_hz > 0)]
    return float(np.round(np.median(known))) if len(known) else 50.0


def _appliance(
    result: WeekResult,
    index: int,
    window: when.Window,
    holes: list[tuple[float, float]],
    panels: Panels,
) -> ApplianceView:
    appliance = result.appliances[index]
    hours = when.hours_of(result, appliance, window)
    usual = when.usual_times(hours)
    most_rows = max(20, MOST_ACTIVATION_ROWS // len(result.appliances))
    return ApplianceView(
        appliance=appliance,
        anchor=f"appliance-{index + 1}",
        style=palette.style_of(appliance.colour),
        share=appliance.energy_kwh / result.used_kwh if result.used_kwh > 0 else None,
        cost=appliance.energy_kwh * result.tariff_per_kwh,
        usual=usual,
        lengths=story.run_lengths(appliance.activations),
        row=strips.activations_row(appliance, holes, window),
        heat=strips.heat_map(appliance, hours, window, usual=usual),
        most_wh=float(np.abs(hours.energy_wh).max()),
        waveform=panels.waveform(appliance, name=f"wave-{index}"),
        trajectory=panels.trajectory(appliance, name=f"vi-{index}"),
        hours=panels.hours_of_day(appliance, hours, usual=usual, name=f"day-{index}"),
        shown=appliance.activations[:most_rows],
        is_new=appliance.appliance_id in result.catalogue.new,
    )


def _parts_under_machines(views: list[ApplianceView]) -> list[ApplianceView]:
    """The same views by energy, each likely part directly after its machine."""
    ids = {view.appliance.appliance_id for view in views}
    ordered: dict[str, ApplianceView] = {}  # by anchor, in the order of placing

    def place(view: ApplianceView) -> None:
        if view.anchor in ordered:
            return
        ordered[view.anchor] = view
        for part in views:
            if part.appliance.part_of == view.appliance.appliance_id:
                place(part)

    for view in views:
        if view.appliance.part_of not in ids:
            place(view)
    for view in views:  # parts of each other, should a result ever say so
        place(view)
    return list(ordered.values())


def _correction(
    result: WeekResult,
    index: int,
    by_id: Mapping[str, ApplianceView],
    window: when.Window,
    panels: Panels,
) -> CorrectionView:
    correction = result.corrections[index]
    view = by_id.get(correction.appliance_id)
    name = view.appliance.name if view else correction.appliance_id
    colour = view.appliance.colour if view else 0

    after = view.appliance.on if view else correction.on_before
    changed = correction.on_before != after
    day = when.busiest_day(result, changed, window)

    def strip(on: NDArray[np.uint8], label: str) -> Markup:
        stretches = strips.on_stretches(on, result, day)
        return strips.row(stretches, when.gaps(result, day), day, colour=colour, label=f"{name}, {label}")

    return CorrectionView(
        correction=correction,
        name=name,
        style=palette.style_of(colour),
        picture=panels.before_after(correction, who=name, colour=colour, name=f"hop-{index}"),
        day=words.day(day.start, "%A %-d %B") if changed.any() else "",
        before=strip(correction.on_before, "on and off before the correction"),
        after=strip(after, "on and off after the correction"),
    )
