from dataclasses import replace
from datetime import UTC
from typing import Any

import pytest

from nilm.report.page import render_report
from nilm.report.text import story
from nilm.report.when import week_window
from nilm.results import WeekResult


@pytest.fixture(scope="module")
def result(week: Any) -> WeekResult:
    return week(n_appliances=4, days=1, gap=(300, 330))


def said(result: WeekResult) -> list[str]:
    return [s.striptags().replace("\u00a0", " ") for s in story.three_sentences(result, week_window(result))]


def test_three_sentences_tell_what_was_used_by_what_and_how_sure(result: WeekResult) -> None:
    used, by_what, sure = said(result)
    assert used.startswith("On Monday 29 December 2014, house_sim used ")
    assert by_what.startswith("4 appliances explain ")
    assert result.appliances[0].name in by_what
    assert "2 appliances were corrected" in sure


def test_the_verdict_decides_the_third_sentence(result: WeekResult) -> None:
    words = {
        "identifiable": ": no other explanation fits the data",
        "not identifiable": ": other explanations fit the data as well but are less plausible",
        "unknown": ": whether another explanation fits as well could not be settled",
    }
    for verdict, some in words.items():
        certainty = replace(result.certainty, verdict=verdict)
        assert some in said(replace(result, certainty=certainty))[2]


def test_how_many_appliances_are_certain_is_said_with_their_energy(result: WeekResult) -> None:
    def as_sure(*sure: float) -> str:
        changed = [
            replace(a, sure=s, not_told_apart_from=(), energy_kwh=1.0)
            for a, s in zip(result.appliances, sure, strict=False)
        ]
        return said(replace(result, appliances=tuple(changed)))[2]

    assert as_sure(1, 0.95, 0.99).startswith("We are very sure of all of them: ")
    assert as_sure(1).startswith("We are very sure of it: ")
    assert as_sure(1, 0.8, 0.3, 1).startswith("We are very sure of 2 of them, which hold 50 % of ")
    assert as_sure(0.5, 0.3).startswith("We are very sure of none of them (2 are a guess): ")
    assert as_sure().startswith("We are sure of nothing: ")


def test_what_a_generator_made_is_told_beside_what_was_used(result: WeekResult) -> None:
    first, *others = result.appliances
    made = replace(first, kind="generator", energy_kwh=-20.0)
    net = replace(result, appliances=(made, *others), metered_kwh=-4.0, unexplained_kwh=0.8)
    assert (
        "house_sim used 16.0 kWh and generated 20.0 kWh; in all it fed in 4.0 kWh, worth £1.12"
        in said(net)[0]
    )
    assert story.explained_share(net) == pytest.approx(1 - 0.8 / 16)
    assert "95.0 % of what was used" in said(net)[1]


def test_nothing_metered_has_no_share(result: WeekResult) -> None:
    assert story.explained_share(replace(result, metered_kwh=0.0)) is None
    assert "were found" in said(replace(result, metered_kwh=0.0))[1]


def test_the_residual_is_called_the_same_only_if_it_is(result: WeekResult) -> None:
    certainty = result.certainty
    assert "is the same before and after" in story.residual(certainty)
    larger = replace(certainty, residual_before=10.0, residual_after=11.0)
    assert "10.0\u00a0% larger" in story.residual(larger)
    smaller = replace(certainty, residual_before=10.0, residual_after=9.0)
    assert "10.0\u00a0% smaller" in story.residual(smaller)


def test_equivalent_explanations_are_counted_honestly(result: WeekResult) -> None:
    def words(n: int, exact: bool) -> str:
        certainty = replace(result.certainty, n_equivalent=n, n_equivalent_is_exact=exact)
        return story.equivalents(certainty).striptags()

    assert words(3, True) == "3"
    assert words(1200, False) == "at least 1,200"
    assert words(10**30, False) == "billions"


def test_a_good_week_needs_no_caution(result: WeekResult) -> None:
    assert story.cautions(result) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"unexplained_kwh": -100.0}, "should not be used"),
        (
            {"certainty": {"at_noise_floor": False, "relative_residual": 0.4}},
            "40 % of the current is left over",
        ),
        ({"quality": {"coverage": 0.02}}, "Only 2 % of the expected data"),
    ],
)
def test_what_spoils_a_week_is_said_first(result: WeekResult, change: dict[str, Any], words: str) -> None:
    changes = {
        name: replace(getattr(result, name), **value) if isinstance(value, dict) else value
        for name, value in change.items()
    }
    assert [words in caution.striptags() for caution in story.cautions(replace(result, **changes))] == [True]


