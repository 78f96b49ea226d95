"""The rows of a simulated house as the ingest takes them: cut at every change that it would see.

Owns the way from a signal to rows without recordings between: the looks every ten seconds, the bisection and
the cutting are the ingest's own, only the looks are free of noise.
"""

import numpy as np

from nilm.recordings.adaptive.bisection import find_changes
from nilm.recordings.adaptive.stretches import Stretches, cut_into_rows, switches
from nilm.recordings.adaptive.switch_times import difference_limits
from nilm.recordings.adaptive.wander import Wander
from nilm.recordings.waveforms import RATE_HZ, Sampling
from nilm.simulate.signal import Signal
from nilm.thresholds import SWITCHES

MS = 1000  # instants are whole milliseconds
NOISE_A = 0.005  # of a recorder: what the looks' limits would be with it


def rows_as_read(signal: Signal, length_s: float, sampling: Sampling) -> Stretches:
    """The rows of the first `length_s` seconds of a signal."""
    looks = _Looks(signal, np.arange(0, round(length_s * MS), round(sampling.probe_s * MS)))
    hours = length_s / 3600
    found = find_changes(
        looks.grid,
        looks.difference,
        piece=round(SWITCHES.piece_edges * sampling.edge_s * MS),
        max_looks=round(sampling.reads_per_hour * hours),
    )
    pieces = np.concatenate([found.pieces, found.unresolved])
    pieces = pieces[np.argsort(pieces[:, 0])]
    change_s = pieces.mean(axis=1) / MS
    firsts = switches(change_s)
    lasts = np.append(firsts[1:], len(pieces)) - 1
    stays = looks.difference(pieces[firsts, 0], pieces[lasts, 1]) > 1 if len(firsts) else np.zeros(0, bool)
    return cut_into_rows(
        change_s[firsts[stays]],
        length_s=length_s,
        first_grid_s=0.0,
        interval_s=sampling.interval_s,
        window_s=sampling.window / RATE_HZ,
    )


class _Looks:
    """What a look at any instant sees, as vectors whose length is the RMS current."""

    def __init__(self, signal: Signal, grid: np.ndarray) -> None:
        self._signal, self.grid = signal, grid
        values, vectors = np.linalg.eigh(signal.house.W @ signal.house.W.T / signal.house.W.shape[1])
        self._root = vectors * np.sqrt(np.maximum(values, 0.0))
        self._wander = Wander(grid, self._at(grid), np.ones(len(grid), dtype=np.bool_))

    def _at(self, instant: np.ndarray) -> np.ndarray:
        return np.asarray(self._signal.drawn(instant / MS) @ self._root)

    def difference(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """How much the looks at both sides differ, in units of what counts."""
        a, b = self._at(left), self._at(right)
        least = np.minimum(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
        limit, noise = difference_limits(least, NOISE_A)
        return self._wander.stands_out(left, right, b - a, limit=limit, noise=noise)
