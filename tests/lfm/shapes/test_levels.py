import numpy as np

from lfm import ShapeDecoder
from lfm.shapes import levels as levels_module
from lfm.shapes.levels import find_lines_in_levels, levels_of, share_left

R = 6
RNG = np.random.default_rng(5)
NONE = np.zeros((0, R))
BASE = np.full(R, 20.0)


def unit(*entries: float) -> np.ndarray:
    vector = np.array(entries)
    return vector / np.linalg.norm(vector)


LAMP, KETTLE, MOTOR = unit(1, 2, 0, 1, 0, 0), unit(0, 1, 1, 0, 0, 3), unit(1, 0, 0, 2, 2, 0)


def rows(*levels: tuple[float, float, float], n: int = 40) -> np.ndarray:
    size = np.repeat(np.array(levels), n, axis=0)
    return BASE + size @ np.array([LAMP, KETTLE, MOTOR]) + RNG.standard_normal((len(size), R))


def test_rows_that_the_shapes_explain_leave_nothing_and_others_what_they_are() -> None:
    Y = rows((0, 0, 0), (500, 0, 0), (500, 900, 0))
    assert share_left(Y, BASE, np.array([LAMP, KETTLE])) < 0.002
    assert share_left(Y, BASE, NONE) > 0.98
    assert share_left(Y, BASE, -np.array([LAMP, KETTLE])) > 0.98  # no size is below 0


def test_noise_is_not_left_over_and_rows_at_the_base_leave_nothing() -> None:
    assert share_left(BASE + 0.5 * RNG.standard_normal((200, R)), BASE, NONE) < 0.1
    assert share_left(np.tile(BASE, (9, 1)), BASE, NONE) == 0.0


def test_each_load_has_a_line_though_it_switches_once() -> None:
    Y = rows((0, 0, 0), (500, 0, 0), (500, 900, 0), (0, 900, 0), (0, 900, 700), (0, 0, 700), (0, 0, 0))
    levels, tolerance = levels_of(Y, BASE)
    found = find_lines_in_levels(levels, BASE, tolerance, NONE, np.ones(R))
    cosine = found @ np.array([LAMP, KETTLE, MOTOR]).T
    assert len(found) == 3
    assert (cosine.max(axis=0) > 0.999).all()
    assert (found @ np.ones(R) > 0).all()


def test_levels_within_tolerance_of_the_base_have_no_line() -> None:
    Y = rows((0, 0, 0), (4, 0, 0), (0, 0, 0))
    levels, tolerance = levels_of(Y, BASE)
    assert len(find_lines_in_levels(levels, BASE, tolerance, NONE, np.ones(R))) == 0


def test_a_level_ends_where_a_row_is_far_from_its_mean() -> None:
    Y = np.array([[0.0], [1], [0], [9], [9], [0]])
    assert levels_module._level_starts(Y, np.full(6, 3.0)).tolist() == [0, 3, 5]


def test_a_decoder_tells_loads_whose_switches_lie_in_gaps() -> None:
    order = [(0, 0, 0), (500, 0, 0), (500, 900, 0), (0, 900, 0), (0, 900, 700), (0, 0, 700), (0, 0, 0)]
    Y = rows(*order)
    Y[41] += 50 * unit(0, 0, 1, 0, 0, 0)  # two changes that are seen, of something else
    Y[43] += 50 * unit(0, 0, 1, 0, 0, 0)
    gaps = np.arange(len(Y)) % 40 == 0
    model = ShapeDecoder(positive=np.ones(R)).fit(Y, gap_before=gaps)
    assert model.from_levels_
    size = np.repeat(np.array(order, dtype=float), 40, axis=0)
    match = np.argmax(model.components_ @ np.array([LAMP, KETTLE, MOTOR]).T, axis=0)
    assert np.abs(model.amplitudes_[:, match] - size).mean() < 15
    np.testing.assert_allclose(model.transform(Y, gap_before=gaps), model.amplitudes_)
    assert ShapeDecoder(2, positive=np.ones(R)).fit(Y, gap_before=gaps).components_.shape == (2, R)
    assert not ShapeDecoder(positive=np.ones(R)).fit(Y).from_levels_
