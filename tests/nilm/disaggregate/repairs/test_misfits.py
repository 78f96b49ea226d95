import numpy as np

from lfm import Solution
from nilm.disaggregate.repairs.misfits import with_misfits_decoded
from nilm.simulate.house import observe, simulated_house

HOUSE = simulated_house(seed=2, days=2, n_appliances=4, n_points=64)
X = observe(HOUSE, noise_a=0.02, rng=np.random.default_rng(0))


def test_single_rows_that_were_missed_grossly_are_decoded_again_and_drift_changes_nothing() -> None:
    kettle = HOUSE.names.index("kettle")
    rows = np.flatnonzero(HOUSE.Z[:, kettle])
    Z = HOUSE.Z.copy()
    Z[rows[0], kettle] = 0
    found = with_misfits_decoded(Solution(Z, HOUSE.W), X)
    np.testing.assert_array_equal(found.Z, HOUSE.Z)
    drifted = X.copy()
    drifted[rows] += 0.1 * HOUSE.W[kettle]
    exact = Solution(HOUSE.Z, HOUSE.W)
    assert with_misfits_decoded(exact, drifted) is exact
