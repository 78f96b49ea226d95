"""Two cycles of a recording as one look at the house: cheap to read, and comparable with any other look.

Owns the phase lock of short windows and the comparison of looks, on sample arrays. A row's own measurement is
`nilm.recordings.phase_lock`'s: it averages ten cycles and fits harmonics; a probe only has to tell whether
something changed.
"""

from dataclasses import dataclass

import numpy as np

from lfm.arrays import FloatArray, IntArray
from lfm.compiled import compiled
from nilm.recordings.flac.windows import BLOCK

POINTS = 128  # of a probe's cycle
_TURNS = 64  # points of a cycle from which the voltage's phase is taken
_MARGIN = 3  # samples around a position that the interpolation needs
_SLOWEST_HZ, _FASTEST_HZ = 45.0, 55.0


def probe_samples(rate_hz: int) -> int:
    """How many samples a probe reads: two of the slowest cycles and the interpolation's edges."""
    return round(2 * rate_hz / _SLOWEST_HZ) + 2 * _MARGIN + 2


def probe_grid(n_samples: int, start_s: float, *, probe_s: float, rate_hz: int) -> IntArray:
    """The first sample of each probe of a recording that starts at the UNIX time `start_s`.

    About every multiple of `probe_s` in UTC, at the start of a FLAC frame, where a look costs least; and both
    ends of the recording.
    """
    last = n_samples - probe_samples(rate_hz)
    instants = np.arange(-start_s % probe_s, n_samples / rate_hz, probe_s)
    inside = (instants * rate_hz).astype(np.int64) // BLOCK * BLOCK
    return np.unique(np.concatenate([[0], inside[inside < last], [last]]))


@dataclass(frozen=True)
class Probes:
    """What a look saw, for P looks."""

    cycle_a: FloatArray  # (P, POINTS) the current's mean cycle from the voltage's rising crossing, no DC
    noise_a: FloatArray  # (P,) RMS of what the two cycles differ by, as it is in their mean
    volts: FloatArray  # (P,) RMS of the voltage's fundamental
    hz: FloatArray  # (P,)
    crossing: FloatArray  # (P,) the first rising crossing, in samples from the window's start


def probe(samples: FloatArray, *, rate_hz: int, volts_per_sample: float, amps_per_sample: float) -> Probes:
    """What each window of `samples` (P, S, 2) holds; S = `probe_samples(rate_hz)`."""
    cycle, noise, amplitude, hz, crossing = _locked(samples, float(rate_hz))
    return Probes(
        cycle_a=cycle * amps_per_sample,
        noise_a=noise * amps_per_sample,
        volts=amplitude * volts_per_sample / np.sqrt(2),
        hz=hz,
        crossing=crossing,
    )


@compiled
def _at(samples: FloatArray, channel: int, position: float) -> float:
    """The channel between two samples, by six-point Lagrange interpolation."""
    base = int(position)
    c = position - base
    a, b, d, e, f = c + 2, c + 1, c - 1, c - 2, c - 3
    ab, cd, ef = a * b, c * d, e * f
    return float(
        samples[base - 2, channel] * b * cd * ef / -120
        + samples[base - 1, channel] * a * cd * ef / 24
        + samples[base, channel] * d * ab * ef / -12
        + samples[base + 1, channel] * c * ab * ef / 12
        + samples[base + 2, channel] * f * ab * cd / -24
        + samples[base + 3, channel] * e * ab * cd / 120
    )


@compiled
def _locked(
    samples: FloatArray, rate_hz: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Cycle (P, POINTS), noise, voltage amplitude, frequency and first crossing (P,) of each window.

    The frequency is that at which the fundamental of the second cycle continues the first: three steps from
    50 Hz find it to a millihertz.
    """
    n = len(samples)
    cycle = np.zeros((n, POINTS))
    noise, amplitude, found_hz, crossing = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    for p in range(n):
        window = samples[p]
        hz = 50.0
        for _ in range(4):
            period = rate_hz / hz
            first, second = 0j, 0j
            for k in range(_TURNS):
                turn = np.exp(-2j * np.pi * k / _TURNS)
                first += turn * _at(window, 0, _MARGIN + k * period / _TURNS)
                second += turn * _at(window, 0, _MARGIN + (k + _TURNS) * period / _TURNS)
            whole = first + second
            size = abs(whole) / _TURNS
            if size == 0.0:
                break
            advance = np.angle(second * np.conj(first)) / (2 * np.pi)
            hz = min(max(hz * (1 + advance), _SLOWEST_HZ), _FASTEST_HZ)
        period = rate_hz / hz
        ahead = (np.angle(whole) / (2 * np.pi) + 0.25) % 1.0  # of a cycle, at the first sample used
        amplitude[p], found_hz[p] = size, hz
        crossing[p] = _MARGIN + (1.0 - ahead) % 1.0 * period
        total, squares = 0.0, 0.0
        for k in range(POINTS):
            turns = (k / POINTS - ahead) % 1.0
            one = _at(window, 1, _MARGIN + turns * period)
            two = _at(window, 1, _MARGIN + (turns + 1) * period)
            cycle[p, k] = (one + two) / 2
            total += cycle[p, k]
            squares += (one - two) ** 2
        for k in range(POINTS):
            cycle[p, k] -= total / POINTS
        noise[p] = np.sqrt(squares / POINTS) / 2
    return cycle, noise, amplitude, found_hz, crossing


@compiled
def departure(
    samples: FloatArray,
    crossing: float,
    period: float,
    before: FloatArray,
    after: FloatArray,
    limit: float,
) -> tuple[int, int, float]:
    """When a piece (S, 2) leaves one known cycle (POINTS,) for another, in cycles, and how far it goes.

    (the first cycle that is further than `limit` (RMS) from `before`, −1 if none is; how many from it on
    until all are like `after`; the largest distance from `before`). Cycles start at `crossing` and every
    `period` samples after it. Units are those of the samples.
    """
    n = max(int((len(samples) - 4 - crossing) / period), 0)
    here = np.zeros(POINTS)
    first, unsteady, peak = -1, 1, 0.0
    for c in range(n):
        mean = 0.0
        for k in range(POINTS):
            here[k] = _at(samples, 1, crossing + (c + k / POINTS) * period)
            mean += here[k] / POINTS
        one, two = 0.0, 0.0
        for k in range(POINTS):
            one += (here[k] - mean - before[k]) ** 2
            two += (here[k] - mean - after[k]) ** 2
        one, two = np.sqrt(one / POINTS), np.sqrt(two / POINTS)
        if first < 0 and one > limit:
            first = c
        if first >= 0:
            peak = max(peak, one)
            if two > limit:
                unsteady = c - first + 1
    return first, unsteady, peak
