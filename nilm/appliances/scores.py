"""How good a week's result is against the simulator's truth or against submeters, in NILMTK's words.

Owns the metrics in time and energy; E_Hamm is `lfm.hamming_error`. With y the true watts and ŷ the estimate,
over the time in which y is known (means and sums are weighted with the rows' durations):

    F1   on means: state 1 (simulator), or at least 10 W (submeters)
    MAE = mean |y − ŷ|     RMSE = √mean (y − ŷ)²     NDE = √(Σ(y − ŷ)² / Σy²)
    energy error of an appliance = Ê − E in kWh; of the week = Σ|Ê − E| / Σ|E|; an appliance of the simulator
    that no feature was matched to counts as Ê = 0; of submeters only the matched ones count
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from lfm import hamming_error
from lfm.arrays import BinaryArray, BoolArray, FloatArray
from nilm.appliances.energy_assigned import energy_rightly_assigned
from nilm.appliances.thresholds import APPLIANCES
from nilm.disaggregate.disaggregation import sizes
from nilm.errors import InputFileError, OptionError
from nilm.files import read_npz
from nilm.recordings.submeters import Submeter
from nilm.results import ApplianceScore, Scores
from nilm.timeline import J_PER_KWH, TimeArray, seconds

_SIMULATE_AGAIN = "delete it, or simulate the week again"


@dataclass(frozen=True, eq=False)
class Truth:
    """What a simulated house really did on the rows of a week."""

    names: tuple[str, ...]  # (K,)
    Z: BinaryArray  # (N, K)
    power_w: FloatArray  # (N, K) watts, drift and all; 0 where off
    known: BoolArray  # (N,) rows for which the truth has an entry
    machines: tuple[str, ...] = ()  # (K,) the machine of each load; empty: every load is one

    @property
    def machine_w(self) -> FloatArray:
        """(N, M) watts of each thing that is plugged in: the parts of a machine together."""
        return _summed(self.power_w, self.machines or self.names)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A solution to score, in the order of its features."""

    appliance_ids: tuple[str, ...]
    Z: BinaryArray  # (N, K)
    watts: FloatArray  # (K,)
    amplitude: FloatArray | None = None  # (N, V) of the last features, which vary, in units of their watts

    @property
    def power_w(self) -> FloatArray:
        """(N, K) watts of each feature in each row."""
        return np.asarray(sizes(self.Z, self.amplitude) * self.watts, dtype=np.float64)


def read_truth(path: Path, measured_utc: TimeArray, *, interval_s: float) -> Truth:
    """The simulator's truth at the instants `measured_utc` (N,): the state that held then.

    The last state holds for `interval_s` at most; before the first and after the last nothing is known.
    InputFileError if the file is not a truth file.
    """
    file = read_npz(path, cure=_SIMULATE_AGAIN)
    try:
        columns, machine = (tuple(str(name) for name in file[field]) for field in ("names", "machines"))
        Z, watts = file["Z"].astype(np.uint8), file["watts"].astype(np.float64)
        power_w = Z * watts * file["amplitudes"]
        times = seconds(file["switch_utc"])
        if power_w.shape != (len(times), len(columns)) or not np.all(np.isfinite(power_w)):
            raise ValueError(f"{power_w.shape} powers of {len(columns)} appliances at {len(times)} times")
        machine_of = dict(zip(columns, machine, strict=True))
    except (KeyError, ValueError, TypeError) as error:
        raise InputFileError(
            f"{path} is not a simulator's truth file ({error}); {_SIMULATE_AGAIN}"
        ) from error
    # Columns of one name are one load, whose waveform changes with its power.
    power_w, Z = _summed(power_w, columns), (_summed(Z, columns) > 0).astype(np.uint8)
    names, machines = tuple(machine_of), tuple(machine_of.values())
    wanted = seconds(measured_utc)
    if len(times) == 0:
        nothing = np.zeros((len(wanted), len(names)))
        return Truth(names, nothing.astype(np.uint8), nothing, np.zeros(len(wanted), np.bool_), machines)
    known = (wanted >= times[0]) & (wanted < times[-1] + interval_s)
    holds = np.maximum(np.searchsorted(times, wanted, side="right") - 1, 0)
    return Truth(names, Z[holds], power_w[holds], known, machines)


def _summed(columns: NDArray[Any], names: Sequence[str]) -> FloatArray:
    """(N, M) sums of the columns (N, K) that have the same name, in the order of first appearance."""
    distinct = list(dict.fromkeys(names))
    out = np.zeros((len(columns), len(distinct)))
    np.add.at(out.T, [distinct.index(name) for name in names], columns.T)
    return out


