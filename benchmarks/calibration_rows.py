"""The evidence of solved weeks beside the truth, kept in a temporary folder so that no week is solved twice.

Owns what "right" means. An appliance is right if its times have an F1 of at least 0.9 and its energy is
within 10% of the load, or of the machine, that it overlaps most. It is on where it draws over 5 W and over 5%
of its usual most; a load's floor (its 2nd percentile) belongs to the standby. What is always on is held
against the standby of all loads. A run is right if that load ran then: the time of the run and of the load's
runs that touch it has at least 0.8 in common. All of it is counted in seconds, not in rows.

Owns the true energy behind an appliance, too, which the ranges are about. Every kWh of a load counts once,
whatever the number of appliances that show parts of it (`_shared_out`).
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from calibration_weeks import SAMPLING, TrueWeek, true_week, weeks_of
from threadpoolctl import threadpool_limits

from lfm import runs_of_ones
from nilm.appliances.certainty.not_told_apart import indistinguishable
from nilm.appliances.energy_assigned import divided
from nilm.appliances.thresholds import APPLIANCES
from nilm.disaggregate import Disaggregation, disaggregate
from nilm.disaggregate.evidence import AS_SHAPES
from nilm.disaggregate.run_evidence import OF_THE_RUN
from nilm.timeline import J_PER_KWH

LEAST_F1, MOST_ERROR, LEAST_COMMON = 0.9, 0.1, 0.8
MOST_OVERLAP = 0.8  # of the largest overlap
ON_W, ON_SHARE = 5.0, 0.05
_ROOT = Path(__file__).resolve().parents[1]
# What a week's evidence depends on; the map itself is not part of it.
_SOURCES = (
    "lfm/**/*.py",
    "nilm/disaggregate/*.py",
    "nilm/simulate/**/*.py",
    "nilm/recordings/**/*.py",
    "nilm/appliances/certainty/not_told_apart.py",
    "benchmarks/calibration_*.py",
)
_NOT_EVIDENCE = {"confidence.py", "calibration_fit.py", "calibration_ranges.py", "calibration_worst.py"}


@dataclass(frozen=True, eq=False)
class Judged:
    """The features of one week, or of many, against the truth."""

    evidence: np.ndarray  # (F, len(EVIDENCE))
    right: np.ndarray  # (F,) bool
    f1: np.ndarray  # (F,)
    house: np.ndarray  # (F,) what is left out together in cross-validation
    week: np.ndarray  # (F,) number of the week
    run_feature: np.ndarray  # (R,) which of the F each run belongs to
    run_evidence: np.ndarray  # (R, len(OF_THE_RUN))
    run_right: np.ndarray  # (R,) bool
    group: np.ndarray  # (F,) number of the group that it cannot be told apart in, −1 for none
    kwh: np.ndarray  # (F,) above 0, of a generator too
    true_kwh: np.ndarray  # (F,) of what it shows; every kWh of a load counts once
    varies: np.ndarray  # (F,) bool

    @property
    def way(self) -> np.ndarray:
        """(F,) which of the WAYS explains the week of each."""
        return np.asarray(self.evidence[:, AS_SHAPES] > 0).astype(np.int64)

    @property
    def known_of_runs(self) -> np.ndarray:
        """(R, len(RUN_EVIDENCE)) the evidence of every run, then that of its appliance."""
        return np.column_stack([self.run_evidence, self.evidence[self.run_feature]])

    @property
    def ratio(self) -> np.ndarray:
        """(F,) true energy over found energy."""
        return np.asarray(self.true_kwh / self.kwh)

    def where(self, kept: np.ndarray) -> "Judged":
        """The features that are `kept` (F,), with their runs."""
        runs = kept[self.run_feature]
        place = np.cumsum(kept) - 1
        rows = {
            f.name: getattr(self, f.name)[runs if f.name.startswith("run_") else kept] for f in fields(self)
        }
        return Judged(**rows | {"run_feature": place[self.run_feature[runs]]})


def judged_sets(kinds: Iterable[str], *, report: bool, share: float, data: Path) -> dict[str, Judged]:
    """All weeks of these sets, solved or read from the temporary folder; sets without data are left out."""
    folder = Path(tempfile.gettempdir()) / "nilm-calibration" / _sources_digest()
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {kind: list(weeks_of(kind, report=report, share=share, data=data)) for kind in kinds}
    paths = {
        (kind, *week): folder / f"{kind}, {week[0]}.npz" for kind, weeks in wanted.items() for week in weeks
    }
    missing = {week: path for week, path in paths.items() if not path.is_file()}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(_solve, *week, data, path) for week, path in missing.items()]
        for job in jobs:
            print(job.result(), flush=True)
    found: dict[str, list[Judged]] = {}
    for (kind, *_), path in paths.items():
        with np.load(path, allow_pickle=False) as file:
            week = Judged(**{field.name: file[field.name] for field in fields(Judged)})
        found.setdefault(kind, []).append(week)
    return {kind: together(weeks) for kind, weeks in found.items()}


def _solve(kind: str, name: str, seed: int, real: str, data: Path, path: Path) -> str:
    """A word on a week, after `path` holds it solved and judged."""
    start = time.process_time()
    with threadpool_limits(1):
        week = judge(true_week(kind, name, seed, real, data))
    unfinished = path.with_suffix(f".{os.getpid()}.npz")
    np.savez_compressed(unfinished, **vars(week))
    unfinished.replace(path)
    return f"solved {name}: {len(week.right)} features, {time.process_time() - start:.1f} CPU s"


def together(weeks: list[Judged]) -> Judged:
    """Many weeks as one; features, weeks and groups keep their identity."""
    n_features = np.cumsum([0, *(len(week.right) for week in weeks)])
    joined = {f.name: np.concatenate([getattr(week, f.name) for week in weeks]) for f in fields(Judged)}
    joined["run_feature"] = np.concatenate(
        [week.run_feature + first for week, first in zip(weeks, n_features, strict=False)]
    )
    n_weeks = np.cumsum([0, *(week.week.max(initial=-1) + 1 for week in weeks)])
    joined["week"] = np.concatenate([week.week + first for week, first in zip(weeks, n_weeks, strict=False)])
    return Judged(**joined)


def solved(week: TrueWeek) -> Disaggregation:
    """The week's rows, disaggregated by the estimator that the week names."""
    return disaggregate(
        week.current_a,
        week.voltage_v,
        start_utc=week.start_utc,
        interval_s=SAMPLING.interval_s,
        duration_s=week.duration_s,
        estimator=week.estimator,
    )


