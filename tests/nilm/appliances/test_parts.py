import numpy as np
import pytest

from nilm.appliances.parts import PartOf, evidence_words, likely_parts
from nilm.simulate.house import simulated_house


def machine(runs: int, rows: int = 4000) -> np.ndarray:
    """(N, 3): always on, a host of `runs` runs, a part in the middle of each."""
    Z = np.zeros((rows, 3), np.uint8)
    Z[:, 0] = 1
    for first in np.linspace(10, rows - 60, runs).astype(int):
        Z[first : first + 30, 1] = 1
        Z[first + 10 : first + 15, 2] = 1
    return Z


def parts(Z: np.ndarray) -> list[PartOf]:
    """The likely parts of rows of two minutes without gaps."""
    return likely_parts(Z, np.zeros(len(Z), bool), np.full(len(Z), 120.0))


def test_a_heater_inside_a_motor_is_its_part_and_the_always_on_level_hosts_nothing() -> None:
    Z = machine(runs=5)
    (part,) = parts(Z)
    assert (part.part, part.host, part.runs, part.on_s) == (2, 1, 5, 25 * 120)
    words = evidence_words(part, host_name="washing machine")
    assert "on for 50 min, always while washing machine was on" in words
    assert "5 separate runs" in words


def test_a_wrong_reading_breaks_no_machine_and_is_told() -> None:
    Z = machine(runs=14)
    Z[5, 2] = 1  # one of 71 readings
    (part,) = parts(Z)
    assert (part.part, part.host, part.outside_s) == (2, 1, 120)
    assert "on for 2 h 22 min, all but 2 min of it while" in evidence_words(part, host_name="it")
    Z[6:8, 2] = 1  # three of 73: more than a mistake or two
    assert parts(Z) == []


def test_the_chance_counts_the_runs_that_strayed() -> None:
    Z = machine(runs=3)
    (part,) = parts(Z)
    assert part.chance == pytest.approx(part.host_share**3)
    assert evidence_words(part, host_name="it").endswith("by chance: about 1 in 88,000.")


def test_one_coincidence_is_no_evidence() -> None:
    Z = machine(runs=1, rows=400)
    assert parts(Z) == []


def test_of_nested_hosts_all_parts_hang_on_one_machine() -> None:
    Z = machine(runs=5)
    inner = np.zeros((len(Z), 1), np.uint8)
    inner[np.flatnonzero(Z[:, 2])[::5]] = 1
    found = {p.part: p.host for p in parts(np.hstack([Z, inner]))}
    assert found == {2: 1, 3: 1}


def test_two_that_are_always_on_together_are_not_parts_of_each_other() -> None:
    Z = machine(runs=5)[:, [0, 1, 1]]
    assert parts(Z) == []


def test_in_simulated_houses_only_true_parts_are_suggested() -> None:
    for seed in range(6):
        house = simulated_house(seed=seed, n_appliances=16, n_points=32)
        for part in likely_parts(house.Z, house.gap_before, np.full(len(house.Z), 120.0)):
            assert (house.names[part.part].split()[0], house.names[part.host].split()[0]) in {
                ("washing", "washing"),
                ("dishwasher", "dishwasher"),
                ("tumble", "tumble"),
                ("amplifier", "television"),
            }
