import numpy as np
import pytest
from markupsafe import Markup

from nilm.report import words


def text(markup: Markup) -> str:
    return markup.striptags().replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (1234.567, "1,234.57"),
        (-2.5, "−2.50"),
        (0.004, "< 0.01"),
        (-0.004, "> −0.01"),
        (0.005, "0.01"),
    ],
)
def test_a_used_thing_is_never_shown_as_nothing(value: float, shown: str) -> None:
    assert text(words.fixed(value)) == shown


@pytest.mark.parametrize("value", [0.1 + 0.2, 1e-9, -73.123456, np.float64(2.5), 7])
def test_the_machine_readable_value_is_exact(value: float) -> None:
    shown = str(words.fixed(value))
    assert float(shown.split('"')[1]) == value


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_what_is_no_number_is_a_dash(value: float | None) -> None:
    assert text(words.fixed(value)) == text(words.percent(value)) == text(words.watts(value)) == "–"


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        (3.5, "GBP", "£3.50"),
        (3.5, "£", "£3.50"),
        (-3.5, "EUR", "−€3.50"),
        (1234.5, "CHF", "1,234.50 CHF"),
        (-0.001, "GBP", "£0.00"),
    ],
)
def test_money(amount: float, currency: str, shown: str) -> None:
    assert text(words.money(amount, currency)) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(45, "45 s"), (120, "2 min"), (5900, "98 min"), (7200, "2 h 00 min"), (360_000, "4 d 4 h")],
)
def test_durations(seconds: float, shown: str) -> None:
    assert words.duration_text(seconds) == shown


def test_errors_may_be_nothing() -> None:
    assert [text(words.rounded(v)) for v in (-0.001, 0.001, -1.5, np.inf)] == ["0.00", "0.00", "−1.50", "–"]


def test_watts_keep_a_decimal_where_it_matters() -> None:
    assert [text(words.watts(w)) for w in (2811.4, 9.96, -89.2)] == ["2,811 W", "10.0 W", "−89 W"]


def test_times_are_utc_for_reader_and_machine() -> None:
    shown = words.moment(np.datetime64("2015-01-06T03:04:05"))
    assert shown == '<time datetime="2015-01-06T03:04:05Z">Tue 6 Jan 03:04</time>'


@pytest.mark.parametrize(
    ("support", "word"),
    [
        (1.0, "very sure"),
        (0.85, "fairly sure"),
        (0.5, "more likely than not"),
        (0.1, "unsure"),
        (np.nan, "not known"),
    ],
)
def test_confidence_in_words(support: float, word: str) -> None:
    assert words.confidence(support) == word


def test_lists_and_counts_read_like_sentences() -> None:
    assert [words.listed(list("abc"[:n])) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert words.listed(["<i>", Markup("<b>")]) == "&lt;i&gt; and <b>"
    assert [text(words.count(n, "hour")) for n in (1, 2)] == ["1 hour", "2 hours"]
