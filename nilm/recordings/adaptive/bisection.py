"""Where something changed, from few looks: a grid of instants, halved wherever two neighbours differ.

Owns the order of looking and the bound on it, on numbers alone. The caller says what a look is and when two
differ: the ingest reads two cycles and compares them. Instants are whole samples from the start of a
recording.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lfm.arrays import FloatArray, IntArray

# How much the states at two instants (n,) and (n,) differ, in units of what counts as a difference.
Difference = Callable[[IntArray, IntArray], FloatArray]


@dataclass(frozen=True)
class Found:
    """Where the changes are: pairs of instants between which something changed, in order of time."""

    looks: IntArray  # (P,) every instant that was looked at, in order
    pieces: IntArray  # (C, 2) no further apart than asked for
    unresolved: IntArray  # (U, 2) further apart: the looks were spent


def find_changes(
    grid: IntArray, difference: Difference, *, piece: int, max_looks: int, unit: int = 1
) -> Found:
    """The changes among the instants `grid` (P,), each within `piece` samples, in at most `max_looks` looks.

    Looks between those of the grid are at multiples of `unit` where one lies between.
    Where the middle differs from both sides, both halves are searched. Where not all differences can be
    followed, the largest are. The looks at the grid itself count, and are made even if they are too many.
    """
    left, right = grid[:-1], grid[1:]
    looked, n_looks = [grid], len(grid)
    pieces, unresolved = [], []
    while len(left):
        size = difference(left, right)
        differs = size > 1
        left, right, size = left[differs], right[differs], size[differs]
        small = right - left <= piece
        pieces.append(np.stack([left[small], right[small]], axis=1))
        left, right, size = left[~small], right[~small], size[~small]
        followed = np.zeros(len(left), dtype=np.bool_)
        # Only as many as can be followed to their end: each costs a look for every halving that is left.
        halvings = math.ceil(math.log2(int((right - left).max(initial=piece)) / piece)) or 1
        affordable = max(max_looks - n_looks, 0) // halvings
        followed[np.argsort(-size, kind="stable")[:affordable]] = True
        unresolved.append(np.stack([left[~followed], right[~followed]], axis=1))
        left, right = left[followed], right[followed]
        middle = _middle(left, right, unit)
        looked.append(middle)
        n_looks += len(middle)
        # Left half before right half: in the order of time, a recording is read most quickly.
        left, right = (np.stack(pair, axis=1).ravel() for pair in ((left, middle), (middle, right)))
    return Found(np.sort(np.concatenate(looked)), _in_order(pieces), _in_order(unresolved))


def _middle(left: IntArray, right: IntArray, unit: int) -> IntArray:
    whole = (left + right) // (2 * unit) * unit
    return np.where(whole > left, whole, (left + right) // 2)


def _in_order(pairs: list[IntArray]) -> IntArray:
    joined = np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)
    return joined[np.argsort(joined[:, 0])]
