import numpy as np
import pytest

from lfm import split_scales
from lfm.shapes.scales import _without_pauses, find_valley

N = 3000
HOURLY = np.ones(N)
T = np.arange(N)
SMALL = 250.0 + 150 * np.sin(T / 7)
SESSION = (T % 1000 > 800) & (T % 10 < 6)  # with pauses of four rows
LARGE = np.where(SESSION, 3000.0 + 1500 * np.sin(T / 5), 0.0)


def test_a_small_load_that_varies_and_a_large_one_in_sessions_come_apart() -> None:
    low, high = split_scales(SMALL + LARGE, HOURLY, resolution=5, pause=20)
    assert np.abs(high - LARGE).sum() < 0.1 * LARGE.sum()
    assert np.abs(low - SMALL).sum() < 0.1 * SMALL.sum()


def test_the_parts_add_up_and_one_scale_stays_whole() -> None:
    assert sum(split_scales(SMALL + LARGE, HOURLY, resolution=5, pause=20)) == pytest.approx(SMALL + LARGE)
    assert len(split_scales(SMALL, HOURLY, resolution=5, pause=20)) == 1


def test_the_valley_lies_between_the_two_scales() -> None:
    valley = find_valley(SMALL + LARGE, HOURLY, resolution=5)
    assert valley is not None
    assert 400 < valley.level < 1800


def test_energy_counts_by_the_time_that_rows_stand_for() -> None:
    track = np.where(T % 2 == 0, 400.0, 3000.0)
    shorter = np.where(T % 2 == 0, 1000.0, 1e-6)  # the large level hardly lasts
    assert len(split_scales(track, HOURLY, resolution=5, pause=0)) == 2
    assert len(split_scales(track, shorter, resolution=5, pause=0)) == 1


def test_too_few_rows_have_no_valley() -> None:
    assert find_valley(np.array([3.0, 100.0, 4000.0]), np.ones(3), resolution=5) is None


def test_pauses_that_last_no_longer_are_filled() -> None:
    on = np.array([0, 1, 0, 0, 1, 0, 1, 0], dtype=bool)
    duration = np.array([9.0, 1, 2, 3, 1, 7, 1, 1])
    assert _without_pauses(on, duration, 4.9).tolist() == on.tolist()
    assert np.flatnonzero(_without_pauses(on, duration, 5.0)).tolist() == [1, 2, 3, 4, 6]
    assert np.flatnonzero(_without_pauses(on, duration, 7.0)).tolist() == [1, 2, 3, 4, 5, 6]


def test_a_valley_lies_where_two_equal_energies_meet_and_its_depth_says_how_far_apart_they_are() -> None:
    rng = np.random.default_rng(0)
    n = 40_000
    depths = []
    for apart in (2.0, 3.0):
        middle = np.log(5) + 4  # of log level, with peaks of spread 0.5 on either side
        log_level = middle + np.where(np.arange(n) % 2, -apart / 2, apart / 2) + 0.5 * rng.standard_normal(n)
        level = np.exp(log_level)
        valley = find_valley(level, 1 / level, resolution=5)  # each row with the same energy
        assert valley is not None
        assert np.log(valley.level) == pytest.approx(middle, abs=0.15)
        depths.append(valley.depth)
    spread = np.hypot(0.5, 0.25)  # after smoothing
    expected = 0.5 * np.exp((2.0 / 2) ** 2 / (2 * spread**2))
    assert depths[0] == pytest.approx(expected, rel=0.15)
    assert depths[1] > 2 * depths[0]


def test_a_valley_may_not_leave_less_than_a_fiftieth_of_the_energy_on_a_side() -> None:
    track = np.full(5000, 400.0)
    for n, found in ((1, False), (100, True)):
        track[:n] = 20_000.0
        assert (len(split_scales(track, np.ones(5000), resolution=5, pause=0)) == 2) == found
