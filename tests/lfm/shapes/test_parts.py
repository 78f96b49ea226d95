import numpy as np

from lfm import split_track

N = 2000
NO_GAPS = np.zeros(N, dtype=bool)


def test_sources_of_one_shape_come_apart_by_their_sizes() -> None:
    t = np.arange(N)
    states = np.column_stack([t % 173 < 40, t % 401 < 90, t % 57 < 11])
    sizes = np.array([2000.0, 900.0, 350.0])
    track = states @ sizes + np.random.default_rng(0).standard_normal(N)
    parts = split_track(track, NO_GAPS, resolution=5.0)
    order = np.argsort(-parts.size)
    np.testing.assert_allclose(parts.size[order], sizes, atol=3)
    np.testing.assert_array_equal(parts.on[:, order], states)
    assert np.abs(parts.left).max() < 10


def test_a_track_that_only_wanders_has_no_parts() -> None:
    track = 300 + np.cumsum(np.random.default_rng(1).standard_normal(N))
    parts = split_track(track, NO_GAPS, resolution=5.0)
    assert parts.on.shape == (N, 0)
    np.testing.assert_allclose(parts.left, track)


def test_parts_and_what_they_leave_add_up_to_the_track() -> None:
    rng = np.random.default_rng(2)
    track = 500.0 * (np.arange(N) % 91 < 33) + np.repeat(rng.uniform(0, 60, N // 20), 20)
    parts = split_track(track, NO_GAPS, resolution=5.0)
    np.testing.assert_allclose(parts.on @ parts.size + parts.left, track)