def score_against_truth(
    before: Estimate, after: Estimate, truth: Truth, *, duration_s: FloatArray
) -> Scores | None:
    """The scores of baseline and result against the simulator; None where no row has a truth."""
    rows = truth.known
    if not rows.any():
        return None
    Z_true, power_true = truth.Z[rows], truth.power_w[rows]
    scored = []
    for estimate in (before, after):
        Z = estimate.Z[rows]
        power = estimate.power_w[rows]
        scored.append(
            tuple(
                _score(
                    estimate.appliance_ids[k],
                    truth.names[t],
                    power_true[:, t],
                    power[:, k],
                    true_on=Z_true[:, t] == 1,
                    on=Z[:, k] == 1,
                    duration_s=duration_s[rows],
                )
                for k, t in _pairs(power, power_true, duration_s[rows])
            )
        )
    kwh = np.abs(duration_s[rows] @ power_true) / J_PER_KWH
    assigned = [
        energy_rightly_assigned(truth.machine_w[rows], estimate.power_w[rows], duration_s[rows])
        for estimate in (before, after)
        if kwh.any()
    ]
    matched = {score.truth_name for score in scored[1]}
    missed = [t for t, name in enumerate(truth.names) if name not in matched]
    return Scores(
        source="simulator",
        hamming_before=hamming_error(before.Z[rows], Z_true),
        hamming_after=hamming_error(after.Z[rows], Z_true),
        energy_error=_energy_error(scored[1], float(kwh.sum()), missed_kwh=float(kwh[missed].sum())),
        appliances_before=scored[0],
        appliances=scored[1],
        assigned_before=assigned[0].acc if assigned else None,
        assigned=assigned[1].acc if assigned else None,
        assigned_one=assigned[1].one if assigned else None,
    )


def score_against_submeters(
    before: Estimate,
    after: Estimate,
    pairs: Sequence[tuple[int, Submeter]],
    pairs_before: Sequence[tuple[int, Submeter]],
    *,
    duration_s: FloatArray,
) -> Scores | None:
    """The scores of the appliances that were matched to a submeter; None where none was.

    `pairs` and `pairs_before` hold (feature, submeter) of the result and of the baseline, each matched by
    itself (`nilm.appliances.naming.match_submeters`).
    """
    if not pairs:
        return None
    scored = []
    total = 0.0
    for estimate, matched in ((before, pairs_before), (after, pairs)):
        scores, total = [], 0.0
        for k, submeter in matched:
            read = np.isfinite(submeter.watts)
            y, y_hat = submeter.watts[read], estimate.power_w[read, k]
            total += float(y @ duration_s[read]) / J_PER_KWH
            scores.append(
                _score(
                    estimate.appliance_ids[k],
                    submeter.name,
                    y,
                    y_hat,
                    true_on=y >= APPLIANCES.on_w,
                    on=y_hat >= APPLIANCES.on_w,
                    duration_s=duration_s[read],
                )
            )
        scored.append(tuple(scores))
    return Scores(
        source="submeters",
        hamming_before=None,
        hamming_after=None,
        energy_error=_energy_error(scored[1], total),
        appliances_before=scored[0],
        appliances=scored[1],
    )


def _pairs(power_w: FloatArray, power_true_w: FloatArray, duration_s: FloatArray) -> list[tuple[int, int]]:
    """(feature, appliance of the truth) one-to-one, with the largest total energy in common, (N, K) each.

    By energy and not by rows on: a small load that is always on shares its rows with everything.
    """
    common = [
        [float(np.where(a * b > 0, np.minimum(np.abs(a), np.abs(b)), 0) @ duration_s) for b in power_true_w.T]
        for a in power_w.T
    ]
    features, appliances = linear_sum_assignment(-np.array(common))
    return list(zip(features.tolist(), appliances.tolist(), strict=True))


def f1_score(on: ArrayLike, true_on: ArrayLike, duration_s: FloatArray) -> float:
    """2 TP / (2 TP + FP + FN), in seconds; 1 where neither is ever on."""
    on, true_on = np.asarray(on, dtype=bool), np.asarray(true_on, dtype=bool)
    if on.shape != true_on.shape:
        raise OptionError(f"on has shape {on.shape} and true_on {true_on.shape}; they must be the same rows")
    total = float(duration_s @ on + duration_s @ true_on)
    return 2 * float(duration_s @ (on & true_on)) / total if total else 1.0


def _score(
    appliance_id: str,
    truth_name: str,
    y: FloatArray,
    y_hat: FloatArray,
    *,
    true_on: BoolArray,
    on: BoolArray,
    duration_s: FloatArray,
) -> ApplianceScore:
    difference = y_hat - y
    squared, size = float(duration_s @ difference**2), float(duration_s @ y**2)
    return ApplianceScore(
        appliance_id=appliance_id,
        truth_name=truth_name,
        f1=f1_score(on, true_on, duration_s),
        mae_w=float(np.average(np.abs(difference), weights=duration_s)),
        rmse_w=float(np.sqrt(squared / duration_s.sum())),
        nde=float(np.sqrt(squared / size)) if size > 0 else (0.0 if squared == 0 else float("inf")),
        energy_error_kwh=float(duration_s @ difference) / J_PER_KWH,
    )


def _energy_error(scores: Sequence[ApplianceScore], total_kwh: float, *, missed_kwh: float = 0.0) -> float:
    wrong = missed_kwh + sum(abs(score.energy_error_kwh) for score in scores)
    return wrong / total_kwh if total_kwh > 0 else float("inf") if wrong else 0.0
