import numpy as np

from lfm.shapes.lines import background, find_lines, is_large

RNG = np.random.default_rng(2)


def angles(lines: np.ndarray, true: np.ndarray) -> np.ndarray:
    return np.arccos(np.clip(np.abs(lines @ true.T), 0, 1)).min(axis=0)


def test_a_load_that_moves_in_a_plane_has_two_lines_and_not_one_for_each_level() -> None:
    one, other, lamp = np.eye(6)[:3]
    pure = np.concatenate([np.outer(RNG.uniform(50, 90, 40), one), np.outer(RNG.uniform(50, 90, 40), other)])
    mixed = np.outer(RNG.uniform(20, 60, 300), one) + np.outer(RNG.uniform(20, 60, 300), other)
    changes = np.concatenate([pure, mixed, np.outer(RNG.uniform(10, 20, 12), lamp)])
    lines = find_lines(changes + 0.3 * RNG.standard_normal(changes.shape))
    assert angles(lines, np.eye(6)[:3]).max() < 0.02
    assert len(lines) < 12  # without planes, some forty


def test_the_background_is_at_least_the_noise_of_two_rows() -> None:
    quiet = 0.01 * RNG.standard_normal((500, 3))
    assert np.allclose(background(quiet), 2 * np.eye(3))
    wandering = RNG.standard_normal((2000, 3)) * [9.0, 1.0, 1.0]
    assert 60 < background(wandering)[0, 0] < 110


def test_a_change_is_large_where_the_background_does_not_make_it() -> None:
    assert is_large(np.array([[1.0, 1.0, 0.0], [9.0, 0.0, 0.0]])).tolist() == [False, True]
