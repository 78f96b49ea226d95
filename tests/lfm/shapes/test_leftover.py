import numpy as np
import pytest

from lfm import InvalidInputError, share_out

N = 2000
T = np.arange(N)
MOTOR, LAMP = 500.0 * (T % 90 < 30), 60.0 * (T % 70 < 35)
TRACKS = np.column_stack([MOTOR, LAMP])
RNG = np.random.default_rng(0)


def test_what_is_left_goes_to_the_load_that_wanders_and_noise_to_nobody() -> None:
    noise = RNG.standard_normal(N)
    shared = share_out(0.1 * MOTOR * RNG.standard_normal(N) + noise, TRACKS)
    assert np.abs(shared[:, 0]).sum() > 0.9 * 0.1 * 500 * 0.8 * np.count_nonzero(MOTOR)
    assert np.abs(shared[:, 1]).sum() < 0.02 * np.abs(shared[:, 0]).sum()
    assert (shared[MOTOR == 0, 0] == 0).all()


def test_two_that_wander_share_in_proportion_to_their_variances() -> None:
    both = (
        np.column_stack([100.0 * (T % 4 < 2), 200.0 * (T % 2)]) * (T % 8 < 6)[:, None]
    )  # together, alone, off
    left = np.sum(both * [0.3, 0.1] * RNG.standard_normal((N, 2)), axis=1) + RNG.standard_normal(N)
    together = (both != 0).all(axis=1)
    part = share_out(left, both)[together] / left[together, None]
    np.testing.assert_allclose(part.mean(axis=0), [900 / 1300, 400 / 1300], atol=0.05)


def test_nothing_left_no_track_and_no_row_are_answered_with_zeros() -> None:
    assert not share_out(np.zeros(N), TRACKS).any()
    assert share_out(np.ones(N), np.zeros((N, 0))).shape == (N, 0)
    assert not share_out(np.ones(N), np.zeros((N, 2))).any()
    assert share_out(np.zeros(0), np.zeros((0, 2))).shape == (0, 2)


def test_rows_that_differ_in_number_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="left has 3 rows and tracks 2000"):
        share_out(np.zeros(3), TRACKS)
