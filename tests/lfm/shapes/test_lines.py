import numpy as np

from lfm.shapes.lines import background, find_lines, find_lines_in_wander, is_large

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
