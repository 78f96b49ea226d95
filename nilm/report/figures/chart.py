"""The power through the week as layers: for the figure that prints and for the chart that one can zoom.

Owns which appliances get a layer of their own, and the numbers that chart.js draws with Bokeh. Bokeh's script
comes from its Python package and stands in the page, so that a report needs no network.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from markupsafe import Markup

from lfm.arrays import FloatArray
from nilm.report.figures.palette import LIGHT, Style, style_of
from nilm.report.when import Window, binned
from nilm.results import WeekResult

BIN_S = 120
_BOKEH_FILES = ("bokeh.min.js", "bokeh-api.min.js")


@dataclass(frozen=True, eq=False)
class Layer:
    """One appliance, or all small ones together, in the pile of power."""

    name: str
    style: Style | None  # None: several appliances
    values: FloatArray  # watts of each row, or kWh of each week

    @property
    def swatch(self) -> Markup:
        """A small square in the layer's colour and pattern."""
        if self.style is None:
            return Markup('<span class="swatch others" aria-hidden="true"></span>')
        return self.style.swatch


def small_ones_together(layers: Sequence[Layer]) -> list[Layer]:
    """The layers, largest first, with all small ones as one without a colour, unless that is only one.

    As many as there are hues have a layer of their own: no eye follows more.
    """
    n_own = len(layers) if len(layers) <= len(LIGHT) + 1 else len(LIGHT)
    others = [layer.values for layer in layers[n_own:]]
    shared = [Layer(f"{len(others)} others", None, np.sum(others, axis=0))] if others else []
    return [*layers[:n_own], *shared]


def power_layers(result: WeekResult) -> list[Layer]:
    """The layers from the bottom up: what is always on first, so that the rest is seen on a level base."""
    by_size = sorted(result.appliances, key=lambda a: -abs(a.energy_kwh))  # what feeds in is large too
    layers = small_ones_together([Layer(a.name, style_of(a.colour), a.power_w) for a in by_size])
    return sorted(layers, key=_restlessness)


def _restlessness(layer: Layer) -> float:
    return float(np.std(layer.values)) / (abs(float(np.mean(layer.values))) + 1e-9)


def chart_data(layers: list[Layer], result: WeekResult, window: Window) -> Mapping[str, Any]:
    """What chart.js draws: means over BIN_S by the house's clock, NaN where there is no data."""
    start_ms = int(window.start.astype("datetime64[ms]").astype(np.int64))
    return {
        "start_ms": start_ms,
        "bin_s": BIN_S,
        "days": window.days,
        "metered_w": _base64(binned(result.metered_w, result, window, bin_s=BIN_S)),
        "layers": [
            {
                "name": layer.name,
                "hue": None if layer.style is None else layer.style.hue,
                "pattern": 0 if layer.style is None else layer.style.pattern,
                "power_w": _base64(binned(layer.values, result, window, bin_s=BIN_S)),
            }
            for layer in layers
        ],
    }


def _base64(values: FloatArray) -> str:
    return base64.b64encode(np.round(values, 1).astype("<f4").tobytes()).decode()


@cache
def bokeh_script() -> str:
    """Bokeh's own script, as its Python package ships it."""
    folder = files("bokeh") / "server" / "static" / "js"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in _BOKEH_FILES)
