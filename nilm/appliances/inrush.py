"""How each appliance starts: the current of its first cycles, from the switches that the recordings timed.

Owns which switch tells something of which appliance, and what a start says of the kind of load: also of two
loads with one waveform, of which only one has something that begins to turn. The switches themselves are
`nilm.recordings.adaptive.switch_times`'.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray
from nilm.appliances.thresholds import APPLIANCES


class Start(NamedTuple):
    """The median of an appliance's starts."""

    inrush: float  # largest current of a cycle, in units of the steady one
    lasts_s: float  # until the current was steady

    @property
    def like_a_motor(self) -> bool:
        """Whether something had to begin to turn."""
        return self.inrush >= APPLIANCES.motor_inrush and self.lasts_s >= APPLIANCES.motor_inrush_s


def start_apart(one: Start | None, other: Start | None) -> bool:
    """Whether two loads start so differently that they are two: one is a motor, and the other is not.

    Had the runs of two loads been confused with each other, both would start alike.
    """
    if one is None or other is None or one.like_a_motor == other.like_a_motor:
        return False
    low, high = sorted((one.inrush, other.inrush))
    return high >= APPLIANCES.inrush_noticed * low


def starts_of(
    Z: BinaryArray, gap_before: BoolArray, inrush: FloatArray, inrush_s: FloatArray
) -> list[Start | None]:
    """How each column of Z (N, K) starts; None where too few starts were seen.

    `inrush` and `inrush_s` (N,) are of the switch with which a row begins, 0 where it begins with none. A
    start counts if nothing else switched with it.
    """
    change = np.diff(Z.astype(np.int8), axis=0, prepend=Z[:1].astype(np.int8))
    alone = (np.abs(change).sum(axis=1) == 1) & ~gap_before & (inrush > 0)
    found: list[Start | None] = []
    for k in range(Z.shape[1]):
        rows = alone & (change[:, k] == 1)
        enough = np.count_nonzero(rows) >= APPLIANCES.fewest_starts
        found.append(
            Start(round(float(np.median(inrush[rows])), 2), round(float(np.median(inrush_s[rows])), 2))
            if enough
            else None
        )
    return found
