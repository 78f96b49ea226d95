"""The input checks of `lfm`: every message names the argument, its value and what to do next."""

import math
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lfm.arrays import BinaryArray, FloatArray
from lfm.errors import InvalidInputError


def _as_array(name: str, value: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise InvalidInputError(f"{name} must be an array: {error}") from error


def check_real(name: str, value: ArrayLike, *, ndim: int = 2) -> FloatArray:
    """`value` as a float64 array of `ndim` dimensions, every entry finite; InvalidInputError otherwise."""
    array = _as_array(name, value)
    if np.iscomplexobj(array):
        raise InvalidInputError(
            f"{name} must be an array of real numbers, got {array.dtype}; take .real or abs"
        )
    try:
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name} must be an array of real numbers: {error}") from error
    if array.ndim != ndim:
        raise InvalidInputError(f"{name} must have {ndim} dimensions, got shape {array.shape}")
    bad = int(np.size(array) - np.count_nonzero(np.isfinite(array)))
    if bad:
        raise InvalidInputError(
            f"{name} holds {bad} entries that are NaN or infinite; leave those rows out or fill them first"
        )
    return array


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
    return isinstance(value, int | float | np.integer | np.floating) and not math.isnan(value)


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
