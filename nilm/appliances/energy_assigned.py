"""The share of a house's energy that was given to the right appliance, at the right time.

Owns one measure (Kolter and Johnson, 2011). With y_c(t) the true watts of channel c and ŷ_c(t) what was found
for it,

    acc = 1 − Σ_t Σ_c |ŷ_c(t) − y_c(t)| / (2 Σ_t Σ_c |y_c(t)|).

1 is a perfect answer and 0.5 an empty one; below that, silence would have been better. Watts that
never go away cannot be assigned from the mains, so the floor of every channel is taken out, and all floors
together are one channel of their own, `standby`. What was found is divided in the same way.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from lfm.arrays import FloatArray, IntArray
from nilm.appliances.thresholds import APPLIANCES
from nilm.errors import OptionError


@dataclass(frozen=True, eq=False)
class EnergyAssigned:
    """How much energy was rightly assigned, and by how many features."""

    acc: float  # every feature counts, for the channel it overlaps most
    one: float  # each channel keeps at most one feature; the others are left out
    n_features: int  # found features that are not always on
    n_large_features: int  # of them, those with over 1% of the energy
    n_large_channels: int  # true channels with over 1% of the energy, standby aside
    left_over: float  # Σ|truth − found| of the house's total, over Σ|truth|
    channel: IntArray  # (K,) the channel that each feature overlaps most; C + 1 for no channel


class Divided(NamedTuple):
    """Watts above each column's floor, and what all floors draw together."""

    above_w: FloatArray  # (N, C)
    standby_w: FloatArray  # (N,)


def energy_rightly_assigned(
    truth_w: ArrayLike, found_w: ArrayLike, duration_s: ArrayLike = 1.0
) -> EnergyAssigned:
    """The share of the energy that found_w (N, K) gives to the right channels of truth_w (N, C).

    Parameters
    ----------
    truth_w : (N, C) true watts of each channel in each row; negative for a generator.
    found_w : (N, K) watts of each feature in the same rows, K may be 0; the always-on level is a feature or
        a part of one. A row that was not answered holds zeros.
    duration_s : (N,) seconds that each row stands for, or one number for all.

    Raises OptionError where shapes differ, a value is not finite, or the truth holds no energy.

    >>> fridge, kettle = [90.0, 0.0, 90.0, 0.0], [0.0, 0.0, 2000.0, 2000.0]
    >>> truth = np.transpose([fridge, kettle])
    >>> energy_rightly_assigned(truth, truth).acc
    1.0
    >>> energy_rightly_assigned(truth, np.zeros((4, 0))).acc
    0.5
    """
    truth, found = _watts(truth_w, "truth_w"), _watts(found_w, "found_w")
    if len(truth) != len(found):
        raise OptionError(f"truth_w has {len(truth)} rows and found_w {len(found)}; they must be the same")
    weight = np.broadcast_to(np.asarray(duration_s, dtype=np.float64), len(truth))
    energy = float(weight @ np.abs(truth).sum(axis=1))
    if not energy > 0:
        raise OptionError("truth_w holds no energy, so no share of it can be rightly assigned")
    true, features = divided(truth, weight), divided(found, weight)
    standby, nobody = truth.shape[1], truth.shape[1] + 1
    channels = np.column_stack([true.above_w, true.standby_w, np.zeros(len(truth))])
    overlap = _overlap(features.above_w, channels, weight)
    # A load that comes and goes is never matched with the standby: a smaller one would lie wholly inside it.
    overlap[:, standby] = 0.0
    nearest = np.where(overlap.any(axis=1), overlap.argmax(axis=1), nobody)
    pairs = zip(*linear_sum_assignment(-overlap), strict=True)
    matched = np.array([(k, c) for k, c in pairs if overlap[k, c] > 0], dtype=np.int64).reshape(-1, 2)

    def accuracy(feature: IntArray, channel: IntArray) -> float:
        given = np.zeros_like(channels)
        given[:, standby] = features.standby_w
        np.add.at(given.T, channel, features.above_w.T[feature])
        return 1 - float(weight @ np.abs(given - channels).sum(axis=1)) / (2 * energy)

    above = weight @ np.abs(features.above_w)
    total = truth.sum(axis=1)
    return EnergyAssigned(
        acc=accuracy(np.arange(len(nearest)), nearest),
        one=accuracy(matched[:, 0], matched[:, 1]),
        n_features=int(np.count_nonzero(above > 0)),
        n_large_features=int(np.count_nonzero(above > APPLIANCES.large_share * energy)),
        n_large_channels=int(
            np.count_nonzero(weight @ np.abs(true.above_w) > APPLIANCES.large_share * energy)
        ),
        left_over=float(weight @ np.abs(total - found.sum(axis=1))) / energy,
        channel=nearest,
    )


def divided(power_w: FloatArray, duration_s: ArrayLike = 1.0) -> Divided:
    """power_w (N, C) as what lies above each column's floor, and the floors' sum; the parts add up to it.

    The floor of a column is the least size that it has in all but 2% of the time, 0 where it changes sign.
    """
    weight = np.broadcast_to(np.asarray(duration_s, dtype=np.float64), len(power_w))
    if power_w.shape[1] == 0 or len(power_w) == 0:
        return Divided(power_w, np.zeros(len(power_w)))
    sign = np.where(weight @ power_w < 0, -1.0, 1.0)
    size = power_w * sign
    order = np.argsort(size, axis=0, kind="stable")
    share = np.cumsum(weight[order], axis=0) / weight.sum()
    at = np.argmax(share > APPLIANCES.floor_quantile, axis=0)
    floor = np.maximum(np.take_along_axis(size, order, axis=0)[at, np.arange(len(sign))], 0)
    held = np.clip(size, 0, floor)
    return Divided((size - held) * sign, (held * sign).sum(axis=1))


def _overlap(features: FloatArray, channels: FloatArray, weight: FloatArray) -> FloatArray:
    """(K, C) energy that a feature and a channel have in common: Σ_t min(|ŷ|, |y|) where signs agree."""
    overlap = np.zeros((features.shape[1], channels.shape[1]))
    for k, feature in enumerate(features.T):
        same = feature[:, None] * channels > 0
        common = np.minimum(np.abs(feature)[:, None], np.abs(channels))
        overlap[k] = weight @ np.where(same, common, 0.0)
    return overlap


def _watts(values: ArrayLike, name: str) -> FloatArray:
    watts = np.asarray(values, dtype=np.float64)
    if watts.ndim != 2:
        raise OptionError(f"{name} must have one row per time and one column per channel; got {watts.shape}")
    if not np.isfinite(watts).all():
        raise OptionError(f"{name} holds {np.count_nonzero(~np.isfinite(watts))} values that are not finite")
    return watts
