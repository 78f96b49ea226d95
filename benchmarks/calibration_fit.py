"""The maps from evidence to probability, fitted, as the tables of the package.

The ranges of energy are fitted by `calibration_ranges`, on what these maps say of houses they have not seen.
Weeks that are explained by what is on or off and weeks that are explained by shapes have maps of their own.

All evidence counts, each piece in the direction in which it speaks or not at all: a logistic regression whose
weights have bounds, and a price on their squares. Nothing is chosen, so nothing is flattered by a choice.
Sets count by the root of their size, so that no kind of week rules the others.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from calibration_ranges import RangeFitting
from calibration_rows import Judged, together
from calibration_weeks import OTHER
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.model_selection import GroupKFold

from nilm.disaggregate.confidence import WAYS, Map
from nilm.disaggregate.evidence import EVIDENCE, SPEAKS
from nilm.disaggregate.run_evidence import RUN_SPEAKS

FOLDS = 10
REGULARISATION = 1.0  # inverse weight of the squared coefficients of scaled evidence
LEAST_WEIGHT = 0.01  # nats for a usual difference of a piece of evidence: less says nothing
LEAST_SCALE = 0.1  # of a decade or a share: what differs by less in the fit says little
RARE = 0.2  # weight of weeks that no user has: they only keep the map from trusting what it has not seen


def fit_tables(sets: dict[str, Judged]) -> dict[str, Any]:
    """The tables of the package, fitted on these sets."""
    tables = {}
    for n, way in enumerate(WAYS):
        own = {kind: judged.where(judged.way == n) for kind, judged in sets.items()}
        tables[way] = _fit_way({kind: judged for kind, judged in own.items() if len(judged.right)})
    return tables


def _fit_way(sets: dict[str, Judged]) -> dict[str, Any]:
    """The table of weeks that are explained in one way."""
    every = together(list(sets.values()))
    weight = np.concatenate([_weights(kind, len(s.right)) for kind, s in sets.items()])
    weight /= weight.mean()
    runs_weight = np.concatenate([_weights(kind, len(s.run_right)) for kind, s in sets.items()])
    # Runs of one appliance are right or wrong together: they weigh as much as the appliances, not more.
    runs_weight *= len(every.right) / runs_weight.sum()
    usual = np.concatenate([np.full(len(s.right), kind != OTHER) for kind, s in sets.items()])
    # Ranges rest on what is said of houses that the map has not seen.
    unseen = _unseen(every.evidence, every.right, weight, every.house)
    ranges = RangeFitting(
        every.evidence[usual], unseen[usual], every.ratio[usual], weight[usual], every.house[usual]
    )
    return {
        "appliances": len(every.right),
        "right": round(float(every.right.mean()), 3),
        "runs": len(every.run_right),
        "appliance": vars(_fit_map(every.evidence, every.right, weight, SPEAKS)),
        "run": vars(_fit_map(every.known_of_runs, every.run_right, runs_weight, RUN_SPEAKS)),
        "range": ranges.fit(),
    }


def _weights(kind: str, n: int) -> np.ndarray:
    """(n,) what each of the `n` appliances or runs of a set counts."""
    return np.full(n, max(n, 1) ** -0.5 * (RARE if kind == OTHER else 1.0))


def _unseen(evidence: np.ndarray, right: np.ndarray, weight: np.ndarray, house: np.ndarray) -> np.ndarray:
    """(F,) what a map says of each appliance when its house is left out."""
    said = np.zeros(len(right))
    folds = GroupKFold(n_splits=min(FOLDS, len(set(house.tolist()))))
    for seen, left_out in folds.split(evidence, right, house):
        table = _fit_map(evidence[seen], right[seen], weight[seen], SPEAKS)
        said[left_out] = table.probability(evidence[left_out], EVIDENCE)
    return said


def _fit_map(evidence: np.ndarray, right: np.ndarray, weight: np.ndarray, speaks: Mapping[str, int]) -> Map:
    """The map of evidence (R, E) with the names and directions of `speaks`; each row counts `weight` (R,)."""
    scale = np.maximum(evidence.std(axis=0), LEAST_SCALE)
    # Against what is usual where all is right, so that each piece's part is a doubt or none.
    centre = evidence[right].mean(axis=0)
    found = _logistic((evidence - centre) / scale, right, weight, np.array(list(speaks.values())))
    own = found[1:] / scale
    counts = np.abs(found[1:]) >= LEAST_WEIGHT
    return Map(
        tuple(name for name, used in zip(speaks, counts, strict=True) if used),
        tuple(centre[counts].round(4).tolist()),
        tuple(own[counts].round(4).tolist()),
        round(float(found[0]), 4),
    )


def _logistic(scaled: np.ndarray, right: np.ndarray, weight: np.ndarray, speaks: np.ndarray) -> np.ndarray:
    """(1 + E,) the intercept and the weights that are most likely, each of the sign of `speaks` (E,) or 0.

    A direction of 0 leaves a piece free.
    """
    X = np.column_stack([np.ones(len(scaled)), scaled])
    bounds = [(None, None), *((0.0 if s > 0 else None, 0.0 if s < 0 else None) for s in speaks)]
    price = np.concatenate([[0.0], np.full(len(speaks), 1 / REGULARISATION)])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        score = X @ weights
        value = weight @ np.logaddexp(0.0, np.where(right, -score, score)) + price @ weights**2 / 2
        return float(value), X.T @ (weight * (expit(score) - right)) + price * weights

    start = np.zeros(X.shape[1])
    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 1000})
    return np.asarray(found.x)
