"""The errors and the input checks of `lfm`: every message names the argument, its value and what to do."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

BinaryMatrix = NDArray[np.uint8]
FloatMatrix = NDArray[np.float64]
IntMatrix = NDArray[np.int64]


class LfmError(Exception):
    """Base of every error that `lfm` raises on purpose."""


class InvalidInputError(LfmError, ValueError):
    """An argument is not of the form that the function's docstring asks for."""


class NotEquivalentError(LfmError, ValueError):
    """(ZU, U⁻¹W) is not an equivalent solution: U is singular, or ZU is not binary."""


class RankDeficientError(LfmError, ValueError):
    """Columns of Z (or rows of W) are linearly dependent where the mathematics needs them independent."""


def check_real(name: str, value: ArrayLike, *, ndim: int = 2) -> FloatMatrix:
    """`value` as a float64 array of `ndim` dimensions, every entry finite; InvalidInputError otherwise."""
    try:
        array = np.asarray(value, dtype=np.float64)
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


def check_binary(name: str, value: ArrayLike) -> BinaryMatrix:
    """`value` as an (N, K) uint8 matrix of zeros and ones with K ≥ 1; InvalidInputError otherwise."""
    array: NDArray[Any] = np.asarray(value)
    if array.dtype != np.bool_ and array.dtype != np.uint8:
        array = check_real(name, array, ndim=array.ndim)
    if array.ndim != 2:
        raise InvalidInputError(f"{name} must be a matrix of shape (N, K), got shape {array.shape}")
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise InvalidInputError(f"{name} has shape {array.shape}; at least one row and one column are needed")
    wrong = np.argwhere((array != 0) & (array != 1))
    if len(wrong):
        n, k = wrong[0]
        raise InvalidInputError(
            f"{name} must hold only 0 and 1; {len(wrong)} entries do not, the first at row {n}, column {k} "
            f"is {array[n, k]!r}; threshold it first"
        )
    return np.ascontiguousarray(array, dtype=np.uint8)
