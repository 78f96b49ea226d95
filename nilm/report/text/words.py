"""Numbers, times and verdicts as an energy analyst reads them.

Owns the wording and the rounding of the pages. A number is always `<data value="…">`: the rounded text is
for the reader, the value is the number of the CSV, digit for digit.
"""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo

import numpy as np
from markupsafe import Markup, escape

from nilm.appliances.certainty.doubts import VERY_SURE, sure_word
from nilm.appliances.naming import duration_words
from nilm.results import Appliance

_SYMBOLS = {"GBP": "£", "EUR": "€", "USD": "$"}
_CORRECTIONS = {
    "unchanged": "not corrected",
    "inverted": "corrected: was inverted (on where it is off)",
    "duplicated": "corrected: was counted twice",
    "merged": "corrected: was merged with another",
    "split": "corrected: was split in two",
    "bias level moved": "corrected: the always-on level was moved",
}


def _with_unit(text: str, unit: str) -> str:
    return f"{text}\u00a0{unit}" if unit else text


def _signed(text: str) -> str:
    return text.replace("-", "−")


def decimals(value: float, places: int) -> str:
    """`value` with `places` decimals, or "< 0.01" where that would show a used thing as nothing."""
    least = 10.0**-places
    if value != 0 and abs(value) < least / 2:
        return f"{'>' if value < 0 else '<'} {'−' if value < 0 else ''}{least:.{places}f}"
    return _signed(f"{value or 0.0:,.{places}f}")  # −0 is 0


def data(value: float | None, text: str | Callable[[float], str]) -> Markup:
    """`text` for the reader, or what it makes of the value, with `value` for the machine; else a dash."""
    if value is None or not math.isfinite(value):
        return Markup('<span class="none">–</span>')
    exact = repr(value.item() if isinstance(value, np.generic) else value)
    return Markup('<data value="{}">{}</data>').format(exact, text if isinstance(text, str) else text(value))


def fixed(value: float | None, places: int = 2, unit: str = "") -> Markup:
    """A number with a fixed count of decimals and, where given, its unit."""
    return data(value, lambda known: _with_unit(decimals(known, places), unit))


def rounded(value: float | None, places: int = 2) -> Markup:
    """A number such as an error, for which nothing is as good as 0.00."""

    def text(known: float) -> str:
        shown = f"{known:,.{places}f}"
        return _signed(shown) if shown.strip("-0.") else shown.removeprefix("-")

    return data(value, text)


def percent(value: float | None, places: int = 1) -> Markup:
    """A ratio as a percentage."""
    return data(value, lambda known: percent_text(known, places))


def percent_text(value: float, places: int = 1) -> str:
    """The words of `percent` alone, with a space that does not break."""
    return f"{decimals(value * 100, places)}\u00a0%"


def watts(value: float | None) -> Markup:
    """Watts: whole from ten on, one decimal below."""
    return data(value, watts_text)


def watts_text(value: float) -> str:
    """The words of `watts` alone, with a space that does not break."""
    return f"{decimals(value, 0 if abs(value) >= 10 else 1)}\u00a0W"


def money(value: float, currency: str) -> Markup:
    """An amount in a currency; the three best known by their sign, the others by their code."""
    return data(value, money_text(value, currency))


def money_text(value: float, currency: str) -> str:
    """The words of `money` alone."""
    sign = _SYMBOLS.get(currency, currency)
    amount = f"{abs(value):,.2f}"
    minus = "−" if value < 0 and amount.strip("0.,") else ""
    return f"{minus}{sign}{amount}" if len(sign) == 1 else f"{minus}{amount} {sign}"


def change(value: float, places: int = 1, unit: str = "") -> Markup:
    """A difference with its sign, so that a rise is seen as one."""
    return data(value, _with_unit(f"{'+' if value > 0 else ''}{decimals(value, places)}", unit))


def count(value: int, one: str, many: str = "") -> Markup:
    """A whole number with its noun: "1 appliance", "3 appliances"."""
    return data(int(value), f"{value:,} {one if value == 1 else many or one + 's'}")


def duration(seconds: float) -> Markup:
    """A duration as an analyst says it: "45 s", "12 min", "3 h 20 min", "2 d 4 h"."""
    return data(seconds, duration_words(seconds))


def as_datetime(time: np.datetime64, zone: tzinfo = UTC) -> datetime:
    """The same instant as an aware datetime by the clocks of `zone`."""
    return datetime.fromtimestamp(int(time.astype("datetime64[s]").astype(np.int64)), zone)


def moment(time: np.datetime64, zone: tzinfo = UTC, style: str = "%a %-d %b %H:%M") -> Markup:
    """A `<time>` by the clocks of `zone`, with the instant in UTC for the machine."""
    exact = f"{as_datetime(time):%Y-%m-%dT%H:%M:%SZ}"
    return Markup('<time datetime="{}">{}</time>').format(exact, as_datetime(time, zone).strftime(style))


def second(time: np.datetime64, zone: tzinfo = UTC) -> Markup:
    """A `<time>` to the second."""
    return moment(time, zone, "%a %-d %b %H:%M:%S")


def end_second(time: np.datetime64, start: np.datetime64, zone: tzinfo = UTC) -> Markup:
    """A `<time>` to the second that says its day only where that is another than the start's."""
    same = as_datetime(time, zone).date() == as_datetime(start, zone).date()
    return moment(time, zone, "%H:%M:%S") if same else second(time, zone)


def day(time: np.datetime64, style: str = "%A %-d %B %Y", zone: tzinfo = UTC) -> str:
    """A date in words, by the clocks of `zone`."""
    return as_datetime(time, zone).strftime(style)


def confidence(appliance: Appliance) -> str:
    """How sure we are of an appliance, as a word."""
    return sure_word(appliance.sure)


def is_sure(appliance: Appliance) -> bool:
    """Whether the word is "very sure" and no other appliance is mixed up with it."""
    return confidence(appliance) == VERY_SURE and not appliance.not_told_apart_from


def correction(kind: str) -> str:
    """What the hopper did to one appliance, in words; kinds unknown here are shown as they are."""
    return _CORRECTIONS.get(kind, f"corrected: {kind}")


def breakable(name: str) -> Markup:
    """A name that may go on in the next line after an underscore, as names of UK-DALE need on a telephone."""
    return escape(name).replace("_", Markup("_<wbr>"))


def listed(items: Sequence[str]) -> Markup:
    """The items as one list: "a", "a and b" or "a, b and c"; escaped unless they are markup already."""
    if len(items) < 2:
        return escape("".join(items))
    return Markup("{} and {}").format(Markup(", ").join(items[:-1]), items[-1])
