import numpy as np

from lfm.shapes import wander as wander_module
from lfm.shapes.wander import local_variance, without_wander

N, R = 600, 5
T = np.arange(N)
RNG = np.random.default_rng(3)
NOISE = RNG.standard_normal((N, R))
WANDER = 30 * RNG.standard_normal((N, 2)) @ np.array([[1.0, 0, 0, 0, 0], [0, 1, 0.5, 0, 0]])
STEP = np.outer(T >= 300, [0, 0, 400.0, 200, 0])


def test_the_variance_around_a_level_is_that_of_the_rows_and_a_step_does_not_move_it() -> None:
    variance = local_variance(NOISE + STEP)
    assert abs(np.median(variance) - 1) < 0.2
    assert variance[290:310].max() < 2


def test_one_row_or_no_direction_has_no_variance() -> None:
    assert local_variance(np.ones((1, 3))).tolist() == [0.0]
    assert local_variance(np.ones((4, 0))).tolist() == [0.0] * 4


def test_rows_of_noise_stay_as_they_are() -> None:
    rows = NOISE + STEP
    np.testing.assert_array_equal(without_wander(rows, local_variance(rows)), rows)


def test_wander_goes_and_a_step_within_it_stays_where_it_is() -> None:
    rows = NOISE + WANDER + STEP
    levels = without_wander(rows, local_variance(rows))
    off = np.abs(levels - STEP)
    assert off.mean() < np.abs(rows - STEP).mean() / 4
    assert np.argmax(np.sum(np.diff(levels, axis=0) ** 2, axis=1)) == 299
    assert np.abs(np.median(levels[300:], axis=0) - STEP[-1]).max() < 8


def test_a_stretch_too_short_to_tell_a_covariance_is_left_alone() -> None:
    short = np.where((T > 100) & (T < 100 + 2 * R), 1.0, 0.0)[:, None] * WANDER + NOISE
    np.testing.assert_array_equal(without_wander(short, local_variance(short)), short)


def test_the_first_guess_of_a_change_is_the_difference_of_means_less_their_noise() -> None:
    y = np.zeros((10, 2))
    y[5:] = [3.0, 4.0]
    guess = wander_module._first_changes(y)
    assert guess[4] == 25 - 2 * (1 / 4 + 1 / 4)
    assert guess[0] == 0