def judge(week: TrueWeek) -> Judged:
    """A week solved, and its features against the truth."""
    found = solved(week)
    held = held_against(found, week)
    kept = [h.feature for h in held]
    groups = np.full(found.solution.K, -1)
    for number, group in enumerate(indistinguishable(found)):
        groups[list(group.members)] = number
    run_feature, run_evidence, run_right = _judge_runs(found, held, week)
    return Judged(
        evidence=found.evidence[kept],
        right=np.array([h.right for h in held]),
        f1=np.array([h.f1 for h in held]),
        house=np.array([week.house] * len(kept)),
        week=np.zeros(len(kept), dtype=np.int64),
        run_feature=run_feature,
        run_evidence=run_evidence,
        run_right=run_right,
        group=groups[kept],
        kwh=np.array([h.kwh for h in held]),
        true_kwh=np.array([h.true_kwh for h in held]),
        varies=np.array([h.feature >= found.solution.K - found.n_varying for h in held]),
    )


@dataclass(frozen=True)
class HeldAgainst:
    """A feature and the load it is judged by."""

    feature: int
    kwh: float
    load: int  # column of the truth, −1 for the standby
    load_kwh: float  # of the whole load
    f1: float
    true_kwh: float = 0.0  # of the part of the load that this feature shows, see `_shared_out`

    @property
    def right(self) -> bool:
        """Whether it is that load, with its times and its energy."""
        return self.f1 >= LEAST_F1 and abs(self.kwh - self.load_kwh) <= MOST_ERROR * self.load_kwh


def held_against(found: Disaggregation, week: TrueWeek) -> list[HeldAgainst]:
    """Every feature that draws anything against the load that it overlaps most."""
    hours = week.duration_s[found.row] / J_PER_KWH
    truth = week.truth_w[found.row]
    above_w = divided(truth, hours).above_w
    loads = truth[:, : len(week.names) - len(set(week.part_of.tolist()) - {-1})]
    standby = np.maximum(divided(loads, hours).standby_w, 0.0)
    held, common_w = [], []
    for k in range(found.solution.K):
        power = found.power_w[:, k]
        own = -1.0 if hours @ power < 0 else 1.0
        power, above = np.maximum(power * own, 0.0), np.maximum(above_w * own, 0.0)
        if not power.any():
            continue
        kwh = float(hours @ power)
        if hours @ (found.solution.Z[:, k] == 1) > APPLIANCES.always_on_share * hours.sum():
            held.append(HeldAgainst(k, kwh, -1, float(hours @ standby), 1.0))
            common_w.append(np.minimum(power, standby))
            continue
        load = _most_like(power, above, hours)
        f1 = _f1(_on(power), _on(above[:, load]), hours)
        held.append(HeldAgainst(k, kwh, load, float(hours @ above[:, load]), f1))
        common_w.append(np.minimum(power, above[:, load]))
    loads_w = np.column_stack([np.abs(above_w), standby])
    return _shared_out(held, np.array(common_w), loads_w, hours, week.part_of)


