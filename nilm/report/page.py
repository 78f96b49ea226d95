"""The report of one house and week: a self-contained HTML page from a `WeekResult`.

Owns which piece of the result stands where. The drawings come from `figures`, the sentences from `text`; the
templates are filled in by `rendering`. No file is read or written but the package's own templates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from nilm.appliances.certainty.ranges import EnergyRange, range_of_sum
from nilm.appliances.measures import ALWAYS_ON
from nilm.appliances.thresholds import APPLIANCES, PAGE
from nilm.report import when
from nilm.report.changes import compare
from nilm.report.figures import palette, strips, wide
from nilm.report.figures.chart import chart_data, power_layers
from nilm.report.figures.panels import Panels
from nilm.report.rendering import render
from nilm.report.summary import WeekSummary, summary_of
from nilm.report.text import portrait, story
from nilm.results import Activation, Appliance, ShownCorrection, WeekResult


@dataclass(frozen=True)
class ApplianceView:
    """One appliance with its drawings, ready for the template."""

    appliance: Appliance
    anchor: str
    style: palette.Style
    share: float | None  # of the energy used
    cost: float
    power: str  # in words
    usual: str
    often: str
    lengths: str
    start: str
    row: Markup
    week: Markup
    day: Markup
    heat: Markup
    most_wh: float
    waveform: Markup
    trajectory: Markup
    always_on: bool
    resistive: bool  # the voltage's shape lies behind the current's
    shown: tuple[Activation, ...]
    is_new: bool


@dataclass(frozen=True)
class Entry:
    """One line of the page: an appliance, or a machine with the parts that run only while it does."""

    view: ApplianceView
    parts: tuple[ApplianceView, ...]
    energy_kwh: float
    cost: float
    energy_range: EnergyRange  # of the energy, all parts together


@dataclass(frozen=True)
class CorrectionView:
    """One correction with its drawings."""

    correction: ShownCorrection
    name: str
    style: palette.Style
    picture: Markup
    day: str  # the day that the two strips show, on which most changed; empty where nothing did
    before: Markup
    after: Markup


def render_report(result: WeekResult, weeks: Sequence[WeekSummary] = ()) -> str:
    """The page of `result` as HTML, compared with those of `weeks` before it; equal inputs, equal text."""
    window = when.week_window(result)
    holes = when.gaps(result, window)
    panels = Panels(result.voltage_v, mains_hz=_mains_hz(result))
    views = [_appliance(result, index, window, holes, panels) for index in range(len(result.appliances))]
    by_id = {view.appliance.appliance_id: view for view in views}
    entries = _entries(views, result.tariff_per_kwh)
    shown, minor = _minor_apart(entries, result)
    layers = power_layers(result)
    return render(
        "report.html",
        result=result,
        zone=window.zone,
        views=views,
        entries=shown,
        minor=minor,
        by_id=by_id,
        comparison=compare(summary_of(result), weeks, seen=by_id.keys() - set(result.catalogue.new)),
        corrections=[
            _correction(result, index, by_id, window, panels) for index in range(len(result.corrections))
        ],
        day_names=[window.day(d) for d in range(window.days + 1)],
        sentences=story.three_sentences(result, window),
        cautions=story.cautions(result),
        in_doubt=story.much_in_doubt(result),
        doubts=story.doubts(result),
        shared_doubts=story.shared_doubts(result),
        explained=story.explained_share(result),
        explained_words=story.explained_words(result),
        too_much=story.counted_too_much(result),
        residual=story.residual(result.certainty),
        equivalents=story.equivalents(result.certainty),
        missing=story.missing_hours(result.quality, window.zone),
        mains=story.mains_words(result),
        layers=layers,
        chart=chart_data(layers, result, window),
        stacked=wide.stacked_power(layers, result, window, name="stacked"),
        mains_figure=wide.mains(result, window, name="mains"),
        likely=APPLIANCES.likely,
        folded=len(shown) > PAGE.most_open,
        largest_kwh=max((abs(e.energy_kwh) for e in entries), default=0.0) or 1.0,
        scores_before={s.truth_name: s for s in result.scores.appliances_before} if result.scores else {},
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
    most_rows = max(20, PAGE.most_activations // len(result.appliances))
    return ApplianceView(
        appliance=appliance,
        anchor=f"card-{appliance.appliance_id}",
        style=palette.style_of(appliance.colour),
        share=appliance.energy_kwh / result.used_kwh if result.used_kwh > 0 else None,
        cost=appliance.energy_kwh * result.tariff_per_kwh,
        power=portrait.power_said(appliance, result.duration_s),
        usual=portrait.part_of_day(hours) or usual,
        often=portrait.how_often(appliance, float(result.duration_s.sum())),
        lengths=portrait.run_lengths(appliance, window),
        start=portrait.start_said(appliance),
        row=strips.activations_row(appliance, holes, window),
        week=strips.power_strip(appliance, when.binned(appliance.power_w, result, window), holes, window),
        day=strips.typical_day(appliance.name, appliance.colour, *hours.typical_w(window)),
        heat=strips.heat_map(appliance, hours, window, usual=usual),
        most_wh=float(np.abs(hours.energy_wh).max()),
        waveform=panels.waveform(appliance, name=f"wave-{index}"),
        trajectory=panels.trajectory(appliance, name=f"vi-{index}"),
        always_on=appliance.kind == ALWAYS_ON,
        resistive=abs(appliance.power_factor) > PAGE.same_shape,
        shown=appliance.activations[:most_rows],
        is_new=appliance.appliance_id in result.catalogue.new,
    )


def _entries(views: Sequence[ApplianceView], tariff_per_kwh: float) -> list[Entry]:
    """The views as entries, largest energy first; a part is in its machine's entry, with its own parts."""
    machine_of = {view.appliance.appliance_id: view.appliance.part_of for view in views}

    def machine(appliance_id: str) -> str:
        seen = {appliance_id}
        while (host := machine_of[appliance_id]) in machine_of and host not in seen:
            seen.add(host)
            appliance_id = host
        return min(seen) if host in seen else appliance_id  # parts of each other, should a result ever say so

    members: dict[str, list[ApplianceView]] = {}
    for view in views:
        members.setdefault(machine(view.appliance.appliance_id), []).append(view)
    entries = []
    for host, group in members.items():
        group.sort(key=lambda view: view.appliance.appliance_id != host)
        kwh = sum(view.appliance.energy_kwh for view in group)
        energy = _range([view.appliance for view in group])
        entries.append(Entry(group[0], tuple(group[1:]), kwh, kwh * tariff_per_kwh, energy))
    return sorted(entries, key=lambda entry: -entry.energy_kwh)


