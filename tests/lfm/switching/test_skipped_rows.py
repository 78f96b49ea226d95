import numpy as np

from lfm.switching.segments import Segments
from lfm.switching.skipped_rows import codes_of_neighbours, with_short_activations

G = np.array([[100.0, 0.0], [0.0, 60.0]])
LEVEL = np.array([10.0, 10.0])


def segments_at(*states: tuple[float, float]) -> Segments:
    """Single rows at these multiples of the two features."""
    mean = LEVEL + np.array(states) @ G
    S = len(states)
    return Segments(np.arange(S), np.ones(S, dtype=np.int64), mean, np.arange(S) > 0)


def codes(segments: Segments, Z: list[list[int]], passed: list[bool]) -> list[list[int]]:
    missing = np.array(passed)
    known = codes_of_neighbours(segments, np.array(Z, np.uint8), missing)
    return with_short_activations(segments, known, missing, G, LEVEL).tolist()


def test_a_row_between_two_states_takes_the_nearer_one() -> None:
    segments = segments_at((0, 0), (0.7, 0), (1, 0), (0.6, 0), (0, 0))
    found = codes(segments, [[0, 0], [0, 1], [1, 0], [0, 1], [0, 0]], [False, True, False, True, False])
    assert found == [[0, 0], [1, 0], [1, 0], [1, 0], [0, 0]]


def test_an_activation_of_one_mixed_row_is_on_where_most_of_it_was() -> None:
    segments = segments_at((0, 1), (0.8, 1), (0, 1), (0.3, 1), (0, 1))
    found = codes(segments, [[0, 1]] * 5, [False, True, False, True, False])
    assert found == [[0, 1], [1, 1], [0, 1], [0, 1], [0, 1]]


def test_a_row_that_was_most_of_the_time_off_is_off() -> None:
    segments = segments_at((1, 1), (1, 0.2), (1, 1))
    assert codes(segments, [[1, 1]] * 3, [False, True, False])[1] == [1, 0]


def test_a_spoilt_row_keeps_the_code_of_its_neighbour() -> None:
    segments = segments_at((0, 0), (-7.0, 3.3), (0, 0))
    assert codes(segments, [[0, 0], [1, 1], [0, 0]], [False, True, False])[1] == [0, 0]


def test_nothing_passed_and_everything_passed() -> None:
    segments = segments_at((0, 0), (1, 0))
    assert codes(segments, [[0, 0], [1, 0]], [False, False]) == [[0, 0], [1, 0]]
    assert codes(segments, [[0, 0], [1, 0]], [True, True]) == [[0, 0], [1, 0]]


def test_of_two_features_that_fit_the_one_that_switches_more_often_is_on() -> None:
    heaters = np.array([[100.0], [70.0]])
    mean = np.array([[0.0], [70.0], [0.0], [70.0], [0.0], [100.0], [0.0], [72.0], [0.0]])
    Z = np.array([[0, 0], [0, 1], [0, 0], [0, 1], [0, 0], [1, 0], [0, 0], [0, 0], [0, 0]], dtype=np.uint8)
    segments = Segments(np.arange(9), np.ones(9, dtype=np.int64), mean, np.arange(9) > 0)
    skipped = np.arange(9) == 7
    found = with_short_activations(segments, Z, skipped, heaters, np.zeros(1))
    assert found[7].tolist() == [0, 1]
    np.testing.assert_array_equal(found[~skipped], Z[~skipped])


def test_a_feature_that_was_off_for_most_of_a_row_is_off_in_it() -> None:
    segments = segments_at((1, 0), (0.3, 0), (1, 0))
    assert codes(segments, [[1, 0], [1, 0], [1, 0]], [False, True, False])[1] == [0, 0]


def test_a_skipped_row_at_either_end_takes_the_code_of_its_only_neighbour() -> None:
    segments = segments_at((0.9, 0), (1, 0), (0, 0), (0, 0.1))
    found = codes_of_neighbours(
        segments, np.array([[0, 1], [1, 0], [0, 0], [0, 1]], np.uint8), np.array([True, False, False, True])
    )
    assert found.tolist() == [[1, 0], [1, 0], [0, 0], [0, 0]]
