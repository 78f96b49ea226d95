import numpy as np
import pytest

from lfm import InvalidInputError, Solution, hamming_error, separate_siblings
from lfm.switching.collinear.partition import Activations
from lfm.switching.collinear.siblings import (
    _Edges,
    _families,
    _overlap,
    _same,
    _spreads,
    _was_a_feature,
    _without_doubtful,
)


def _house(ratio: float, seed: int = 0) -> tuple[Solution, np.ndarray, np.ndarray]:
    """A level, two collinear features of this ratio, one of another shape; every activation drifts by 1%."""
    rng = np.random.default_rng(seed)
    N, D = 900, 16
    Z = np.zeros((N, 4), dtype=np.uint8)
    Z[:, 0] = 1
    starts = rng.permutation(np.arange(5, N - 10, 12))
    for k, some in zip((1, 2, 3), np.array_split(starts[:60], 3), strict=True):
        for start in some:
            Z[start : start + 4, k] = 1
    shape = rng.standard_normal(D)
    W = np.stack([rng.standard_normal(D), 5 * shape, 5 * ratio * shape, rng.standard_normal(D)])
    X = 0.01 * rng.standard_normal((N, D)) + W[0]
    for k in (1, 2, 3):
        for start in np.flatnonzero(np.diff(Z[:, k].astype(int)) == 1) + 1:
            X[start : start + 4] += (1 + 0.01 * rng.standard_normal()) * W[k]
    return Solution(Z, W), X, np.zeros(N, dtype=bool)


def _as_one(truth: Solution) -> Solution:
    Z = np.delete(truth.Z, 2, axis=1)
    Z[:, 1] |= truth.Z[:, 2]
    W = np.delete(truth.W, 2, axis=0)
    W[1] = (truth.W[1] + truth.W[2]) / 2
    return Solution(Z, W)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ratio", [1.08, 1.3])
def test_two_sizes_in_one_feature_become_two_features(ratio: float, seed: int) -> None:
    truth, X, gaps = _house(ratio, seed)
    found = separate_siblings(_as_one(truth), X, gap_before=gaps)
    assert found.K == 4
    assert hamming_error(found.Z, truth.Z) == 0
    sizes = np.sort(np.linalg.norm(found.W[[1, 3]], axis=1))
    np.testing.assert_allclose(sizes, np.sort(np.linalg.norm(truth.W[[1, 2]], axis=1)), rtol=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_a_feature_that_only_drifts_stays_one(seed: int) -> None:
    truth, X, gaps = _house(1.0, seed)
    one = _as_one(truth)
    assert separate_siblings(one, X, gap_before=gaps) is one


def test_activations_that_were_mixed_up_are_shared_out_by_size() -> None:
    truth, X, gaps = _house(1.08)
    Z = truth.Z.copy()
    wrong = np.flatnonzero(np.diff(truth.Z[:, 1].astype(int)) == 1)[:5] + 1
    for start in wrong:
        Z[start : start + 4, [1, 2]] = [0, 1]
    found = separate_siblings(Solution(Z, truth.W), X, gap_before=gaps)
    assert found.K == 4
    assert hamming_error(found.Z, truth.Z) == 0


def test_two_halves_of_one_feature_are_joined_though_their_drift_is_most_of_what_is_left_over() -> None:
    """Four short runs and two long ones, 2.7% apart where others drift by 0.7%."""
    rng = np.random.default_rng(3)
    N, D = 1200, 16
    Z, shapes = np.zeros((N, 4), dtype=np.uint8), rng.standard_normal((3, D))
    Z[:, 0] = 1
    W = np.stack([shapes[0], 19.74 * shapes[1], 20.3 * shapes[1], shapes[2]])
    X = 0.01 * rng.standard_normal((N, D)) + W[0]
    runs = [(1, 20, 19.7), (1, 20, 19.4), (1, 20, 19.9), (1, 20, 20.0), (2, 130, 20.35), (2, 130, 20.2)]
    for n, (k, length, size) in enumerate(runs):
        rows = slice(10 + 150 * n, 10 + 150 * n + length)
        Z[rows, k] = 1
        X[rows] += size * shapes[1]
    for start in range(5, N - 10, 30):
        Z[start : start + 3, 3] = 1
        X[start : start + 3] += (1 + 0.007 * rng.standard_normal()) * W[3]
    found = separate_siblings(Solution(Z, W), X, gap_before=np.zeros(N, dtype=bool))
    assert found.K == 3
    np.testing.assert_array_equal(found.Z[:, 1], Z[:, 1] | Z[:, 2])


def test_a_right_answer_is_left_alone() -> None:
    truth, X, gaps = _house(1.3)
    assert separate_siblings(truth, X, gap_before=gaps) is truth


def test_edges_across_a_gap_say_nothing() -> None:
    truth, X, _ = _house(1.3)
    every_row_alone = np.ones(truth.N, dtype=bool)
    one = _as_one(truth)
    assert separate_siblings(one, X, gap_before=every_row_alone) is one
    with pytest.raises(InvalidInputError, match="one boolean per row"):
        separate_siblings(one, X, gap_before=every_row_alone[:-1])


def test_a_new_class_of_two_odd_activations_is_no_feature_and_a_pair_split_in_vain_is_joined() -> None:
    truth, X, gaps = _house(1.0)
    found = separate_siblings(truth, X, gap_before=gaps)
    assert found.K == 3
    np.testing.assert_array_equal(found.Z[:, 1], truth.Z[:, 1] | truth.Z[:, 2])
    odd = X.copy()
    for start in np.flatnonzero(np.diff(truth.Z[:, 1].astype(int)) == 1)[:2] + 1:
        odd[start : start + 4] += 0.2 * truth.W[1]
    one = _as_one(truth)
    assert separate_siblings(one, odd, gap_before=gaps) is one


def test_families_are_collinear_and_near_in_size_and_always_on_features_have_none() -> None:
    Z = np.array([[1, 1, 0, 0, 0], [1, 0, 1, 1, 0], [1, 0, 0, 0, 1]], dtype=np.uint8)
    W = np.array([[4.0, 0.0], [4.1, 0.0], [3.5, 0.0], [2.0, 0.0], [0.0, 3.6]])
    assert sorted(map(sorted, _families(Solution(Z, W)))) == [[1, 2], [3], [4]]


def test_the_smaller_class_was_a_feature_if_it_is_most_of_one() -> None:
    member = np.array([0, 0, 0, 0, 1, 1])
    small = np.array([False, False, False, False, True, True])
    assert _was_a_feature([small, ~small], member)
    half = np.array([True, True, False, False, False, False])
    assert not _was_a_feature([half, ~half], member)


def test_partitions_are_the_same_up_to_names() -> None:
    assert _same(np.array([0, 0, 1]), np.array([5, 5, 2]))
    assert not _same(np.array([0, 0, 1]), np.array([5, 2, 2]))
    assert not _same(np.array([0, 0, 0]), np.array([5, 5, 2]))


def test_the_size_of_a_run_is_read_from_the_edge_at_which_least_else_switches() -> None:
    Z = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [1, 0], [1, 0], [0, 0], [1, 0]], dtype=np.uint8)
    W = np.array([[2.0, 0.0], [0.0, 3.0]])
    rng = np.random.default_rng(0)
    residual = rng.standard_normal((8, 2))
    gaps = np.array([0, 0, 0, 0, 0, 0, 0, 1], dtype=bool)
    edges = _Edges(Solution(Z, W), residual, gaps, 0)
    assert edges.first.tolist() == [1, 4]  # the run after the gap has no edge
    assert edges.end.tolist() == [3, 6]
    both = (residual[1] - residual[0] + residual[2] - residual[3]) / 2
    alone = residual[5] - residual[6]  # feature 1 switches off where the second run begins
    np.testing.assert_allclose(edges.change, [W[0] + both, W[0] + alone])
    assert edges.foreign.tolist() == [0.0, 0.0]
    last = _Edges(Solution(Z[:6], W), residual[:6], gaps[:6], 0)
    np.testing.assert_allclose(last.change[1], W[0] + residual[4] - residual[3])
    assert last.foreign.tolist() == [0.0, 9 / 4]  # the energy of what else switches, over the feature's own


