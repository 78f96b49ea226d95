"""How sure each appliance is: the probability that it is one real appliance with these times and this energy.

Owns the evidence that is read off a solution, and the map from evidence to probability and to a range of
energy. The map is a small table, `confidence.json`, made by `python benchmarks/calibration.py --fit` on
simulated weeks and weeks of real habits; the same program prints how often it is right on other ones.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from lfm import runs_of_ones
from nilm.results import FloatArray

EVIDENCE = (
    "log share of energy",
    "log number of runs",
    "varies",
    "log residual while on, in units of its own current",
    "log distance to the nearest waveform",
    "share of its time with that one on too",
    "support",
    "log energy left over in the week",
    "share of time",
)
_SMALL = 1e-6  # keeps logarithms finite


def read_evidence(
    current_a: FloatArray,
    W: FloatArray,
    sizes: FloatArray,
    watts: FloatArray,
    support: FloatArray,
    *,
    left_over: float,
    n_varying: int,
) -> FloatArray:
    """(K, len(EVIDENCE)) for features W (K, D) of `watts` (K,) at `sizes` (N, K), rows current_a (N, D)."""
    K = len(W)
    power = np.abs(sizes * watts)
    on = sizes > 0
    residual = np.linalg.norm(current_a - sizes @ W, axis=1)
    length = np.linalg.norm(W, axis=1)
    cosine = np.abs(W @ W.T) / np.maximum(np.outer(length, length), _SMALL)
    np.fill_diagonal(cosine, 0.0)
    left = (residual @ on) / np.maximum(on.sum(axis=0), 1)
    rows = []
    for k in range(K):
        nearest = int(np.argmax(cosine[k]))
        n_on = max(int(on[:, k].sum()), 1)
        rows.append(
            [
                np.log10(power[:, k].sum() / max(float(power.sum()), _SMALL) + _SMALL),
                np.log10(1 + len(runs_of_ones(on[:, k].astype(np.uint8)))),
                float(k >= K - n_varying),
                np.log10(left[k] / max(float(length[k]), _SMALL) + _SMALL),
                np.log10(1 - cosine[k, nearest] ** 2 + _SMALL),
                float((on[:, k] & on[:, nearest]).sum() / n_on) if K > 1 else 0.0,
                float(support[k]),
                np.log10(left_over + 1e-4),
                float(on[:, k].mean()),
            ]
        )
    return np.array(rows).reshape(K, len(EVIDENCE))


def probability(seen: FloatArray) -> FloatArray:
    """(K,) the probability for `seen` (K, len(EVIDENCE)) that each is right, by the table."""
    table = _table()
    scaled = (seen - np.array(table["mean"])) / np.array(table["scale"])
    score = scaled @ np.array(table["weight"]) + table["intercept"]
    return np.asarray(np.interp(1 / (1 + np.exp(-score)), table["said"], table["true"]))


def energy_range(sure: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(K,) two factors on the energy of each appliance: 90% of the true energies lie between them."""
    table = _table()
    low = np.interp(sure, table["range_sure"], table["range_low"])
    high = np.interp(sure, table["range_sure"], table["range_high"])
    return np.asarray(low), np.asarray(high)


@cache
def _table() -> dict[str, Any]:
    text = (files("nilm.disaggregate") / "confidence.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
