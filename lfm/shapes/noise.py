"""The noise of rows in time, the directions that hold signal, and whether a residual is no more than noise.

The noise is measured from the readings alone: changes between neighbouring rows hold it in every direction,
signal only in some. Its variance is the fixed point of the mean eigenvalue below the Marchenko-Pastur edge.

Directions that hold signal are looked for twice: among the rows, and among means of several rows each. The
second look finds what lasts and is small: a mean of m rows has 1/m of the noise's variance, and lies in the
span of the same sources.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lfm.arrays import BoolArray, FloatArray
from lfm.checks import check_gaps, check_real, check_scale, check_weight
from lfm.errors import InvalidInputError
from lfm.thresholds import SHAPES


class Signal(NamedTuple):
    """Where the signal of a record lies."""

    basis: FloatArray  # (D, r) orthonormal directions that hold signal, the strongest first
    noise: float  # standard deviation of one entry of a row


def find_signal(X: FloatArray, gap_before: BoolArray, *, min_noise: float = 0.0) -> Signal:
    """The noise of rows in time, and the directions in which their levels exceed it.

    Levels last for many rows, so they show directions that single changes hide in the noise.

    Parameters
    ----------
    X : array of shape (N, D)
        Rows in time, N ≥ 2.
    gap_before : array of bool, shape (N,)
        True where a row does not follow the one before.
    min_noise : float, default 0
        Directions in which the levels vary by no more than noise of this size are left out.

    Returns
    -------
    Signal
        `basis` (D, r), orthonormal, and `noise`, the standard deviation of one entry of X.

    Raises
    ------
    InvalidInputError
        Where X is empty or not finite, gap_before is not one boolean per row, or min_noise is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from lfm import find_signal
    >>> rng = np.random.default_rng(0)
    >>> X = np.outer(np.arange(400) % 50 < 20, np.ones(10)) + 0.1 * rng.standard_normal((400, 10))
    >>> signal = find_signal(X, np.zeros(400, dtype=bool))
    >>> signal.basis.shape, round(signal.noise, 2)
    ((10, 1), 0.1)
    """
    X = check_real("X", X)
    gap_before = check_gaps(gap_before, len(X))
    check_scale("X", X)
    check_weight("min_noise", min_noise)
    if not X.size:
        raise InvalidInputError(f"X has shape {X.shape}; at least one row and one column are needed")
    changes = np.diff(X, axis=0)[~gap_before[1:]]
    D = X.shape[1]
    if len(changes) == 0:
        changes = np.zeros((1, D))
    values = np.asarray(np.linalg.eigvalsh(changes.T @ changes / len(changes)), dtype=np.float64)
    noise = float(np.sqrt(_noise_variance(values, D * SHAPES.overlap / len(changes)) / 2))
    rounding = (1e-9 * float(np.abs(X).max(initial=0.0))) ** 2  # what is left where there is no noise
    least = max(rounding, np.finfo(np.float64).tiny)
    basis = np.zeros((D, 0))
    for m in SHAPES.averaged_rows:
        levels = _means(X, gap_before, m)
        if len(levels) == 0:
            break
        levels = levels - levels.mean(axis=0)
        levels -= (levels @ basis) @ basis.T
        power, directions = np.linalg.eigh(levels.T @ levels / len(levels))
        edge = (
            max(noise / np.sqrt(m), min_noise) ** 2 * (1 + np.sqrt(D / len(levels))) ** 2 * SHAPES.edge_slack
        )
        more = directions[:, power > max(edge, least)][:, ::-1]
        basis = np.linalg.qr(np.hstack([basis, more]))[0] if basis.size else more
    return Signal(np.ascontiguousarray(basis), noise)


def _means(X: FloatArray, gap_before: BoolArray, m: int) -> FloatArray:
    """(n, D) the means of m rows each that follow one another without a gap."""
    if m == 1:
        return X
    begins = np.append(np.flatnonzero(np.append(True, gap_before[1:])), len(X))
    whole = [X[begin : end - (end - begin) % m] for begin, end in pairwise(begins.tolist())]
    return np.vstack([rows.reshape(-1, m, X.shape[1]).mean(axis=1) for rows in whole])


def _noise_variance(values: FloatArray, ratio: float) -> float:
    """The variance v with v = mean of the eigenvalues below v (1 + √ratio)²."""
    variance = float(np.median(values))
    for _ in range(SHAPES.noise_rounds):
        below = values[values <= variance * (1 + np.sqrt(ratio)) ** 2 * SHAPES.edge_slack]
        if len(below) == 0 or np.isclose(below.mean(), variance, rtol=1e-9):
            break
        variance = float(below.mean())
    return max(variance, 0.0)


def at_noise_floor(residual: FloatArray, noise: float) -> bool:
    """Whether a residual is no more than noise, in every stretch of the record and in every direction.

    Parameters
    ----------
    residual : array of shape (N, D)
        What an explanation leaves of rows in time.
    noise : float, at least 0
        Standard deviation of one entry that the meter itself makes, as `find_signal` measures it.

    Returns
    -------
    bool
        False where any of 50 stretches, or any direction, holds more than noise makes of it.

    Raises
    ------
    InvalidInputError
        Where the residual is not a matrix of finite numbers, or noise is negative or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from lfm import at_noise_floor
    >>> noise = 0.1 * np.random.default_rng(0).standard_normal((400, 10))
    >>> at_noise_floor(noise, 0.1), at_noise_floor(noise + 0.05, 0.1)
    (True, False)
    """
    residual = check_real("residual", residual)
    check_scale("residual", residual)
    check_weight("noise", noise)
    N, D = residual.shape
    if not residual.size:
        return True
    if noise <= 0:
        return bool(np.abs(residual).max(initial=0.0) == 0)
    for stretch in np.array_split(residual, min(SHAPES.stretches, N)):
        entries = stretch.size
        if np.sum(stretch**2) > noise**2 * (entries + SHAPES.floor_sigmas * np.sqrt(2 * entries)):
            return False
    largest = float(np.linalg.eigvalsh(residual.T @ residual / N)[-1])
    # The largest eigenvalue of pure noise lies within a few N^(−2/3) of the edge (Tracy and Widom).
    spread = (1 + np.sqrt(D / N)) ** (4 / 3) * (N**-0.5) * (D**-0.5 + N**-0.5) ** (1 / 3)
    return bool(largest <= noise**2 * ((1 + np.sqrt(D / N)) ** 2 + SHAPES.floor_sigmas * spread))
