import numpy as np
import pytest

from lfm import InvalidInputError, find_fans

N = 1200
NO_GAPS = np.zeros(N, dtype=bool)
RESOLUTION = 5.0


def in_plane(*degrees: float, tilt_deg: float = 0.0) -> np.ndarray:
    """Directions of a plane in five dimensions, each tilted out of it by turns up and down."""
    angle = np.radians(degrees)
    tilt = np.radians(tilt_deg) * (-1.0) ** np.arange(len(angle))
    flat = np.column_stack([np.cos(angle), np.sin(angle)]) * np.cos(tilt)[:, None]
    return np.column_stack([flat, np.sin(tilt), np.zeros((len(angle), 2))])


OTHERS = np.array([[0.1, 0, 0, 1.0, 0], [0, 0.3, 0, 0.2, 1.0]])


def one_load(K: int, seed: int = 0) -> np.ndarray:
    """(N, K) sizes of the lines of one load that changes its level every 20 rows."""
    level = np.repeat(np.random.default_rng(seed).uniform(0, 100, (N // 20, K)), 20, axis=0)
    return np.asarray(level)


def by_themselves(K: int, seed: int = 1) -> np.ndarray:
    """(N, K) sizes of loads that are on and off at times of their own."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [100.0 * ((np.arange(N) + rng.integers(200)) % rng.integers(50, 90) < 20) for _ in range(K)]
    )


def fans_of(shapes: np.ndarray, tracks: np.ndarray) -> list[list[int]]:
    return [fan.tolist() for fan in find_fans(shapes, tracks, NO_GAPS, resolution=RESOLUTION)]


def test_shapes_that_turn_in_a_plane_are_one_fan_in_order() -> None:
    shapes = np.vstack([OTHERS[:1], in_plane(9, 0, 3, 14), OTHERS[1:]])
    tracks = np.column_stack([by_themselves(1), one_load(4), by_themselves(1, 2)])
    assert fans_of(7.0 * shapes, tracks) in ([[2, 3, 1, 4]], [[4, 1, 3, 2]])


def test_motors_in_one_plane_that_switch_each_by_itself_are_no_fan() -> None:
    assert fans_of(in_plane(0, 3, 6, 9, 12), by_themselves(5)) == []


def test_a_motor_in_the_plane_of_a_load_that_turns_is_not_part_of_it() -> None:
    tracks = np.insert(one_load(4), 2, by_themselves(1)[:, 0], axis=1)
    (fan,) = fans_of(in_plane(0, 3, 6, 9, 12), tracks)
    assert sorted(fan) == [0, 1, 3, 4]


def test_a_change_across_a_gap_is_no_meeting() -> None:
    tracks = one_load(4)
    gaps = np.arange(N) % 20 == 0
    assert find_fans(in_plane(0, 3, 6, 9), tracks, gaps, resolution=RESOLUTION) == []


def test_three_in_a_plane_are_none_and_one_far_from_the_others_is_not_among_them() -> None:
    assert fans_of(np.vstack([in_plane(0, 3, 6), OTHERS]), one_load(5)) == []
    (fan,) = fans_of(in_plane(0, 3, 6, 9, 30), one_load(5))
    assert sorted(fan) == [0, 1, 2, 3]


@pytest.mark.parametrize(("tilt_deg", "n"), [(0.2, 1), (1.5, 0)])
def test_shapes_out_of_the_plane_are_no_fan(tilt_deg: float, n: int) -> None:
    assert len(fans_of(in_plane(0, 4, 8, 12, tilt_deg=tilt_deg), one_load(4))) == n


def test_two_fans_share_no_shape() -> None:
    shapes = np.vstack([in_plane(0, 3, 6, 9), in_plane(0, 3, 6, 9, 12)[:, ::-1]])
    fans = fans_of(shapes, np.column_stack([one_load(4), one_load(5, 2)]))
    assert [sorted(fan) for fan in fans] == [[4, 5, 6, 7, 8], [0, 1, 2, 3]]


def test_no_shapes_are_no_fan_and_what_is_no_number_is_refused() -> None:
    assert fans_of(np.zeros((0, 4)), np.zeros((N, 0))) == []
    with pytest.raises(InvalidInputError):
        fans_of(np.array([[np.nan, 1.0]]), one_load(1))
    with pytest.raises(InvalidInputError, match=r"tracks has shape \(1200, 3\)"):
        fans_of(in_plane(0, 3), one_load(3))
