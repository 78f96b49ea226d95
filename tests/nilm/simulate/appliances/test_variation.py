import numpy as np
import pytest

from nilm.simulate.appliances.variation import (
    Variation,
    by_demand,
    charging,
    chosen,
    falling,
    programme,
    wandering,
)
from nilm.simulate.schedules import Clock

CLOCK = Clock(400, 60)
ON = np.zeros(400, bool)
ON[50:150] = ON[200:320] = True


def factors(variation: Variation, seed: int = 0) -> np.ndarray:
    out = variation(ON, CLOCK, np.random.default_rng(seed))
    assert out.shape == (400,)
    assert (out[ON] > 0).all()
    return out


def test_a_compressor_falls_in_every_run_to_its_own_power() -> None:
    found = factors(falling(0.3, 600))
    for first, end in ((50, 150), (200, 320)):
        assert 1.24 <= found[first] <= 1.36
        assert (np.diff(found[first:end]) < 0).all()
        assert found[end - 1] == pytest.approx(1, abs=0.001)
        # After the time constant 1/e of the excess is left.
        assert (found[first + 10] - 1) / (found[first] - 1) == pytest.approx(np.exp(-1))


def test_what_wanders_keeps_its_mean_its_spread_and_its_memory() -> None:
    on = np.ones(20_000, bool)
    found = wandering(0.1, 600)(on, Clock(20_000, 60), np.random.default_rng(1))
    assert found.mean() == pytest.approx(1, abs=0.01)
    assert found.std() == pytest.approx(0.1, rel=0.1)
    assert np.corrcoef(found[:-10], found[10:])[0, 1] == pytest.approx(np.exp(-1), abs=0.05)
    low = wandering(2.0, 600, least=0.3)(on, Clock(20_000, 60), np.random.default_rng(1))
    assert low.min() == 0.3


def test_a_programme_has_its_steps_at_their_shares_of_each_run() -> None:
    found = factors(programme((0.25, 0.5), (1.0, 2.0), unsteady=0))
    assert set(found[50:75]) == {0.5}
    assert set(found[75:150]) == {2.0}
    assert set(found[200:230]) == {0.5}
    unsteady = factors(programme((0.25, 0.5), (1.0, 2.0)))
    assert len(set(unsteady[ON])) == 4, "each step of each run has its own size"


def test_a_dimmer_stays_at_a_level_until_it_is_turned() -> None:
    found = factors(chosen(0.25, 1.0, for_s=1800))
    assert set(found[ON]) == {0.25, 1.0}
    assert np.count_nonzero(np.diff(found[200:320])) < 15


def test_a_battery_takes_less_once_it_is_full() -> None:
    found = factors(charging(2400))
    assert found[50] == found[65] == 1
    assert found[149] < 0.35


def test_a_pump_starts_at_full_power_and_stays_between_its_limits() -> None:
    found = factors(by_demand(0.2, 1200))
    assert found[50] == found[200] == 1
    assert found[ON].min() >= 0.2
    assert found[300:320].mean() < 0.9


@pytest.mark.parametrize("variation", [falling(0.1, 60), wandering(0.1, 60), chosen(1.0, for_s=60)])
def test_the_same_randomness_gives_the_same_factors(variation: Variation) -> None:
    np.testing.assert_array_equal(factors(variation, 3), factors(variation, 3))
