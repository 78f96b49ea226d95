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

from nilm.disaggregate.evidence import EVIDENCE, Fit, read_evidence
from nilm.disaggregate.run_evidence import RUN_EVIDENCE, Runs, read_runs
from nilm.results import FloatArray

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


class Confidence(NamedTuple):
    """How sure the features of a week are."""

    evidence: FloatArray  # (K, len(EVIDENCE))
    sure: FloatArray  # (K,) probability that each is one real appliance with these times and this energy
    runs: Runs  # every run of every feature, in rows of the fit


def judge_features(fit: Fit) -> Confidence:
    """How sure each feature of a fit is, and each of its runs."""
    seen = read_evidence(fit)
    sure = appliance_map().probability(seen, EVIDENCE)
    runs = read_runs(fit, sure, seen[:, EVIDENCE.index(NEAREST)])
    return Confidence(seen, sure, runs._replace(sure=run_map().probability(runs.evidence, RUN_EVIDENCE)))


def strongest_doubt(seen: FloatArray) -> str:
    """The name of the evidence in `seen` (len(EVIDENCE),) that speaks most against a feature.

    The centre of the map is what features that are right usually show.
    """
    table = appliance_map()
    return table.evidence[int(np.argmin(table.contributions(seen[None], EVIDENCE)))]


def energy_range(sure: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(K,) two factors on the energy of each appliance: 90% of the true energies lie between them."""
    table = _table()["range"]
    return tuple(np.asarray(np.interp(sure, table["sure"], table[side])) for side in ("low", "high"))  # type: ignore[return-value]


@cache
def appliance_map() -> Map:
    """The map for whole appliances, over `EVIDENCE`."""
    return read_map(_table()["appliance"])


@cache
def run_map() -> Map:
    """The map for single runs, over `RUN_EVIDENCE`."""
    return read_map(_table()["run"])


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
