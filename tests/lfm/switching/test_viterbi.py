import itertools

import numpy as np
import pytest

from lfm.switching.segments import Segments, States
from lfm.switching.thresholds import THRESHOLDS
from lfm.switching.viterbi import _nearby, _ones, code_numbers, decode_segments, skip_costs


def chain(means, lengths, follows):
    S = len(means)
    segments = Segments(np.cumsum([0, *lengths[:-1]]), np.asarray(lengths), means, np.asarray(follows))
    return segments, States(np.arange(S), means, np.asarray(lengths, dtype=float))


def cheapest(segments, G, level):
    """Every sequence of codes, in full."""
    codes = np.array(list(itertools.product([0, 1], repeat=len(G))))
    S = len(segments.start)
    misfit = (
        0.5 * segments.length[:, None] * np.sum((segments.mean[:, None] - level - codes @ G) ** 2, axis=2)
    )
    best = np.inf
    for path in itertools.product(range(len(codes)), repeat=S):
        cost = sum(misfit[s, path[s]] for s in range(S))
        for s in range(1, S):
            if segments.follows[s]:
                cost += THRESHOLDS.switch_nats * np.count_nonzero(codes[path[s]] != codes[path[s - 1]])
        if cost < best:
            best, best_path = cost, path
    return best, codes[list(best_path)]


@pytest.mark.parametrize("seed", range(12))
def test_the_path_is_the_cheapest_of_all(seed):
    rng = np.random.default_rng(seed)
    G = rng.normal(scale=2.5, size=(3, 2))  # features near the noise: closest codes alone would not do
    level = rng.normal(size=2)
    means = level + rng.integers(0, 2, size=(4, 3)) @ G + rng.normal(scale=0.7, size=(4, 2))
    segments, states = chain(means, [2, 3, 2, 4], [False, True, seed % 2 == 0, True])
    path = decode_segments(segments, states, G, level)
    cost, Z = cheapest(segments, G, level)
    assert path.cost == pytest.approx(cost)
    np.testing.assert_array_equal(path.Z, Z)
    assert not path.glitch.any()


def test_features_twice_as_many_as_dimensions_some_of_them_collinear():
    rng = np.random.default_rng(0)
    G = 40 * rng.normal(size=(16, 8))
    G[5:9] = np.outer([1.7, 2.9, 4.3, 3.1], G[0])
    Z = np.zeros((40, 16), dtype=np.uint8)
    for s in range(1, 40):
        Z[s] = Z[s - 1]
        Z[s, rng.integers(16)] ^= 1
    means = Z @ G + rng.normal(scale=0.1, size=(40, 8))
    segments, states = chain(means, [100] * 40, [False] + [True] * 39)
    np.testing.assert_array_equal(decode_segments(segments, states, G, np.zeros(8)).Z, Z)


def test_a_spoilt_row_is_passed_over_at_a_bounded_cost():
    G = np.array([[100.0, 0.0], [0.0, 80.0]])
    means = np.array([[0.0, 0.0], [-900.0, 500.0], [0.0, 0.0]])
    segments, states = chain(means, [5, 1, 5], [False, True, True])
    path = decode_segments(segments, states, G, np.zeros(2))
    np.testing.assert_array_equal(path.glitch, [False, True, False])
    np.testing.assert_array_equal(path.Z, np.zeros((3, 2)))
    assert path.cost == pytest.approx(THRESHOLDS.spoilt_row_nats)


def test_without_features_all_misfit_is_left():
    segments, states = chain(np.array([[1.0], [3.0]]), [2, 1], [False, True])
    path = decode_segments(segments, states, np.zeros((0, 1)), np.array([1.0]))
    assert path.Z.shape == (2, 0)
    assert path.cost == pytest.approx(2.0)


@pytest.mark.parametrize("room", [4, 40])
@pytest.mark.parametrize("seed", range(6))
def test_codes_near_the_best_are_those_within_three_flips_by_what_they_cost_more(seed, room):
    rng = np.random.default_rng(seed)
    J = 5
    G, above = rng.normal(scale=2, size=(J, 3)), rng.normal(scale=3, size=(4, 3))
    weight = rng.uniform(0.5, 3, 4)
    best = rng.integers(0, 2**J, 4)
    margin = 25.0
    codes, excess, count = _nearby(best, above @ G.T, G @ G.T, weight, margin, room)

    def misfit(m, code):
        return 0.5 * weight[m] * np.sum((above[m] - ((code >> np.arange(J)) & 1) @ G) ** 2)

    for m in range(4):
        listed = []
        for code in range(2**J):
            more = misfit(m, code) - misfit(m, int(best[m]))
            if code == best[m] or (0 < (code ^ int(best[m])).bit_count() <= 3 and more <= margin):
                listed.append((more, code))
        expected = sorted(listed)[:room]
        assert codes[m, : count[m]].tolist() == [code for _, code in expected]
        np.testing.assert_allclose(excess[m, : count[m]], [more for more, _ in expected], atol=1e-9)


def test_only_single_rows_may_be_skipped_and_those_between_two_levels_cost_less():
    means = np.array([[0.0, 0.0], [40.0, 1.0], [100.0, 0.0], [-70.0, 300.0], [100.0, 0.0]])
    segments, _ = chain(means, [5, 1, 5, 1, 5], [False, True, True, True, True])
    between = min(0.5 * 2 + THRESHOLDS.mixed_row_nats, THRESHOLDS.spoilt_row_nats)
    expected = [np.inf, between, np.inf, THRESHOLDS.spoilt_row_nats, np.inf]
    np.testing.assert_allclose(skip_costs(segments), expected)
    assert between < THRESHOLDS.spoilt_row_nats


def test_codes_are_numbered_by_their_bits():
    Z = np.array([[1, 0, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0]], dtype=np.uint8)
    assert code_numbers(Z).tolist() == [1, 4, 7, 0]
    assert [_ones(int(code)) for code in code_numbers(Z)] == [1, 1, 3, 0]
