"""Runs of ones in a column of Z: the one home of "from when to when was it on"."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lfm.arrays import BoolArray
from lfm.checks import check_gaps
from lfm.errors import InvalidInputError


def runs_of_ones(column: NDArray[Any], gap_before: BoolArray | None = None) -> list[tuple[int, int]]:
    """(first row, row after the last) of every run of ones in a column (N,) of zeros and ones, in order.

    Parameters
    ----------
    column : array of shape (N,)
        Zeros and ones, or booleans.
    gap_before : array of N booleans, optional
        True where a row does not directly follow the row before it in time. A gap ends a run. Default: no
        gaps.

    Returns
    -------
    list of (int, int)
        Python integers, so that `column[first:end]` is the run.

    Raises
    ------
    InvalidInputError
        Where column has more than one dimension, or gap_before is not one boolean per row.

    Examples
    --------
    >>> import numpy as np
    >>> import lfm
    >>> lfm.runs_of_ones(np.array([1, 1, 0, 1]))
    [(0, 2), (3, 4)]
    >>> lfm.runs_of_ones(np.array([1, 1, 0, 1]), gap_before=np.array([False, True, False, False]))
    [(0, 1), (1, 2), (3, 4)]
    """
    on = np.asarray(column) == 1
    if on.ndim != 1:
        raise InvalidInputError(f"column must be one column of zeros and ones, got shape {on.shape}")
    # A row begins a run unless the row before is on and directly before it; a run ends where the next begins
    # or where it is off.
    joined = on[1:] & on[:-1]
    if gap_before is not None:
        joined &= ~check_gaps(gap_before, len(on))[1:]
    starts = on.copy()
    starts[1:] &= ~joined
    ends = on.copy()
    ends[:-1] &= ~joined
    return list(zip(np.flatnonzero(starts).tolist(), (np.flatnonzero(ends) + 1).tolist(), strict=True))
