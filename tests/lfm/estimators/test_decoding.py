import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfm.errors import InvalidInputError
from lfm.estimators.decoding import InexactDecodingWarning, _search, _sorted_qr, decode, decode_rows


def brute_force_distances(X, W):
    codes = np.array(list(itertools.product([0, 1], repeat=len(W))), dtype=float)
    return np.linalg.norm(X[:, None, :] - (codes @ W)[None], axis=2).min(axis=1)


@settings(max_examples=60, deadline=None)
@given(
    K=st.integers(1, 9),
    D=st.integers(1, 12),
    rank=st.integers(1, 9),
    noise=st.sampled_from([0.0, 0.1, 1.0, 10.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_no_binary_point_is_closer(K, D, rank, noise, seed):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((K, min(rank, K))) @ rng.standard_normal((min(rank, K), D))
    X = rng.integers(0, 2, (20, K)) @ W + noise * rng.standard_normal((20, D))
    decoding = decode(X, W)
    assert decoding.proved.all()
    distances = np.linalg.norm(X - decoding.Z @ W, axis=1)
    np.testing.assert_allclose(distances, brute_force_distances(X, W), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_unit_of_x_does_not_matter(scale):
    rng = np.random.default_rng(0)
    Z = rng.integers(0, 2, (50, 6))
    W = rng.standard_normal((6, 8))
    np.testing.assert_array_equal(decode_rows(scale * (Z @ W), scale * W), Z)


def test_thirty_five_noisy_features_are_decoded_exactly_within_the_default_budget():
    rng = np.random.default_rng(1)
    Z = rng.integers(0, 2, (500, 35))
    W = rng.standard_normal((35, 60))
    decoding = decode(Z @ W + 0.5 * rng.standard_normal((500, 60)), W)
    assert decoding.proved.all()
    np.testing.assert_array_equal(decoding.Z, Z)


def test_collinear_features_of_different_sizes_are_told_apart():
    sizes = np.array([1.0, 2.1, 4.3, 8.2, 17.0, 33.0, 70.0])
    W = np.outer(sizes, [0.6, 0.8, 0.0])
    Z = np.array(list(itertools.product([0, 1], repeat=7)))
    np.testing.assert_array_equal(decode_rows(Z @ W, W), Z)


def test_features_of_zeros_stay_off():
    W = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    Z = decode_rows([[1.1, 0.3], [0.2, -0.5]], W)
    np.testing.assert_array_equal(Z[:, 1], [1, 0])
    np.testing.assert_array_equal(decode_rows([[1.0, 2.0]], np.zeros((2, 2))), [[0, 0]])


def test_a_row_out_of_nodes_is_reported_and_still_no_worse_than_rounding():
    rng = np.random.default_rng(2)
    W = rng.standard_normal((20, 3))
    X = 3 * rng.standard_normal((5, 3))
    with pytest.warns(InexactDecodingWarning, match="5 of 5 rows"):
        Z = decode_rows(X, W, max_nodes=20)
    assert np.all(np.linalg.norm(X - Z @ W, axis=1) <= np.linalg.norm(X, axis=1))
    assert not decode(X, W, max_nodes=20).proved.any()
    assert decode(X, W).proved.all()


def test_repeated_rows_are_decoded_once():
    rng = np.random.default_rng(3)
    W = rng.standard_normal((8, 10))
    x = rng.standard_normal((1, 10))
    once = decode(x, W)
    many = decode(np.zeros((100, 1)) + x, W)
    assert many.nodes <= 2 * once.nodes
    assert (many.Z == once.Z).all()


def test_wrong_shapes_are_refused_with_the_numbers():
    with pytest.raises(InvalidInputError, match="length 3 and W of length 2"):
        decode_rows(np.zeros((4, 3)), np.zeros((2, 2)))
    with pytest.raises(InvalidInputError, match="no features"):
        decode_rows(np.zeros((4, 3)), np.zeros((0, 3)))
    with pytest.raises(InvalidInputError, match="max_nodes must be a whole number of at least 1, got 0"):
        decode_rows(np.zeros((4, 3)), np.ones((1, 3)), max_nodes=0)


def test_columns_are_sorted_so_that_the_strongest_is_decided_first():
    rng = np.random.default_rng(4)
    A = rng.standard_normal((9, 5)) * [3.0, 1.0, 7.0, 0.5, 2.0]
    Q, R, order = _sorted_qr(A)
    np.testing.assert_allclose(Q @ R, A[:, order])
    for k in range(5):  # each is the shortest of those left, beside those before it
        before = A[:, order[:k]]
        rest = A[:, order[k:]] - before @ np.linalg.lstsq(before, A[:, order[k:]])[0]
        lengths = np.linalg.norm(rest, axis=0)
        assert lengths[0] == lengths.min()


def plain_search(R, target):
    """(z, nodes): each level's nearer value first; a branch is left where its bound reaches the best."""
    K = len(R)
    best, found, nodes = np.inf, None, 0

    def level(k, z, cost):
        nonlocal best, found, nodes
        missing = target - R[:, k + 1 :] @ z[k + 1 :]
        nearer = 1 if abs(missing[k] - R[k, k]) < abs(missing[k]) else 0
        for value in (nearer, 1 - nearer):
            nodes += 1
            z[k] = value
            here = cost + (missing[k] - value * R[k, k]) ** 2
            left = missing[:k] - value * R[:k, k]
            low, high = np.minimum(R[:k, :k], 0).sum(axis=1), np.maximum(R[:k, :k], 0).sum(axis=1)
            bound = here + np.sum(np.maximum(low - left, 0) ** 2 + np.maximum(left - high, 0) ** 2)
            if bound < best:
                if k:
                    level(k - 1, z, here)
                else:
                    best, found = bound, z.copy()

    level(K - 1, np.zeros(K), 0.0)
    return found, nodes


@pytest.mark.parametrize("seed", range(10))
def test_the_search_visits_the_nodes_of_a_plain_recursion_and_no_more(seed):
    rng = np.random.default_rng(seed)
    K = 2 + seed % 6
    R = np.triu(rng.standard_normal((K, K)))
    targets = 2 * rng.standard_normal((6, K))
    Z, proved, total = _search(R, targets, 10**6)
    expected = [plain_search(R, target) for target in targets]
    np.testing.assert_array_equal(Z, [z for z, _ in expected])
    assert proved.all()
    assert total == sum(nodes for _, nodes in expected)


def test_nodes_are_spent_for_each_row_and_exactly_those_allowed():
    rng = np.random.default_rng(5)
    R, targets = np.triu(rng.standard_normal((8, 8))), 3 * rng.standard_normal((5, 8))
    needed = [plain_search(R, target)[1] for target in targets]
    allowed = sorted(needed)[2]
    _, proved, total = _search(R, targets, allowed)
    np.testing.assert_array_equal(proved, [nodes <= allowed for nodes in needed])
    assert total == sum(min(nodes, allowed) for nodes in needed)
