from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from markupsafe import Markup

from nilm.report.text import words


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


def test_errors_may_be_nothing() -> None:
    assert [text(words.rounded(v)) for v in (-0.001, 0.001, -1.5, np.inf)] == ["0.00", "0.00", "−1.50", "–"]


def test_watts_keep_a_decimal_where_it_matters() -> None:
    assert [text(words.watts(w)) for w in (2811.4, 9.96, -89.2)] == ["2,811 W", "10.0 W", "−89 W"]


def test_times_are_the_houses_for_the_reader_and_utc_for_the_machine() -> None:
    shown = words.moment(np.datetime64("2015-07-06T23:04:05"), ZoneInfo("Europe/London"))
    assert shown == '<time datetime="2015-07-06T23:04:05Z">Tue 7 Jul 00:04</time>'


def test_a_difference_has_its_sign() -> None:
    assert [text(words.change(v, 1, "kWh")) for v in (1.25, -0.5, 0.0)] == ["+1.2 kWh", "−0.5 kWh", "0.0 kWh"]


@pytest.mark.parametrize(("sure", "word"), [(0.95, "very sure"), (0.75, "likely"), (0.2, "a guess")])
def test_how_sure_in_words(week: Any, sure: float, word: str) -> None:
    appliance = replace(week(n_appliances=1, days=1, gap=(0, 0)).appliances[0], sure=sure)
    assert words.confidence(appliance) == word
    assert words.is_sure(appliance) == (word == "very sure")
    assert not words.is_sure(replace(appliance, not_told_apart_from=("A02",)))


def test_lists_and_counts_read_like_sentences() -> None:
    assert [words.listed(list("abc"[:n])) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert words.listed(["<i>", Markup("<b>")]) == "&lt;i&gt; and <b>"
    assert [text(words.count(n, "hour")) for n in (1, 2)] == ["1 hour", "2 hours"]


def test_the_end_of_a_run_says_its_day_only_where_it_is_another() -> None:
    start = np.datetime64("2015-01-01T23:50:07")
    assert words.second(start).striptags() == "Thu 1 Jan 23:50:07"
    assert words.end_second(start + np.timedelta64(5, "m"), start).striptags() == "23:55:07"
    assert words.end_second(start + np.timedelta64(15, "m"), start).striptags() == "Fri 2 Jan 00:05:07"


def test_names_may_break_after_an_underscore_and_are_escaped() -> None:
    assert words.breakable("washing_machine") == "washing_<wbr>machine"
    assert words.breakable("<b>_x") == "&lt;b&gt;_<wbr>x"
