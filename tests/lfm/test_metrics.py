import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfm import InvalidInputError, hamming_error, match_columns, regulariser


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_hamming_error_is_the_best_over_all_permutations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z, Z_true = ((rng.random((6, 4)) < 0.5).astype(np.uint8) for _ in range(2))
    best = min(np.mean(Z[:, list(order)] != Z_true) for order in itertools.permutations(range(4)))
    assert hamming_error(Z, Z_true) == pytest.approx(best)
    assert hamming_error(Z[:, rng.permutation(4)], Z_true) == pytest.approx(best)


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_missing_columns_count_as_zeros(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z, Z_true = (rng.random((5, 2)) < 0.5).astype(np.uint8), (rng.random((5, 4)) < 0.5).astype(np.uint8)
    filled = np.column_stack([Z, np.zeros((5, 2), dtype=np.uint8)])
    assert hamming_error(Z, Z_true) == pytest.approx(hamming_error(filled, Z_true))
    assert hamming_error(Z, Z_true) == pytest.approx(hamming_error(Z_true, Z))


def test_matching_finds_the_permutation() -> None:
    Z = (np.random.default_rng(0).random((50, 5)) < 0.5).astype(np.uint8)
    order = np.array([3, 0, 4, 1, 2])
    rows, columns = match_columns(Z[:, order], Z)
    np.testing.assert_array_equal(order[rows], columns)


def test_regulariser_is_the_norm_per_entry() -> None:
    assert regulariser([[3.0, 4.0]]) == pytest.approx(5 / 2)
    with pytest.raises(InvalidInputError, match="W has shape"):
        regulariser(np.zeros((0, 3)))


def test_rows_must_be_the_same() -> None:
    with pytest.raises(InvalidInputError, match="Z has 2 rows and Z_true has 3"):
        hamming_error(np.eye(2), np.eye(3))