def test_appliances_we_are_unsure_of_are_a_caution_where_they_hold_the_energy(result: WeekResult) -> None:
    unsure = tuple(replace(a, sure=0.3) for a in result.appliances)
    assert (
        "100 % of the appliances' energy" in story.cautions(replace(result, appliances=unsure))[0].striptags()
    )
    largest_sure = (replace(unsure[0], sure=0.9, energy_kwh=1e6), *unsure[1:])
    energy = replace(result, appliances=largest_sure, metered_kwh=2e6, unexplained_kwh=1e6)
    assert story.cautions(energy) == []


def test_missing_hours_are_joined_to_stretches(result: WeekResult) -> None:
    hours = ("2015-01-06T23:00:00Z", "2015-01-07T00:00:00", "2015-01-06T03:00:00+00:00", "some day")
    quality = replace(result.quality, hours_missing=hours)
    assert story.missing_hours(quality, UTC) == [
        "Tue 6 Jan 03:00–04:00 (1 hour)",
        "Tue 6 Jan 23:00–Wed 7 Jan 01:00 (2 hours)",
        "some day",
    ]


def test_a_week_with_much_in_doubt_names_the_largest_doubt_first(result: WeekResult) -> None:
    sure = (0.97, 0.55, 0.3, 0.95)
    energies = (10.0, 20.0, 15.0, 1.0)
    doubtful = tuple(
        replace(a, sure=s, energy_kwh=e, not_told_apart_from=())
        for a, s, e in zip(result.appliances, sure, energies, strict=True)
    )
    week = replace(result, appliances=doubtful)
    assert story.much_in_doubt(week)
    assert [a.sure for a in story.doubts(week)] == [0.3, 0.55]
    caution = story.cautions(week)[0].striptags().replace("\u00a0", " ")
    assert "76 % of the appliances' energy" in caution
    assert f"most of all {doubtful[2].name} (15.0 kWh) and {doubtful[1].name} (20.0 kWh)." in caution
    lede = said(week)[2].replace("\u00a0", " ")
    assert lede.startswith("We are very sure of 2 of them, which hold 24 % of their energy (2 are a guess):")
    likely = replace(week, appliances=(*doubtful[:1], replace(doubtful[1], sure=0.7), *doubtful[2:]))
    assert "(1 is likely and 1 is a guess)" in said(likely)[2]
    many = replace(
        likely, appliances=tuple(replace(a, energy_kwh=30.0 * (a.sure < 0.5)) for a in likely.appliances)
    )
    caution = story.cautions(many)[0].striptags()
    assert doubtful[1].name not in caution, "what is likely is no part of the share that is guessed"


def test_what_would_settle_a_doubt_that_several_share_is_said_once(result: WeekResult) -> None:
    def doubting(*doubts: str) -> WeekResult:
        appliances = zip(result.appliances, doubts, strict=True)
        return replace(
            result,
            appliances=tuple(
                replace(a, doubt=d, would_settle=f"wait, {d}" if d else "") for a, d in appliances
            ),
        )

    week = doubting("it varies", "it varies", "it varies", "it is small")
    assert story.shared_doubts(week) == {("it varies", "wait, it varies"): 3}
    assert story.shared_doubts(doubting("it varies", "it varies", "", "it is small")) == {}
    page = render_report(week)
    assert page.count("<li>it varies (3 of the 4): wait, it varies</li>") == 2  # sections 4 and 6
    assert page.count(": it varies") >= 3, "each card says its own doubt"
    assert "what would settle it: wait, it varies" not in page
    assert "it is small; what would settle it: wait, it is small" in page


def test_what_is_left_over_is_a_caution_only_where_it_is_much(result: WeekResult) -> None:
    def cautions(left_over: float, *, floor: bool | None = False) -> list[str]:
        words = ("Some is left over.", "It is left over all week.")
        certainty = replace(
            result.certainty, at_noise_floor=floor, left_over=left_over, left_over_words=words
        )
        return [str(words) for words in story.cautions(replace(result, certainty=certainty))]

    assert cautions(0.01) == []
    (caution,) = cautions(0.03)
    assert caution.endswith("Some is left over. It is left over all week.")
    assert cautions(0.03, floor=True) == []


def test_a_little_more_than_was_metered_is_all_of_it(result: WeekResult) -> None:
    over = replace(result, unexplained_kwh=-0.001 * result.metered_kwh)
    assert said(over)[1].startswith("4 appliances explain all of it")
    assert "100.1" not in " ".join(said(over))


@pytest.mark.parametrize(("over", "words"), [(0.01, "all of it"), (0.12, "more than the meter counted")])
def test_only_a_little_more_than_the_meter_counted_is_called_noise(
    result: WeekResult, over: float, words: str
) -> None:
    assert words in said(replace(result, unexplained_kwh=-over * result.used_kwh))[1]
