import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfm import RankDeficientError
from lfm.equivalence.ranks import check_independent, column_dependences, distinct_rows


def _random(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    N, K = rng.integers(1, 9), rng.integers(1, 6)
    return (rng.random((N, K)) < rng.uniform(0.2, 0.8)).astype(np.uint8)


@given(st.integers(0, 10_000))
@settings(max_examples=200, deadline=None)
def test_dependences_hold_and_their_number_is_the_rank_deficit(seed: int) -> None:
    Z = _random(seed)
    found = column_dependences(Z)
    assert len(found) == Z.shape[1] - np.linalg.matrix_rank(Z.astype(float))
    for dependence in found:
        combined = sum((float(c) * Z[:, k].astype(float) for k, c in dependence.terms), np.zeros(len(Z)))
        np.testing.assert_allclose(combined, Z[:, dependence.column], atol=1e-12)


def test_distinct_rows_with_their_counts_are_z_in_another_order() -> None:
    Z = (np.random.default_rng(0).random((200, 4)) < 0.5).astype(np.uint8)
    rows, counts, of = distinct_rows(Z)
    np.testing.assert_array_equal(rows[of], Z)
    again = np.repeat(rows, counts, axis=0)
    assert sorted(map(tuple, again)) == sorted(map(tuple, Z))
    assert len(np.unique(rows, axis=0)) == len(rows)


@pytest.mark.parametrize(
    ("Z", "message"),
    [
        ([[1, 0], [1, 0], [0, 0]], "column 1 is zero"),
        ([[1, 1], [0, 0], [1, 1]], "columns 0 and 1 are equal"),
        ([[1, 0, 1], [0, 1, 1], [0, 0, 0], [1, 0, 1]], r"column 2 = column 0 \+ column 1"),
        ([[1, 1, 0]], "N = 1 rows and K = 3"),
    ],
)
def test_dependent_columns_are_named(Z: list[list[int]], message: str) -> None:
    with pytest.raises(RankDeficientError, match=message):
        check_independent(np.array(Z, dtype=np.uint8))
