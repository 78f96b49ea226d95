import numpy as np
import pytest

from lfm import split_scales
from lfm.shapes.scales import find_valley

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
