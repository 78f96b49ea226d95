"""The input checks of `lfm`: every message names the argument, its value and what to do next."""

import math
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from lfm.arrays import BinaryArray, BoolArray, FloatArray
from lfm.errors import InvalidInputError

# Squares and their sums stay within float64 between these two, so that no norm overflows or vanishes.
LARGEST, SMALLEST = 1e120, 1e-120


def _as_array(name: str, value: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise InvalidInputError(f"{name} must be an array: {error}") from error


def as_real(name: str, value: ArrayLike, *, ndim: int = 2) -> FloatArray:
    """`value` as a float64 array of `ndim` dimensions, whatever its entries; InvalidInputError otherwise."""
    array = _as_array(name, value)
    if np.iscomplexobj(array):
        raise InvalidInputError(
            f"{name} must be an array of real numbers, got {array.dtype}; take .real or abs"
        )
    try:
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"{name} must be an array of real numbers: {error}") from error
    if array.ndim != ndim:
        raise InvalidInputError(f"{name} must have {ndim} dimensions, got shape {array.shape}")
    return array


def check_real(name: str, value: ArrayLike, *, ndim: int = 2) -> FloatArray:
    """`value` as a float64 array of `ndim` dimensions, every entry finite; InvalidInputError otherwise."""
    array = as_real(name, value, ndim=ndim)
    bad = int(np.size(array) - np.count_nonzero(np.isfinite(array)))
    if bad:
        raise InvalidInputError(
            f"{name} holds {bad} entries that are NaN or infinite; leave those rows out or fill them first"
        )
    check_scale(name, array)
    return array


def check_scale(name: str, array: FloatArray) -> None:
    """InvalidInputError where the largest entry is so large or so small that its square is lost."""
    largest = float(np.max(np.abs(array), initial=0.0))
    if largest > LARGEST or 0 < largest < SMALLEST:
        raise InvalidInputError(
            f"the largest entry of {name} has the size {largest:.3g}, whose square is lost in float64; "
            f"scale it to between {SMALLEST:g} and {LARGEST:g}"
        )


def checked_rows(estimator: BaseEstimator, X: ArrayLike, **options: Any) -> FloatArray:
    """X (N, D) after scikit-learn's own checks for an estimator, whose `options` these are."""
    try:
        rows: FloatArray = validate_data(estimator, X, dtype=np.float64, **options)
    except OverflowError as error:
        raise InvalidInputError(f"X holds whole numbers beyond float64: {error}") from error
    return rows


def check_whole(name: str, value: float, *, least: int) -> int:
    """`value` as an int of at least `least`; InvalidInputError otherwise."""
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        whole = least - 1
    if whole < least or whole != value:
        raise InvalidInputError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return whole


def is_number(value: object) -> TypeGuard[float]:
    """True for a single real number that is not NaN, of Python or of numpy."""
    try:
        return isinstance(value, int | float | np.integer | np.floating) and not math.isnan(value)
    except OverflowError:  # a whole number beyond float64
        return False


def check_weight(name: str, value: object) -> None:
    """InvalidInputError unless `value` is a finite number of at least 0."""
    if not (is_number(value) and 0 <= value < math.inf):
        raise InvalidInputError(f"{name} must be a finite number of at least 0, got {value!r}")


def check_rng(name: str, value: object) -> None:
    """InvalidInputError unless `value` is numpy's Generator, whose draws a seed repeats everywhere."""
    if not isinstance(value, np.random.Generator):
        raise InvalidInputError(
            f"{name} must be a numpy.random.Generator, got {value!r}; write numpy.random.default_rng(seed)"
        )


def check_binary(name: str, value: ArrayLike) -> BinaryArray:
    """`value` as an (N, K) uint8 matrix of zeros and ones with K ≥ 1; InvalidInputError otherwise."""
    array = _as_array(name, value)
    if array.ndim != 2:
        raise InvalidInputError(f"{name} must be a matrix of shape (N, K), got shape {array.shape}")
    if array.dtype != np.bool_ and array.dtype != np.uint8:
        array = check_real(name, array)
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise InvalidInputError(f"{name} has shape {array.shape}; at least one row and one column are needed")
    wrong = np.argwhere((array != 0) & (array != 1))
    if len(wrong):
        n, k = wrong[0]
        raise InvalidInputError(
            f"{name} must hold only 0 and 1; {len(wrong)} entries do not, the first at row {n}, column {k} "
            f"is {array[n, k]}; threshold it first"
        )
    return np.ascontiguousarray(array, dtype=np.uint8)


def check_durations(duration: ArrayLike | None, N: int) -> FloatArray:
    """Duration as (N,) numbers above 0, all 1 where it is None; InvalidInputError if it is anything else."""
    if duration is None:
        return np.ones(N)
    checked = check_real("duration", duration, ndim=1)
    if len(checked) != N or (checked <= 0).any():
        raise InvalidInputError(f"duration must hold {N} numbers above 0, one for each row")
    return checked


def check_gaps(gap_before: ArrayLike | None, N: int) -> BoolArray:
    """gap_before as (N,) booleans, none where it is None; InvalidInputError if it is not one flag per row."""
    if gap_before is None:
        return np.zeros(N, dtype=np.bool_)
    gaps = np.asarray(gap_before)
    if gaps.shape != (N,) or gaps.dtype != np.bool_:
        raise InvalidInputError(
            f"gap_before must hold one boolean for each of the {N} rows of X, got shape {gaps.shape} of "
            f"{gaps.dtype}"
        )
    return gaps