def test_spread_is_the_median_deviation_of_clean_sizes() -> None:
    truth, X, gaps = _house(1.3)
    residual = X - truth.product()
    spreads = _spreads(truth, residual, gaps)
    assert sorted(spreads) == [1, 2, 3]
    for k in (1, 2):
        runs = np.flatnonzero(np.diff(truth.Z[:, k].astype(int)) == 1) + 1
        change = X[runs] - X[runs - 1] + X[runs + 3] - X[runs + 4]
        size = change / 2 @ truth.W[k] / np.sum(truth.W[k] ** 2)
        assert spreads[k] == pytest.approx(1.4826 * np.median(np.abs(size - np.median(size))), rel=1e-6)


def _activations(size: list[float], first: list[int], end: list[int]) -> Activations:
    R = len(size)
    zeros = np.zeros(R, dtype=np.int64)
    return Activations(
        np.array(size),
        np.full(R, 1e-4),
        zeros,
        zeros,
        np.zeros((R, 0), np.int64),
        np.zeros(0),
        np.array(first),
        np.array(end),
    )


def test_classes_overlap_where_both_are_on_at_once() -> None:
    one = np.array([True, True, False])
    assert not _overlap([one, ~one], _activations([1, 1, 1], [0, 20, 5], [5, 25, 20]))
    assert _overlap([one, ~one], _activations([1, 1, 1], [0, 20, 4], [5, 25, 20]))
    assert _overlap([one, ~one], _activations([1, 1, 1], [0, 20, 5], [5, 25, 21]))
    assert _overlap([one, ~one], _activations([1, 1, 1], [0, 20, 21], [5, 25, 22]))


@pytest.mark.parametrize(("sigmas", "n_small", "classes"), [(2.0, 8, 1), (60.0, 8, 2), (60.0, 1, 1)])
def test_classes_that_are_near_or_few_are_joined(sigmas: float, n_small: int, classes: int) -> None:
    """Twelve activations of size 1, some of another; the difference in standard deviations of their means."""
    spread = 0.01 * np.sqrt(1 / 12 + 1 / n_small)
    size = [1.0] * 12 + [1.0 + sigmas * spread] * n_small
    first = list(range(0, 10 * len(size), 10))
    a = _activations(size, first, [f + 3 for f in first])
    label = np.repeat([0, 1], [12, n_small])
    found = _without_doubtful(label, a, np.zeros(len(size), dtype=np.int64))
    assert len(np.unique(found)) == classes
    were_features = _without_doubtful(label, a, label)  # as few as they are, they were a feature before
    assert len(np.unique(were_features)) == (2 if sigmas > 50 else 1)
    at_once = a._replace(first=np.zeros(len(size), dtype=np.int64))
    assert len(np.unique(_without_doubtful(label, at_once, 0 * label))) == 2
