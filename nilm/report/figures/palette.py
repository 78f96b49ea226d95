"""One colour and one pattern per appliance, the same on every figure and in every week.

Owns the colours of the pages. The eight hues were searched for the largest smallest distance between any
two of them as readers with protanopia, deuteranopia and tritanopia see them, with a contrast of at least
3:1 to the page (WCAG 1.4.11); the light and the dark page have a set each, with the same hues. After eight
appliances the hues come again with another pattern, and every figure labels its appliances in words too.
"""

from dataclasses import dataclass

from markupsafe import Markup

LIGHT = ("#5a86f3", "#ac2b03", "#2e6868", "#978b15", "#7749b6", "#d66da2", "#172178", "#581c1c")
DARK = ("#4d8bf4", "#a4571f", "#a3e9d9", "#fdd15b", "#6d59a3", "#b6799c", "#b7b3f5", "#fc7c4a")
LIGHT_GROUND = "#ffffff"
DARK_GROUND = "#15181d"
_HATCHES = ("", "///", "...", "\\\\\\")


@dataclass(frozen=True)
class Style:
    """How one appliance is drawn: a hue of the palette and a pattern."""

    hue: int  # 0 to 7
    pattern: int  # 0 to 3

    @property
    def colour(self) -> str:
        """The CSS colour, which follows the light or dark page."""
        return f"var(--c{self.hue})"

    @property
    def hatch(self) -> str:
        """Matplotlib's hatch for areas."""
        return _HATCHES[self.pattern]

    @property
    def swatch(self) -> Markup:
        """A small square in the colour and pattern, hidden from screen readers: the name follows it."""
        return Markup('<span class="swatch {}" aria-hidden="true"></span>').format(self.css)

    @property
    def css(self) -> str:
        """The CSS classes that fill an element with the colour and pattern."""
        return f"c{self.hue} p{self.pattern}"


def style_of(colour: int) -> Style:
    """The style of an `Appliance.colour` index, any integer ≥ 0; it repeats after 32."""
    return Style(hue=colour % len(LIGHT), pattern=colour // len(LIGHT) % len(_HATCHES))


def css_variables(colours: tuple[str, ...], ground: str) -> str:
    """The custom properties of one theme, `--c0` to `--c7` and `--ground`."""
    hues = "".join(f"--c{i}:{colour};" for i, colour in enumerate(colours))
    return f"{hues}--ground:{ground};"
