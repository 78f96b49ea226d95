import numpy as np
import pytest

from lfm import runs_of_ones
from nilm.simulate.schedules import Clock, heated, meals, thermostat, within

WEEK = Clock(n_rows=5040, interval_s=120)


def test_a_thermostat_has_the_duty_cycle_of_its_times() -> None:
    on = thermostat(1200, 2400)(WEEK, np.random.default_rng(0))
    assert on.mean() == pytest.approx(1 / 3, abs=0.03)
    lengths = [b - a for a, b in runs_of_ones(on)][1:-1]
    assert min(lengths) >= 8
    assert max(lengths) <= 12


def test_hours_bound_a_thermostat() -> None:
    on = thermostat(600, 600, hours=(6.0, 9.0))(WEEK, np.random.default_rng(0))
    hour = np.arange(5040) * 120 % 86400 / 3600
    assert on.any()
    assert not on[(hour < 6) | (hour >= 9)].any()


def test_a_kettle_runs_near_meals_for_two_to_four_minutes() -> None:
    on = meals((7.0, 19.0), probability=1.0, lasts_s=(120, 240))(WEEK, np.random.default_rng(1))
    starts = np.array([a for a, _ in runs_of_ones(on)]) * 120 % 86400 / 3600
    assert len(starts) == 14
    assert (np.minimum(np.abs(starts - 7), np.abs(starts - 19)) < 2.5).all()
    assert {b - a for a, b in runs_of_ones(on)} <= {1, 2}


def test_an_oven_preheats_and_cycles_only_during_its_session() -> None:
    def session(clock: Clock, rng: np.random.Generator) -> np.ndarray:
        on = np.zeros(clock.n_rows, dtype=bool)
        on[100:130] = True
        return on

    on = heated(720, 180, 420, session=session)(WEEK, np.random.default_rng(0))
    cycles = runs_of_ones(on)
    assert cycles[0][0] == 100
    assert len(cycles) >= 3
    assert cycles[0][1] - cycles[0][0] > max(b - a for a, b in cycles[1:])
    assert not on[:100].any()
    assert not on[130:].any()


def test_within_stays_strictly_inside_every_run_of_the_partner() -> None:
    partner = thermostat(3600, 3600)(WEEK, np.random.default_rng(2))
    on = within(partner, ((0.1, 0.4), (0.6, 0.9)), np.random.default_rng(3), probability=1.0)
    assert not (on & ~partner).any()
    for first, end in runs_of_ones(partner):
        assert not on[first]
        assert not on[end - 1]
    assert len(runs_of_ones(on)) >= len(runs_of_ones(partner))
    assert not within(partner, ((0.1, 0.4),), np.random.default_rng(3), probability=0.0).any()
