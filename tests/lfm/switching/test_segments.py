import itertools

import numpy as np
import pytest

from lfm.switching.segments import (
    Segments,
    _edge,
    _noise_between_rows,
    _principal,
    distance_limit,
    find_states,
    find_subspace,
    group,
    is_transition,
    level_changes,
    split,
)
from lfm.switching.thresholds import THRESHOLDS

NO_GAPS = np.zeros(400, dtype=bool)


def steps(rng, noise=0.1, D=30):
    """400 rows at three levels in turn, and the level of each row."""
    levels = rng.normal(size=(3, D))
    label = np.repeat([0, 1, 0, 2, 1], [100, 40, 120, 60, 80])
    return levels[label] + noise * rng.standard_normal((400, D)), label


def test_noise_rank_segments_and_states_are_those_of_the_truth():
    X, label = steps(np.random.default_rng(0))
    subspace = find_subspace(X, NO_GAPS)
    assert subspace.basis.shape == (30, 3)
    assert subspace.noise == pytest.approx(0.1, rel=0.02)
    np.testing.assert_allclose(subspace.basis.T @ subspace.basis, np.eye(3), atol=1e-12)
    segments = split(subspace.scores(X), NO_GAPS)
    np.testing.assert_array_equal(segments.length, [100, 40, 120, 60, 80])
    states = find_states(segments)
    np.testing.assert_array_equal(states.label[[0, 1]], states.label[[2, 4]])
    assert len(states.rows) == 3
    np.testing.assert_array_equal(segments.rows(states.label) == states.label[0], label == 0)


def test_a_feature_of_two_rows_adds_its_own_direction():
    rng = np.random.default_rng(1)
    X, _ = steps(rng, D=60)
    rare = np.zeros(60)
    rare[:5] = 1.0  # ‖rare‖ = 22 σ: far below the edge of the eigenvalues of 400 rows
    X[200:202] += rare
    subspace = find_subspace(X, NO_GAPS)
    kept = np.linalg.norm(subspace.basis.T @ rare) / np.linalg.norm(rare)
    assert kept > 0.85
    assert 200 in split(subspace.scores(X), NO_GAPS).start


@pytest.mark.parametrize("shape", [(300, 40), (40, 300), (300, 300)])
def test_pure_noise_has_no_direction(shape):
    X = 0.3 * np.random.default_rng(2).standard_normal(shape)
    subspace = find_subspace(X, np.zeros(shape[0], dtype=bool))
    assert subspace.basis.shape[1] == 0
    assert subspace.noise == pytest.approx(0.3, rel=0.02)


def test_noise_is_measured_between_rows_where_no_direction_is_free():
    rng = np.random.default_rng(3)
    X = np.repeat([[0.0], [5.0]], 200, axis=0) + 0.1 * rng.standard_normal((400, 1))
    assert find_subspace(X, NO_GAPS).noise == pytest.approx(0.1, rel=0.15)


def test_a_gap_in_time_ends_a_segment():
    gaps = NO_GAPS.copy()
    gaps[[0, 50]] = True
    segments = split(np.zeros((400, 2)), gaps)
    np.testing.assert_array_equal(segments.start, [0, 50])
    np.testing.assert_array_equal(segments.follows, [False, False])


def test_a_row_between_its_neighbours_is_a_transition_and_others_are_not():
    a, b, other = np.zeros(4), np.array([90.0, 0, 0, 0]), np.array([0, 70.0, 0, 0])
    Y = np.concatenate([[a] * 9, [0.4 * b], [b] * 9, [other], [a] * 9])
    segments = split(Y, np.zeros(len(Y), dtype=bool))
    np.testing.assert_array_equal(segments.length, [9, 1, 9, 1, 9])
    np.testing.assert_array_equal(is_transition(segments), [False, True, False, False, False])


def test_groups_join_within_the_noise_and_up_to_sign():
    rng = np.random.default_rng(4)
    centres = np.array([[30.0, 0, 0], [0, 12.0, 5]])
    label = np.arange(200) % 2
    weight = rng.integers(1, 20, size=200).astype(float)
    vectors = centres[label] + rng.standard_normal((200, 3)) / np.sqrt(weight)[:, None]
    sign = rng.choice([-1, 1], size=200)
    groups = group(vectors * sign[:, None], weight, up_to_sign=True)
    assert len(groups.weight) == 2
    np.testing.assert_array_equal(groups.label == groups.label[0], label == label[0])
    np.testing.assert_allclose(np.abs(groups.centre[groups.label[0]]), centres[label[0]], atol=0.5)
    apart = group(vectors * sign[:, None], weight)
    assert len(apart.weight) == 4


