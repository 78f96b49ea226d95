"""The small figures of one appliance: current over the cycle, and current against voltage.

Owns their axes. A week has up to a hundred appliances and making axes is most of matplotlib's work, so the
axes of each kind are made once per page and drawn again with every appliance's data.
"""

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lfm.arrays import FloatArray
from nilm.report.figures.palette import style_of
from nilm.report.figures.svg import MUTED, RULE, drawing, hue_for_matplotlib, new_figure, svg_of
from nilm.results import Appliance, ShownCorrection

_SIZE = (340, 230)
_MOST_POINTS = 160  # a figure this small cannot show more of a cycle
_DASHED = (0, (4, 3))


def _short(cycle: FloatArray) -> FloatArray:
    """A cycle (D,) thinned to what the figure can show, closed by its first point again."""
    return np.append(cycle[:: max(1, len(cycle) // _MOST_POINTS)], cycle[0])


def _axes(figure: Figure, *, x: str, y: str, top: float = 0.95) -> Axes:
    axes = figure.add_axes((0.16, 0.21, 0.81, top - 0.21))
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.locator_params(nbins=6)
    return axes


def _cycle_axes(figure: Figure, cycle_ms: float, *, top: float = 0.95) -> Axes:
    axes = _axes(figure, x="time in the mains cycle (ms)", y="current (A)", top=top)
    axes.set_xlim(0, cycle_ms)
    axes.set_xticks(np.arange(0, cycle_ms + 0.1, 5))
    axes.axhline(0, color=RULE, linewidth=1)
    return axes


def _set_limits(axes: Axes, peak: float) -> None:
    """The same room above and below zero, a little more than the peak."""
    room = 1.08 * peak if peak > 0 else 1.0
    axes.set_ylim(-room, room)


class Panels:
    """The small figures of one week: every appliance and correction is drawn on the same axes."""

    def __init__(self, voltage_v: FloatArray, *, mains_hz: float) -> None:
        """Axes for the week's mean voltage cycle (D,) and its mains frequency, which scales the time."""
        self._voltage = _short(voltage_v)
        cycle_ms = 1000 / mains_hz
        time_ms = np.linspace(0, cycle_ms, len(self._voltage))
        flat = np.zeros_like(time_ms)
        with drawing():
            self._wave, self._loop, self._change = (new_figure(_SIZE) for _ in range(3))
            axes = _cycle_axes(self._wave, cycle_ms)
            (self._shape,) = axes.plot(time_ms, flat, color=MUTED, linewidth=1, linestyle=_DASHED)
            (self._current,) = axes.plot(time_ms, flat, linewidth=2)
            axes = _axes(self._loop, x="voltage (V)", y="current (A)")
            axes.axhline(0, color=RULE, linewidth=1)
            axes.axvline(0, color=RULE, linewidth=1)
            (self._trajectory,) = axes.plot(self._voltage, flat, linewidth=1.8)
            axes = _cycle_axes(self._change, cycle_ms, top=0.86)
            (self._before,) = axes.plot(
                time_ms, flat, color=MUTED, linewidth=1.6, linestyle=_DASHED, label="before"
            )
            (self._after,) = axes.plot(time_ms, flat, linewidth=2, label="after")

    def waveform(self, appliance: Appliance, *, name: str) -> Markup:
        """The current over one voltage cycle, with the voltage's shape behind it."""
        current = _short(appliance.current_a)
        peak = float(np.abs(appliance.current_a).max())
        scale = peak / (float(np.abs(self._voltage).max()) or 1.0)
        with drawing():
            self._shape.set_ydata(self._voltage * scale)
            self._current.set_ydata(current)
            self._current.set_color(hue_for_matplotlib(style_of(appliance.colour).hue))
            _set_limits(self._wave.axes[0], peak)
            return svg_of(
                self._wave,
                name=name,
                title=f"Current of {appliance.name} over one mains cycle",
                text=f"Peak {peak:.2f} A, {appliance.rms_a:.2f} A RMS. Dashed: the shape of the voltage.",
            )

    def trajectory(self, appliance: Appliance, *, name: str) -> Markup:
        """Current against voltage over one cycle: a line for a heater, a loop for a motor."""
        with drawing():
            self._trajectory.set_ydata(_short(appliance.current_a))
            self._trajectory.set_color(hue_for_matplotlib(style_of(appliance.colour).hue))
            _set_limits(self._loop.axes[0], float(np.abs(appliance.current_a).max()))
            return svg_of(
                self._loop,
                name=name,
                title=f"Current against voltage of {appliance.name}",
                text=f"V-I trajectory over one mains cycle; power factor {appliance.power_factor:.2f}.",
            )

    def before_after(self, correction: ShownCorrection, *, who: str, colour: int, name: str) -> Markup:
        """The feature's current before the correction, dashed, and after it."""
        currents = (correction.current_before_a, correction.current_after_a)
        with drawing():
            self._before.set_ydata(_short(currents[0]))
            self._after.set_ydata(_short(currents[1]))
            self._after.set_color(hue_for_matplotlib(style_of(colour).hue))
            axes = self._change.axes[0]
            _set_limits(axes, max(float(np.abs(c).max()) for c in currents))
            # Made anew each time: a legend keeps the colours it was made with.
            axes.legend(loc="lower right", bbox_to_anchor=(1, 0.98), ncols=2, borderaxespad=0)
            return svg_of(
                self._change,
                name=name,
                title=f"Current of {who} before and after the correction",
                text=f"{correction.watts_before:.0f} W before, {correction.watts_after:.0f} W after.",
            )
