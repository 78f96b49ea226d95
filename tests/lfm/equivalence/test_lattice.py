import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfm import InvalidInputError, nonbinarity
from lfm.equivalence.lattice import short_vectors


@given(st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_nonbinarity_is_half_the_sum_of_z_times_z_minus_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z = (rng.random((7, 4)) < 0.5).astype(np.uint8)
    U = rng.integers(-2, 3, size=(4, 6))
    ZU = Z.astype(int) @ U
    f = nonbinarity(Z, U)
    np.testing.assert_array_equal(f, (ZU * (ZU - 1)).sum(axis=0) // 2)
    assert np.all(f >= 0)
    np.testing.assert_array_equal(f == 0, np.all((ZU == 0) | (ZU == 1), axis=0))


def test_nonbinarity_takes_fractions_only_where_zu_is_integer() -> None:
    Z = [[1, 1], [1, 1], [0, 0]]
    assert nonbinarity(Z, [[0.5], [0.5]]).tolist() == [0]
    with pytest.raises(InvalidInputError, match="column 0 of U gives fractions"):
        nonbinarity([[1, 0], [0, 1]], [[0.5], [0.5]])


def test_nonbinarity_refuses_numbers_whose_squares_overflow() -> None:
    with pytest.raises(InvalidInputError, match="too large for f to be an exact integer"):
        nonbinarity(np.eye(2), [[1e10], [0.0]])


def test_nonbinarity_names_the_shape_that_does_not_fit() -> None:
    with pytest.raises(InvalidInputError, match=r"U has 3 rows.*K = 2"):
        nonbinarity([[1, 0], [0, 1]], np.eye(3))


@pytest.mark.parametrize("F", [0, 1, 3])
def test_short_vectors_are_all_those_in_a_box_that_holds_the_ellipsoid(F: int) -> None:
    rng = np.random.default_rng(F)
    for _ in range(20):
        rows = np.unique(rng.integers(-1, 3, size=(6, 3)), axis=0).astype(np.int64)
        if np.linalg.matrix_rank(rows) < 3:
            continue
        counts = rng.integers(1, 4, size=len(rows))
        found, f, _, complete = short_vectors(rows, counts, F, 10**6)
        box = np.array(list(itertools.product(range(-8, 9), repeat=3)))
        image = box @ rows.T
        cost = ((image * (image - 1) // 2) * counts).sum(axis=1)
        expected = {tuple(u) for u in box[(cost <= F) & np.any(box != 0, axis=1)]}
        assert complete
        assert np.abs(found).max(initial=0) < 8
        assert {tuple(u) for u in found} == expected
        image = found @ rows.T
        np.testing.assert_array_equal(f, ((image * (image - 1) // 2) * counts).sum(axis=1))


def test_a_spent_budget_is_admitted() -> None:
    rows = np.eye(6, dtype=np.int64)
    found, _, nodes, complete = short_vectors(rows, np.ones(6, dtype=np.int64), 0, 10)
    assert not complete
    assert nodes > 10
    assert len(found) < 2**6 - 1
