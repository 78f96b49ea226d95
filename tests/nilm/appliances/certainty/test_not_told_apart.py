import numpy as np
import pytest

from lfm import Pdc, Solution
from nilm.appliances.certainty.not_told_apart import DRIFT, MIXED, SAME, TOGETHER, VARY, indistinguishable
from nilm.appliances.inrush import Start
from nilm.disaggregate.evidence import EVIDENCE
from nilm.simulate.house import simulated_house

HOUSE = simulated_house(seed=1, days=7, n_appliances=7, n_points=64)
DRIFTS = EVIDENCE.index("log drift of its size between runs")
FRIDGE, KETTLE, HEATER = (HOUSE.names.index(n) for n in ("fridge", "kettle", "washing machine heater"))


@pytest.fixture
def bonds(hopped_week):
    def found(Z=HOUSE.Z, W=HOUSE.W, *, drift: float = 1e-3, starts=(), duration_s=None, **changes):
        evidence = np.full((len(W), len(EVIDENCE)), -3.0)
        evidence[:, DRIFTS] = np.log10(drift)
        week = hopped_week(Solution(Z, W), evidence=evidence, **changes)
        groups = indistinguishable(week, starts, duration_s=duration_s)
        return [tuple(bond) for group in groups for bond in group.bonds]

    return found


def test_a_plain_house_is_told_apart(bonds) -> None:
    assert bonds() == []


def test_what_always_runs_together_is_known_as_a_sum(bonds) -> None:
    Z = HOUSE.Z.copy()
    Z[:, KETTLE] = Z[:, FRIDGE]
    pair = (min(FRIDGE, KETTLE), max(FRIDGE, KETTLE))
    assert bonds(Z) == [(*pair, TOGETHER)]
    Z[np.flatnonzero(Z[:, FRIDGE])[::4], KETTLE] = 0  # a quarter of the time shows the two apart
    assert bonds(Z) == []
    moment = np.where(
        Z[:, FRIDGE] == Z[:, KETTLE], 120.0, 0.1
    )  # or is it only a tenth of a second each time?
    assert bonds(Z, duration_s=moment) == [(*pair, TOGETHER)]


def test_what_other_divisions_explain_is_mixed_up_unless_all_evidence_is_sure_of_it(bonds) -> None:
    pair = (min(FRIDGE, KETTLE), max(FRIDGE, KETTLE))
    support, sure = np.ones(len(HOUSE.W)), np.full(len(HOUSE.W), 0.95)
    support[KETTLE], sure[KETTLE] = 0.6, 0.8
    known = {"support": support, "dependencies": ((*pair, Pdc.DISJOINT),)}
    assert bonds(sure=sure, **known) == [(*pair, MIXED)]
    assert bonds(sure=np.full(len(HOUSE.W), 0.95), **known) == []


def test_an_appliance_that_drift_split_in_two_never_meets_itself(bonds) -> None:
    W, Z = HOUSE.W.copy(), HOUSE.Z.copy()
    W[HEATER] = 1.06 * W[KETTLE]
    Z[Z[:, KETTLE] == 1, HEATER] = 0
    pair = (min(HEATER, KETTLE), max(HEATER, KETTLE))
    assert bonds(Z, W, drift=0.03) == [(*pair, DRIFT)]
    assert bonds(Z, W, drift=0.005) == []  # sizes that are steady tell them apart
    Z[np.flatnonzero(Z[:, KETTLE])[0], HEATER] = 1  # they met: there are two
    assert bonds(Z, W, drift=0.03) == []


def test_heaters_of_one_size_are_the_same_whatever_their_times(bonds) -> None:
    W = HOUSE.W.copy()
    W[HEATER] = 1.01 * W[KETTLE]
    assert bonds(W=W) == [(min(HEATER, KETTLE), max(HEATER, KETTLE), SAME)]


def test_a_motor_and_a_heater_of_one_waveform_are_told_apart_by_how_they_start(bonds) -> None:
    W = HOUSE.W.copy()
    W[HEATER] = 1.01 * W[KETTLE]
    starts: list[Start | None] = [None] * len(W)
    starts[KETTLE], starts[HEATER] = Start(1.0, 0.02), Start(5.0, 0.3)
    assert bonds(W=W, starts=starts) == []
    for alike in (Start(1.1, 0.02), None):  # nothing, or not enough, was seen
        starts[HEATER] = alike
        assert bonds(W=W, starts=starts) == [(min(HEATER, KETTLE), max(HEATER, KETTLE), SAME)]


def test_two_loads_that_vary_with_one_waveform_are_one_sum(bonds) -> None:
    W = HOUSE.W.copy()
    W[-1] = 0.4 * W[-2]
    amplitude = HOUSE.Z[:, -2:] * np.linspace(0.5, 1.5, len(HOUSE.Z))[:, None]
    assert bonds(W=W, amplitude=amplitude) == [(5, 6, VARY)]