def _range(appliances: Sequence[Appliance]) -> EnergyRange:
    """The appliances' sum and its 90% range."""
    ranges = [EnergyRange(a.energy_kwh, a.energy_low_kwh, a.energy_high_kwh) for a in appliances]
    return ranges[0] if len(ranges) == 1 else range_of_sum(ranges)


def _minor_apart(entries: list[Entry], result: WeekResult) -> tuple[list[Entry], list[Entry]]:
    """The entries to show, and those that are small or doubtful; one alone is not worth a fold."""
    minor = [entry for entry in entries if _is_minor(entry, result)]
    if len(minor) < 2:
        return entries, []
    return [entry for entry in entries if entry not in minor], minor


def _is_minor(entry: Entry, result: WeekResult) -> bool:
    """Whether an entry is small, or small enough for its doubt; never what an analyst has named."""
    if entry.view.appliance.name_source == "analyst":
        return False
    share = abs(entry.energy_kwh) / result.used_kwh if result.used_kwh > 0 else 1.0
    doubtful = entry.view.appliance.sure < PAGE.doubtful
    return share < PAGE.small_share or (doubtful and share < PAGE.doubtful_share)


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
        day=day.day(0, "%A %-d %B") if changed.any() else "",
        before=strip(correction.on_before, "on and off before the correction"),
        after=strip(after, "on and off after the correction"),
    )
