import numpy as np
import pytest

from lfm.shapes.lines import (
    _at_least_noise,
    _best_line,
    _in_plane,
    background,
    find_lines,
    find_lines_in_wander,
    is_large,
)

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


def test_a_rare_source_beside_one_that_wanders_all_the_time_has_its_line() -> None:
    """Each of its changes holds some of the wander, so no two of them lie on one line within the noise."""
    rng = np.random.default_rng(7)
    r = 6
    rare, wander = (
        np.linalg.qr(rng.standard_normal((r, 3)))[0][:, :1].T[0],
        np.linalg.qr(rng.standard_normal((r, 2)))[0],
    )
    changes = rng.standard_normal((800, r)) + 60 * rng.standard_normal((800, 2)) @ wander.T
    changes[::160] += 3000 * np.outer(rng.choice([-1, 1], 5), rare)
    lines = find_lines_in_wander(changes[::160], changes, np.zeros((0, r)))
    assert np.abs(lines @ rare).max() > np.cos(np.radians(2))
    np.testing.assert_allclose(np.linalg.norm(lines, axis=1), 1)


def test_a_line_that_is_known_is_not_found_again() -> None:
    changes = np.random.default_rng(0).standard_normal((200, 1))
    changes[::20] += 500
    assert len(find_lines_in_wander(changes[::20], changes, np.ones((1, 1)))) == 0


def test_nothing_unexplained_needs_no_line() -> None:
    assert find_lines_in_wander(np.zeros((0, 3)), np.eye(3), np.eye(3)).shape == (0, 3)


def test_changes_of_a_plane_are_sums_of_its_two_lines_and_neither_is_longer_than_the_change() -> None:
    rng = np.random.default_rng(4)
    one, other = np.eye(4)[0], np.array([0.6, 0.8, 0.0, 0.0])
    changes = rng.uniform(-9, 9, (300, 2)) @ np.array([one, other]) + rng.normal(0, 0.8, (300, 4))
    size2 = np.sum(changes**2, axis=1)
    parts = np.linalg.lstsq(np.array([one, other]).T, changes.T)[0]
    left2 = np.sum((changes.T - np.array([one, other]).T @ parts) ** 2, axis=0)
    expected = (left2 < 1.5) & (np.max(parts**2, axis=0) <= size2)
    np.testing.assert_array_equal(_in_plane(changes, size2, one, other, 1.5), expected)
    assert 30 < expected.sum() < 250
    assert not _in_plane(changes, size2, one, one + 1e-3 * np.eye(4)[1], 1.5).any()  # one line is no plane


def test_the_best_line_explains_most_and_is_the_main_direction_of_its_changes() -> None:
    rng = np.random.default_rng(5)
    many, few = np.linalg.qr(rng.standard_normal((5, 2)))[0].T
    changes = np.concatenate([np.outer(rng.uniform(20, 60, 30), many), np.outer(rng.uniform(20, 60, 8), few)])
    changes = changes + 0.5 * rng.standard_normal(changes.shape)
    size2 = np.sum(changes**2, axis=1)
    line, members = _best_line(changes, size2, np.arange(38), 20.0)
    assert members.tolist() == list(range(30))
    assert abs(line @ np.linalg.svd(changes[:30])[2][0]) == pytest.approx(1)
    line, members = _best_line(changes, size2, np.arange(25, 38), 20.0)  # only the free ones count
    assert members.tolist() == list(range(30, 38))


def test_no_direction_of_a_background_has_less_than_the_noise_of_two_rows() -> None:
    covariance = np.array([[5.0, 2.0], [2.0, 1.5]])
    values, vectors = np.linalg.eigh(covariance)
    found_values, found_vectors = np.linalg.eigh(_at_least_noise(covariance))
    np.testing.assert_allclose(found_values, np.maximum(values, 2))
    np.testing.assert_allclose(np.abs(np.sum(vectors * found_vectors, axis=0)), 1)
