"""One hour of a simulated recording: sample, add noise, quantise, and write the FLAC, faults included.

Owns which stretches of an hour hold signal and how an hour's file is named. Signal in, file out. A sparse
recording holds signal where the ingest reads it: the ingest's own code reads the recording before it is
written, and what it asked for is what the file will hold.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import soundfile

from lfm.arrays import FloatArray, IntArray
from nilm.files import atomic_path
from nilm.recordings.flac.windows import BLOCK
from nilm.recordings.ukdale import HOUR_S, Calibration
from nilm.recordings.waveforms import Sampling, plain_grid, rows_to_measure
from nilm.simulate.device.flac import BITS, FULL_SCALE, Samples, write_sparse
from nilm.simulate.faults import FaultKind
from nilm.simulate.grid import Conditions
from nilm.simulate.signal import Signal
from nilm.thresholds import WORLD

RATE_HZ = 16_000
_BLOCK_S = 30.0  # of a continuous recording in memory at a time

_LATE_S = 1200
_OVERLAP_S = 600
_TOO_LOUD = 1.5
_OFFSET = 0.02
_WRONG_RATE_HZ = 8_000


@dataclass(frozen=True)
class Recorder:
    """The device on the meter: `seed` and the hour's number decide its noise."""

    signal: Signal
    conditions: Conditions
    calibration: Calibration
    seed: int
    start_unix_s: int  # of the signal's first row
    early_s: float  # how long before the hour each file starts
    sampling: Sampling  # how the recording will be read: a sparse one holds signal there

    def write_hour(
        self, folder: Path, hour: int, faults: frozenset[FaultKind], *, continuous: bool
    ) -> Path | None:
        """Write hour `hour` of the week into `folder`; the path, or None if the hour is to be missing."""
        if FaultKind.MISSING in faults:
            return None
        start_s = hour * HOUR_S - self.early_s + (_LATE_S if FaultKind.LATE_START in faults else 0)
        end_s = (hour + 1) * HOUR_S - self.early_s + (_OVERLAP_S if FaultKind.OVERLAP in faults else 0)
        end_s = min(end_s, len(self.signal.house.Z) * self.signal.house.interval_s)
        rate_hz = _WRONG_RATE_HZ if FaultKind.WRONG_RATE in faults else RATE_HZ
        n_samples = round((end_s - start_s) * rate_hz)
        micros = self.start_unix_s * 10**6 + round(start_s * 1e6)
        path = folder / f"vi-{micros // 10**6}_{micros % 10**6:06d}.flac"
        recorded = partial(self._recorded, hour, start_s, faults, rate_hz)
        with atomic_path(path) as temporary:
            if continuous:
                step = round(_BLOCK_S * rate_hz)
                with soundfile.SoundFile(
                    temporary, "w", rate_hz, channels=2, subtype=f"PCM_{BITS}", format="FLAC"
                ) as file:
                    for low in range(0, n_samples, step):
                        file.write(recorded(low, min(low + step, n_samples)) << 8)
            else:
                bounds = windows_read(
                    partial(self._recorded, hour, start_s, faults, RATE_HZ),
                    n_samples=n_samples * RATE_HZ // rate_hz,
                    start_s=micros / 1e6,
                    calibration=self.calibration,
                    sampling=self.sampling,
                )
                scaled = [(low * rate_hz // RATE_HZ, high * rate_hz // RATE_HZ) for low, high in bounds]
                pieces = [(low, recorded(low, high)) for low, high in scaled if low < high]
                write_sparse(temporary, pieces, n_samples=n_samples, rate_hz=rate_hz)
            if FaultKind.TRUNCATED in faults:
                with temporary.open("r+b") as whole:
                    whole.truncate(temporary.stat().st_size * 2 // 3)
        return path

    def _recorded(
        self, hour: int, start_s: float, faults: frozenset[FaultKind], rate_hz: int, low: int, high: int
    ) -> Samples:
        """Samples (n, 2) from `low` to `high` of an hour that starts at `start_s`: voltage, current.

        As the converter gives them. A sample does not depend on which others are asked for.
        """
        n_samples, start_s = high - low, start_s + low / rate_hz
        volts, amps = self.signal.samples(start_s, n_samples, rate_hz)
        if FaultKind.OUTAGE in faults:
            second = (start_s + np.arange(n_samples) / rate_hz) % HOUR_S
            dead = (second >= WORLD.outage_s[0]) & (second < WORLD.outage_s[1])
            volts[dead] = amps[dead] = 0
        noise = self._noise(hour, low, high)
        channels = np.column_stack(
            [
                (volts + self.conditions.noise_v * noise[0]) / self.calibration.volts_per_sample,
                (amps + self.conditions.noise_a * noise[1]) / self.calibration.amps_per_sample,
            ]
        )
        if FaultKind.CLIPPED in faults:
            channels *= _TOO_LOUD
        if FaultKind.DC_OFFSET in faults:
            channels += _OFFSET
        if FaultKind.SWAPPED in faults:
            channels = channels[:, ::-1]
        # The converter saturates; only a fault or more than 75 A makes it.
        steps = np.clip(np.rint(channels * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1)
        return np.asarray(steps, dtype=np.int32)

    def _noise(self, hour: int, low: int, high: int) -> FloatArray:
        """(2, n) noise of both channels, with a standard deviation of 1."""
        first = low // BLOCK
        blocks = [
            np.random.default_rng([self.seed, 4, self.start_unix_s, hour, n]).standard_normal((2, BLOCK))
            for n in range(first, -(-high // BLOCK))
        ]
        return np.concatenate(blocks, axis=1)[:, low - first * BLOCK : high - first * BLOCK]


def windows_read(
    recorded: Callable[[int, int], Samples],
    *,
    n_samples: int,
    start_s: float,
    calibration: Calibration,
    sampling: Sampling,
) -> list[tuple[int, int]]:
    """(first sample, sample after the last) of what a reader reads, in order, without overlaps.

    That is what it reads adaptively and on the plain grid. `recorded(first, end)` gives the samples (n, 2) of
    the recording, which has `n_samples` and starts at the UNIX time `start_s`.
    """
    spans: list[tuple[int, int]] = []

    def read(begin: IntArray, size: int) -> FloatArray:
        asked = [(first, first + size) for first in begin.tolist()]
        spans.extend(asked)
        return np.asarray(np.stack([recorded(*span) for span in asked]) / FULL_SCALE)

    adaptive, _ = rows_to_measure(
        read, n_samples=n_samples, start_s=start_s, calibration=calibration, sampling=sampling
    )
    for rows in (adaptive, plain_grid(n_samples, start_s, sampling)):
        spans += zip(rows.begin.tolist(), (rows.begin + rows.size).tolist(), strict=True)
    return _joined(spans)


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order; those that overlap or touch are joined, empty ones are left out."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
