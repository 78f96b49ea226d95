"""What the rows say for and against each single run of a feature: the evidence behind an activation's `sure`.

Owns the measures of one run: how well its first and last row fit, whether something else moved with it,
whether its size is the usual one. What is known of its appliance counts beside them. The map from both to a
probability is `nilm.disaggregate.confidence`'s.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lfm import runs_of_ones
from lfm.arrays import FloatArray
from nilm.disaggregate.evidence import SPEAKS, Fit

# What each piece says: 1 where the larger it is the surer a run, −1 where the larger the more in doubt.
OF_THE_RUN = {
    "log misfit at its start and end, in units of its own current": -1,
    "log bias of its size then": -1,
    "log residual in it, in units of its own current": -1,
    "share of its start and end at which it moves alone": 1,
    "log seconds": 1,
    "how far it is from a usual run of its appliance, in log seconds": -1,
    "share of its start and end at a gap": -1,
}
RUN_SPEAKS = OF_THE_RUN | SPEAKS  # then the evidence of its appliance
RUN_EVIDENCE = tuple(RUN_SPEAKS)
_LEAST = 1e-4


class Runs(NamedTuple):
    """The runs of all features, feature by feature in order of time."""

    feature: NDArray[np.int64]  # (R,)
    first: NDArray[np.int64]  # (R,) its first row
    end: NDArray[np.int64]  # (R,) the row after its last
    evidence: FloatArray  # (R, len(OF_THE_RUN))
    sure: FloatArray  # (R,) probability that the appliance ran then

    def among(self, rows: NDArray[np.int64]) -> "Runs":
        """The same runs, counted in rows of which those of the fit are `rows`."""
        return self._replace(first=rows[self.first], end=rows[self.end - 1] + 1)


def read_runs(fit: Fit, sure: FloatArray) -> Runs:
    """The runs in a fit whose features are `sure` (K,), as sure as these; counted in rows of the fit."""
    N, K = fit.sizes.shape
    time_s = _summed(fit.duration_s)
    square = _summed(fit.duration_s * np.sum(fit.residual_a**2, axis=1))
    found: list[tuple[int, int, int, list[float]]] = []
    for k in range(K):
        bias = _summed(fit.duration_s * fit.bias[:, k])
        runs = runs_of_ones(fit.on[:, k].astype(np.uint8), fit.gap_before)
        usual_s = float(np.median([time_s[end] - time_s[first] for first, end in runs])) if runs else 0.0
        for first, end in runs:
            cut = (bool(fit.gap_before[first]), end == N or bool(fit.gap_before[end]))
            edges = [row - 1 for row, gap in zip((first, end), cut, strict=True) if not gap]
            misfit = max((float(fit.misfit[row]) for row in edges), default=0.0)
            lasts_s = float(time_s[end] - time_s[first])
            evidence = [
                _log(misfit / fit.length[k]),
                _log(abs(bias[end] - bias[first]) / lasts_s),
                _log(float(np.sqrt((square[end] - square[first]) / lasts_s)) / fit.length[k]),
                float(np.mean([fit.alone[row, k] for row in edges])) if edges else 0.0,
                float(np.log10(lasts_s)),
                float(abs(np.log10(lasts_s / usual_s))),
                sum(cut) / 2,
            ]
            found.append((k, first, end, evidence))
    feature, first_rows, ends = (np.array([run[i] for run in found], dtype=np.int64) for i in range(3))
    evidence_rows = np.array([run[3] for run in found]).reshape(-1, len(OF_THE_RUN))
    return Runs(feature, first_rows, ends, evidence_rows, sure[feature])


def _summed(values: FloatArray) -> FloatArray:
    """(N + 1,) the sum of all values before each one, and of all of them."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _log(value: float) -> float:
    return float(np.log10(max(value, _LEAST)))
