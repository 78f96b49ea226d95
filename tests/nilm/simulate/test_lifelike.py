import numpy as np
import pytest

from lfm import runs_of_ones
from nilm.errors import OptionError
from nilm.simulate.house import House
from nilm.simulate.lifelike import lifelike_house


@pytest.fixture(scope="module")
def week() -> tuple[House, np.ndarray]:
    return lifelike_house(seed=1)


def power(week: tuple[House, np.ndarray], machine: str) -> np.ndarray:
    house, profile = week
    columns = [k for k, m in enumerate(house.machines) if m == machine]
    return np.asarray((house.Z * profile * house.watts)[:, columns].sum(axis=1))


def test_it_holds_fifteen_to_twenty_appliances_and_closes(week) -> None:
    house, profile = week
    assert 15 <= len(set(house.machines)) <= 20
    assert profile.shape == house.Z.shape
    assert (profile[house.Z == 1] >= 0).all()
    current = (house.Z * profile) @ house.W
    total = sum(power(week, machine) for machine in set(house.machines))
    np.testing.assert_allclose(current @ house.voltage_v / len(house.voltage_v), total)
    assert 8 < total.mean() * 24 / 1000 < 40, "kWh a day, as houses have"


def test_appliances_behave_as_theirs_do(week) -> None:
    house, _ = week
    fridge = power(week, "fridge")
    starts = [fridge[a] / fridge[b - 1] for a, b in runs_of_ones(fridge > 0) if b - a >= 5]
    assert min(starts) > 1.1
    washing = power(week, "washing machine")
    levels = np.unique(np.round(washing[washing > 0], -2))
    assert len(levels) >= 4
    television = power(week, "television")
    assert np.std(television[television > 0]) > 0.05 * television.max()
    standby = power(week, "standby")
    assert np.ptp(standby) == 0
    heaters = house.W[[k for k, kind in enumerate(house.kinds) if kind == "resistive heater"]]
    assert len(heaters) >= 6
    assert np.linalg.matrix_rank(heaters, tol=1e-9) == 1


@pytest.mark.parametrize("machine", ["heat pump", "dimmed lights"])
def test_a_waveform_changes_with_its_load(week, machine: str) -> None:
    house, profile = week
    columns = [k for k, m in enumerate(house.machines) if m == machine]
    assert len({house.names[k] for k in columns}) == 1, "two columns, one load"
    drawn = (house.Z * profile)[:, columns] @ house.W[columns]
    watts = power(week, machine)
    low, high = (drawn[np.argmin(np.abs(watts - q * watts.max()))] for q in (0.25, 1.0))
    cosine = low @ high / np.linalg.norm(low) / np.linalg.norm(high)
    assert 0.6 < cosine < 0.99


def test_one_seed_is_one_house_and_its_weeks_differ() -> None:
    first, again = (lifelike_house(seed=4, days=1)[0] for _ in range(2))
    later = lifelike_house(seed=4, days=1, start_utc=np.datetime64("2015-01-05"))[0]
    np.testing.assert_array_equal(first.Z, again.Z)
    np.testing.assert_array_equal(first.W, later.W)
    assert (first.Z != later.Z).any()
    assert not np.allclose(first.W, lifelike_house(seed=5, days=1)[0].W)


def test_impossible_options_are_refused() -> None:
    with pytest.raises(OptionError, match="seed"):
        lifelike_house(seed=-1)
    with pytest.raises(OptionError, match="more days"):
        lifelike_house(seed=0, days=0.0001)
