"""KFeatures (BP-means, Broderick, Kulis & Jordan, ICML 2013): the k-means of latent features.

min over Z ∈ {0,1}^{N×K}, W and K of ‖X − ZW‖²_F + penalty·K: the small-variance limit of the beta process.
Owns the residual-weighted start and the descent: entries of Z flip one at a time while the error falls, then
W is refitted by least squares. The descent is local; `lfm.estimators.binary_decoder` is the estimator with
the exact Z step.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from lfm.arrays import BinaryArray, FloatArray
from lfm.estimators.base import LatentFeatureEstimator, Rounds
from lfm.estimators.bit_flips import flip_bits
from lfm.least_squares import least_squares
from lfm.solution import Solution
from lfm.threads import one_thread
from lfm.thresholds import ESTIMATORS


@dataclass(eq=False, repr=False, kw_only=True)
class KFeatures(LatentFeatureEstimator):
    """X ≈ ZW by single flips of bits and least squares, from several starts (Broderick et al. 2013).

    Minimises ‖X − ZW‖²_F + penalty·K. The descent is local; `BinaryDecoder` has the exact Z step.

    Parameters
    ----------
    n_components : int, default 8
        K, the number of features; with a penalty, the most features. At least 1 and at most N.
    penalty : float, optional
        What a feature must lower ‖X − ZW‖²_F by to be worth having, above 0. Default: exactly n_components
        features.
    n_init : int, default 10
        Starts, of which the best is kept.
    max_iter : int, default 300
        Most rounds of flips and least squares in a row.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Seed of everything random in the fit.
    callback : callable, optional
        Called as callback(number, objective) after each start; numbers count from 1.
    verbose : bool or int, default 0
        Above 0, each start is logged on the logger "lfm.estimators".

    Attributes
    ----------
    Z_, W_, solution_, components_, n_iter_, converged_, objective_trace_
        As for every estimator: see `LatentFeatureEstimator`.

    Raises
    ------
    InvalidInputError
        By `fit`, where a parameter is out of its range.

    Examples
    --------
    >>> import lfm
    >>> import numpy as np
    >>> data = lfm.synthetic.images(K=3, N=100, n_pdc=0, noise=0.1, rng=np.random.default_rng(0))
    >>> lfm.KFeatures(n_components=3, random_state=0).fit(data.X).Z_.shape
    (100, 3)
    """

    penalty: float | None = None
    n_init: int = 10
    max_iter: int = 300

    @one_thread
    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Self, fitted to X (N, D) of real numbers."""
        rows = self._rows(X)
        self._check_count("n_init", 1)
        self._check_count("max_iter", 1)
        if self.penalty is not None:
            self._check_number("penalty")
        rng = self._rng()
        rounds = Rounds(self.callback, verbose=self.verbose)
        least = np.inf
        for _ in range(self.n_init):
            Z, W = self._grow(rows, rng)
            Z, W, error, stable = _descend(rows, Z, W, self.max_iter)
            objective = error + (self.penalty or 0.0) * Z.shape[1]
            if objective < least:
                least, solution, converged = objective, Solution(Z, W), stable
            rounds.add(least)
        advice = f"raise max_iter = {self.max_iter}"
        return self._keep(solution, rounds=rounds, converged=converged, advice=advice)

    def _grow(self, X: FloatArray, rng: np.random.Generator) -> tuple[BinaryArray, FloatArray]:
        """A start: each new feature is a row of the residual, drawn in proportion to its square."""
        Z, W = np.zeros((len(X), 0), np.uint8), np.zeros((0, X.shape[1]))
        error, failures, n_rounds = float(np.sum(X**2)), 0, min(ESTIMATORS.rounds_a_feature, self.max_iter)
        while Z.shape[1] < self.n_components and failures < ESTIMATORS.seeds_a_feature:
            left = X - Z @ W
            weights = np.sum(left**2, axis=1)
            total = float(weights.sum())
            row = rng.choice(len(X), p=weights / total) if total > 0 else 0
            wider = np.column_stack([Z, np.zeros(len(X), np.uint8)])
            new_Z, new_W, new_error, _ = _descend(X, wider, np.vstack([W, left[row]]), n_rounds)
            if self.penalty is not None and Z.shape[1] and new_error + self.penalty >= error:
                failures += 1
                continue
            Z, W, error, failures = new_Z, new_W, new_error, 0
        return Z, W


def _descend(
    X: FloatArray, Z: BinaryArray, W: FloatArray, max_iter: int
) -> tuple[BinaryArray, FloatArray, float, bool]:
    """Z, W, ‖X − ZW‖² and whether no flip helps any more, after up to max_iter rounds of flips and refits."""
    Z = Z.copy()
    stable = False
    for _ in range(max_iter):
        stable = flip_bits(Z, X @ W.T, W @ W.T) == 0
        if stable:
            break
        W = least_squares(Z, X).W
    return Z, W, float(np.sum((X - Z @ W) ** 2)), stable