def test_groups_may_vary_along_their_centre_but_not_across():
    size = 1000 * (1 + 0.03 * np.random.default_rng(5).standard_normal(50))
    along = np.outer(size, [0.6, 0.8])
    assert len(group(along, np.full(50, 10.0), along=0.12).weight) == 1
    assert len(group(along, np.full(50, 10.0), across=0.12).weight) > 1


def test_the_limit_is_that_of_chi_squared():
    assert distance_limit(2) == pytest.approx(-2 * np.log(1e-7))


@pytest.mark.parametrize("shape", [(400, 30), (60, 60), (30, 400)])
def test_the_edge_lies_a_few_deviations_above_the_largest_eigenvalues_of_noise(shape):
    rng = np.random.default_rng(6)
    largest = [np.linalg.norm(rng.standard_normal(shape), 2) ** 2 for _ in range(40)]
    assert 3 < (_edge(*shape) - np.mean(largest)) / np.std(largest) < 8


@pytest.mark.parametrize("shape", [(9, 4), (4, 9)])
def test_principal_directions_are_those_of_the_singular_value_decomposition(shape):
    X = np.random.default_rng(7).standard_normal(shape)
    values, vectors = _principal(X)
    _, sizes, directions = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(values, sizes**2)
    np.testing.assert_allclose(np.abs(np.sum(vectors.T * directions, axis=1)), 1.0)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1.0)


@pytest.mark.parametrize("D", [1, 3, 40])
def test_noise_between_rows_is_right_in_any_dimension_and_does_not_look_across_gaps(D):
    rng = np.random.default_rng(8)
    levels = 100 * rng.standard_normal((2000, D))
    X = np.repeat(levels, 2, axis=0) + 0.3 * rng.standard_normal((4000, D))
    gaps = np.arange(4000) % 2 == 0
    assert _noise_between_rows(X, gaps) == pytest.approx(0.3, rel=0.05)


def test_noise_between_few_rows_is_not_measured():
    n = THRESHOLDS.min_neighbours
    assert np.isinf(_noise_between_rows(np.random.default_rng(9).random((n, 2)), np.zeros(n, dtype=bool)))
    more = np.random.default_rng(9).random((n + 1, 2))
    assert np.isfinite(_noise_between_rows(more, np.zeros(n + 1, dtype=bool)))


def test_scores_are_in_units_of_the_noise():
    X, _ = steps(np.random.default_rng(10))
    subspace = find_subspace(X, NO_GAPS)
    np.testing.assert_allclose(subspace.scores(X) * subspace.noise, X @ subspace.basis)


@pytest.mark.parametrize("seed", range(5))
def test_segments_are_those_that_a_plain_loop_finds(seed):
    rng = np.random.default_rng(seed)
    Y = np.repeat(rng.normal(0, 6, (30, 2)), rng.integers(1, 9, 30), axis=0)
    Y = Y + rng.standard_normal(Y.shape)
    gaps = rng.random(len(Y)) < 0.1
    begins, rows = [], []
    for t, row in enumerate(Y):
        mean, n = np.mean(rows, axis=0) if rows else 0.0, len(rows)
        if not n or gaps[t] or np.sum((row - mean) ** 2) > distance_limit(2) * (1 + 1 / n):
            begins, rows = [*begins, t], []
        rows.append(row)
    segments = split(Y, gaps)
    np.testing.assert_array_equal(segments.start, begins)
    pieces = np.split(Y, begins[1:])
    np.testing.assert_array_equal(segments.length, [len(piece) for piece in pieces])
    np.testing.assert_allclose(segments.mean, [piece.mean(axis=0) for piece in pieces])
    np.testing.assert_array_equal(segments.follows, [t > 0 and not gaps[t] for t in begins])


def test_changes_of_level_have_their_size_and_there_is_none_across_a_gap():
    rng = np.random.default_rng(11)
    levels = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.5], [0.0, 0.0]])
    X = np.repeat(levels, 50, axis=0) + 0.01 * rng.standard_normal((200, 2))
    none = np.zeros(200, dtype=bool)
    expected = np.array([5.0, 0.5, np.hypot(3.0, 4.5)]) / np.sqrt(2)
    np.testing.assert_allclose(level_changes(X, none), expected, atol=0.01)
    gaps = none.copy()
    gaps[100] = True
    np.testing.assert_allclose(level_changes(X, gaps), expected[[0, 2]], atol=0.01)
    np.testing.assert_allclose(level_changes(X, none, min_noise=0.3), expected[[0, 2]], atol=0.2)


