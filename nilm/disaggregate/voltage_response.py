"""Currents as they would be at a steady voltage: how loads follow the mains, measured and taken away.

A heater's current rises with the voltage, a power supply's falls, a motor's hardly moves. To first order a
row x at the relative voltage 1 + ℓ is x̄ + ℓ·x̄M, with one matrix M that holds what each waveform does (a
heater is a left eigenvector of value 1, a power supply of value −1). M is measured where nothing switches:
between neighbouring rows Δx = Δℓ·xM. So no load needs to be known. A switch lowers the
voltage for all other loads; with this taken away it no longer looks as if they had changed too.

Owns the check of the currents and voltages that a caller hands in, too.
"""

import numpy as np
from numpy.typing import ArrayLike

from lfm.arrays import BoolArray, FloatArray, IntArray
from nilm.errors import OptionError
from nilm.thresholds import HOUSE


def check_cycles(current_a: ArrayLike, voltage_v: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both as floats, current (N, D) and voltage (N, D) or (D,); OptionError where shapes do not agree."""
    current, voltage = np.asarray(current_a, dtype=np.float64), np.asarray(voltage_v, dtype=np.float64)
    if current.ndim != 2 or 0 in current.shape:
        raise OptionError(f"current_a must have shape (N, D), one cycle per row; got {current.shape}")
    if voltage.shape not in {current.shape, current.shape[1:]}:
        raise OptionError(
            f"voltage_v must have shape {current.shape[1:]} or {current.shape}, got {voltage.shape}"
        )
    if not np.isfinite(voltage).all():
        raise OptionError("voltage_v holds values that are NaN or infinite; leave those rows out of both")
    return current, voltage


def at_steady_voltage(X: FloatArray, voltage: FloatArray, gap_before: BoolArray) -> FloatArray:
    """X (N, D) amperes as at the mean RMS voltage; voltage (N, D) volts, gap_before (N,).

    X itself where the voltage does not move or too few rows are quiet.
    """
    rms = np.sqrt(np.mean(voltage**2, axis=1))
    level = rms / rms.mean() - 1
    follows = 1 + np.flatnonzero(~gap_before[1:])
    step = level[follows] - level[follows - 1]
    if len(follows) < HOUSE.min_pairs or np.std(step) < HOUSE.least_swing:
        return X
    basis = np.linalg.eigh(X.T @ X)[1][:, ::-1][:, : HOUSE.max_directions]
    scores = X @ basis
    change = scores[follows] - scores[follows - 1]
    driven = step[:, None] * (scores[follows] + scores[follows - 1]) / 2
    response = _response(driven, change)
    return X if response is None else X - level[:, None] * (scores @ response) @ basis.T


def _response(driven: FloatArray, change: FloatArray) -> FloatArray | None:
    """M (r, r) with change ≈ driven·M over the pairs (P, r) in which nothing switches; None if they are few.

    Ridge regression: M is supposed to be of order one, so that directions in which nothing is driven stay.
    """
    moved = np.linalg.norm(change, axis=1)
    noise = np.median(moved)
    quiet = moved <= noise + HOUSE.strongest * np.linalg.norm(driven, axis=1)
    r = change.shape[1]
    response: FloatArray | None = None
    for _ in range(HOUSE.response_rounds):
        if np.count_nonzero(quiet) < HOUSE.min_pairs * r:
            return response
        A, B = driven[quiet], change[quiet]
        variance = np.median(np.sum((B if response is None else B - A @ response) ** 2, axis=1)) / r
        # Rows that repeat one another have no variance: rounding stands in for it.
        rounding = np.finfo(np.float64).eps * float(np.sum(A**2)) + np.finfo(np.float64).tiny
        ridge = max(float(variance), rounding)
        response = np.linalg.solve(A.T @ A + ridge * np.eye(r), A.T @ B)
        left = np.linalg.norm(change - driven @ response, axis=1)
        quiet = left <= HOUSE.outlying * np.median(left[quiet])
    return response


def per_row(voltage_v: FloatArray, rows: IntArray) -> FloatArray:
    """(M, D) the voltage in each of the M rows, given as (D,) for all rows or (N, D)."""
    return voltage_v[rows] if voltage_v.ndim == 2 else np.broadcast_to(voltage_v, (len(rows), len(voltage_v)))
