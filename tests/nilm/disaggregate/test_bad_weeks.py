"""Weeks that no house has, or hardly any: a right answer, a plain statement or a clear error."""

import numpy as np
import pytest

from nilm.disaggregate import Disaggregation, disaggregate
from nilm.errors import NothingUsableError

D, N, NOISE_A = 64, 600, 0.01
PHASE = 2 * np.pi * np.arange(D) / D
VOLTAGE = 325 * np.sin(PHASE)
ON = (np.arange(N) // 20) % 3 == 0
ALSO_ON = (np.arange(N) // 27) % 4 == 1


def heater(watts: float) -> np.ndarray:
    return VOLTAGE * watts / np.mean(VOLTAGE**2)


def noise(n_rows: int = N, size_a: float = NOISE_A) -> np.ndarray:
    return size_a * np.random.default_rng(5).standard_normal((n_rows, D))


def rows(*loads: tuple[np.ndarray, float]) -> np.ndarray:
    """Heaters of so many watts while they are on, beside 60 W that always are."""
    return heater(60) + sum(np.outer(on, heater(watts)) for on, watts in loads) + noise()


def metered_w(current_a: np.ndarray) -> np.ndarray:
    return np.asarray(current_a @ VOLTAGE / D)


def assert_closes(week: Disaggregation, current_a: np.ndarray, *, share: float = 0.02) -> None:
    """Assert that the appliances' watts are the meter's, but for a share of them, in every row."""
    error = np.abs(week.power_w.sum(axis=1) - metered_w(current_a)[week.row])
    assert error.max() < share * np.abs(metered_w(current_a)).max() + 5


def test_a_week_in_which_nothing_ever_changes_is_one_load() -> None:
    current = np.tile(heater(100), (N, 1)) + noise()
    week = disaggregate(current, VOLTAGE)
    assert week.watts.round() == [100]
    assert_closes(week, current)


def test_a_week_that_repeats_to_the_last_bit_is_one_load() -> None:
    week = disaggregate(np.tile(heater(100), (N, 1)), VOLTAGE)
    assert week.watts.round(6) == [100]
    assert week.left_over == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("current", "words"),
    [
        (heater(100)[None], "1 of 1 rows are fit for use; at least 2"),
        (np.full((20, D), np.nan), "0 of 20 rows are fit for use"),
    ],
)
def test_too_few_rows_are_an_error_that_counts_them(current: np.ndarray, words: str) -> None:
    with pytest.raises(NothingUsableError, match=words):
        disaggregate(current, VOLTAGE)


def test_an_empty_house_has_no_energy() -> None:
    week = disaggregate(np.zeros((N, D)), VOLTAGE)
    assert not week.power_w.any()


def test_of_noise_alone_nothing_is_made() -> None:
    week = disaggregate(noise(), VOLTAGE)
    assert len(week.watts) <= 1
    assert np.abs(week.power_w).max() < 1


@pytest.mark.parametrize("size_a", [0.1, 1.0, 10.0])
def test_of_loud_noise_nothing_is_claimed(size_a: float) -> None:
    week = disaggregate(noise(size_a=size_a), VOLTAGE)
    assert week.notes == ()
    assert week.sure.max() < 0.5


def test_two_rows_that_differ_are_not_claimed_as_one_load() -> None:
    week = disaggregate(np.stack([heater(100), heater(2000)]), VOLTAGE)
    assert week.sure.max() < 0.5 or week.left_over < 0.01


def test_two_identical_appliances_keep_their_energy() -> None:
    current = rows((ON, 1000), (ALSO_ON, 1000))
    assert_closes(disaggregate(current, VOLTAGE), current)


def test_a_single_load_that_varies_all_week_is_one() -> None:
    watts = 1000 + 500 * np.sin(np.arange(N) / 9) + 50 * np.random.default_rng(1).standard_normal(N)
    week = disaggregate(np.outer(watts, heater(1)) + noise(), VOLTAGE)
    assert np.count_nonzero(week.power_w.sum(axis=0) > 0.02 * watts.sum()) <= 2


def test_rows_without_a_number_are_left_out_and_the_others_are_right() -> None:
    current = rows((ON, 1000), (ALSO_ON, 300))
    current[50:60], current[200, 3], current[300] = np.nan, np.nan, np.inf
    week = disaggregate(current, VOLTAGE)
    assert len(week.row) == N - 12
    assert sorted(week.watts.round(-1)) == [60, 300, 1000]


def test_gaps_of_days_are_no_switches() -> None:
    current = rows((ON, 1000), (ALSO_ON, 300))
    times = np.datetime64("2015-01-05", "ns") + np.arange(N) * np.timedelta64(120, "s")
    times[200:] += np.timedelta64(2, "D")
    times[400:] += np.timedelta64(1, "D")
    week = disaggregate(current, VOLTAGE, start_utc=times)
    assert sorted(week.watts.round(-1)) == [60, 300, 1000]


def test_three_thousand_edges_an_hour() -> None:
    flip = np.random.default_rng(2).random((3000, 2)) < 0.5
    current = flip @ np.stack([heater(700), heater(90)]) + heater(60) + noise(3000)
    week = disaggregate(current, VOLTAGE, interval_s=1.2)
    assert {700, 90} <= set(week.watts.round(-1))
    assert_closes(week, current)


def test_a_capacitor_draws_current_and_no_power() -> None:
    current = rows() + np.outer(ON, 2.0 * np.cos(PHASE))
    week = disaggregate(current, VOLTAGE)
    assert sorted(week.watts.round()) == [0, 60]
    assert np.array_equal(week.solution.Z[:, np.argmin(np.abs(week.watts))], ON[week.row])
