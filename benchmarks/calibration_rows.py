"""The evidence of solved weeks beside the truth, kept in a temporary folder so that no week is solved twice.

Owns what "right" means. An appliance is right if its times have an F1 of at least 0.9 and its energy is
within 10% of the load, or of the machine, that it overlaps most. It is on where it draws over 5 W and over 5%
of its usual most; a load's floor (its 2nd percentile) belongs to the standby. What is always on is held
against the standby of all loads. A run is right if that load ran then: the rows of the run and of the load's
runs that touch it have at least 0.8 in common.
"""

import hashlib
import tempfile
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np
from calibration_weeks import TrueWeek, true_week, weeks_of

from lfm import runs_of_ones
from nilm.appliances.not_told_apart import indistinguishable
from nilm.appliances.thresholds import THRESHOLDS
from nilm.disaggregate import Disaggregation, disaggregate
from nilm.disaggregate.run_evidence import RUN_EVIDENCE

LEAST_F1, MOST_ERROR, LEAST_COMMON = 0.9, 0.1, 0.8
MOST_OVERLAP = 0.8  # of the largest overlap
ON_W, ON_SHARE = 5.0, 0.05
_ROOT = Path(__file__).resolve().parents[1]
# What a week's evidence depends on; the map itself is not part of it.
_SOURCES = (
    "lfm/**/*.py",
    "nilm/disaggregate/*.py",
    "nilm/simulate/*.py",
    "nilm/appliances/not_told_apart.py",
    "benchmarks/calibration_*.py",
)
_NOT_EVIDENCE = {"confidence.py", "calibration_fit.py"}


@dataclass(frozen=True, eq=False)
class Judged:
    """The features of one week, or of many, against the truth."""

    evidence: np.ndarray  # (F, len(EVIDENCE))
    right: np.ndarray  # (F,) bool
    f1: np.ndarray  # (F,)
    ratio: np.ndarray  # (F,) true energy over found energy
    house: np.ndarray  # (F,) what is left out together in cross-validation
    week: np.ndarray  # (F,) number of the week
    run_feature: np.ndarray  # (R,) which of the F each run belongs to
    run_evidence: np.ndarray  # (R, len(RUN_EVIDENCE)), the odds of the appliance left at 0
    run_right: np.ndarray  # (R,) bool
    group: np.ndarray  # (F,) number of the group that it cannot be told apart in, −1 for none
    load: np.ndarray  # (F,) number of the load it was held against, and so …
    true_kwh: np.ndarray  # (F,) … its energy
    kwh: np.ndarray  # (F,)

    def where(self, kept: np.ndarray) -> "Judged":
        """The features that are `kept` (F,), with their runs."""
        runs = kept[self.run_feature]
        place = np.cumsum(kept) - 1
        rows = {
            f.name: getattr(self, f.name)[runs if f.name.startswith("run_") else kept] for f in fields(self)
        }
        return Judged(**rows | {"run_feature": place[self.run_feature[runs]]})


def judged_set(kind: str, *, report: bool, share: float, data: Path) -> Judged | None:
    """All weeks of a set, solved or read from the temporary folder; None where its data is missing."""
    folder = Path(tempfile.gettempdir()) / "nilm-calibration" / _sources_digest()
    folder.mkdir(parents=True, exist_ok=True)
    weeks = []
    for name, seed, real in weeks_of(kind, report=report, share=share, data=data):
        path = folder / f"{kind} {name}.npz".replace(" ", "_").replace("%", "").replace(",", "")
        if not path.is_file():
            start = time.process_time()
            week = judge(true_week(kind, name, seed, real, data))
            np.savez_compressed(path, **vars(week))
            print(
                f"solved {name}: {len(week.right)} features, {time.process_time() - start:.1f} CPU s",
                flush=True,
            )
        with np.load(path, allow_pickle=False) as file:
            weeks.append(Judged(**{field.name: file[field.name] for field in fields(Judged)}))
    return together(weeks) if weeks else None


def together(weeks: list[Judged]) -> Judged:
    """Many weeks as one; features, weeks and groups keep their identity."""
    n_features = np.cumsum([0, *(len(week.right) for week in weeks)])
    joined = {f.name: np.concatenate([getattr(week, f.name) for week in weeks]) for f in fields(Judged)}
    joined["run_feature"] = np.concatenate(
        [week.run_feature + first for week, first in zip(weeks, n_features, strict=False)]
    )
    joined["week"] = np.concatenate([week.week + 1000 * n for n, week in enumerate(weeks)])
    return Judged(**joined)


