import numpy as np
import pytest

from lfm.switching.segments import distance_limit, find_states, find_subspace, group, is_transition, split

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
