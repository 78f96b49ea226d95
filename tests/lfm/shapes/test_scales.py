import numpy as np
import pytest
from scipy.stats import norm

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


def test_a_level_with_hardly_any_energy_is_no_scale_of_its_own() -> None:
    track = np.full(5000, 400.0)
    for n, found in ((1, False), (100, True)):
        track[:n] = 20_000.0
        assert (len(split_scales(track, np.ones(5000), resolution=5, pause=0)) == 2) == found


ALONE = 0.1 / (0.25 * np.sqrt(2 * np.pi))  # share of a level's energy in its bin, after smoothing


@pytest.mark.parametrize("low_share", [0.5, 0.2, 0.8])
def test_between_two_single_levels_the_depth_is_that_of_the_lower_peak(low_share: float) -> None:
    """An empty valley counts as holding 0.003 of the energy in each bin."""
    track = np.where(T < N / 2, 50.0, 5000.0)
    duration = np.where(T < N / 2, low_share / 50, (1 - low_share) / 5000)
    valley = find_valley(track, duration, resolution=5)
    assert valley is not None
    assert valley.depth == pytest.approx(min(low_share, 1 - low_share) * ALONE / 0.003, rel=0.02)
    assert 150 < valley.level < 1700  # far from both


def test_a_few_small_rows_beside_a_large_load_are_no_scale_of_their_own() -> None:
    track = np.full(5000, 4000.0)
    for n_small, n_parts in ((300, 1), (4900, 2)):  # with 0.1% of the energy, with a third of it
        track[:n_small] = 40.0
        assert len(split_scales(track, np.ones(5000), resolution=5, pause=0)) == n_parts


def test_the_valley_of_two_equal_peaks_lies_in_their_middle() -> None:
    middle, spread = np.log(5) + 4, norm.ppf((np.arange(20_000) + 0.5) / 20_000) / 2
    level = np.exp(middle + np.concatenate([spread - 1.2, spread + 1.2]))
    valley = find_valley(level, 1 / level, resolution=5)
    assert valley is not None
    assert np.log(valley.level) == pytest.approx(middle, abs=0.051)  # half a bin


def test_a_part_is_divided_again_as_often_as_is_asked() -> None:
    kinds = [T % 3 == 0, T % 3 == 1]
    track = np.select(kinds, [30.0, 600.0], 12_000.0)
    duration = np.select(kinds, [0.5, 0.3], 0.2) / track  # these shares of the energy
    for times, n_parts in ((0, 1), (1, 2), (2, 3)):
        assert len(split_scales(track, duration, resolution=5, pause=0, times=times)) == n_parts
