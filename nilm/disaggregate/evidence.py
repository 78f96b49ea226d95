"""What a solution's own rows say for and against each of its features: the evidence behind `sure`.

Owns the measures, no judgement: which of them count, and how much, is the table of
`nilm.disaggregate.confidence`. Rows stand for seconds, few or many, so that means are over time and not over
rows. Every measure is a plain number that grows or falls with the doubt, mostly a
logarithm to base ten, so that a small table of weights can read it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from lfm import runs_of_ones
from lfm.arrays import FloatArray
from nilm.appliances.thresholds import APPLIANCES
from nilm.thresholds import HOUSE

_SMALL = 1e-6  # keeps logarithms and ratios finite

# What each piece says: 1 where the larger it is the surer a feature, −1 where the larger the more in doubt, 0
# where either may hold. The maps have no weights of another sign.
OF_THE_WEEK = {"feeds in": 0, "found as shapes": 0, "rows of one length": 0}  # the same for all features
OF_THE_FEATURE = {
    "log share of energy": 1,
    "log watts": 1,
    "log number of runs": 1,
    "varies": -1,
    "support": 1,
    "share of time": -1,
    "log residual while on, in units of its own current": -1,
    "log residual while on over while off": -1,
    "log distance to the nearest waveform": 1,
    "log distance to the nearest other or sum or difference of two": 1,
    "log distance to all mixtures of others": 1,
    "share of its time with the nearest on too": -1,
    "share of its changes in which it moves alone": 1,
    "log misfit of its changes": -1,
    "log drift of its size between runs": -1,
    "log bias of its size": -1,
    "log trace of its waveform while it is off": -1,
    "most common changes with another": -1,
    "spread of its size": -1,
    "log distance to the voltage's shape": 1,
    "log number of others alike": -1,
    "log seconds of a usual run": 1,
    "always on": -1,
}
SPEAKS = OF_THE_WEEK | OF_THE_FEATURE
EVIDENCE = tuple(SPEAKS)
AS_SHAPES = EVIDENCE.index("found as shapes")  # which of the two kinds of maps reads a week


@dataclass(frozen=True, eq=False)
class Fit:
    """A solution over the rows of its fit, and what it leaves of them."""

    residual_a: FloatArray  # (N, D) rows at steady voltage less what is explained
    sizes: FloatArray  # (N, K) in units of W
    W: FloatArray  # (K, D)
    watts: FloatArray  # (K,)
    support: FloatArray  # (K,)
    voltage_v: FloatArray  # (D,)
    gap_before: NDArray[np.bool_]  # (N,)
    duration_s: FloatArray  # (N,) that each row stands for
    n_varying: int
    feeds_in: bool  # whether a generator is in the house
    as_shapes: bool  # whether the week was explained by shapes with amplitudes, not by what is on or off

    @cached_property
    def length(self) -> FloatArray:
        """(K,) size of each waveform."""
        return np.asarray(np.maximum(np.linalg.norm(self.W, axis=1), _SMALL))

    @cached_property
    def on(self) -> NDArray[np.bool_]:
        """(N, K) where each feature is on."""
        return np.asarray(self.sizes > 0)

    @cached_property
    def joined(self) -> NDArray[np.bool_]:
        """(N − 1,) which rows follow the one before them."""
        return ~self.gap_before[1:]

    @cached_property
    def changes(self) -> FloatArray:
        """(N − 1, K) size by which each feature changes, 0 over a gap."""
        return np.asarray(np.abs(np.diff(self.sizes, axis=0)) * self.joined[:, None])

    @cached_property
    def misfit(self) -> FloatArray:
        """(N − 1,) amperes by which the change of a row is not the one explained, 0 over a gap."""
        return np.asarray(np.linalg.norm(np.diff(self.residual_a, axis=0), axis=1) * self.joined)

    @cached_property
    def bias(self) -> FloatArray:
        """(N, K) what is left in each row along each waveform, in units of it."""
        return np.asarray(self.residual_a @ self.W.T / self.length**2)

    @cached_property
    def alone(self) -> NDArray[np.bool_]:
        """(N − 1, K) where a feature changes and all others together change by little."""
        moves = self.changes * self.length
        others = moves.sum(axis=1, keepdims=True) - moves
        return np.asarray((self.changes > HOUSE.moved) & (others < HOUSE.alone * moves))


def read_evidence(fit: Fit) -> FloatArray:
    """(K, len(EVIDENCE)) of the features of a fit."""
    K = len(fit.W)
    gram = fit.W @ fit.W.T
    cosine = np.abs(gram / np.outer(fit.length, fit.length))
    np.fill_diagonal(cosine, 0.0)
    together = _common_changes(fit.changes)
    weight_s, total_s = fit.duration_s, float(fit.duration_s.sum())
    energy = weight_s @ np.abs(fit.sizes * fit.watts)
    rows = np.linalg.norm(fit.residual_a, axis=1)
    voltage = fit.voltage_v / max(float(np.linalg.norm(fit.voltage_v)), _SMALL)
    found = np.zeros((K, len(EVIDENCE)))
    for k in range(K):
        on, weight = fit.on[:, k], fit.changes[:, k]
        runs = runs_of_ones(on.astype(np.uint8), fit.gap_before)
        on_s = float(weight_s[on].sum())
        while_on, while_off = _rms(rows[on], weight_s[on]), _rms(rows[~on], weight_s[~on])
        nearest = int(np.argmax(cosine[k])) if K > 1 else k
        moved = weight > HOUSE.moved
        usual = float(weight[moved] @ weight[moved]) / max(float(weight[moved].sum()), _SMALL)
        misfit = float(weight[moved] @ fit.misfit[moved]) / max(float(weight[moved].sum()), _SMALL)
        biases = np.array([_mean(fit.bias[a:b, k], weight_s[a:b]) for a, b in runs])
        run_s = [float(weight_s[a:b].sum()) for a, b in runs]
        found[k] = [
            float(fit.feeds_in),
            float(fit.as_shapes),
            float(np.ptp(fit.duration_s) == 0),
            _log(energy[k] / max(float(energy.sum()), _SMALL)),
            _log(abs(fit.watts[k]), 1.0),
            np.log10(1 + len(runs)),
            float(k >= K - fit.n_varying),
            fit.support[k],
            on_s / total_s,
            _log(while_on / fit.length[k]),
            _log(while_on / max(while_off, _SMALL)) if on.any() and not on.all() else 0.0,
            _log(1 - cosine[k, nearest] ** 2),
            _log(_nearest_combination(gram, k) / fit.length[k], 1e-3),
            _log(_distance_to_mixtures(fit.W, k) / fit.length[k], 1e-4),
            weight_s[on & fit.on[:, nearest]].sum() / max(on_s, _SMALL) if K > 1 else 0.0,
            weight[fit.alone[:, k]].sum() / max(float(weight[moved].sum()), _SMALL),
            _log(misfit / fit.length[k] / max(usual, _SMALL), 1e-4) if moved.any() else 0.0,
            _log(float(biases.std()) if len(biases) else 1.0, 1e-4),
            _log(abs(_mean(fit.bias[on, k], weight_s[on])) if on.any() else 1.0, 1e-4),
            _log(_rms(fit.bias[~on, k], weight_s[~on]), 1e-4),
            together[k].max() if K > 1 else 0.0,
            _spread(fit.sizes[on, k], weight_s[on]) if on.any() else 0.0,
            _log(1 - (float(fit.W[k] @ voltage) / fit.length[k]) ** 2),
            np.log10(1 + np.count_nonzero(cosine[k] > HOUSE.alike)),
            _log(float(np.median(run_s)) if runs else 1.0, 1.0),
            float(on_s > APPLIANCES.always_on_share * total_s),
        ]
    return found


def _common_changes(changes: FloatArray) -> FloatArray:
    """(K, K) correlation of the sizes of two features' changes, 0 on the diagonal."""
    centred = changes - changes.mean(axis=0) if len(changes) else changes
    length = np.maximum(np.linalg.norm(centred, axis=0), _SMALL)
    common = centred.T @ centred / np.outer(length, length)
    np.fill_diagonal(common, 0.0)
    return np.asarray(common)


