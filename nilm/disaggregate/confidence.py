"""How sure each appliance and each of its runs is: from evidence to a probability and a range of energy.

Owns the maps. They are small tables in `confidence.json`, made by `python benchmarks/calibration.py --fit` on
simulated weeks and weeks of real habits; the same program prints how often they are right on other ones.
Weeks that are explained by what is on or off and weeks that are explained by shapes have maps of their own,
because what tells right from wrong differs. The evidence itself is read by `nilm.disaggregate.evidence` and
`nilm.disaggregate.run_evidence`.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from lfm.arrays import FloatArray
from nilm.disaggregate.evidence import AS_SHAPES, EVIDENCE, OF_THE_FEATURE, Fit, read_evidence
from nilm.disaggregate.run_evidence import RUN_EVIDENCE, Runs, read_runs

LEAST_SURE = 0.01
"""The least probability that is ever said, of being right and of being wrong: nothing is certain."""


@dataclass(frozen=True)
class Map:
    """A logistic map of some of the evidence."""

    evidence: tuple[str, ...]  # the names that count
    centre: tuple[float, ...]  # what is taken off each
    weight: tuple[float, ...]  # nats for each unit of evidence
    intercept: float

    def contributions(self, seen: FloatArray, names: tuple[str, ...]) -> FloatArray:
        """(R, len(evidence)) nats for each piece of `seen` (R, len(names)), against the centre."""
        columns = [names.index(name) for name in self.evidence]
        return np.asarray((seen[:, columns] - np.array(self.centre)) * np.array(self.weight))

    def probability(self, seen: FloatArray, names: tuple[str, ...]) -> FloatArray:
        """(R,) how likely each row of `seen` (R, len(names)) is right."""
        score = self.contributions(seen, names).sum(axis=1) + self.intercept
        return np.asarray(np.clip(expit(score), LEAST_SURE, 1 - LEAST_SURE))


KNOTS = (-2.0, 0.0, 2.0, 4.0)
"""Log odds between which a range widens evenly: about .12, .5, .88 and .98 sure."""
_APART = np.diff(KNOTS, prepend=-np.inf)  # nats from each knot down to the next
_LEAST_ODDS, _MOST_ODDS = 1e-4, 5.0  # probability, and nats: beyond them odds say nothing more
_FINE = 0.003  # of a logarithm: differences of energy far below it are nothing, far above it are ratios
_WIDEST = 7.0  # of a logarithm: a factor of a thousand


def scaled_log(value: FloatArray) -> FloatArray:
    """Logarithms of ratios on a scale on which 0.1% and 1% are as different as half and a tenth."""
    return np.asarray(np.sign(value) * np.log1p(np.abs(value) / _FINE))


def log_odds(sure: FloatArray) -> FloatArray:
    """Nats for a probability, within what says something."""
    odds = np.log(np.maximum(sure, _LEAST_ODDS) / np.maximum(1 - sure, _LEAST_ODDS))
    return np.asarray(np.clip(odds, -_MOST_ODDS, _MOST_ODDS))


def odds_below(sure: FloatArray) -> FloatArray:
    """(K, len(KNOTS)) nats by which the odds of `sure` (K,) are below each knot, at most to the next."""
    return np.asarray(np.clip(np.array(KNOTS) - log_odds(sure)[:, None], 0.0, _APART))


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


class Maps(NamedTuple):
    """The maps for weeks that are explained in one way."""

    appliance: Map  # for whole appliances, over `EVIDENCE`
    run: Map  # for single runs, over `RUN_EVIDENCE`
    range: RangeMap  # for energies, over `EVIDENCE`


ON_OFF, SHAPES = "on or off", "shapes"
WAYS = (ON_OFF, SHAPES)
"""The tables of `confidence.json`, by the evidence "found as shapes": 0 and 1."""


class Confidence(NamedTuple):
    """How sure the features of a week are."""

    evidence: FloatArray  # (K, len(EVIDENCE))
    sure: FloatArray  # (K,) probability that each is one real appliance with these times and this energy
    runs: Runs  # every run of every feature, in rows of the fit


def judge_features(fit: Fit) -> Confidence:
    """How sure each feature of a fit is, and each of its runs."""
    seen = read_evidence(fit)
    maps = package_maps()[WAYS[fit.as_shapes]]
    sure = maps.appliance.probability(seen, EVIDENCE) * more_than_noise(fit)
    runs = read_runs(fit, sure)
    known = np.column_stack([runs.evidence, seen[runs.feature]])
    return Confidence(seen, sure, runs._replace(sure=maps.run.probability(known, RUN_EVIDENCE)))


def range_factors(seen: FloatArray, sure: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(K,) two factors on each energy of a week: see `RangeMap.factors`."""
    return _maps_of(seen).range.factors(seen, sure)


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
    """The name of the feature's own evidence in `seen` (len(EVIDENCE),) that speaks most against it.

    The centre of the map is what features that are right usually show.
    """
    table = _maps_of(seen[None]).appliance
    parts = zip(table.evidence, table.contributions(seen[None], EVIDENCE)[0].tolist(), strict=True)
    return min((part, name) for name, part in parts if name in OF_THE_FEATURE)[1]


def _maps_of(seen: FloatArray) -> Maps:
    """The maps for a week whose features have this evidence (K, len(EVIDENCE))."""
    return package_maps()[WAYS[bool(seen[:, AS_SHAPES].any())]]


@cache
def package_maps() -> dict[str, Maps]:
    """The maps of `confidence.json`, by the way in which a week is explained."""
    text = (files("nilm.disaggregate") / "confidence.json").read_text(encoding="utf-8")
    return read_maps(json.loads(text))


def read_maps(tables: dict[str, Any]) -> dict[str, Maps]:
    """The maps that the tables of `confidence.json` hold, by the way in which a week is explained."""
    return {
        way: Maps(
            Map(**_tuples(tables[way]["appliance"])),
            Map(**_tuples(tables[way]["run"])),
            RangeMap(**_tuples(tables[way]["range"])),
        )
        for way in WAYS
    }


def _tuples(table: dict[str, Any]) -> dict[str, Any]:
    """A table of JSON with its lists as tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
