"""Where a reader will look into a recording: a sparse one holds signal there, and silence elsewhere.

The contract with the ingest is the ingest's own code: the same grid, the same bisection and the same cutting
into rows, run on what the house really did (`nilm.recordings.bisection`, `nilm.recordings.stretches`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nilm.recordings.bisection import Found, IntArray, find_changes
from nilm.recordings.flac_windows import BLOCK
from nilm.recordings.probes import probe_grid, probe_samples
from nilm.recordings.stretches import cut_into_rows, switches
from nilm.recordings.switch_times import LIMITS, PIECE_EDGES, piece_ends
from nilm.recordings.wander import Wander
from nilm.recordings.waveforms import RATE_HZ, Sampling
from nilm.simulate.loads import FloatArray
from nilm.simulate.signal import Signal

_GRID_S = (-0.05, 0.25)  # around each instant of the plain grid
_ROW_S = (-0.05, 0.05)  # by how much a reader's row may lie elsewhere: its switches are timed to a cycle
_SURE = (0.6, 1.0)  # of the limit: below the first a reader sees no difference, above the second it does


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
        for share in _SURE:
            found = _changes(signal, place, sampling, share)
            spans.append(found.looks[:, None] / place.rate_hz + [0.0, probe_s])
            ends = piece_ends(found.pieces, place.rate_hz, place.n_samples)
            spans.append(np.column_stack([found.pieces[:, 0], ends]) / place.rate_hz)
            rows = cut_into_rows(
                _switch_times(signal, place, found),
                length_s=length_s,
                first_grid_s=first_s,
                interval_s=sampling.interval_s,
                window_s=sampling.window / RATE_HZ,
            )
            spans.append(rows.window_s[:, None] + _ROW_S + [0.0, sampling.window / RATE_HZ])
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
        return np.asarray(np.max(over, axis=0) / share)

    piece = round(PIECE_EDGES * sampling.edge_s * place.rate_hz)
    return find_changes(grid, difference, piece=piece, max_looks=sampling.reads_per_hour, unit=BLOCK)


def _root(gram: FloatArray) -> FloatArray:
    """(K, K) by which weights become vectors with the lengths that the Gram matrix gives them."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


def _switch_times(signal: Signal, place: Place, found: Found) -> FloatArray:
    """When a reader will say that something switched, in seconds from the start of the recording."""
    at_s = signal.switch_s - place.start_s
    first = np.searchsorted(at_s, found.pieces[:, 0] / place.rate_hz)
    inside = first < np.searchsorted(at_s, found.pieces[:, 1] / place.rate_hz + 0.05)
    times = np.unique(at_s[first[inside]])
    middles = found.unresolved.mean(axis=1) / place.rate_hz
    times = np.sort(np.concatenate([times, middles]))
    return times[switches(times)]


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
