from dataclasses import replace

import numpy as np
import pytest

from lfm import Solution
from nilm.appliances.certainty.left_over import ONLY_NOISE, left_over_words
from nilm.disaggregate import disaggregate
from nilm.simulate.house import observe, simulated_house

HOUSE = simulated_house(seed=1, days=2, n_appliances=6, n_points=64)
N = len(HOUSE.Z)
ROW_S = np.full(N, HOUSE.interval_s)
KETTLE = HOUSE.names.index("kettle")
RNG = np.random.default_rng(0)
NOISE_W = RNG.standard_normal(N)


@pytest.fixture
def said(hopped_week):
    def words(left_w: np.ndarray, **changes: object) -> str:
        week = hopped_week(Solution(HOUSE.Z, HOUSE.W), left_w=left_w, left_over=0.04, at_noise_floor=False)
        return " ".join(left_over_words(replace(week, **changes), HOUSE.names, ROW_S))

    return words


def test_only_noise_is_said_where_the_certificate_holds_and_nowhere_else(said) -> None:
    assert said(NOISE_W, at_noise_floor=True) == ONLY_NOISE
    for floor in (False, None):
        assert "only noise" not in said(NOISE_W, at_noise_floor=floor)


def test_what_is_left_while_one_appliance_runs_names_it(said) -> None:
    on = HOUSE.Z[:, KETTLE] == 1
    words = said(np.where(on, 200 * np.sin(np.arange(N) / 9), 0.0) + 0.01 * NOISE_W)
    assert words.startswith("4.0% of the energy is left over, more than the meter's noise.")
    assert "mostly left over while kettle runs" in words


def test_a_load_that_nobody_found_is_seen_to_vary_or_to_come_and_go(said) -> None:
    assert "something of about 60 W varied all day" in said(60 * np.sin(np.arange(N) / 40) + NOISE_W)
    came = (np.arange(N) // 30 % 5 == 0) * 60.0
    assert "something of about 60 W came and went" in said(came + 0.1 * NOISE_W)


def test_what_jumps_is_no_load(said) -> None:
    assert "jumps from reading to reading" in said(np.where(np.arange(N) % 20 == 0, 300.0, 0.0))


def test_no_report_calls_three_times_the_usual_residual_noise() -> None:
    """A house without faults, and the same house with a load that wanders, a step, and hours missing."""
    clean = observe(HOUSE, noise_a=0.01, rng=np.random.default_rng(1))
    usual = disaggregate(clean, HOUSE.voltage_v)
    assert usual.at_noise_floor
    ramp = np.outer(0.5 + np.sin(np.arange(N) / 30), HOUSE.W[-1]) * 0.3
    drifting = clean.copy()
    on = HOUSE.Z[:, KETTLE] == 1
    drifting[on] += RNG.normal(0, 0.05, on.sum())[:, None] * HOUSE.W[KETTLE]
    gap = np.r_[0 : N // 3, N // 2 : N]
    spiky = clean.copy()
    spiky[::11] += RNG.normal(0, 1, spiky[::11].shape)  # a current that is never the same twice
    seen_over = 0
    for faulty in (clean + ramp, drifting, clean[gap], (clean + ramp)[gap], spiky):
        week = disaggregate(faulty, HOUSE.voltage_v)
        per_row = week.residual_after / np.sqrt(len(faulty))
        over = per_row > 3 * usual.residual_after / np.sqrt(N)
        seen_over += over
        words = " ".join(
            left_over_words(week, [f"A{k}" for k in range(week.solution.K)], ROW_S[: len(faulty)])
        )
        assert ("only noise" in words) == bool(week.at_noise_floor)
        assert not (over and "only noise" in words)
    assert seen_over  # else this test says nothing
