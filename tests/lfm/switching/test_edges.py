import numpy as np
import pytest

from lfm.switching.edges import _echoes, _measure, edge_types, varying_edge_types
from lfm.switching.segments import Segments, States
from lfm.switching.thresholds import THRESHOLDS
from lfm.switching.tracking import Variation

A, B = np.array([100.0, 0.0]), np.array([0.0, 60.0])


def visited(levels, length=None):
    """(states, follows, lengths) of a record that visits the levels, given by a key, one after another."""
    names = sorted(set(levels))
    means = {"0": 0 * A, "A": A, "B": B, "AB": A + B}
    label = np.array([names.index(name) for name in levels])
    length = np.full(len(levels), 10) if length is None else np.array(length)
    rows = np.bincount(label, weights=length)
    follows = np.arange(len(levels)) > 0
    return States(label, np.stack([means[n] for n in names]), rows), follows, length


def test_edges_that_are_equal_up_to_sign_are_one_type_and_the_most_frequent_comes_first():
    types = edge_types(*visited(["0", "A", "AB", "B", "0", "A", "0"]))
    assert types.times.tolist() == [4, 2]
    np.testing.assert_allclose(np.abs(types.vector), [A, B])
    assert types.of_segment.tolist() == [-1, 0, 1, 0, 1, 0, 0]
    turn = types.sign[1:] * np.sign(types.vector[types.of_segment[1:]].sum(axis=1))
    assert turn.tolist() == [1, 1, -1, -1, 1, -1]
    assert types.n_candidates == 2


def test_no_edge_lies_across_a_gap():
    states, follows, length = visited(["0", "A", "B", "0"])
    follows[2] = False
    types = edge_types(states, follows, length)
    assert types.of_segment.tolist()[2] == -1
    assert types.times.tolist() == [1, 1]
    nothing = edge_types(states, np.zeros(4, bool), length)
    assert len(nothing.times) == nothing.n_candidates == 0
    assert nothing.vector.shape == (0, 2)


def test_a_type_is_known_better_the_longer_its_levels_were_seen():
    short = edge_types(*visited(["0", "A"], [2, 3]))
    assert short.variance[0] == pytest.approx(1 / 2 + 1 / 3)
    long = edge_types(*visited(["0", "A"], [200, 300]))
    assert long.variance[0] == pytest.approx(short.variance[0] / 100)