def _nearest_combination(gram: FloatArray, k: int) -> float:
    """Amperes from waveform k to the nearest ±w_i or ±w_i ± w_j of the others, from their inner products."""
    others = np.delete(np.arange(len(gram)), k)
    if len(others) == 0:
        return float(np.sqrt(gram[k, k]))
    with_k, own = gram[k, others], np.diag(gram)[others]
    nearest = float((gram[k, k] - 2 * np.abs(with_k) + own).min())
    for sign in (1.0, -1.0):
        inner = np.abs(with_k[:, None] + sign * with_k)
        pairs = gram[k, k] - 2 * inner + own[:, None] + own + 2 * sign * gram[np.ix_(others, others)]
        np.fill_diagonal(pairs, np.inf)
        nearest = min(nearest, float(pairs.min()))
    return float(np.sqrt(max(nearest, 0.0)))


def _distance_to_mixtures(W: FloatArray, k: int) -> float:
    """Amperes from waveform k to the nearest mixture of the others in any amounts from 0 up."""
    others = np.delete(W, k, axis=0)
    return float(nnls(others.T, W[k])[1]) if len(others) else float(np.linalg.norm(W[k]))


def _mean(values: FloatArray, weight_s: FloatArray) -> float:
    return float(weight_s @ values / weight_s.sum())


def _rms(values: FloatArray, weight_s: FloatArray) -> float:
    return float(np.sqrt(_mean(values**2, weight_s))) if len(values) else 0.0


def _spread(sizes: FloatArray, weight_s: FloatArray) -> float:
    """The standard deviation of the sizes over their mean."""
    mean = _mean(sizes, weight_s)
    return float(np.sqrt(_mean((sizes - mean) ** 2, weight_s))) / max(mean, _SMALL)


def _log(value: float, least: float = _SMALL) -> float:
    return float(np.log10(max(value, least)))
