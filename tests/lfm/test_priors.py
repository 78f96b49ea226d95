import numpy as np
import pytest

from lfm import (
    BernoulliZ,
    GaussianW,
    InvalidInputError,
    LaplaceW,
    NonNegativeW,
    PassiveSign,
    Prior,
    Solution,
    SwitchingZ,
)

Z = np.array([[0, 1, 1], [1, 1, 0], [1, 1, 0], [0, 1, 1]])
W = np.array([[1.0, -2.0], [0.5, 0.5], [-3.0, 0.0]])
SOLUTION = Solution(Z, W)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        (GaussianW(2.0), 2 * (1 + 4 + 0.25 + 0.25 + 9)),
        (LaplaceW(2.0), 2 * (1 + 2 + 0.5 + 0.5 + 3)),
        (NonNegativeW(10.0), 10 * (2 + 3)),
        (BernoulliZ(1.0), 2 + 0 + 2),  # the column that is always on is free
        (SwitchingZ(1.0), 2 + 0 + 2),
        (SwitchingZ(1.0, np.array([True, True, False, False])), 1 + 0 + 1),
        (PassiveSign(4.0, np.array([2.0, 0.0])), 4 * 3.0),  # watts 1, 0.5 and −3
    ],
)
def test_value_by_hand(prior: Prior, expected: float) -> None:
    assert prior.value(SOLUTION) == pytest.approx(expected)


def test_a_gap_before_the_first_row_means_nothing() -> None:
    gaps = np.zeros(4, dtype=bool)
    first = gaps.copy()
    first[0] = True
    assert SwitchingZ(1.0, gaps).value(SOLUTION) == SwitchingZ(1.0, first).value(SOLUTION)


def test_a_prior_that_says_nothing_costs_nothing() -> None:
    assert Prior().value(SOLUTION) == 0


@pytest.mark.parametrize("make", [GaussianW, LaplaceW, NonNegativeW, BernoulliZ, SwitchingZ])
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, "1", None, np.ones(2)])
def test_bad_weights_are_named(make, weight: object) -> None:
    with pytest.raises(InvalidInputError, match="must be a finite number of at least 0, got"):
        make(weight)


def test_bad_companions_are_named() -> None:
    with pytest.raises(InvalidInputError, match="gap_before must be a vector of booleans"):
        SwitchingZ(1.0, np.array([0, 1, 0, 0]))
    with pytest.raises(InvalidInputError, match="gap_before has 2 entries; Z has 4 rows"):
        SwitchingZ(1.0, np.array([False, True])).value(SOLUTION)
    with pytest.raises(InvalidInputError, match="voltage has 3 samples and W has 2 columns"):
        PassiveSign(1.0, np.ones(3)).value(SOLUTION)
    with pytest.raises(InvalidInputError, match="voltage is empty"):
        PassiveSign(1.0, [])
    with pytest.raises(InvalidInputError, match="voltage holds 1 entries that are NaN"):
        PassiveSign(1.0, np.array([1.0, np.nan]))
