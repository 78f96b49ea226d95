import numpy as np
import pytest

from lfm import InvalidInputError, Solution, hamming_error, separate_siblings
from lfm.switching.collinear.siblings import _bins, _families, _same, _to_the_nearest, _was_a_feature


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


def test_bins_double() -> None:
    assert _bins(np.array([1, 2, 3, 4, 7, 8, 10_000])).tolist() == [0, 1, 1, 2, 2, 3, 7]


def test_the_nearest_activation_of_like_size_is_counted_from_end_to_start() -> None:
    size = np.array([1.0, 1.01, 2.0, 1.0])
    first, end = np.array([0, 10, 12, 30]), np.array([4, 12, 20, 33])
    far = np.iinfo(np.int64).max
    assert _to_the_nearest(size, first, end, 0.05).tolist() == [6, 6, far, 18]


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
