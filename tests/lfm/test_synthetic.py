import numpy as np
import pytest

from lfm import InvalidInputError, Pdc, RankDeficientError, pairwise_dependencies
from lfm.synthetic import (
    IMAGE_SIDE,
    PATCH_SIDE,
    blocks,
    constrained_states,
    hierarchy,
    images,
    random_dependencies,
    with_bias,
)


def test_images_are_patches_summed_with_noise() -> None:
    data = images(5, 200, 3, 0.1, np.random.default_rng(0))
    assert data.X.shape == (200, IMAGE_SIDE**2)
    noise = data.X - data.truth.product()
    assert np.std(noise) == pytest.approx(0.1, rel=0.02)
    for feature in data.truth.W.reshape(5, IMAGE_SIDE, IMAGE_SIDE):
        rows, columns = np.nonzero(feature)
        assert len(rows) == PATCH_SIDE**2
        assert (np.ptp(rows), np.ptp(columns)) == (PATCH_SIDE - 1, PATCH_SIDE - 1)
    assert set(data.dependencies) <= set(pairwise_dependencies(data.truth.Z))
    assert np.linalg.matrix_rank(data.truth.Z.astype(float)) == 5


def test_nonnegative_images_are() -> None:
    data = images(4, 50, 1, 0.5, np.random.default_rng(0), nonnegative=True)
    assert data.X.min() >= 0
    assert data.truth.W.min() >= 0


def test_the_same_seed_gives_the_same_images() -> None:
    first, second = (images(4, 50, 2, 0.1, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first.X, second.X)


def test_constraints_do_not_distort_what_they_do_not_name() -> None:
    Z = constrained_states(20_000, 3, [(0, 1, Pdc.DISJOINT)], np.random.default_rng(0))
    share = Z.mean(axis=0)
    np.testing.assert_allclose(share, [1 / 3, 1 / 3, 1 / 2], atol=0.02)  # three of four pairs are left


def test_structures_hold_what_they_promise() -> None:
    rng = np.random.default_rng(0)
    Z = constrained_states(300, 6, blocks(6, 2), rng)
    assert Z[:, :3].sum(axis=1).max() == 1
    assert Z[:, 3:].sum(axis=1).max() == 1
    Z = constrained_states(300, 5, hierarchy(5), rng)
    for k in range(1, 5):
        assert np.all(Z[:, k] <= Z[:, (k - 1) // 2])
    assert with_bias(Z)[:, -1].all()


def test_draws_without_full_rank_are_reported() -> None:
    contradiction = [(0, 1, Pdc.DISJOINT), (0, 1, Pdc.IMPLIES)]  # feature 0 can never be on
    with pytest.raises(RankDeficientError, match="rank 1 < K = 2"):
        constrained_states(50, 2, contradiction, np.random.default_rng(0))
    rng = np.random.default_rng(0)
    assert sum(images(4, 6, 3, 0.1, rng).n_rejected for _ in range(20)) > 0


def test_bad_options_are_named() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInputError, match="N = 2 rows cannot have rank K = 3"):
        constrained_states(2, 3, [], rng)
    with pytest.raises(InvalidInputError, match="n_pdc must lie between 0 and the 3 pairs of K = 3, got 9"):
        random_dependencies(3, 9, rng)
    with pytest.raises(InvalidInputError, match="K must be a whole number of at least 1, got 0"):
        images(0, 10, 0, 0.1, rng)
    with pytest.raises(InvalidInputError, match="noise must be a finite number of at least 0, got nan"):
        images(3, 10, 0, float("nan"), rng)
    with pytest.raises(InvalidInputError, match=r"rng must be a numpy\.random\.Generator"):
        images(3, 10, 0, 0.1, None)
    with pytest.raises(InvalidInputError, match=r"pair \(0, 7\); two different features from 0 to 2"):
        constrained_states(10, 3, [(0, 7, Pdc.DISJOINT)], rng)
    with pytest.raises(InvalidInputError, match="n_blocks must be a whole number of at least 1, got 0"):
        blocks(4, 0)
    with pytest.raises(InvalidInputError, match="branching must be a whole number of at least 1, got 0"):
        hierarchy(4, 0)
    with pytest.raises(InvalidInputError, match=r"rows could be drawn.*780 dependencies; ask for fewer"):
        constrained_states(400, 40, blocks(40, 1), rng, p=0.9)
    with pytest.raises(InvalidInputError, match="p must lie strictly between 0 and 1"):
        constrained_states(10, 2, [], rng, p=1.0)
