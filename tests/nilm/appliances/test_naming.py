import numpy as np
import pytest

from nilm.appliances.naming import (
    describe,
    distinct,
    duration_words,
    lift_to_machines,
    match_submeters,
    overlap_score,
    power_words,
    quoted,
)
from nilm.recordings.submeters import Submeter

N = 100
ROW_S = np.full(N, 120.0)


def series(*on: tuple[int, int], watts: float = 1000.0) -> np.ndarray:
    power = np.zeros(N)
    for first, last in on:
        power[first:last] = watts
    return power


KETTLE, OVEN = series((10, 14), (40, 43), watts=2800), series((30, 60), watts=2000)


def test_the_score_is_the_share_of_energy_used_at_the_same_time() -> None:
    assert overlap_score(KETTLE, KETTLE, ROW_S) == 1
    assert overlap_score(series((0, 10)), series((5, 15)), ROW_S) == pytest.approx(0.5)
    assert overlap_score(series((0, 10)), series((0, 10), watts=3000), ROW_S) == pytest.approx(0.5)
    assert overlap_score(np.zeros(N), np.zeros(N), ROW_S) == 0


def test_rows_count_by_the_time_that_they_stand_for() -> None:
    long_first = np.where(np.arange(N) < 50, 300.0, 10.0)
    early, both = series((0, 10)), series((0, 10), (90, 100))
    assert overlap_score(early, both, long_first) == pytest.approx(2 * 3000 / (3000 + 3100))
    assert overlap_score(early, both, long_first[::-1]) == pytest.approx(2 * 100 / (100 + 3100))


def test_a_submeter_is_compared_over_an_hour_of_readings_however_many_rows_that_is() -> None:
    read = np.where(np.arange(N) < 30, 1000.0, np.nan)
    power = np.full(N, 1000.0)
    assert overlap_score(power, read, ROW_S) == 1
    assert overlap_score(power, read, ROW_S / 2) == 0
    assert match_submeters(power[:, None], [Submeter(2, "lamp", read)], ROW_S)[1] == ()
    assert (
        "next to no readings" in match_submeters(power[:, None], [Submeter(2, "lamp", read)], ROW_S / 2)[1][0]
    )


def test_submeters_are_matched_one_to_one_and_strangers_not_at_all() -> None:
    power = np.column_stack([OVEN, KETTLE, series((80, 90))])
    meters = [Submeter(2, "kettle", KETTLE + 5), Submeter(3, "oven", OVEN), Submeter(4, "oven 2", OVEN * 0.8)]
    matches, notes = match_submeters(power, meters, ROW_S)
    assert [m.name if m else None for m in matches] == ["oven", "kettle", None]
    assert matches[0] is not None
    assert matches[0].score == 1
    assert notes == ()


def test_a_week_without_appliances_names_nothing() -> None:
    assert match_submeters(np.zeros((N, 0)), [Submeter(2, "kettle", KETTLE)], ROW_S) == ([], ())


def test_one_submeter_never_names_two_appliances() -> None:
    matches, _ = match_submeters(np.column_stack([OVEN, OVEN * 0.9]), [Submeter(3, "oven", OVEN)], ROW_S)
    assert [m.name if m else None for m in matches] == ["oven", None]


def test_submeters_of_another_period_are_said_in_words_and_name_nothing() -> None:
    silent = Submeter(7, "kettle", np.full(N, np.nan))
    matches, notes = match_submeters(KETTLE[:, None], [silent], ROW_S)
    assert matches == [None]
    assert "channel 7 (kettle)" in notes[0]
    assert "No submeter covers this period" in notes[1]


@pytest.mark.parametrize(
    ("watts", "kind", "per_day", "share", "words"),
    [
        (2799, "resistive heater", 4.1, 0.02, "2.8 kW heater, about 4 times a day"),
        (85.4, "motor", 30, 0.6, "85 W motor, on most of the time"),
        (95, "always on", 0.1, 1.0, "95 W, always on"),
        (1000, "dimmed light", 0.3, 0.01, "1.0 kW dimmed light, about 2 times a week"),
        (60, "electronics", 0.9, 0.05, "60 W electronics, about once a day"),
        (-1500, "generator", 1, 0.3, "1.5 kW generator, about once a day"),
        (4.2, "mixed", 0.1, 0.01, "4.2 W load, about once a week"),
        (40.0, "resistive heater", 4.2, 0.01, "40 W resistive load, about 4 times a day"),
    ],
)
def test_descriptions(watts: float, kind: str, per_day: float, share: float, words: str) -> None:
    assert describe(watts, kind, per_day=per_day, share_of_time=share) == words


def test_watts_as_people_say_them() -> None:
    assert [power_words(w) for w in (0.4, 9.96, 994, 996, 2345, -135.2)] == [
        "0.4 W",
        "10 W",
        "994 W",
        "1.0 kW",
        "2.3 kW",
        "−135 W",
    ]


def test_names_are_made_distinct_by_the_id() -> None:
    names = distinct({"A01": "heater", "A02": "kettle", "A03": "heater"})
    assert names == {"A01": "heater (A01)", "A02": "kettle", "A03": "heater (A03)"}


def test_a_submeter_of_the_whole_machine_names_the_machine_and_not_its_heater() -> None:
    motor, heater = series((10, 60), watts=300), series((20, 35), watts=2000)
    power = np.column_stack([motor, heater])
    washing, heater_alone = Submeter(5, "washing_machine", motor + heater), Submeter(6, "heater", heater)
    matches, _ = match_submeters(power, [washing], ROW_S)
    assert [m.name if m else None for m in matches] == [None, "washing_machine"]
    lifted = lift_to_machines(matches, power, [washing], {1: 0}, ROW_S)
    assert [m.name if m else None for m in lifted] == ["washing_machine", None]
    assert lifted[0] is not None
    assert lifted[0].score == 1
    alone, _ = match_submeters(power, [heater_alone], ROW_S)
    assert lift_to_machines(alone, power, [heater_alone], {1: 0}, ROW_S) == alone


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(45, "45 s"), (120, "2 min"), (5900, "98 min"), (7200, "2 h 00 min"), (360_000, "4 d 4 h")],
)
def test_durations(seconds: float, shown: str) -> None:
    assert duration_words(seconds) == shown


def test_a_name_with_a_comma_stands_in_quotation_marks() -> None:
    assert quoted("16 W electronics, on most of the time") == "“16 W electronics, on most of the time”"
    assert quoted("fridge") == "fridge"
