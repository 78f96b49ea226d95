"""Loads that are more than on or off: shapes whose watts vary, and the on/off appliances among them.

Owns how the shapes of `lfm.ShapeDecoder` become features of a house: what is always there, on/off appliances
with Z and W, and loads that vary, each with its size in every row.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lfm import LfmError, ShapeDecoder, Solution, split_track
from nilm.disaggregate.estimate import independent
from nilm.errors import OptionError
from nilm.results import FloatArray

RESISTIVE_COSINE = 0.99995  # with the voltage: a heater's; several heaters may hide behind one such shape
RESOLUTION_W = 5.0  # steps of a heater below this are wander
LEAST_SHARE = 0.002  # of what is above the base; a smaller feature is left to the unexplained energy
LARGE_PART = 0.01  # of what is above the base; a smaller heater stays with what varies
TWO_LEVEL_ERROR = 0.1  # of its energy that an on/off appliance may differ from one steady level
ON_SHARE = 0.1  # of its usual power above which a varying load counts as on


class Varying(NamedTuple):
    """A week's rows as on/off features and features that vary."""

    solution: Solution  # on/off features: the base first, then appliances
    shapes: FloatArray  # (V, D) amperes, each the mean over the rows in which it is on
    amplitude: FloatArray  # (N, V) sizes in units of `shapes`, 0 where a load is off


def vary(
    X: FloatArray,
    gaps: NDArray[np.bool_],
    voltage_v: FloatArray,
    *,
    components: int | str,
    notes: list[str],
) -> Varying:
    """The explanation of X (N, D) by a base, on/off appliances and loads that vary."""
    most = max(components - 1, 1) if isinstance(components, int) else "auto"
    try:
        model = ShapeDecoder(n_components=most).fit(X, gap_before=gaps)
    except LfmError as error:
        raise OptionError(f"the estimator shapes cannot explain this data: {error}") from error
    watts = model.components_ @ voltage_v / len(voltage_v)
    cosine = watts / (np.linalg.norm(voltage_v) / len(voltage_v))  # shapes have length 1
    total = max(float(np.abs(model.amplitudes_ * watts).sum()), np.finfo(np.float64).tiny)
    columns = [np.ones(len(X), dtype=np.uint8)]
    features = [model.base_]
    shapes: list[FloatArray] = []
    tracks: list[FloatArray] = []
    left_out = 0
    for shape, track, watt, cos in zip(model.components_, model.amplitudes_.T, watts, cosine, strict=True):
        if abs(watt) * track.sum() < LEAST_SHARE * total:
            left_out += 1
            continue
        if cos > RESISTIVE_COSINE:
            parts = split_track(track, gaps, resolution=RESOLUTION_W / watt)
            rest = np.maximum(parts.left, 0.0)
            for size, on in zip(parts.size, parts.on.T, strict=True):
                if watt * size * on.sum() < LARGE_PART * total:
                    rest = rest + size * on
                    continue
                columns.append(on)
                features.append(size * shape)
            if watt * rest.sum() >= LEAST_SHARE * total:
                shapes.append(shape)
                tracks.append(rest)
            continue
        on, size = _two_levels(track)
        if np.abs(track - size * on).sum() <= TWO_LEVEL_ERROR * track.sum():
            columns.append(on)
            features.append(size * shape)
        else:
            shapes.append(shape)
            tracks.append(track)
    if left_out:
        notes.append(
            f"{left_out} features with less than {100 * LEAST_SHARE:g}% of the energy each were left out; "
            "what they held is in the unexplained energy."
        )
    solution = independent(Solution(np.column_stack(columns), np.array(features)), notes)
    return Varying(solution, *_in_units(shapes, tracks, X.shape))


def _two_levels(track: FloatArray) -> tuple[NDArray[np.uint8], float]:
    """When a track (N,) is on, and its level then: above half of what it usually reaches."""
    usual = float(np.percentile(track[track > 0], 90)) if (track > 0).any() else 0.0
    on = track > usual / 2
    return on.astype(np.uint8), float(np.median(track[on])) if on.any() else 0.0


def _in_units(
    shapes: list[FloatArray], tracks: list[FloatArray], like: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """(V, D) shapes at their mean size when on, and (N, V) sizes in these units, 0 where off."""
    N, D = like
    means, sizes = np.zeros((len(shapes), D)), np.zeros((N, len(shapes)))
    for k, (shape, track) in enumerate(zip(shapes, tracks, strict=True)):
        on = track > ON_SHARE * np.percentile(track, 98)
        mean = float(track[on].mean()) if on.any() else 1.0
        means[k], sizes[:, k] = mean * shape, np.where(on, track / mean, 0.0)
    return means, sizes
