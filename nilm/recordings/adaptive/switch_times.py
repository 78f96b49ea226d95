"""When something switched in a recording, and the inrush that followed, by reading little of it.

Owns what counts as a difference between two looks, and how a change is timed within the last piece.
The order of looking is `bisection`'s, the looks themselves are `probes`'.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lfm.arrays import BoolArray, FloatArray, IntArray
from nilm.recordings.adaptive import probes
from nilm.recordings.adaptive.bisection import find_changes
from nilm.recordings.adaptive.stretches import switches
from nilm.recordings.adaptive.wander import Wander
from nilm.recordings.flac.windows import BLOCK
from nilm.recordings.ukdale import Calibration
from nilm.thresholds import ROWS, SWITCHES

Read = Callable[[IntArray, int], FloatArray]  # first samples (R,), how many → samples (R, S, 2)


@dataclass(frozen=True)
class Switches:
    """The switches of a recording in order of time, C of them."""

    time_s: FloatArray  # (C,) from the start of the recording
    inrush: FloatArray  # (C,) largest departure in the first second, over the steady one; 0: not measured
    inrush_s: FloatArray  # (C,) until the current was steady; 0: not measured
    clipped: BoolArray  # (C,) the inrush stands at the converter's full scale: it was larger
    untimed: int  # changes known only to lie between two probes: the reads were spent


@dataclass(frozen=True)
class _Change:
    time_s: float
    steady_s: float  # when the state after it had set in
    peak_a: float  # 0: not measured
    clipped: bool
    before: int  # the looks on both sides
    after: int


class _Looks:
    """Every look at a recording that was taken so far, those of the grid first."""

    def __init__(self, read: Read, grid: IntArray, rate_hz: int, calibration: Calibration) -> None:
        self._read, self._rate_hz, self._calibration = read, rate_hz, calibration
        self._index: dict[int, int] = {}
        self._taken: list[probes.Probes] = []
        seen = self.at(grid)
        self._wander = Wander(grid, _vectors(seen), seen.volts >= ROWS.least_v)

    def at(self, position: IntArray) -> probes.Probes:
        """The looks at these samples, taken now if they are new."""
        new = [p for p in dict.fromkeys(position.tolist()) if p not in self._index]
        if new:
            for p in new:
                self._index[p] = len(self._index)
            self._taken.append(self._probe(np.array(new, dtype=np.int64)))
        if len(self._taken) > 1:
            self._taken = [_joined(self._taken)]
        return _taken(self._taken[0], [self._index[p] for p in position.tolist()])

    def _probe(self, position: IntArray) -> probes.Probes:
        return probes.probe(
            self._read(position, probes.probe_samples(self._rate_hz)),
            rate_hz=self._rate_hz,
            volts_per_sample=self._calibration.volts_per_sample,
            amps_per_sample=self._calibration.amps_per_sample,
        )

    def difference(self, left: IntArray, right: IntArray) -> FloatArray:
        """How much the looks at both sides differ, in units of what counts; inf where one has no mains."""
        a, b = self.at(left), self.at(right)
        change = _vectors(b) - _vectors(a)
        limit, noise = _limits(a, b)
        over = self._wander.stands_out(left, right, change, limit=limit, noise=noise)
        on_a, on_b = a.volts >= ROWS.least_v, b.volts >= ROWS.least_v
        return np.where(on_a & on_b, over, np.where(on_a | on_b, np.inf, 0.0))


def _vectors(looks: probes.Probes) -> FloatArray:
    """(P, POINTS) the cycles as vectors whose length is their RMS."""
    return looks.cycle_a / math.sqrt(probes.POINTS)


def _limits(a: probes.Probes, b: probes.Probes) -> tuple[FloatArray, FloatArray]:
    """What counts as a difference, and what does beside that which is usual (P,)."""
    # The smaller noise and current of the two: a look into which a switch falls has too much of both.
    noise = np.sqrt(2) * np.minimum(a.noise_a, b.noise_a)
    rms_a = np.sqrt(np.minimum(np.mean(a.cycle_a**2, axis=1), np.mean(b.cycle_a**2, axis=1)))
    return difference_limits(rms_a, noise)


def difference_limits(rms_a: FloatArray, noise_a: FloatArray | float = 0.0) -> tuple[FloatArray, FloatArray]:
    """What counts as a difference beside a current and noise of these RMS, and beside what is usual."""
    limit = np.sqrt(SWITCHES.least_a**2 + (SWITCHES.noise * noise_a) ** 2 + (SWITCHES.share * rms_a) ** 2)
    return limit, np.hypot(SWITCHES.white_noise * noise_a, SWITCHES.share * rms_a)


def _joined(parts: list[probes.Probes]) -> probes.Probes:
    return probes.Probes(
        *(np.concatenate([getattr(p, name) for p in parts]) for name in probes.Probes.__dataclass_fields__)
    )


def _taken(looks: probes.Probes, index: list[int]) -> probes.Probes:
    return probes.Probes(*(getattr(looks, name)[index] for name in probes.Probes.__dataclass_fields__))


def find_switches(
    read: Read,
    grid: IntArray,
    *,
    rate_hz: int,
    calibration: Calibration,
    edge_s: float,
    max_reads: int,
    full_scale: float,
) -> Switches:
    """The switches between the looks at `grid` (P,), sample numbers in order, in about `max_reads` reads."""
    looks = _Looks(read, grid, rate_hz, calibration)
    found = find_changes(
        grid,
        looks.difference,
        piece=round(SWITCHES.piece_edges * edge_s * rate_hz),
        max_looks=max_reads,
        unit=BLOCK,
    )
    end = int(grid[-1]) + probes.probe_samples(rate_hz)
    changes = _timed_changes(found.pieces, looks, read, rate_hz, calibration, full_scale, end)
    for left, right in found.unresolved.tolist():
        middle_s = (left + right) / 2 / rate_hz
        changes.append(_Change(middle_s, middle_s, 0.0, False, left, right))
    # By the look before: one into which a switch falls ends one piece and begins the next.
    changes.sort(key=lambda change: change.before)
    return _switches_of(changes, looks, untimed=len(found.unresolved))


def _timed_changes(
    pieces: IntArray,
    looks: _Looks,
    read: Read,
    rate_hz: int,
    calibration: Calibration,
    full_scale: float,
    end: int,
) -> list[_Change]:
    """The change in each piece (C, 2), from one look to the next; the recording has `end` samples."""
    a, b = looks.at(pieces[:, 0]), looks.at(pieces[:, 1])
    amps = calibration.amps_per_sample
    limits, before, after = _limits(a, b)[0] / amps, a.cycle_a / amps, b.cycle_a / amps
    tails = piece_ends(pieces, rate_hz, end).tolist()
    changes = []
    for n, (left, right) in enumerate(pieces.tolist()):
        samples = read(pieces[n, :1], right - left)[0]
        if min(a.volts[n], b.volts[n]) < ROWS.least_v:
            at = left + _mains_change(samples[:, 0] * calibration.volts_per_sample, rate_hz // 50)
            changes.append(_Change(at / rate_hz, at / rate_hz, 0.0, False, left, right))
            continue
        crossing = float(a.crossing[n])
        length = float(b.crossing[n]) + right - left - crossing
        period = length / max(round(length * float(a.hz[n] + b.hz[n]) / 2 / rate_hz), 1)
        known = period, before[n], after[n], limits[n]
        first, n_unsteady, peak = probes.departure(samples, crossing, *known)
        if (
            not 0 <= first < (right - left) / period - SWITCHES.tail_cycles - 1
        ):  # it goes on after the second look
            samples = read(pieces[n, :1], tails[n] - left)[0]
            first, n_unsteady, peak = probes.departure(samples, crossing, *known)
        first = first if first >= 0 else int(length / period / 2)
        begin = crossing + first * period
        changes.append(
            _Change(
                time_s=(left + begin + period / 2) / rate_hz,
                steady_s=(left + begin + n_unsteady * period) / rate_hz,
                peak_a=peak * amps,
                clipped=bool(np.any(np.abs(samples[int(begin) :, 1]) >= full_scale)),
                before=left,
                after=right,
            )
        )
    return changes


def piece_ends(pieces: IntArray, rate_hz: int, end: int) -> IntArray:
    """(C,) how far each piece (C, 2) is read at most: the second look, and some cycles after it."""
    after = probes.probe_samples(rate_hz) + SWITCHES.tail_cycles * rate_hz // 50
    return np.asarray(np.minimum(pieces[:, 1] + after, end), dtype=np.int64)


def _mains_change(volts: FloatArray, cycle: int) -> int:
    """The sample at which the mains came or went: where a cycle's RMS is first not like the first one's."""
    rms = np.sqrt(np.mean(volts[: len(volts) // cycle * cycle].reshape(-1, cycle) ** 2, axis=1))
    there = rms >= ROWS.least_v
    changed = np.flatnonzero(there != there[0])
    return int(changed[0]) * cycle if len(changed) else len(volts) // 2


def _switches_of(changes: list[_Change], looks: _Looks, *, untimed: int) -> Switches:
    """Changes within an inrush's time of each other are one switch; it counts if the state changed."""
    firsts = switches(np.array([change.time_s for change in changes])).tolist()
    groups = [changes[a:b] for a, b in pairwise([*firsts, len(changes)])]
    before = np.array([parts[0].before for parts in groups], dtype=np.int64)
    after = np.array([parts[-1].after for parts in groups], dtype=np.int64)
    steady_a = np.sqrt(np.mean((looks.at(before).cycle_a - looks.at(after).cycle_a) ** 2, axis=1))
    rows = [
        (
            parts[0].time_s,
            max(parts[0].peak_a / steady, 1.0) if parts[0].peak_a > 0 else 0.0,
            max(p.steady_s for p in parts) - parts[0].time_s if parts[0].peak_a > 0 else 0.0,
            float(any(p.clipped for p in parts)),
        )
        for parts, steady, stays in zip(
            groups, steady_a.tolist(), looks.difference(before, after) > 1, strict=True
        )
        if stays
    ]
    time_s, inrush, inrush_s, clipped = np.array(rows).reshape(-1, 4).T
    return Switches(time_s, inrush, inrush_s, clipped > 0, untimed)