@pytest.mark.parametrize("seed", range(5))
def test_transitions_are_those_that_a_plain_loop_finds(seed):
    """A row at share s of the way has its own noise, 1, and (1 − s)²/n and s²/m of the means beside it."""
    rng = np.random.default_rng(seed)
    S = 400
    length = rng.integers(1, 3, S)
    level = rng.normal(0, 20, (S, 2))
    for s in range(1, S - 1):
        if s % 2:
            share = rng.uniform(-0.2, 1.2)
            level[s] = level[s - 1] + share * (level[s + 1] - level[s - 1]) + rng.normal(0, 6, 2)
    follows = rng.random(S) < 0.9
    start = np.cumsum(length) - length
    found = is_transition(Segments(start, length, level, follows))
    expected = [False]
    for s in range(1, S - 1):
        step, here = level[s + 1] - level[s - 1], level[s] - level[s - 1]
        share = step @ here / (step @ step)
        away = np.sum((here - share * step) ** 2)
        noise = 1 + (1 - share) ** 2 / length[s - 1] + share**2 / length[s + 1]
        alone = length[s] == 1 and follows[s] and follows[s + 1]
        expected.append(bool(alone and 0 < share < 1 and away <= distance_limit(2) * noise))
    np.testing.assert_array_equal(found, [*expected, False])
    assert 20 < found.sum() < 150


def plain_groups(vectors, weight, *, up_to_sign, along, across):
    """Leader clustering as its docstring says it: (label, sign) of each vector, with the centres in full."""
    limit = distance_limit(vectors.shape[1])
    members: list[list[int]] = []
    label, sign = np.zeros(len(vectors), int), np.ones(len(vectors), int)
    for s in np.argsort(-weight, kind="stable"):
        best, place = 1.0, (len(members), 1)
        for (m, group_of), turn in itertools.product(enumerate(members), (1, -1)[: 1 + up_to_sign]):
            total = weight[group_of].sum()
            centre = (weight * sign)[group_of] @ vectors[group_of] / total
            size = centre @ centre
            difference = turn * vectors[s] - centre
            parallel = (difference @ centre) ** 2 / size
            noise = limit * (1 / weight[s] + 1 / total)
            ratio = parallel / (noise + along**2 * size)
            ratio += (difference @ difference - parallel) / (noise + across**2 * size)
            if ratio <= best:
                best, place = ratio, (m, turn)
        label[s], sign[s] = place
        if label[s] == len(members):
            members.append([])
        members[label[s]].append(s)
    return label, sign


@pytest.mark.parametrize("up_to_sign", [False, True])
@pytest.mark.parametrize(("along", "across"), [(0.0, 0.0), (0.1, 0.0), (0.1, 0.03), (0.02, 0.1)])
def test_groups_are_those_of_plain_leader_clustering(up_to_sign, along, across):
    rng = np.random.default_rng(12)
    centres = rng.normal(0, 60, (8, 3))
    vectors = centres[rng.integers(0, 8, 120)] * rng.normal(1, 0.05, (120, 1)) + rng.normal(0, 2, (120, 3))
    vectors *= rng.choice([-1, 1], (120, 1))
    weight = rng.integers(1, 10, 120).astype(float)
    groups = group(vectors, weight, up_to_sign=up_to_sign, along=along, across=across)
    label, sign = plain_groups(vectors, weight, up_to_sign=up_to_sign, along=along, across=across)
    np.testing.assert_array_equal(groups.label, label)
    np.testing.assert_array_equal(groups.sign, sign)
    for m in range(len(groups.weight)):
        mine = label == m
        assert groups.weight[m] == pytest.approx(weight[mine].sum())
        centre = (weight * sign)[mine] @ vectors[mine] / weight[mine].sum()
        np.testing.assert_allclose(groups.centre[m], centre)


@pytest.mark.parametrize("shape", [(40, 30), (30, 40)])
def test_directions_of_signal_take_freedom_from_rows_and_columns(shape):
    """Five strong directions in a small matrix: noise is what is left over (N − 5)(D − 5)."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        signal = 50 * rng.standard_normal((shape[0], 5)) @ rng.standard_normal((5, shape[1]))
        X = signal + 0.2 * rng.standard_normal(shape)
        subspace = find_subspace(X, np.ones(shape[0], dtype=bool))  # no row says anything about the next
        assert subspace.basis.shape[1] == 5
        found.append(subspace.noise)
    assert np.mean(found) == pytest.approx(0.2, rel=0.02)
