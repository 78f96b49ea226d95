"""The wide figures of the pages, drawn with matplotlib and returned as inline SVG with alternative text.

Owns the wide figures: power, mains, energy by week. The small ones of one appliance are `panels`; the
timeline and the heat maps, which must stretch with the page, are `strips`.
"""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from lfm.arrays import FloatArray
from nilm.report.figures.chart import Layer
from nilm.report.figures.palette import Style
from nilm.report.figures.svg import GROUND, MUTED, TEXT, drawing, hue_for_matplotlib, new_figure, svg_of
from nilm.report.when import Window, binned
from nilm.results import WeekResult
from nilm.timeline import DAY_S

BIN_S = 3600  # hourly means: the figure is for paper, and for pages without script
WIDE = (1040, 340)


def _day_axis(axes: Axes, window: Window) -> None:
    axes.set_xlim(0, window.days)
    axes.set_xticks(range(window.days + 1), labels=[""] * (window.days + 1))
    axes.grid(visible=False, axis="x", which="minor")
    for d in range(window.days):
        axes.annotate(
            window.day(d), (d + 0.5, 0), xycoords=("data", "axes fraction"), xytext=(0, -14),
            textcoords="offset points", ha="center", va="center", fontsize=10.5,
        )  # fmt: skip


def stacked_power(layers: Sequence[Layer], result: WeekResult, window: Window, *, name: str) -> Markup:
    """The layers piled up against the metered power, in means of an hour, without names."""
    days = np.arange(window.days * DAY_S // BIN_S + 1) * BIN_S / DAY_S
    powers = [binned(layer.values, result, window, bin_s=BIN_S) for layer in layers]
    metered = binned(result.metered_w, result, window, bin_s=BIN_S)
    with drawing():
        figure = new_figure(WIDE)
        axes = figure.add_axes((0.045, 0.1, 0.95, 0.87))
        _day_axis(axes, window)
        axes.set_ylabel("power (kW)")
        for sign in (1, -1):  # what feeds in is piled up below zero
            base = np.zeros(len(metered))
            for layer, power in zip(layers, powers, strict=True):
                part = np.where(sign * power > 0, power, 0.0) / 1000
                if np.any(part):
                    _layer(axes, days, base, base + part, style=layer.style)
                    base = base + part
        axes.stairs(metered / 1000, days, color=TEXT, linewidth=0.7, baseline=None)
        return svg_of(
            figure,
            name=name,
            title="Power of the appliances against the metered power",
            text=f"{result.metered_kwh:.1f} kWh metered, {result.unexplained_kwh:.1f} kWh unexplained.",
        )


def _layer(axes: Axes, days: FloatArray, low: FloatArray, high: FloatArray, *, style: Style | None) -> None:
    """One layer of the pile, from `low` to `high`."""
    axes.stairs(
        high,
        days,
        baseline=low,
        fill=True,
        facecolor=_face(style),
        linewidth=0,
        hatch=style.hatch or None if style else None,
    )


def _face(style: Style | None) -> str:
    """The fill of an appliance, or of all others together."""
    return MUTED if style is None else hue_for_matplotlib(style.hue)


def mains(result: WeekResult, window: Window, *, name: str) -> Markup:
    """Mains frequency and voltage over the week, in means of a quarter of an hour."""
    days = np.arange(window.days * DAY_S // BIN_S + 1) * BIN_S / DAY_S
    series = (
        ("frequency (Hz)", binned(result.mains_hz, result, window, bin_s=BIN_S)),
        ("voltage (V RMS)", binned(result.rms_v, result, window, bin_s=BIN_S)),
    )

    ranges = [
        f"{label} {np.nanmin(values):.2f} to {np.nanmax(values):.2f}"
        for label, values in series
        if np.isfinite(values).any()
    ]
    with drawing():
        figure = new_figure(WIDE)
        for row, (label, values) in enumerate(series):
            axes = figure.add_axes((0.055, 0.58 - row * 0.46, 0.94, 0.36))
            _day_axis(axes, window)
            axes.set_ylabel(label)
            axes.ticklabel_format(axis="y", useOffset=False)
            axes.stairs(values, days, baseline=None, color=hue_for_matplotlib(2 * row), linewidth=1.2)
        return svg_of(
            figure, name=name, title="Mains frequency and voltage over the week", text="; ".join(ranges)
        )


def energy_by_week(
    weeks: Sequence[str], layers: Sequence[tuple[Style | None, FloatArray]], *, name: str
) -> Markup:
    """Energy per appliance as bars, one bar per week; `layers` are (style or None, kWh per week)."""
    with drawing():
        figure = new_figure(WIDE)
        axes = figure.add_axes((0.05, 0.1, 0.945, 0.87))
        axes.set_ylabel("energy (kWh)")
        axes.grid(visible=False, axis="x")
        above, below = np.zeros(len(weeks)), np.zeros(len(weeks))
        for style, kwh in layers:
            base = np.where(kwh >= 0, above, below)
            axes.bar(
                range(len(weeks)), kwh, 0.7, bottom=base, edgecolor=GROUND, linewidth=0.6,
                facecolor=_face(style), hatch=style.hatch or None if style else None,
            )  # fmt: skip
            above, below = above + np.maximum(kwh, 0), below + np.minimum(kwh, 0)
        step = max(1, -(-len(weeks) // 14))
        axes.set_xticks(range(0, len(weeks), step), labels=weeks[::step])
        axes.set_xlim(-0.6, max(len(weeks), 4) - 0.4)
        return svg_of(
            figure,
            name=name,
            title="Energy of each appliance by week",
            text="The table below holds the numbers.",
        )
