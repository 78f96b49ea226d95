"""The 90% ranges of energies, fitted: two quantiles of how far true energies lie from those that are shown.

What is fitted is the logarithm of true over shown energy, on a scale that tells 0.1% from 1% as well as half
from double (`nilm.disaggregate.confidence.RangeMap`). Each end is a linear quantile regression (Koenker and
Bassett, 1978) on the odds that the appliance is right, and on whether the house feeds in: beside the sun,
energies are known less well than the odds say. An appliance that is surer never has the wider range.
"""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.model_selection import GroupKFold

from nilm.disaggregate.confidence import KNOTS, RangeMap, odds_below, scaled_log
from nilm.disaggregate.evidence import EVIDENCE

ENDS = (0.05, 0.95)  # quantiles: between them lie nine tenths of the true energies
FOLDS = 8
RANGE_EVIDENCE = ("feeds in",)
SMOOTH = 0.05  # on the scale of `scaled_log`: the loss has no corner, so that it is found in milliseconds
LEAST_RATIO = 1e-3  # of true over shown energy: less is nothing


class RangeFitting:
    """Evidence (F, E), how sure each is (by maps that have not seen it), true over shown energy, weights."""

    def __init__(
        self, evidence: np.ndarray, sure: np.ndarray, ratio: np.ndarray, weight: np.ndarray, house: np.ndarray
    ) -> None:
        self.target = scaled_log(np.log(np.maximum(ratio, LEAST_RATIO)))
        self.weight, self.below = weight / weight.mean(), odds_below(sure)
        self.evidence, self.centre = evidence, np.average(evidence, axis=0, weights=weight)
        self.scale = evidence.std(axis=0) + 1e-9
        folds = GroupKFold(n_splits=min(FOLDS, len(set(house.tolist()))))
        self.folds = list(folds.split(evidence, groups=house))

    def fit(self) -> dict[str, Any]:
        """The table of a `RangeMap`."""
        columns = [EVIDENCE.index(name) for name in RANGE_EVIDENCE]
        unit = np.concatenate([np.ones(1 + len(KNOTS)), self.scale[columns]])
        low, high = (self._weights(columns, np.arange(len(self.target)), q) / unit for q in ENDS)
        shift = [self._shift(columns, q) for q in ENDS]
        low[0] += shift[0]
        high[0] += shift[1]
        return vars(
            RangeMap(
                evidence=RANGE_EVIDENCE,
                centre=tuple(self.centre[columns].round(4).tolist()),
                low=tuple(low.round(4).tolist()),
                high=tuple(high.round(4).tolist()),
            )
        )

    def _columns(self, columns: list[int]) -> np.ndarray:
        """(F, 1 + len(KNOTS) + C) what the ends are linear in."""
        own = (self.evidence[:, columns] - self.centre[columns]) / self.scale[columns]
        return np.column_stack([np.ones(len(own)), self.below, own])

    def _weights(self, columns: list[int], rows: np.ndarray, quantile: float) -> np.ndarray:
        """The weights with the least loss on these rows."""
        X, y, w = self._columns(columns)[rows], self.target[rows], self.weight[rows]
        # What is less sure is never narrower: these weights open the range, or do nothing.
        opens = (None, 0.0) if quantile < 0.5 else (0.0, None)
        bounds = [(None, None), *[opens] * len(KNOTS), *[(None, None)] * len(columns)]

        def smooth_loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
            beyond = y - X @ weights
            under = expit(-beyond / SMOOTH)
            loss = quantile * beyond + SMOOTH * np.logaddexp(0.0, -beyond / SMOOTH)
            return float(w @ loss), -X.T @ (w * (quantile - under))

        start = np.zeros(X.shape[1])
        found = minimize(
            smooth_loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 500}
        )
        return np.asarray(found.x)

    def _unseen(self, columns: list[int], quantile: float) -> np.ndarray:
        """(F,) the end that is said of each row when its house is left out."""
        said, X = np.zeros(len(self.target)), self._columns(columns)
        for seen, left_out in self.folds:
            said[left_out] = X[left_out] @ self._weights(columns, seen, quantile)
        return said

    def _shift(self, columns: list[int], quantile: float) -> float:
        """By how much an end must move so that it holds what it should in houses that it has not seen."""
        beyond = self.target - self._unseen(columns, quantile)
        order = np.argsort(beyond)
        share = np.cumsum(self.weight[order]) / self.weight.sum()
        return float(beyond[order][np.searchsorted(share, quantile)])
