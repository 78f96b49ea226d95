import numpy as np
import pytest

from lfm import Solution
from nilm.disaggregate.estimate import (
    fit_estimator,
    independent,
    without_traces,
)
from nilm.errors import NothingUsableError, OptionError
from nilm.simulate.house import observe, simulated_house

HOUSE = simulated_house(seed=2, days=2, n_appliances=4, n_points=64)
X = observe(HOUSE, noise_a=0.02, rng=np.random.default_rng(0))


def test_currents_are_signed_so_meibp_is_refused_in_words() -> None:
    with pytest.raises(OptionError, match=r"meibp cannot explain this data.*negative"):
        fit_estimator(X, HOUSE.gap_before, "meibp", 4, 0, None, [], least_change_a=0.02)


def test_features_that_the_data_cannot_separate_are_joined_at_the_same_product() -> None:
    never = np.zeros((len(HOUSE.Z), 1), np.uint8)
    Z = np.hstack([HOUSE.Z, HOUSE.Z[:, [1]], never])
    W = np.vstack([HOUSE.W, 0.5 * HOUSE.W[[1]], HOUSE.W[[2]]])
    solution = Solution(Z, W)
    notes: list[str] = []
    joined = independent(solution, notes)
    assert joined.K == 4
    np.testing.assert_allclose(joined.product(), solution.product(), atol=1e-9)
    assert notes[0].startswith("Features that were never on")
    assert notes[0].endswith("2 of 6.")
    assert independent(joined, []) is joined
    with pytest.raises(NothingUsableError, match="no appliance is ever on"):
        independent(Solution(never, HOUSE.W[:1]), [])


def test_traces_are_left_out_and_said() -> None:
    trace = (np.arange(len(X)) % 3 == 0).astype(np.uint8)[:, None]
    solution = Solution(np.hstack([HOUSE.Z, trace]), np.vstack([HOUSE.W, np.full((1, 64), 0.001)]))
    notes: list[str] = []
    left = without_traces(solution, notes)
    np.testing.assert_array_equal(left.Z, HOUSE.Z)
    np.testing.assert_array_equal(left.W, HOUSE.W)
    assert "Features of less than 5 mA (about 1 W) were left out as traces: 1." in notes[0]
    alone = Solution(trace, np.full((1, 64), 0.001))
    assert without_traces(alone, []) is alone
