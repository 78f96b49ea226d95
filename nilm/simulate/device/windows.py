"""Where a reader will look into a recording: a sparse one holds signal there, and silence elsewhere.

The contract with the ingest is the ingest's own code: the same grid, the same bisection and the same cutting
into rows, run on what the house really did (`nilm.recordings.adaptive`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nilm.recordings.adaptive.bisection import Found, IntArray, find_changes
from nilm.recordings.adaptive.probes import probe_grid, probe_samples
from nilm.recordings.adaptive.stretches import SETTLE_S, rows_between
from nilm.recordings.adaptive.switch_times import LIMITS, PIECE_EDGES, piece_ends
from nilm.recordings.adaptive.wander import Wander
from nilm.recordings.flac.windows import BLOCK
from nilm.recordings.waveforms import RATE_HZ, Sampling
from nilm.simulate.loads import FloatArray
from nilm.simulate.signal import Signal

_GRID_S = (-0.05, 0.25)  # around each instant of the plain grid
_OFF_S = 0.05  # by how much a reader's switch, and its row, may lie elsewhere: it is timed to a cycle
_PERHAPS, _SURELY = (
    0.6,
    2.0,
)  # of the limit: below the first a reader sees no switch, above the second it does


@dataclass(frozen=True)
class Place:
    """Which part of a signal a recording holds."""

    unix_s: float  # of its first sample
    start_s: float  # the same in the signal's time
    n_samples: int
    rate_hz: int

    def time_s(self, sample: IntArray) -> FloatArray:
        """The signal's time of these samples."""
        return np.asarray(self.start_s + sample / self.rate_hz)


def windows_read(signal: Signal, place: Place, sampling: Sampling) -> list[tuple[int, int]]:
    """(first sample, sample after the last) of what a reader reads, in order, without overlaps."""
    length_s = place.n_samples / place.rate_hz
    first_s = -place.unix_s % sampling.interval_s
    instants = np.arange(first_s - sampling.interval_s, length_s, sampling.interval_s)
    spans = [instants[:, None] + _GRID_S]
    if sampling.probe_s:
        probe_s = probe_samples(place.rate_hz) / place.rate_hz
        found = _changes(signal, place, sampling, _PERHAPS)
        spans.append(found.looks[:, None] / place.rate_hz + [0.0, probe_s])
        ends = piece_ends(found.pieces, place.rate_hz, place.n_samples)
        spans.append(np.column_stack([found.pieces[:, 0], ends]) / place.rate_hz)
        perhaps = _switch_times(signal, place, found)
        surely = _switch_times(signal, place, _changes(signal, place, sampling, _SURELY))
        window_s = sampling.window / RATE_HZ
        rows = _possible_rows(
            perhaps, surely, length_s=length_s, grid=(first_s, sampling.interval_s), window_s=window_s
        )
        spans.append(np.add.outer(rows, [-_OFF_S, window_s + _OFF_S]))
    samples = np.rint(np.concatenate(spans) * place.rate_hz).astype(np.int64)
    return _joined(np.clip(samples, 0, place.n_samples))


def _changes(signal: Signal, place: Place, sampling: Sampling, share: float) -> Found:
    """Where a reader bisects if it sees a difference from this share of the limit on."""
    probe = probe_samples(place.rate_hz)
    to_rms = _root(signal.house.W @ signal.house.W.T / signal.house.W.shape[1])

    def states(at: IntArray) -> FloatArray:
        """(n, K) vectors whose length is the RMS of the current."""
        return np.asarray(signal.drawn(place.time_s(at)) @ to_rms)

    grid = probe_grid(place.n_samples, place.unix_s, probe_s=sampling.probe_s, rate_hz=place.rate_hz)
    wander = Wander(grid, states(grid), np.ones(len(grid), dtype=np.bool_))

    def difference(left: IntArray, right: IntArray) -> FloatArray:
        # A switch may fall into a look: it then holds something of both states.
        sides = [[states(at + n) for n in (0, probe)] for at in (left, right)]
        changes = [b - a for a in sides[0] for b in sides[1]]
        sizes = [np.sqrt(np.sum(change**2, axis=1)) for change in changes]
        least = np.min([np.sqrt(np.sum(s**2, axis=1)) for side in sides for s in side], axis=0)
        limit = np.hypot(LIMITS.least_a, LIMITS.share * least)
        over = [s / np.hypot(limit, wander.usual(left, c)) for s, c in zip(sizes, changes, strict=True)]
        return np.asarray((np.min if share > 1 else np.max)(over, axis=0) / share)

    piece = round(PIECE_EDGES * sampling.edge_s * place.rate_hz)
    return find_changes(grid, difference, piece=piece, max_looks=sampling.reads_per_hour, unit=BLOCK)


def _root(gram: FloatArray) -> FloatArray:
    """(K, K) by which weights become vectors with the lengths that the Gram matrix gives them."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


def _switch_times(signal: Signal, place: Place, found: Found) -> FloatArray:
    """When a reader may say that something switched, in seconds from the start of the recording."""
    at_s = signal.switch_s - place.start_s
    first = np.searchsorted(at_s, found.pieces[:, 0] / place.rate_hz)
    inside = first < np.searchsorted(at_s, found.pieces[:, 1] / place.rate_hz + _OFF_S)
    return np.unique(np.concatenate([at_s[first[inside]], found.unresolved.mean(axis=1) / place.rate_hz]))


def _possible_rows(
    perhaps: FloatArray, surely: FloatArray, *, length_s: float, grid: tuple[float, float], window_s: float
) -> list[float]:
    """Where windows may start that do not lie on the grid, whichever of the possible switches a reader finds.

    A row lies between two switches that it finds one after the other: no sure one is between them.
    """
    bounds = [0.0, *np.union1d(perhaps, surely).tolist(), length_s]
    sure = np.isin(bounds, [*surely, length_s])
    rows: list[float] = []
    for n, begin_s in enumerate(bounds):
        for m in range(n + 1, len(bounds)):
            if bounds[m] - begin_s > grid[1] + 2 * SETTLE_S:
                break  # an instant of the grid lies between
            for off_s in (-_OFF_S / 2, _OFF_S / 2):  # the nearest frame may be either
                rows += [
                    measured_s
                    for *_, measured_s in rows_between(
                        begin_s + off_s,
                        bounds[m] + off_s,
                        settled_s=begin_s + off_s + (SETTLE_S if n else 0.0),
                        grid=grid,
                        window_s=window_s,
                    )
                ]
            if sure[m]:
                break
    return rows


def _joined(spans: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The spans (R, 2) in order; those that overlap or touch are one, empty ones are none."""
    joined: list[tuple[int, int]] = []
    for begin, end in spans[np.argsort(spans[:, 0])].tolist():
        if begin >= end:
            continue
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
