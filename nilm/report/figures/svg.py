"""A matplotlib figure as SVG to stand inside a page: small, repeatable, and fit for light and dark.

Owns matplotlib's settings and the cleaning of what it writes; `figures` draws. Drawing uses colours that
no figure means literally and that are exchanged for CSS variables afterwards, because matplotlib knows no
variables. Ids that nothing refers to go; the others get the figure's name in front, so that two figures of
one page never share one.
"""

import io
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from nilm.report.figures.palette import LIGHT

TEXT = "#000001"
RULE = "#000002"
GROUND = "#000003"
MUTED = "#000004"
_HUES = tuple(f"#0000{0xA0 + i:02x}" for i in range(len(LIGHT)))
_STANDS_FOR = {
    TEXT: "currentColor",
    RULE: "var(--rule)",
    GROUND: "var(--ground)",
    MUTED: "var(--muted)",
    **{hue: f"var(--c{i})" for i, hue in enumerate(_HUES)},
}
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "nilm",
    "font.size": 11,
    "axes.labelsize": 11,
    "xtick.labelsize": 10.5,
    "ytick.labelsize": 10.5,
    "legend.fontsize": 10.5,
    "text.parse_math": False,  # a name may hold a dollar sign
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "xtick.bottom": False,  # the grid marks the ticks
    "ytick.left": False,
    "xtick.labelcolor": TEXT,
    "ytick.labelcolor": TEXT,
    "axes.edgecolor": RULE,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.color": GROUND,
    "hatch.linewidth": 1.6,
    **{f"boxplot.{part}props.color": TEXT for part in ("box", "whisker", "cap")},
    "legend.frameon": False,
    "path.simplify": True,
    "path.simplify_threshold": 0.2,
}
# Matplotlib's settings belong to the whole process, and pages may be made in several threads.
_lock = threading.Lock()
_REFERENCE = re.compile(r'url\(#([^)]+)\)|href="#([^"]+)"')
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_UNSEEN = re.compile(r'<path [^>]*style="fill: none"/>')
_GROUP = re.compile(r"</?g\b[^>]*>")
_LEVEL_LINE = re.compile(r"(?<=L )([\d.]+) ([\d.]+)(?:L [\d.]+ \2)+(?=L [\d.]+ \2(?:L|z|\"))")


def _tenths(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def hue_for_matplotlib(hue: int) -> str:
    """The colour to draw with where the page shall show `var(--c<hue>)`."""
    return _HUES[hue]


@contextmanager
def drawing() -> Iterator[None]:
    """Matplotlib's settings for the pages, one thread at a time; figures are made and written inside."""
    with _lock, matplotlib.rc_context(_SETTINGS):
        yield


def new_figure(size: tuple[int, int]) -> Figure:
    """An empty figure of (width, height) CSS pixels, to be made inside `drawing`."""
    figure = Figure(figsize=(size[0] / 72, size[1] / 72), dpi=72)
    FigureCanvasSVG(figure)
    return figure


def svg_of(figure: Figure, *, name: str, title: str, text: str) -> Markup:
    """The figure as one `<svg role="img">`, to be called inside `drawing`.

    `name` is unique on the page (letters, digits, hyphens); `title` and `text` are what a screen reader says.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    width, height = (round(float(inches) * 72) for inches in figure.get_size_inches())
    # Matplotlib has escaped the texts in it; a test holds it to that.
    inner = Markup(_clean(buffer.getvalue(), name))  # noqa: S704
    return Markup(
        '<svg class="plot" viewBox="0 0 {0} {1}" style="--natural:{0}px" role="img" '
        'aria-labelledby="{2}-t {2}-d"><title id="{2}-t">{3}</title><desc id="{2}-d">{4}</desc>{5}</svg>'
    ).format(width, height, name, title, text, inner)


def inline_svg(
    draw: Callable[[Figure], None], *, name: str, size: tuple[int, int], title: str, text: str
) -> Markup:
    """What `draw` draws on a fresh figure of `size` CSS pixels; the words are those of `svg_of`."""
    with drawing():
        figure = new_figure(size)
        draw(figure)
        return svg_of(figure, name=name, title=title, text=text)


def _clean(svg: str, name: str) -> str:
    """The content of matplotlib's `<svg>` without metadata, style sheet, fonts and needless ids."""
    body = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    # The style sheet would apply to the whole page; the page's own says the same for its plots.
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
    body = body.replace("xlink:href", "href")
    used = {a or b for a, b in _REFERENCE.findall(body)}
    body = re.sub(r' id="([^"]+)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", body)
    body = _REFERENCE.sub(lambda m: m[0].replace("#", f"#{name}-", 1), body)
    body = re.sub(r"font-family:[^;\"]*;? ?", "", body)
    body = re.sub(r' transform="rotate\(-?0 [^"]*"', "", body)
    # Coordinates to a tenth of a pixel; only inside tags, for the texts between them are for the reader.
    body = re.sub(r"<[^>]+>", lambda tag: _LONG_NUMBER.sub(_tenths, tag[0]), body)
    for drawn, shown in _STANDS_FOR.items():
        body = body.replace(drawn, shown)
    body = re.sub(r"\s*\n\s*", "", re.sub(r">\s+<", "><", body))
    body = _LEVEL_LINE.sub(r"\1 \2", body)  # of a level stretch its two ends are enough
    return _without_empty(body)


def _without_empty(body: str) -> str:
    """The drawing without what draws nothing: paths with neither fill nor stroke, groups that only hold."""
    body = _UNSEEN.sub("", body)
    kept: list[bool] = []

    def group(tag: re.Match[str]) -> str:
        if tag[0] == "</g>":
            return tag[0] if kept.pop() else ""
        kept.append(tag[0] != "<g>")
        return tag[0] if kept[-1] else ""

    return _GROUP.sub(group, body)
