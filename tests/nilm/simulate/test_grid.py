import numpy as np
import pytest

from nilm.errors import OptionError
from nilm.simulate.grid import Conditions, Mains, Wander


@pytest.mark.parametrize("seed", range(3))
def test_frequency_stays_within_its_swing_and_uses_it(seed: int) -> None:
    mains = Mains(Conditions(), np.random.default_rng(seed))
    hz = mains.hz(np.arange(0, 604_800, 20.0))
    assert np.abs(hz - 50).max() <= 0.2
    assert np.ptp(hz) > 0.3
    assert np.abs(np.diff(hz)).max() < 0.02  # slow


def test_phase_is_the_integral_of_frequency() -> None:
    mains = Mains(Conditions(), np.random.default_rng(0))
    time_s = np.arange(0, 2000, 0.5)
    middle = mains.hz(time_s[:-1] + 0.25)
    np.testing.assert_allclose(np.diff(mains.cycles(time_s)), middle * 0.5, atol=1e-6)


def test_no_swing_is_exactly_nominal() -> None:
    still = Wander(0.0, np.random.default_rng(0))
    assert not still.at(np.arange(10.0)).any()
    assert not still.integral(np.arange(10.0)).any()


@pytest.mark.parametrize(
    "wrong", [{"noise_a": -0.1}, {"drift": float("nan")}, {"frequency_swing_hz": 5}, {"voltage_swing": 0.5}]
)
def test_impossible_conditions_are_refused_by_name(wrong) -> None:
    with pytest.raises(OptionError, match=next(iter(wrong))):
        Conditions(**wrong)
