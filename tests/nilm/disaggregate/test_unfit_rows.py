import numpy as np

from lfm import Solution
from nilm.disaggregate.unfit_rows import rows_with_state, states_of_unfit
from nilm.simulate.house import observe, simulated_house

HOUSE = simulated_house(seed=2, days=2, n_appliances=5, n_points=64)
X = observe(HOUSE, noise_a=0.02, rng=np.random.default_rng(0))
SOLUTION = Solution(HOUSE.Z, HOUSE.W)


def test_clipped_rows_show_the_state_they_have() -> None:
    kettle = HOUSE.Z[:, HOUSE.names.index("kettle")] == 1
    clipped = np.clip(X[kettle], -9, 9)
    found = states_of_unfit(SOLUTION, X, clipped)
    assert (found >= 0).all()
    np.testing.assert_array_equal(HOUSE.Z[found], HOUSE.Z[kettle])


def test_a_row_that_is_no_state_stays_unknown() -> None:
    nonsense = np.stack([np.random.default_rng(1).normal(0, 5, 64), np.zeros(64)])
    assert states_of_unfit(SOLUTION, X, nonsense).tolist() == [-1, -1]
    assert states_of_unfit(SOLUTION, X, np.zeros((0, 64))).shape == (0,)


def test_a_row_may_hold_any_amount_of_a_free_waveform() -> None:
    free = -HOUSE.voltage_v + np.roll(HOUSE.voltage_v, 4)
    varied = X[::50] + np.outer(np.linspace(0, 0.1, len(X[::50])), free)
    found = states_of_unfit(SOLUTION, X, varied, free=free)
    np.testing.assert_array_equal(HOUSE.Z[found], HOUSE.Z[::50])
    assert (states_of_unfit(SOLUTION, X, varied[10:]) == -1).mean() > 0.5


def test_rows_are_found_by_their_state() -> None:
    found = rows_with_state(HOUSE.Z, HOUSE.Z[::7])
    np.testing.assert_array_equal(HOUSE.Z[found], HOUSE.Z[::7])
