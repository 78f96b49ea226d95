from pathlib import Path

import numpy as np
import pytest

from nilm.appliances.inrush import Start, starts_of
from nilm.appliances.measures import kind_of_load
from nilm.recordings.ingest import WeekPaths, ingest_week
from nilm.recordings.tables import read_week
from nilm.recordings.ukdale import Week
from nilm.simulate import loads
from nilm.simulate.week import simulate_week

VOLTS = loads.voltage_cycle(np.random.default_rng(0), 64)


def starts(Z: list[list[int]], inrush: list[float], gaps: list[int] = ()) -> list[Start | None]:
    gap_before = np.zeros(len(Z), dtype=bool)
    gap_before[[0, *gaps]] = True
    return starts_of(np.array(Z, dtype=np.uint8), gap_before, np.array(inrush), np.array(inrush) / 10)


def test_a_start_is_the_median_of_those_that_were_seen_alone() -> None:
    Z = [[0, 0], [1, 0], [0, 0], [1, 0], [0, 0], [1, 1], [0, 1], [1, 1]]
    #    its starts: row 1 (5.0), row 3 (6.0), row 5 with another (99), row 7 (7.0)
    motor, heater = starts(Z, [0, 5, 1, 6, 1, 99, 1, 7])
    assert motor == Start(6.0, 0.6)
    assert heater is None  # it never started alone


def test_a_start_after_a_gap_or_without_a_timed_switch_was_not_seen() -> None:
    Z = [[1], [0], [1], [0], [1], [0], [1]]
    assert starts(Z, [5, 1, 5, 1, 0, 1, 5], gaps=[2]) == [None]  # one start is left
    assert starts(Z, [5, 1, 5, 1, 0, 1, 5]) == [Start(5.0, 0.5)]


@pytest.mark.parametrize(
    ("inrush", "lasts_s", "motor"),
    [(5.2, 0.3, True), (1.0, 0.02, False), (8.0, 0.04, False), (1.6, 0.5, False)],
)
def test_what_needs_time_and_current_to_turn_is_a_motor(inrush: float, lasts_s: float, motor: bool) -> None:
    assert Start(inrush, lasts_s).like_a_motor is motor


def test_a_start_tells_a_motor_behind_a_speed_control_from_electronics() -> None:
    pulses = loads.rectifier(VOLTS, 600.0)
    assert kind_of_load(pulses, VOLTS, share_of_time=0.1) == "electronics"
    assert kind_of_load(pulses, VOLTS, share_of_time=0.1, starts_like_a_motor=True) == "motor"
    heater = loads.resistive(VOLTS, 2000.0)
    assert kind_of_load(heater, VOLTS, share_of_time=0.1, starts_like_a_motor=True) == "resistive heater"


def test_recorded_motors_start_as_they_were_made_and_heaters_softly(tmp_path: Path) -> None:
    simulated = simulate_week(tmp_path / "raw", seed=3, days=1, n_appliances=10)
    paths = WeekPaths(tmp_path, "house_sim", Week(2015, 1))
    ingest_week(paths)
    table = read_week(paths.waveforms)
    with np.load(simulated.truth) as truth:
        state = np.searchsorted(truth["switch_utc"], table.measured_utc, side="right") - 1
        Z, kinds, made = truth["Z"][state], truth["kinds"], truth["inrush"]
    found = starts_of(Z, table.gap_before, table.inrush, table.inrush_s)
    seen = {kind: [k for k, s in enumerate(found) if s and kinds[k] == kind] for kind in set(kinds.tolist())}
    assert len(seen["motor"]) >= 1
    assert len(seen["resistive heater"]) >= 1
    for k in seen["motor"]:
        assert found[k].like_a_motor
        assert found[k].inrush == pytest.approx(made[k], rel=0.3)  # the mean of a cycle, while it dies away
    for k in seen["resistive heater"]:
        assert found[k].inrush < 1.1
