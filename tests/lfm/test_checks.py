import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from lfm import InvalidInputError
from lfm.checks import (
    LARGEST,
    SMALLEST,
    as_real,
    check_binary,
    check_gaps,
    check_real,
    check_rng,
    check_weight,
    check_whole,
    checked_rows,
    is_number,
)


def test_real_arrays_come_back_as_float64_of_the_right_dimension() -> None:
    found = as_real("X", [[1, 2], [3, 4]])
    assert found.dtype == np.float64
    assert as_real("X", [1.0, math.nan], ndim=1).shape == (2,)  # whatever its entries
    given = np.ones((2, 2))
    assert as_real("X", given) is given


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[1.0], [1.0, 2.0]], "X must be an array"),
        ([[1j]], "X must be an array of real numbers, got complex128; take .real or abs"),
        ([["a"]], "X must be an array of real numbers"),
        ([1.0], r"X must have 2 dimensions, got shape \(1,\)"),
        ([[1.0, math.nan], [math.inf, 0.0]], "X holds 2 entries that are NaN or infinite"),
        ([[10 * LARGEST]], "largest entry of X has the size 1e.121"),
        ([[SMALLEST / 10, 0.0]], "largest entry of X has the size 1e-121"),
    ],
)
def test_what_is_no_matrix_of_real_numbers_is_named(value: list, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        check_real("X", value)


def test_the_ends_of_the_scale_are_allowed() -> None:
    for size in (LARGEST, SMALLEST, 0.0):
        assert check_real("X", [[size, -size]])[0, 0] == size
    assert check_real("X", np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("value", [2, 2.0, np.int64(2), np.float32(2)])
def test_whole_numbers_come_back_as_python_integers(value: float) -> None:
    found = check_whole("n", value, least=2)
    assert found == 2
    assert type(found) is int


@pytest.mark.parametrize("value", [1, 2.5, math.nan, math.inf, "two", None])
def test_what_is_no_whole_number_or_too_small_is_named(value: object) -> None:
    with pytest.raises(InvalidInputError, match="n must be a whole number of at least 2, got"):
        check_whole("n", value, least=2)  # type: ignore[arg-type]


def test_numbers_and_weights() -> None:
    assert all(is_number(value) for value in (0, 1.5, np.float32(2), np.int8(3), math.inf))
    assert not any(is_number(value) for value in (math.nan, "1", None, [1], 1j, 10**400))
    for value in (0, 0.5, np.float64(3)):
        check_weight("w", value)
    for value in (-1e-9, math.inf, math.nan, "1"):
        with pytest.raises(InvalidInputError, match="w must be a finite number of at least 0, got"):
            check_weight("w", value)


def test_a_seed_is_no_generator() -> None:
    check_rng("rng", np.random.default_rng(0))
    for value in (0, None, np.random.RandomState(0)):
        with pytest.raises(InvalidInputError, match=r"write numpy\.random\.default_rng\(seed\)"):
            check_rng("rng", value)


@pytest.mark.parametrize("kind", [bool, np.uint8, int, float])
def test_binary_matrices_come_back_as_bytes(kind: type) -> None:
    found = check_binary("Z", np.array([[0, 1], [1, 0]], dtype=kind).T)
    assert found.dtype == np.uint8
    assert found.flags.c_contiguous
    assert found.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([0, 1], r"matrix of shape \(N, K\), got shape \(2,\)"),
        (np.zeros((0, 2)), r"shape \(0, 2\); at least one row and one column"),
        (np.zeros((2, 0)), r"shape \(2, 0\); at least one row and one column"),
        ([[0, 1], [0.5, 2]], "2 entries do not, the first at row 1, column 0 is 0.5"),
        (np.array([[0, 3]], dtype=np.uint8), "1 entries do not, the first at row 0, column 1 is 3"),
        ([[0, math.nan]], "NaN"),
    ],
)
def test_what_is_no_binary_matrix_is_named(value: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        check_binary("Z", value)  # type: ignore[arg-type]


def test_gaps_are_one_boolean_per_row() -> None:
    assert check_gaps(None, 3).tolist() == [False, False, False]
    assert check_gaps([True, False], 2).tolist() == [True, False]
    for wrong in ([True], [0, 1], [[True, False]]):
        with pytest.raises(InvalidInputError, match="one boolean for each of the 2 rows of X"):
            check_gaps(wrong, 2)


def test_rows_are_checked_as_scikit_learn_does() -> None:
    class Anything(BaseEstimator):
        pass

    assert checked_rows(Anything(), [[1, 2]]).dtype == np.float64
    with pytest.raises(InvalidInputError, match="whole numbers beyond float64"):
        checked_rows(Anything(), [[10**400]])
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        checked_rows(Anything(), [[1.0]], ensure_min_samples=2)