def _most_like(power: np.ndarray, above: np.ndarray, hours: np.ndarray) -> int:
    """The column of `above` (N, L) that `power` (N,) overlaps most."""
    overlap = hours @ np.minimum(power[:, None], above)
    # A small load runs beside larger ones, and inside its own machine: of those that it overlaps nearly as
    # much, it is the one that has least besides.
    candidates = np.flatnonzero(overlap >= MOST_OVERLAP * overlap.max())
    common = overlap[candidates] / (hours @ np.maximum(power[:, None], above[:, candidates]))
    return int(candidates[int(np.argmax(common))])


def _shared_out(
    held: list[HeldAgainst], common_w: np.ndarray, loads_w: np.ndarray, hours: np.ndarray, part_of: np.ndarray
) -> list[HeldAgainst]:
    """The features with the true energy that each of them shows: that of a load is given away once.

    `loads_w` (N, L + 1) holds the standby last. Of the features that stand for one load, the one with most in
    common with it comes first, and takes of each instant what the two have in common (`common_w`, (H, N));
    the next takes of what is then left. What no feature shows belongs to the first. A machine has what is
    left of it by those parts that have features of their own. So a splinter beside the whole has no energy,
    two halves have half each, and a splinter of a load that is found nowhere else stands for all of it.
    """
    true = np.zeros(len(held))
    shown = {h.load for h in held}
    for load in shown:
        members = [n for n, h in enumerate(held) if h.load == load]
        members.sort(key=lambda n: -float(hours @ common_w[n]) / max(held[n].kwh, held[n].load_kwh))
        parts = [c for c in np.flatnonzero(part_of == load).tolist() if load >= 0 and c in shown]
        left = np.maximum(loads_w[:, load] - loads_w[:, parts].sum(axis=1), 0.0)
        whole = float(hours @ left)
        for n in members:
            taken = np.minimum(common_w[n], left)
            left = left - taken
            true[n] = hours @ taken
        true[members[0]] += whole - true[members].sum()
    return [replace(h, true_kwh=float(t)) for h, t in zip(held, true, strict=True)]


def _judge_runs(
    found: Disaggregation, held: list[HeldAgainst], week: TrueWeek
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(feature, evidence, right) of every run of the features that are held, the always-on ones aside."""
    seconds = week.duration_s[found.row]
    above_w = np.abs(divided(week.truth_w[found.row], seconds).above_w)
    place = {h.feature: n for n, h in enumerate(held) if h.load >= 0}
    feature, evidence, right = [], [], []
    true_runs = {}
    for c in {h.load for h in held} - {-1}:
        on = _on(above_w[:, c])
        label = np.zeros(len(on), dtype=np.int64)
        for n, (first, end) in enumerate(runs_of_ones(on.astype(np.uint8)), start=1):
            label[first:end] = n
        true_runs[c] = (label, np.bincount(label, weights=seconds))
    for k, first, end, seen, _ in zip(*found.runs, strict=True):
        if k not in place:
            continue
        label, lengths = true_runs[held[place[k]].load]
        inside = label[first:end]
        common = float(seconds[first:end][inside > 0].sum())
        touched = sum(float(lengths[n]) for n in set(inside.tolist()) - {0})
        whole = float(seconds[first:end].sum()) - common + touched
        feature.append(place[k])
        evidence.append(seen)
        right.append(common >= LEAST_COMMON * whole)
    return (
        np.array(feature, dtype=np.int64),
        np.array(evidence).reshape(-1, len(OF_THE_RUN)),
        np.array(right, dtype=np.bool_),
    )


def _on(power: np.ndarray) -> np.ndarray:
    """Where a load is on: over ON_W and over ON_SHARE of its usual most."""
    return power > max(
        ON_W, ON_SHARE * float(np.percentile(power[power > 0], 95)) if (power > 0).any() else 0.0
    )


def _f1(on: np.ndarray, true: np.ndarray, weight: np.ndarray) -> float:
    both = float(weight @ on + weight @ true)
    return float(2 * (weight @ (on & true)) / both) if both > 0 else 0.0


def _sources_digest(left_out: frozenset[str] = frozenset(_NOT_EVIDENCE)) -> str:
    """A mark of the code that the evidence depends on."""
    digest = hashlib.sha256()
    for pattern in _SOURCES:
        for path in sorted(_ROOT.glob(pattern)):
            if path.name not in left_out:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
