"""Loads that are more than on or off: shapes whose watts vary, and the on/off appliances among them.

Owns how the shapes of `lfm.ShapeDecoder` become features of a house: what is always there, on/off
appliances with Z and W, and loads that vary, each with its size in every row. Loads of one shape add up to
one track, as all heaters do: it is taken apart into those that are on or off, and by scale. Tracks that
switch together become one machine.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lfm import (
    LfmError,
    ShapeDecoder,
    Solution,
    find_fans,
    join_machines,
    share_out,
    split_scales,
    split_track,
)
from lfm.arrays import BinaryArray, FloatArray
from nilm.disaggregate.estimate import independent
from nilm.errors import OptionError
from nilm.thresholds import HOUSE, VARYING

LEVELS_WORDS = (
    "The changes from row to row do not explain this data, so the appliances were found from levels that "
    "last: their waveforms are known to some percent, and what is left in a row counts for those that wander."
)


class Varying(NamedTuple):
    """A week's rows as on/off features and features that vary."""

    solution: Solution  # on/off features: the base first, then appliances
    shapes: FloatArray  # (V, D) amperes, each the mean over the rows in which it is on
    amplitude: FloatArray  # (N, V) sizes in units of `shapes`, 0 where a load is off


class Tracks(NamedTuple):
    """Watts in every row, and the current of one watt."""

    power_w: FloatArray  # (N, K)
    per_watt_a: FloatArray  # (K, D)


def vary(
    X: FloatArray,
    gaps: NDArray[np.bool_],
    voltage_v: FloatArray,
    *,
    duration_s: FloatArray,
    components: int | str,
    feeds_in: bool,
    notes: list[str],
) -> Varying:
    """The explanation of X (N, D) by a base, on/off appliances and loads that vary.

    `duration_s` (N,) is the time that each row stands for. Unless the house `feeds_in`, everything consumes.
    """
    most = max(components - 1, 1) if isinstance(components, int) else "auto"
    try:
        positive = None if feeds_in else voltage_v
        model = ShapeDecoder(most, min_noise=HOUSE.least_change_a, positive=positive)
        model.fit(X, gap_before=gaps, duration=duration_s)
    except LfmError as error:
        raise OptionError(f"the estimator shapes cannot explain this data: {error}") from error
    tracks = _fans_joined(_in_watts(model, voltage_v), gaps, voltage_v, duration_s)
    tracks = _large_enough(tracks, duration_s, notes)
    tracks = _taken_apart(tracks, gaps, voltage_v, duration_s, exact=not model.from_levels_)
    columns, features = [np.ones(len(X), dtype=np.uint8)], [model.base_]
    shapes: list[FloatArray] = []
    sizes: list[FloatArray] = []
    machine = join_machines(np.abs(tracks.power_w), gaps, resolution=VARYING.resolution_w)
    for members in (np.flatnonzero(machine == m) for m in range(int(machine.max(initial=-1)) + 1)):
        power_w = tracks.power_w[:, members].sum(axis=1)
        energy = duration_s @ tracks.power_w[:, members]
        per_watt_a = energy @ tracks.per_watt_a[members] / energy.sum()
        on, level = _two_levels(power_w)
        if np.abs(power_w - level * on).sum() <= VARYING.two_level_error * np.abs(power_w).sum():
            columns.append(on)
            features.append(level * per_watt_a)
        else:
            mean, size = _in_units(power_w, duration_s)
            shapes.append(mean * per_watt_a)
            sizes.append(size)
    solution = independent(Solution(np.column_stack(columns), np.array(features)), notes)
    N, D = X.shape
    found = Varying(solution, np.array(shapes).reshape(-1, D), np.array(sizes).reshape(-1, N).T)
    if not model.from_levels_:
        return found
    notes.append(LEVELS_WORDS)
    return _with_wander(found, X, voltage_v)


