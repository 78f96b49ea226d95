"""The maps from evidence to probability, fitted with whole houses left out; as the table of the package.

The ranges of energy are fitted by `calibration_ranges`, on what these maps say of houses they have not seen.
Weeks that are explained by what is on or off and weeks that are explained by shapes have maps of their own.

Evidence is chosen one piece at a time, by the log-loss on houses that the map has not seen, until no piece
helps. The curve that makes the logistic map a probability is a monotone one through what the map said of
houses that it had not seen. Sets count by the root of their size, so that no kind of week rules the others.
"""

from typing import Any

import numpy as np
from calibration_ranges import RangeFitting
from calibration_rows import Judged
from calibration_weeks import OTHER
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from nilm.disaggregate.confidence import WAYS, Map
from nilm.disaggregate.evidence import EVIDENCE
from nilm.disaggregate.run_evidence import RUN_EVIDENCE, log_odds

FOLDS = 10
REGULARISATION = 0.3  # inverse weight of the squared coefficients of scaled evidence
LEAST_GAIN = 0.001  # nats of log-loss that one more piece of evidence must save
MOST_PIECES = 12
RARE = 0.2  # weight of weeks that no user has: they only keep the map from trusting what it has not seen
ALWAYS = ("log share of the energy left over", "feeds in")
LEAST, MOST = 0.01, 0.99  # nobody is surer than this
HALF_POINTS = np.linspace(
    0, 1, 7
)  # of the curve: shares of those that are right, and of those that are wrong


Chosen = dict[str, tuple[str, ...]]  # the evidence for whole appliances, by the way a week is explained


def fit_tables(sets: dict[str, Judged], *, chosen: Chosen | None = None) -> dict[str, Any]:
    """The tables of the package, fitted on these sets; `chosen` evidence where the choice is made already."""
    tables = {}
    for n, way in enumerate(WAYS):
        own = {kind: judged.where(judged.way == n) for kind, judged in sets.items()}
        own = {kind: judged for kind, judged in own.items() if len(judged.right)}
        tables[way] = _fit_way(own, None if chosen is None else chosen[way])
    return tables


def _fit_way(sets: dict[str, Judged], chosen: tuple[str, ...] | None) -> dict[str, Any]:
    """The table of weeks that are explained in one way."""
    evidence, right, house, ratio = (
        np.concatenate([getattr(s, name) for s in sets.values()])
        for name in ("evidence", "right", "house", "ratio")
    )
    weight = np.concatenate([np.full(len(s.right), _weight(kind, s)) for kind, s in sets.items()])
    usual = np.concatenate([np.full(len(s.right), kind != OTHER) for kind, s in sets.items()])
    fitting = _Fitting(evidence, EVIDENCE, right, weight, house, usual)
    appliance, said = fitting.fit(chosen or fitting.choose())
    run, n_runs = _fit_runs(sets, appliance)
    ranges = RangeFitting(evidence[usual], said[usual], ratio[usual], weight[usual], house[usual])
    return {
        "appliances": len(right),
        "right": round(float(right.mean()), 3),
        "runs": n_runs,
        "appliance": vars(appliance),
        "run": vars(run),
        "range": ranges.fit(),
    }


def _weight(kind: str, judged: Judged) -> float:
    """What each appliance of a set counts."""
    return float(len(judged.right) ** -0.5) * (RARE if kind == OTHER else 1.0)


