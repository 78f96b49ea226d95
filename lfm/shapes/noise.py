"""The noise of rows in time, the directions that hold signal, and whether a residual is no more than noise.

The noise is measured from the readings alone: changes between neighbouring rows hold it in every direction,
signal only in some. Its variance is the fixed point of the mean eigenvalue below the Marchenko-Pastur edge.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BoolArray, FloatArray

_ROUNDS = 100
_EDGE_SLACK = 1.05  # of the Marchenko-Pastur edge: it is exact for many rows and directions only
_OVERLAP = 1.5  # neighbouring changes share a row, so N of them count as N / 1.5
_STRETCHES = 50  # pieces of a record in which a residual is looked at by itself
_SIGMAS = 6.0  # standard deviations by which noise itself may exceed its mean


class Signal(NamedTuple):
    """Where the signal of a record lies."""

    basis: FloatArray  # (D, r) orthonormal directions that hold signal, the strongest first
    noise: float  # standard deviation of one entry of a row


def find_signal(X: FloatArray, gap_before: BoolArray) -> Signal:
    """The noise of X (N, D) and the directions in which its levels exceed it.

    Levels last for many rows, so they show directions that single changes hide in the noise.
    """
    changes = np.diff(X, axis=0)[~gap_before[1:]]
    N, D = X.shape
    if len(changes) == 0:
        changes = np.zeros((1, D))
    values = np.asarray(np.linalg.eigvalsh(changes.T @ changes / len(changes)), dtype=np.float64)
    noise = float(np.sqrt(_noise_variance(values, D * _OVERLAP / len(changes)) / 2))
    levels = X - X.mean(axis=0)
    power, directions = np.linalg.eigh(levels.T @ levels / N)
    edge = noise**2 * (1 + np.sqrt(D / N)) ** 2 * _EDGE_SLACK
    rounding = (1e-9 * float(np.abs(X).max(initial=0.0))) ** 2  # what is left where there is no noise
    keep = power > max(edge, rounding, np.finfo(np.float64).tiny)
    return Signal(np.ascontiguousarray(directions[:, keep][:, ::-1]), noise)


def _noise_variance(values: FloatArray, ratio: float) -> float:
    """The variance v with v = mean of the eigenvalues below v (1 + √ratio)²."""
    variance = float(np.median(values))
    for _ in range(_ROUNDS):
        below = values[values <= variance * (1 + np.sqrt(ratio)) ** 2 * _EDGE_SLACK]
        if len(below) == 0 or np.isclose(below.mean(), variance, rtol=1e-9):
            break
        variance = float(below.mean())
    return max(variance, 0.0)


def at_noise_floor(residual: FloatArray, noise: float) -> bool:
    """Whether `residual` (N, D) is no more than noise, in every stretch of the record and every direction."""
    N, D = residual.shape
    if noise <= 0:
        return bool(np.abs(residual).max(initial=0.0) == 0)
    for stretch in np.array_split(residual, min(_STRETCHES, N)):
        entries = stretch.size
        if np.sum(stretch**2) > noise**2 * (entries + _SIGMAS * np.sqrt(2 * entries)):
            return False
    largest = float(np.linalg.eigvalsh(residual.T @ residual / N)[-1])
    # The largest eigenvalue of pure noise lies within a few N^(−2/3) of the edge (Tracy and Widom).
    spread = (1 + np.sqrt(D / N)) ** (4 / 3) * (N**-0.5) * (D**-0.5 + N**-0.5) ** (1 / 3)
    return bool(largest <= noise**2 * ((1 + np.sqrt(D / N)) ** 2 + _SIGMAS * spread))