def test_a_single_row_is_one_sight_of_its_edge_although_it_makes_it_twice():
    many = ["0", "A", "0"] * (THRESHOLDS.max_single_types + 1)
    singles = [10, 1, 10]
    once = edge_types(*visited(["0", "B", "0", "A", "0", "A", "0"], [10, 1, 10, 5, 10, 5, 10]))
    assert once.times.tolist() == [4, 2]
    np.testing.assert_allclose(np.abs(once.vector[0]), A)
    often = edge_types(*visited(many, singles * (len(many) // 3)))
    assert often.n_candidates == 1


def test_many_edges_seen_once_are_no_candidates_but_a_few_may_be():
    rng = np.random.default_rng(0)
    for n, kept in ((THRESHOLDS.max_single_types, True), (THRESHOLDS.max_single_types + 1, False)):
        levels = np.cumsum(rng.normal(scale=300, size=(n + 1, 2)), axis=0)
        states = States(np.arange(n + 1), levels, np.full(n + 1, 10.0))
        types = edge_types(states, np.arange(n + 1) > 0, np.full(n + 1, 10))
        assert len(types.times) == n
        assert types.n_candidates == (n if kept else 0)


def drifting(drift, shape=0.0, n=80, seed=0):
    """Segments in which A switches on and off n times, each activation with a size of its own."""
    rng = np.random.default_rng(seed)
    mean = np.zeros((2 * n, 2))
    size = 1 + drift * rng.standard_normal(n)
    mean[1::2] = size[:, None] * A + shape * np.linalg.norm(A) * rng.standard_normal((n, 1)) * [[0.0, 1.0]]
    length = np.full(2 * n, 25)
    mean += rng.standard_normal(mean.shape) / 5
    return Segments(np.arange(2 * n) * 25, length, mean, np.arange(2 * n) > 0)


@pytest.mark.parametrize("drift", [0.03, 0.06])
def test_drift_is_measured_from_the_scatter_of_one_type(drift):
    types, measured = varying_edge_types(drifting(drift), Variation(0.06, 0.01))
    assert types.times[0] >= 150
    assert measured.drift == pytest.approx(drift, rel=0.35)
    assert measured.shape < 0.01
    np.testing.assert_allclose(np.abs(types.vector[0]), A, atol=2.5)


def test_a_shape_that_varies_is_not_taken_for_drift():
    _, measured = varying_edge_types(drifting(0.01, shape=0.04), Variation(0.03, 0.04))
    assert measured.shape == pytest.approx(0.04, rel=0.4)
    assert measured.drift < 0.02


def test_without_drift_none_is_measured():
    _, measured = varying_edge_types(drifting(0.0), Variation(0.04, 0.01))
    assert measured.drift < 0.005
    few, unknown = varying_edge_types(drifting(0.03, n=1), Variation(0.04, 0.01))
    assert unknown == Variation(0.0, 0.0)
    assert few.times.sum() == 1


def test_an_edge_that_is_taken_back_after_one_row_is_an_echo():
    of_segment = np.array([-1, 0, 0, 1, 1, 1, -1, -1])
    sign = np.array([1, 1, -1, 1, 1, -1, 1, -1])
    length = np.array([9, 1, 9, 1, 9, 9, 1, 1])
    assert _echoes(of_segment, sign, length, 3).tolist() == [1, 0, 0]
    assert _echoes(of_segment, sign, np.ones(8, int), 3).tolist() == [1, 1, 0]


@pytest.mark.parametrize(("drift", "shape"), [(0.0, 0.0), (0.08, 0.0), (0.0, 0.05), (0.06, 0.04)])
def test_drift_and_shape_are_measured_beside_the_noise(drift, shape):
    """Along its type an edge has the drift, across it the shape; both beside the noise of its two means."""
    rng = np.random.default_rng(0)
    n, r = 4000, 6
    centre = 100 * np.eye(r)[:1]
    precision = np.full(n, 0.1)
    across = rng.standard_normal((n, r - 1)) / np.sqrt(r - 1)
    change = centre + 100 * np.column_stack([drift * rng.standard_normal(n), shape * across])
    change += rng.standard_normal((n, r)) / np.sqrt(precision)[:, None]
    found = _measure(change, precision, centre, np.zeros(n, int))
    assert found.drift == pytest.approx(drift, abs=0.01)
    assert found.shape == pytest.approx(shape, abs=0.015)
    few = THRESHOLDS.min_edges_to_measure - 1
    assert _measure(change[:few], precision[:few], centre, np.zeros(few, int)) == Variation(0.0, 0.0)


def test_a_varying_type_is_the_mean_of_its_edges_weighed_by_what_each_knows():
    segments = drifting(0.05, n=40, seed=3)._replace(length=np.tile([25, 3], 40))
    variation = Variation(0.05, 0.01)
    types, _ = varying_edge_types(segments, variation)
    change = np.diff(segments.mean, axis=0)
    variance = 1 / segments.length[1:] + 1 / segments.length[:-1]
    assert types.noise == pytest.approx(np.median(variance))
    assert types.drift == 0.05
    for t in np.flatnonzero(types.times >= 2):
        mine = types.of_segment[1:] == t
        edges = change[mine] * types.sign[1:][mine][:, None]
        weight = 1 / (variance[mine] + 0.05**2 * np.sum(edges**2, axis=1))
        centre = weight @ edges / weight.sum()
        np.testing.assert_allclose(types.vector[t], centre)
        around = weight**2 @ variance[mine] / weight.sum() ** 2
        around += 0.01**2 * centre @ centre / (2 * mine.sum())
        assert types.variance[t] == pytest.approx(around)
        assert types.times[t] == mine.sum()
    assert np.all(np.diff(types.times[: types.n_candidates]) <= 0)
