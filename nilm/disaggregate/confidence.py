"""How sure each appliance and each of its runs is: from evidence to a probability and a range of energy.

Owns the maps. They are small tables in `confidence.json`, made by `python benchmarks/calibration.py --fit` on
simulated weeks and weeks of real habits; the same program prints how often they are right on other ones. The
evidence itself is read by `nilm.disaggregate.evidence` and `nilm.disaggregate.run_evidence`.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from lfm.arrays import FloatArray
from nilm.disaggregate.evidence import EVIDENCE, Fit, read_evidence
from nilm.disaggregate.run_evidence import RUN_EVIDENCE, Runs, log_odds, read_runs

NEAREST = "log distance to the nearest other or sum or difference of two"


@dataclass(frozen=True)
class Map:
    """A logistic map of some of the evidence, then a monotone curve that makes it a probability."""

    evidence: tuple[str, ...]  # the names that count
    centre: tuple[float, ...]  # what is taken off each
    weight: tuple[float, ...]  # nats for each unit of evidence
    intercept: float
    said: tuple[float, ...]  # points of the curve, rising: of the logistic map …
    true: tuple[float, ...]  # … and how often that was right

    def contributions(self, seen: FloatArray, names: tuple[str, ...]) -> FloatArray:
        """(R, len(evidence)) nats for each piece of `seen` (R, len(names)), against the centre."""
        columns = [names.index(name) for name in self.evidence]
        return np.asarray((seen[:, columns] - np.array(self.centre)) * np.array(self.weight))

    def probability(self, seen: FloatArray, names: tuple[str, ...]) -> FloatArray:
        """(R,) how likely each row of `seen` (R, len(names)) is right."""
        score = self.contributions(seen, names).sum(axis=1) + self.intercept
        return np.asarray(np.interp(1 / (1 + np.exp(-score)), self.said, self.true))


KNOTS = (-2.0, 0.0, 2.0, 4.0)
"""Log odds below which a range may widen: a tenth, half, nine tenths and all but two hundredths sure."""
_FINE = 0.003  # of a logarithm: differences of energy far below it are nothing, far above it are ratios
_WIDEST = 7.0  # of a logarithm: a factor of a thousand


def scaled_log(value: FloatArray) -> FloatArray:
    """Logarithms of ratios on a scale on which 0.1% and 1% are as different as half and a tenth."""
    return np.asarray(np.sign(value) * np.log1p(np.abs(value) / _FINE))


def odds_below(sure: FloatArray) -> FloatArray:
    """(K, len(KNOTS)) nats by which the odds of probabilities `sure` (K,) are below each knot."""
    return np.asarray(np.maximum(np.array(KNOTS) - log_odds(sure)[:, None], 0.0))


@dataclass(frozen=True)
class RangeMap:
    """The ends of a 90% range of energy: sums over how sure an appliance is and some of its evidence."""

    evidence: tuple[str, ...]  # the names that count
    centre: tuple[float, ...]  # what is taken off each
    low: tuple[float, ...]  # weights, on the scale of `scaled_log`: 1, `odds_below`, then the evidence
    high: tuple[float, ...]

    def factors(self, seen: FloatArray, sure: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(K,) two factors on each energy, around 1: nine tenths of the true energies lie between them."""
        columns = [EVIDENCE.index(name) for name in self.evidence]
        own = seen[:, columns] - np.array(self.centre)
        terms = np.column_stack([np.ones(len(own)), odds_below(sure), own])
        most = float(scaled_log(np.array(_WIDEST)))
        low = np.clip(-(terms @ np.array(self.low)), 0.0, most)
        high = np.clip(terms @ np.array(self.high), 0.0, most)
        return np.asarray(np.exp(-_FINE * np.expm1(low))), np.asarray(np.exp(_FINE * np.expm1(high)))


class Confidence(NamedTuple):
    """How sure the features of a week are."""

    evidence: FloatArray  # (K, len(EVIDENCE))
    sure: FloatArray  # (K,) probability that each is one real appliance with these times and this energy
    runs: Runs  # every run of every feature, in rows of the fit


def judge_features(fit: Fit) -> Confidence:
    """How sure each feature of a fit is, and each of its runs."""
    seen = read_evidence(fit)
    sure = appliance_map().probability(seen, EVIDENCE) * more_than_noise(fit)
    runs = read_runs(fit, sure, seen[:, EVIDENCE.index(NEAREST)])
    return Confidence(seen, sure, runs._replace(sure=run_map().probability(runs.evidence, RUN_EVIDENCE)))


def more_than_noise(fit: Fit) -> FloatArray:
    """(K,) probability that each waveform is more than what noise leaves of a mean.

    A waveform of D numbers, told by n rows, gains ½ n‖w‖²/σ² nats and costs ½ D log n. The maps know features
    that an estimator had reason to make; one that is always on is made even of noise alone.
    """
    told = np.sum(fit.sizes**2, axis=0)
    variance = max(float(np.mean(fit.residual_a**2)), np.finfo(np.float64).tiny)
    gain = told * np.sum(fit.W**2, axis=1) / variance
    cost = fit.W.shape[1] * np.log(np.maximum(told, 1.0))
    return np.asarray(expit((gain - cost) / 2))


def strongest_doubt(seen: FloatArray) -> str:
    """The name of the evidence in `seen` (len(EVIDENCE),) that speaks most against a feature.

    The centre of the map is what features that are right usually show.
    """
    table = appliance_map()
    return table.evidence[int(np.argmin(table.contributions(seen[None], EVIDENCE)))]


@cache
def appliance_map() -> Map:
    """The map for whole appliances, over `EVIDENCE`."""
    return read_map(_table()["appliance"])


@cache
def run_map() -> Map:
    """The map for single runs, over `RUN_EVIDENCE`."""
    return read_map(_table()["run"])


@cache
def range_map() -> RangeMap:
    """The map for ranges of energy, over `EVIDENCE`."""
    return read_range_map(_table()["range"])


def read_range_map(table: dict[str, Any]) -> RangeMap:
    """The map that the table "range" of `confidence.json` holds."""
    return RangeMap(**{name: tuple(values) for name, values in table.items()})


def read_map(table: dict[str, Any]) -> Map:
    """The map that a table of `confidence.json` holds."""
    return Map(
        evidence=tuple(table["evidence"]),
        centre=tuple(table["centre"]),
        weight=tuple(table["weight"]),
        intercept=table["intercept"],
        said=tuple(table["said"]),
        true=tuple(table["true"]),
    )


@cache
def _table() -> dict[str, Any]:
    text = (files("nilm.disaggregate") / "confidence.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
