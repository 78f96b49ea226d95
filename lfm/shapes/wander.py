"""Wander: what changes from row to row and does not last, in stretches where it is many times the noise.

The waveform of some loads is another one in every row (a central air conditioner's, by 13 to 20%). Its
changes lie on no line. In such a stretch a row y_t is a level m_t and wander of a covariance C that the
stretch itself tells; with ‖x‖² = x C⁻¹ xᵀ the levels minimise

    ½ Σ_t ‖y_t − m_t‖² + p r Σ_t log(1 + ‖Δm_t‖²/(s r)).

So a level stays, and where it changes it does so at once, in all directions. Reweighted least squares; each
round is one tridiagonal solve. Outside such stretches rows stay as they are.
"""

import numpy as np
from scipy.linalg import solveh_banded
from scipy.ndimage import median_filter

from lfm.arrays import FloatArray, IntArray
from lfm.shapes.lines import background
from lfm.thresholds import SHAPES


def local_variance(Y: FloatArray) -> FloatArray:
    """(N,) variance of an entry of each row (N, r) around its level, from the changes of the rows near it."""
    N, r = Y.shape
    if N < 2 or r == 0:
        return np.zeros(N)
    change2 = np.sum(np.diff(Y, axis=0) ** 2, axis=1) / (2 * r)
    both = (np.append(change2, change2[-1]) + np.append(change2[:1], change2)) / 2
    return np.asarray(median_filter(both, size=SHAPES.near_rows, mode="nearest"))


def without_wander(Y: FloatArray, variance: FloatArray) -> FloatArray:
    """(N, r) the levels of rows Y (N, r) in units of the noise, whose `local_variance` (N,) is known."""
    r = Y.shape[1]
    wanders = np.flatnonzero(variance > SHAPES.wander_times**2)
    levels = Y.copy()
    for rows in np.split(wanders, np.flatnonzero(np.diff(wanders) > 1) + 1):
        if len(rows) >= max(SHAPES.rows_a_direction * r, 2 * SHAPES.reach_rows):
            levels[rows] = _levels(Y, rows)
    return levels


def _levels(Y: FloatArray, rows: IntArray) -> FloatArray:
    """(n, r) the levels of neighbouring `rows` (n,) of Y (N, r)."""
    covariance = background(np.diff(Y[rows], axis=0)) / 2  # a change holds the wander of two rows
    whiten = np.linalg.cholesky(np.linalg.inv(covariance))
    y = Y[rows] @ whiten
    (n, r), change2 = y.shape, _first_changes(y)
    level = y
    for k in range(SHAPES.wander_settle_rounds + SHAPES.wander_rounds):
        weight = 2 * SHAPES.level_change_nats * r / (SHAPES.small_change * r + change2)
        band = np.zeros((2, n))
        band[1] = 1 + np.append(weight, 0) + np.append(0, weight)
        band[0, 1:] = -weight
        level = solveh_banded(band, y)
        if k + 1 >= SHAPES.wander_settle_rounds:
            change2 = np.sum(np.diff(level, axis=0) ** 2, axis=1)
    return np.asarray(np.linalg.solve(whiten.T, level.T).T)


def _first_changes(y: FloatArray) -> FloatArray:
    """(n − 1,) squared changes between rows y (n, r): of means of a few on either side, less the noise."""
    n, r = y.shape
    total = np.vstack([np.zeros(r), np.cumsum(y, axis=0)])
    at = np.arange(1, n)
    before, after = np.maximum(at - SHAPES.reach_rows, 0), np.minimum(at + SHAPES.reach_rows, n)
    n_before, n_after = (at - before)[:, None], (after - at)[:, None]
    change = (total[after] - total[at]) / n_after - (total[at] - total[before]) / n_before
    noise = r * (1 / n_before + 1 / n_after)[:, 0]
    return np.asarray(np.maximum(np.sum(change**2, axis=1) - noise, 0))