def _with_wander(found: Varying, X: FloatArray, voltage_v: FloatArray) -> Varying:
    """The loads that vary with the watts that are their own wander, of those that nothing explains."""
    watts = found.shapes @ voltage_v / len(voltage_v)
    explained = found.solution.product() + found.amplitude @ found.shapes
    left_w = (X - explained) @ voltage_v / len(voltage_v)
    wander = share_out(left_w, found.amplitude * watts) / np.where(watts == 0, 1.0, watts)
    return found._replace(amplitude=np.maximum(found.amplitude + wander, 0.0))


def _in_watts(model: ShapeDecoder, voltage_v: FloatArray) -> Tracks:
    """The shapes with their power in every row; those that draw no watts are not among them."""
    watts = model.components_ @ voltage_v / len(voltage_v)
    # A current in quadrature draws no power: its watts are rounding, and one watt of it would be thousands of
    # amperes.
    real = np.abs(watts) > 1e-3 * np.linalg.norm(voltage_v) / len(voltage_v)
    return Tracks(model.amplitudes_[:, real] * watts[real], model.components_[real] / watts[real, None])


def _large_enough(tracks: Tracks, duration_s: FloatArray, notes: list[str]) -> Tracks:
    """The tracks that hold at least the least share of the energy; a note counts the others."""
    energy = np.abs(duration_s @ tracks.power_w)
    kept = energy >= VARYING.least_share * energy.sum()
    if not kept.all():
        notes.append(
            f"Features with less than {100 * VARYING.least_share:g}% of the energy each were left out: "
            f"{np.count_nonzero(~kept)}. What they held is in the unexplained energy."
        )
    return Tracks(tracks.power_w[:, kept], tracks.per_watt_a[kept])


def _heats(tracks: Tracks, voltage_v: FloatArray) -> NDArray[np.bool_]:
    """(K,) which tracks draw a current with the voltage's own shape."""
    length = np.linalg.norm(tracks.per_watt_a, axis=1) * np.linalg.norm(voltage_v)
    resistive = tracks.per_watt_a @ voltage_v > VARYING.resistive_cosine * length
    return np.asarray(resistive & (tracks.power_w.sum(axis=0) > 0))


def _fans_joined(
    tracks: Tracks, gaps: NDArray[np.bool_], voltage_v: FloatArray, duration_s: FloatArray
) -> Tracks:
    """The tracks with each load whose waveform changes with its level as one; its waveform is the mean."""
    other = np.flatnonzero(~_heats(tracks, voltage_v))
    found = find_fans(
        tracks.per_watt_a[other], np.abs(tracks.power_w[:, other]), gaps, resolution=VARYING.resolution_w
    )
    fans = [other[fan] for fan in found]
    power_w, per_watt_a = [], []
    for fan in fans:
        energy = duration_s @ tracks.power_w[:, fan]
        if energy.sum() != 0:
            power_w.append(tracks.power_w[:, fan].sum(axis=1))
            per_watt_a.append(energy @ tracks.per_watt_a[fan] / energy.sum())
    alone = np.setdiff1d(np.arange(len(tracks.per_watt_a)), np.concatenate([[], *fans]))
    return Tracks(
        np.column_stack([tracks.power_w[:, alone], *power_w]),
        np.vstack([tracks.per_watt_a[alone], *per_watt_a]),
    )


def _taken_apart(
    tracks: Tracks, gaps: NDArray[np.bool_], voltage_v: FloatArray, duration_s: FloatArray, *, exact: bool
) -> Tracks:
    """The tracks with loads that have one shape taken apart; the sum of all heaters is one such track.

    Unless shapes are `exact`, a track holds what other loads leak into it, and only the heaters' is divided.
    """
    heats = _heats(tracks, voltage_v)
    together_w = list(tracks.power_w[:, ~heats].T)
    per_watt_a = list(tracks.per_watt_a[~heats])
    if heats.any():
        together_w.append(tracks.power_w[:, heats].sum(axis=1))
        per_watt_a.append(voltage_v / np.mean(voltage_v**2))
    if not together_w:
        return tracks
    on = np.column_stack([_is_on(np.abs(one)) for one in together_w])
    energy = float(duration_s @ np.abs(tracks.power_w).sum(axis=1))
    apart: list[FloatArray] = []
    shape_of: list[int] = []
    for k, one_w in enumerate(together_w):
        sign, size_w = np.sign(one_w.sum()), np.abs(one_w)
        heaters = bool(heats.any()) and k == len(together_w) - 1
        pieces = [size_w]
        if exact or heaters:
            beside = np.delete(on, k, axis=1)
            pieces = _pieces(size_w, gaps, duration_s, beside, energy=energy, heaters=heaters)
        apart += [sign * piece for piece in pieces]
        shape_of += [k] * len(pieces)
    return Tracks(np.column_stack(apart), np.array(per_watt_a)[shape_of])


