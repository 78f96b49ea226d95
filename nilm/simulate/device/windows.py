"""Where a reader will look into a recording: a sparse one holds signal there, and silence elsewhere.

The contract with the ingest is the ingest's own code: it reads the recording before it is written, and what
it asked for is what the file will hold.
"""

from collections.abc import Callable

import numpy as np

from lfm.arrays import FloatArray, IntArray
from nilm.recordings.ukdale import Calibration
from nilm.recordings.waveforms import Sampling, plain_grid, rows_to_measure
from nilm.simulate.device.flac import FULL_SCALE, Samples


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
    """The spans in order; those that overlap or touch are one, empty ones are none."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
