import numpy as np

from lfm import join_machines

N = 1200
T = np.arange(N)
NO_GAPS = np.zeros(N, bool)
MOTOR, HEATER, LAMP = 200.0 * (T % 90 < 20), 1500.0 * (T % 90 < 20), 60.0 * (T % 131 < 40)


def joined(*tracks: np.ndarray, gaps: np.ndarray = NO_GAPS) -> list[int]:
    return join_machines(np.column_stack(tracks), gaps, resolution=5).tolist()


def test_what_switches_together_is_one_machine_and_what_does_not_is_not() -> None:
    assert joined(MOTOR, LAMP, HEATER) == [0, 1, 0]


def test_opposite_switches_are_two_machines() -> None:
    assert joined(MOTOR, 1500.0 * (T % 90 >= 20)) == [0, 1]


def test_switches_that_meet_now_and_then_join_nothing() -> None:
    rng = np.random.default_rng(1)
    busy = np.repeat(rng.integers(0, 2, N // 2), 2) * 900.0  # it moves in a quarter of the rows
    once = np.where((T >= 400) & (T < 700), 100.0, 0.0)
    busy[398:402], busy[698:702] = [0, 0, 900, 900], [900, 900, 0, 0]
    assert joined(busy, once) == [0, 1]


def test_a_change_across_a_gap_says_nothing() -> None:
    gaps = np.concatenate([[False], np.diff(MOTOR) != 0])
    assert joined(MOTOR, HEATER, gaps=gaps) == [0, 1]


def test_three_tracks_of_one_machine_join_by_and_by() -> None:
    assert joined(MOTOR, 0.5 * HEATER, HEATER, LAMP) == [0, 0, 0, 1]


def test_no_track_is_no_machine() -> None:
    assert join_machines(np.zeros((5, 0)), np.zeros(5, bool), resolution=5).tolist() == []