def _pieces(
    power_w: FloatArray,
    gaps: NDArray[np.bool_],
    duration_s: FloatArray,
    beside: BinaryArray,
    *,
    energy: float,
    heaters: bool,
) -> list[FloatArray]:
    """A track (N,) of at least 0 W as loads that are on or off, and what they leave by scale.

    `beside` (N, M) says which other loads are on. Only the `heaters` hold loads that are on or off beside
    others that vary; elsewhere one shape is one load, unless some that are on or off are all that there is.
    Pieces that are small beside the `energy` of all tracks are one piece; if that is small, part of the last.
    """
    parts = split_track(
        power_w,
        gaps,
        resolution=VARYING.resolution_w,
        duration=duration_s,
        shortest=VARYING.shortest_s,
        beside=beside if beside.size else None,
    )
    on_or_off = duration_s @ np.abs(parts.left) <= VARYING.two_level_error * (duration_s @ power_w)
    if not (heaters or on_or_off):
        return _by_scale(power_w, duration_s)
    left = power_w
    pieces = []
    for size_w in parts.size.T:  # none takes more than there is
        pieces.append(np.minimum(size_w, left))
        left = left - pieces[-1]
    pieces += _by_scale(left, duration_s)
    large = [piece for piece in pieces if duration_s @ piece >= VARYING.least_apart * energy]
    if not large:
        return [power_w]
    rest = power_w - np.sum(large, axis=0)
    if duration_s @ rest >= VARYING.least_share * energy:
        return [*large, rest]
    large[-1] = large[-1] + rest
    return large


def _by_scale(power_w: FloatArray, duration_s: FloatArray) -> list[FloatArray]:
    """A track (N,) of at least 0 W as loads of different scale."""
    return split_scales(power_w, duration_s, resolution=VARYING.resolution_w, pause=VARYING.pause_s)


def _is_on(size_w: FloatArray) -> BinaryArray:
    """(N,) when a track of at least 0 W is on: above a share of the size in which half of its sum lies."""
    order = np.sort(size_w)
    used = np.cumsum(order)
    return np.asarray(size_w > VARYING.on_share * order[np.searchsorted(used, used[-1] / 2)], dtype=np.uint8)


def _two_levels(power_w: FloatArray) -> tuple[NDArray[np.uint8], float]:
    """When a track (N,) is on, and its level then: above half of what it usually reaches."""
    size = np.abs(power_w)
    usual = float(np.percentile(size[size > 0], 90)) if (size > 0).any() else 0.0
    on = size > usual / 2
    return on.astype(np.uint8), float(np.median(power_w[on])) if on.any() else 0.0


def _in_units(power_w: FloatArray, duration_s: FloatArray) -> tuple[float, FloatArray]:
    """The mean watts of a track (N,) while it is on, and its size (N,) in that unit, 0 where it is off.

    What it usually draws is the power above which it uses half of its energy: a load that runs for an hour a
    week has one too.
    """
    size = np.abs(power_w)
    order = np.argsort(size, kind="stable")
    energy = np.cumsum((size * duration_s)[order])
    usual = size[order][np.searchsorted(energy, energy[-1] / 2)]
    on = size > VARYING.on_share * usual
    mean = float(power_w[on].mean()) if on.any() else 1.0
    return mean, np.where(on, power_w / mean, 0.0)