def judge(week: TrueWeek) -> Judged:
    """A week solved, and its features against the truth."""
    found = disaggregate(
        week.current_a,
        week.voltage_v,
        start_utc=week.start_utc,
        interval_s=week.interval_s,
        estimator=week.estimator,
    )
    held = [h for k in range(found.solution.K) if (h := held_against(found, k, week)) is not None]
    kept = [h.feature for h in held]
    f1, load, true, kwh = (
        np.array([getattr(h, name) for h in held]) for name in ("f1", "load", "true", "found")
    )
    ratio = true / kwh
    hours = week.interval_s / 3.6e6
    groups = np.full(found.solution.K, -1)
    for number, group in enumerate(indistinguishable(found)):
        groups[list(group.members)] = number
    run_feature, run_evidence, run_right = _judge_runs(
        found, kept, above_floor(week.truth_w[found.row]), load
    )
    return Judged(
        evidence=found.evidence[kept],
        right=(f1 >= LEAST_F1) & (np.abs(1 / np.maximum(ratio, 1e-9) - 1) <= MOST_ERROR),
        f1=f1,
        ratio=ratio,
        house=np.array([week.house] * len(kept)),
        week=np.zeros(len(kept), dtype=np.int64),
        run_feature=run_feature,
        run_evidence=run_evidence,
        run_right=run_right,
        group=groups[kept],
        load=load,
        true_kwh=true * hours,
        kwh=kwh * hours,
    )


class HeldAgainst(NamedTuple):
    """A feature and the load it is judged by."""

    feature: int
    f1: float
    load: int  # column of the truth, −1 for the standby
    true: float  # energy of the load, in watts times rows
    found: float  # and of the feature


def held_against(found: Disaggregation, k: int, week: TrueWeek) -> HeldAgainst | None:
    """Feature k against the load that it overlaps most; None where it draws nothing."""
    own = -1.0 if found.power_w[:, k].sum() < 0 else 1.0
    power = np.maximum(found.power_w[:, k] * own, 0.0)
    if power.sum() == 0:
        return None
    if found.solution.Z[:, k].mean() > THRESHOLDS.always_on_share:
        return HeldAgainst(k, 1.0, -1, week.standby_w * len(power), float(power.sum()))
    above = above_floor(week.truth_w[found.row])
    signs = np.where(week.truth_w.sum(axis=0) < 0, -1.0, 1.0)
    overlap = np.minimum(power[:, None], above).sum(axis=0) * (signs == own)
    # A small load runs beside larger ones, and inside its own machine: of those that it overlaps nearly as
    # much, it is the one that has least besides.
    candidates = np.flatnonzero(overlap >= MOST_OVERLAP * overlap.max())
    common = overlap[candidates] / np.maximum(power[:, None], above[:, candidates]).sum(axis=0)
    load = int(candidates[int(np.argmax(common))])
    f1 = _f1(_on(power), _on(above[:, load]))
    return HeldAgainst(k, f1, load, float(above[:, load].sum()), float(power.sum()))


def above_floor(truth_w: np.ndarray) -> np.ndarray:
    """(N, L) the size of each load above its floor."""
    size = np.abs(truth_w)
    return np.maximum(size - np.percentile(size, 2, axis=0), 0.0)


def _judge_runs(
    found: Disaggregation, kept: list[int], above: np.ndarray, load: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(feature, evidence, right) of every run of the features that are kept, the always-on ones aside."""
    place = {k: n for n, k in enumerate(kept)}
    feature, evidence, right = [], [], []
    true_runs = {}
    for c in set(load.tolist()) - {-1}:
        on = _on(above[:, c])
        label = np.zeros(len(on), dtype=np.int64)
        for n, (first, end) in enumerate(runs_of_ones(on.astype(np.uint8)), start=1):
            label[first:end] = n
        true_runs[c] = (label, np.bincount(label))
    for k, first, end, seen, _ in zip(*found.runs, strict=True):
        if k not in place or load[place[k]] == -1:
            continue
        label, lengths = true_runs[int(load[place[k]])]
        inside = label[first:end]
        common = np.count_nonzero(inside)
        whole = len(inside) - common + sum(int(lengths[n]) for n in set(inside.tolist()) - {0})
        feature.append(place[k])
        evidence.append(seen)
        right.append(common >= LEAST_COMMON * whole)
    return (
        np.array(feature, dtype=np.int64),
        np.array(evidence).reshape(-1, len(RUN_EVIDENCE)),
        np.array(right),
    )


def _on(power: np.ndarray) -> np.ndarray:
    """Where a load is on: over ON_W and over ON_SHARE of its usual most."""
    return power > max(
        ON_W, ON_SHARE * float(np.percentile(power[power > 0], 95)) if (power > 0).any() else 0.0
    )


def _f1(on: np.ndarray, true: np.ndarray) -> float:
    return float(2 * (on & true).sum() / max(on.sum() + true.sum(), 1))


def _sources_digest(left_out: frozenset[str] = frozenset(_NOT_EVIDENCE)) -> str:
    """A mark of the code that the evidence depends on."""
    digest = hashlib.sha256()
    for pattern in _SOURCES:
        for path in sorted(_ROOT.glob(pattern)):
            if path.name not in left_out:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
