import numpy as np
import pytest

from nilm.appliances.activations import ActivationOptions, find_activations
from nilm.appliances.catalogue.habits import HabitModel, Habits, habit_nats, habits_of, pooled
from nilm.results import Activation
from nilm.simulate.house import FIRST_WEEK, simulated_house


def runs_of(on: np.ndarray, start: np.ndarray) -> tuple[Activation, ...]:
    seconds = np.full(len(on), 120.0)
    return find_activations(
        on, start, duration_s=seconds, power_w=on.astype(float), options=ActivationOptions()
    )


def habits_in_week(n: int) -> dict[str, Habits]:
    house = simulated_house(seed=5, n_points=32, start_utc=FIRST_WEEK + np.timedelta64(7 * n, "D"))
    found = {}
    for name, on in zip(house.names, house.Z.T, strict=True):
        runs = runs_of(on, house.start_utc)
        found[name] = habits_of(runs, days=7.0)
    return found


def test_habits_count_runs_durations_and_times_of_day() -> None:
    start = np.datetime64("2015-01-05T00:00", "ns") + np.arange(720) * np.timedelta64(120, "s")
    on = np.zeros(720, np.uint8)
    on[210:220] = on[240:250] = 1  # 07:00 and 08:00, 20 minutes each
    runs = runs_of(on, start)
    found = habits_of(runs, days=1.0)
    assert found.runs == 2
    assert found.runs_per_week == 14
    assert np.exp(found.log_duration) == pytest.approx(1200, rel=1e-3)
    assert found.hours == (0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0)


def test_an_appliances_habits_speak_for_itself_and_against_the_others() -> None:
    first, second = habits_in_week(0), habits_in_week(1)
    model = HabitModel()
    heaters = ("kettle", "oven", "immersion heater", "washing machine heater")
    for name in heaters:
        nats = {other: habit_nats(second[name], first[other], model) for other in heaters}
        assert nats[name] > 0
        assert nats[name] == max(nats.values())


def test_what_is_not_known_says_nothing() -> None:
    known = habits_in_week(0)["kettle"]
    assert habit_nats(None, known, HabitModel()) == habit_nats(known, None, HabitModel()) == 0.0


def test_weeks_are_pooled_as_if_they_were_one() -> None:
    first, second = (habits_in_week(n)["kettle"] for n in (0, 1))
    both = pooled([first, second])
    assert both is not None
    assert (both.days, both.runs) == (14.0, first.runs + second.runs)
    assert min(first.log_duration, second.log_duration) <= both.log_duration
    assert both.log_duration <= max(first.log_duration, second.log_duration)
    assert sum(both.hours) == both.runs
    assert pooled([]) is None
