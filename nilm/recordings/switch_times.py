"""When something switched in a recording, and the inrush that followed, by reading little of it.

Owns what counts as a difference between two looks, and how a change is timed within the last piece.
The order of looking is `nilm.recordings.bisection`'s, the looks themselves are `nilm.recordings.probes`'.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nilm.recordings import probes
from nilm.recordings.bisection import IntArray, find_changes
from nilm.recordings.stretches import switches
from nilm.recordings.ukdale import Calibration

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Read = Callable[[IntArray, int], FloatArray]  # first samples (R,), how many → samples (R, S, 2)

PIECE_EDGES = 6.5  # a piece of this many edge_s is read whole: to halve it further would cost as much
NO_MAINS_V = 50.0  # RMS; below, there is nothing to compare


@dataclass(frozen=True)
class Limits:
    """What counts as a difference: the root of the squares of these three, as RMS of the current."""

    least_a: float = 0.035  # 8 W of a heater: less is no appliance that anybody looks for
    noise: float = 4.0  # times the noise of the two looks
    share: float = 0.001  # of the current: what the mains' slow wander makes of it in ten seconds


LIMITS = Limits()


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
    peak_a: float
    clipped: bool
    before: int  # the looks on both sides
    after: int


class _Looks:
    """Every look at a recording that was taken so far."""

    def __init__(self, read: Read, rate_hz: int, calibration: Calibration) -> None:
        self._read, self._rate_hz, self._calibration = read, rate_hz, calibration
        self._index: dict[int, int] = {}
        self._taken: list[probes.Probes] = []
        self._sizes: list[int] = []

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
        """How much the looks at both sides differ, in units of `LIMITS`; inf where one has no mains."""
        if not len(left):
            return np.zeros(0)
        a, b = self.at(left), self.at(right)
        size = np.sqrt(np.mean((a.cycle_a - b.cycle_a) ** 2, axis=1)) / _limit(a, b)
        on_a, on_b = a.volts >= NO_MAINS_V, b.volts >= NO_MAINS_V
        return np.where(on_a & on_b, size, np.where(on_a | on_b, np.inf, 0.0))


def _limit(a: probes.Probes, b: probes.Probes) -> FloatArray:
    # The smaller noise and current of the two: a look into which a switch falls has too much of both.
    noise = np.sqrt(2) * np.minimum(a.noise_a, b.noise_a)
    rms_a = np.sqrt(np.minimum(np.mean(a.cycle_a**2, axis=1), np.mean(b.cycle_a**2, axis=1)))
    squares = LIMITS.least_a**2 + (LIMITS.noise * noise) ** 2 + (LIMITS.share * rms_a) ** 2
    return np.asarray(np.sqrt(squares), dtype=np.float64)


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
    looks = _Looks(read, rate_hz, calibration)
    found = find_changes(
        grid, looks.difference, piece=round(PIECE_EDGES * edge_s * rate_hz), max_looks=max_reads
    )
    changes = [_timed(pair, looks, read, rate_hz, calibration, full_scale) for pair in found.pieces.tolist()]
    for left, right in found.unresolved.tolist():
        middle_s = (left + right) / 2 / rate_hz
        changes.append(_Change(middle_s, middle_s, 0.0, False, left, right))
    # By the look before: one into which a switch falls ends one piece and begins the next.
    changes.sort(key=lambda change: change.before)
    return _switches_of(changes, looks, untimed=len(found.unresolved))


def _timed(
    pair: list[int], looks: _Looks, read: Read, rate_hz: int, calibration: Calibration, full_scale: float
) -> _Change:
    """The change between two looks, from all that lies between them, to within a cycle."""
    left, right = pair
    samples = read(np.array([left]), right - left + probes.probe_samples(rate_hz))[0]
    sides = looks.at(np.array(pair))
    amps = calibration.amps_per_sample
    if np.any(sides.volts < NO_MAINS_V):
        at = left + _mains_change(samples[:, 0] * calibration.volts_per_sample, rate_hz // 50)
        return _Change(at / rate_hz, at / rate_hz, 0.0, False, left, right)
    crossing = sides.crossing + np.array([0, right - left])
    n_cycles = max(round(float((crossing[1] - crossing[0]) * sides.hz.mean() / rate_hz)), 1)
    period = float(crossing[1] - crossing[0]) / n_cycles
    from_before, from_after = probes.departures(
        samples, float(crossing[0]), period, sides.cycle_a[0] / amps, sides.cycle_a[1] / amps
    )
    limit = float(_limit(*(_taken(sides, [n]) for n in (0, 1)))[0]) / amps
    departed = np.flatnonzero(from_before > limit)
    first = int(departed[0]) if len(departed) else len(from_before) // 2
    unsteady = np.flatnonzero(from_after[first:] > limit)
    n_unsteady = int(unsteady[-1]) + 1 if len(unsteady) else 1
    begin = left + crossing[0] + first * period
    inrush = samples[int(crossing[0] + first * period) :, 1]
    return _Change(
        time_s=float(begin + period / 2) / rate_hz,
        steady_s=float(begin + n_unsteady * period) / rate_hz,
        peak_a=float(from_before[first:].max(initial=0.0)) * amps,
        clipped=bool(np.any(np.abs(inrush) >= full_scale)),
        before=left,
        after=right,
    )


def _mains_change(volts: FloatArray, cycle: int) -> int:
    """The sample at which the mains came or went: where a cycle's RMS is first not like the first one's."""
    rms = np.sqrt(np.mean(volts[: len(volts) // cycle * cycle].reshape(-1, cycle) ** 2, axis=1))
    there = rms >= NO_MAINS_V
    changed = np.flatnonzero(there != there[0])
    return int(changed[0]) * cycle if len(changed) else len(volts) // 2


def _switches_of(changes: list[_Change], looks: _Looks, *, untimed: int) -> Switches:
    """Changes that follow within an inrush's time are one switch; one that ends as it began is none."""
    firsts = switches(np.array([change.time_s for change in changes]))
    rows = []
    for parts in (changes[a:b] for a, b in pairwise([*firsts.tolist(), len(changes)])):
        before, after = np.array([parts[0].before]), np.array([parts[-1].after])
        if looks.difference(before, after)[0] <= 1:
            continue
        a, b = looks.at(before), looks.at(after)
        steady_a = float(np.sqrt(np.mean((a.cycle_a - b.cycle_a) ** 2)))
        measured = parts[0].peak_a > 0
        rows.append(
            (
                parts[0].time_s,
                max(parts[0].peak_a / steady_a, 1.0) if measured else 0.0,
                max(p.steady_s for p in parts) - parts[0].time_s if measured else 0.0,
                float(any(p.clipped for p in parts)),
            )
        )
    time_s, inrush, inrush_s, clipped = np.array(rows).reshape(-1, 4).T
    return Switches(time_s, inrush, inrush_s, clipped > 0, untimed)