class _Fitting:
    """Evidence (R, E) with names, what was right, weights, and the houses that are left out together.

    `usual` (R,) are weeks as users have them: how often what is said comes true is measured on these alone.
    """

    def __init__(
        self,
        evidence: np.ndarray,
        names: tuple[str, ...],
        right: np.ndarray,
        weight: np.ndarray,
        house: np.ndarray,
        usual: np.ndarray,
    ) -> None:
        self.names, self.right, self.weight, self.usual = names, right, weight / weight.mean(), usual
        self.evidence = evidence
        self.scale = evidence.std(axis=0) + 1e-9
        self.scaled = (evidence - evidence.mean(axis=0)) / self.scale
        folds = GroupKFold(n_splits=min(FOLDS, len(set(house))))
        self.folds = list(folds.split(evidence, right, house))

    def choose(self) -> tuple[str, ...]:
        """The evidence that tells right from wrong in houses that were left out, the most telling first."""
        # How well the week is explained counts in any case: kinds of weeks that the fit lacks show there. So
        # does the sun, beside which fewer things go wrong than what is left over makes believe.
        always = [self.names.index(name) for name in ALWAYS]
        chosen = [c for c in always if np.ptp(self.evidence[:, c]) > 0]
        best = self._loss(self._unseen(chosen))
        while len(chosen) < MOST_PIECES:
            others = [c for c in range(len(self.names)) if c not in chosen]
            losses = [self._loss(self._unseen([*chosen, c])) for c in others]
            if min(losses) > best - LEAST_GAIN:
                break
            best = min(losses)
            chosen.append(others[int(np.argmin(losses))])
            print(f"log-loss {best:.4f} with: {self.names[chosen[-1]]}", flush=True)
        return tuple(self.names[c] for c in chosen)

    def fit(self, chosen: tuple[str, ...]) -> tuple[Map, np.ndarray]:
        """The map over the `chosen` evidence, and (R,) what it says of houses that it has not seen."""
        columns = [self.names.index(name) for name in chosen]
        unseen = self._unseen(columns)
        curve = IsotonicRegression(y_min=LEAST, y_max=MOST, out_of_bounds="clip")
        usual = self.usual
        curve.fit(unseen[usual], self.right[usual], sample_weight=self.weight[usual])
        # As many among those that are right as among the others, which are few where most is right.
        parts = (unseen[usual & (self.right == right)] for right in (True, False))
        points = np.unique(np.concatenate([np.quantile(part, HALF_POINTS) for part in parts]).round(4))
        true = _smoothed(curve.predict(points))
        model = self._model(columns, np.arange(len(self.right)))
        weight = model.coef_[0] / self.scale[columns]
        mean = self.evidence[:, columns].mean(axis=0)
        # Against what features that are right usually show, so that each piece's part is a doubt or none.
        centre = self.evidence[self.right][:, columns].mean(axis=0)
        intercept = float(model.intercept_[0] + weight @ (centre - mean))
        table = Map(
            tuple(chosen),
            tuple(centre.round(4).tolist()),
            tuple(weight.round(4).tolist()),
            round(intercept, 4),
            tuple(points.tolist()),
            tuple(true.round(4).tolist()),
        )
        return table, np.interp(unseen, points, true)

    def _unseen(self, columns: list[int]) -> np.ndarray:
        """(R,) what a map over these columns says of each row when its house is left out."""
        said = np.zeros(len(self.right))
        for seen, left_out in self.folds:
            rows = self.scaled[np.ix_(left_out, columns)]
            said[left_out] = self._model(columns, seen).predict_proba(rows)[:, 1]
        return said

    def _model(self, columns: list[int], rows: np.ndarray) -> LogisticRegression:
        model = LogisticRegression(C=REGULARISATION, max_iter=500)
        return model.fit(
            self.scaled[np.ix_(rows, columns)], self.right[rows], sample_weight=self.weight[rows]
        )

    def _loss(self, said: np.ndarray) -> float:
        of_truth = np.where(self.right, said, 1 - said)
        return float(-np.average(np.log(np.clip(of_truth, 1e-3, 1)), weights=self.weight))


def _smoothed(true: np.ndarray) -> np.ndarray:
    """A rising curve without the steps that few rows make."""
    padded = np.concatenate([true[:1], true, true[-1:]])
    return np.clip((padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4, LEAST, MOST)


def with_odds(runs: np.ndarray, feature: np.ndarray, sure: np.ndarray) -> np.ndarray:
    """The evidence of runs with the odds of their appliances, which the map of appliances gives."""
    evidence = runs.copy()
    evidence[:, RUN_EVIDENCE.index("log odds of its appliance")] = log_odds(sure)[feature]
    return evidence


def _fit_runs(sets: dict[str, Judged], appliance: Map) -> tuple[Map, int]:
    """The map of runs, whose appliances are as sure as `appliance` says, and the number of runs behind it."""
    evidence, right, weight, house, usual = [], [], [], [], []
    for kind, judged in sets.items():
        sure = appliance.probability(judged.evidence, EVIDENCE)
        evidence.append(with_odds(judged.run_evidence, judged.run_feature, sure))
        right.append(judged.run_right)
        # Every run of a set counts the same, as it does where what is said is held against what is right.
        weight.append(np.full(len(judged.run_right), _weight(kind, judged)))
        house.append(judged.house[judged.run_feature])
        usual.append(np.full(len(judged.run_right), kind != OTHER))
    rows = tuple(np.concatenate(part) for part in (evidence, right, weight, house, usual))
    fitting = _Fitting(rows[0], RUN_EVIDENCE, *rows[1:])
    return fitting.fit(RUN_EVIDENCE)[0], len(rows[1])
