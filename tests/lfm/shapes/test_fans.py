import numpy as np
import pytest

from lfm import InvalidInputError, find_fans


def in_plane(*degrees: float, tilt_deg: float = 0.0) -> np.ndarray:
    """Directions of a plane in five dimensions, each tilted out of it by turns up and down."""
    angle = np.radians(degrees)
    tilt = np.radians(tilt_deg) * (-1.0) ** np.arange(len(angle))
    flat = np.column_stack([np.cos(angle), np.sin(angle)]) * np.cos(tilt)[:, None]
    return np.column_stack([flat, np.sin(tilt), np.zeros((len(angle), 2))])


OTHERS = np.array([[0.1, 0, 0, 1.0, 0], [0, 0.3, 0, 0.2, 1.0]])


def test_shapes_that_turn_in_a_plane_are_one_fan_in_order() -> None:
    shapes = np.vstack([OTHERS[:1], in_plane(9, 0, 3, 14), OTHERS[1:]])
    assert [fan.tolist() for fan in find_fans(7.0 * shapes)] in ([[2, 3, 1, 4]], [[4, 1, 3, 2]])


def test_three_in_a_plane_are_none_and_one_far_from_the_others_is_not_among_them() -> None:
    assert find_fans(np.vstack([in_plane(0, 3, 6), OTHERS])) == []
    (fan,) = find_fans(in_plane(0, 3, 6, 9, 30))
    assert sorted(fan.tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize(("tilt_deg", "n"), [(0.2, 1), (1.5, 0)])
def test_shapes_out_of_the_plane_are_no_fan(tilt_deg: float, n: int) -> None:
    assert len(find_fans(in_plane(0, 4, 8, 12, tilt_deg=tilt_deg))) == n


def test_two_fans_share_no_shape() -> None:
    other = in_plane(0, 3, 6, 9, 12)[:, ::-1]
    fans = find_fans(np.vstack([in_plane(0, 3, 6, 9), other]))
    assert [sorted(fan.tolist()) for fan in fans] == [[4, 5, 6, 7, 8], [0, 1, 2, 3]]


def test_no_shapes_are_no_fan_and_what_is_no_number_is_refused() -> None:
    assert find_fans(np.zeros((0, 4))) == []
    with pytest.raises(InvalidInputError):
        find_fans(np.array([[np.nan, 1.0]]))
