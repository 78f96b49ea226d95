"""Is what we say we are sure of right? Reliability tables by kind of week; --fit makes the maps anew.

    python benchmarks/calibration.py --fit      # weeks of the fit → nilm/disaggregate/confidence.json
    python benchmarks/calibration.py            # weeks of the report, none of them in the fit
    python benchmarks/calibration.py --worst    # the five worst claims of two weeks that were once very sure

`--share 0.5` takes half of the weeks, at least one of each kind. What "right" means stands in
`benchmarks/calibration_rows.py`, which weeks in `benchmarks/calibration_weeks.py`. Weeks of real habits are
reported with maps that were fitted without their house. Solved weeks are kept in the temporary folder, and
solved again when the code that solves them changes.
"""

import argparse
import itertools
import json
import os
from dataclasses import fields
from pathlib import Path

import numpy as np
from calibration_fit import fit_tables, with_odds
from calibration_rows import Judged, judged_set
from calibration_weeks import OTHER, WEEKS
from calibration_worst import print_worst
from machine import machine_size

from nilm.appliances.ranges import EnergyRange, range_of_sum
from nilm.disaggregate.confidence import read_map
from nilm.disaggregate.evidence import EVIDENCE
from nilm.disaggregate.run_evidence import RUN_EVIDENCE

TABLE = Path(__file__).parents[1] / "nilm" / "disaggregate" / "confidence.json"
DATA = Path(os.environ.get("REAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.001)
VERY_SURE = 0.9
_DRAWS = 200  # of what is right, if all were as likely as said


class Said:
    """What maps say of a set."""

    def __init__(self, judged: Judged, tables: dict) -> None:
        self.judged = judged
        self.sure = read_map(tables["appliance"]).probability(judged.evidence, EVIDENCE)
        runs = with_odds(judged.run_evidence, judged.run_feature, self.sure)
        self.run_sure = read_map(tables["run"]).probability(runs, RUN_EVIDENCE)
        table = tables["range"]
        self.low, self.high = (np.interp(self.sure, table["sure"], table[side]) for side in ("low", "high"))
        most = np.array([judged.kwh[judged.week == week].sum() for week in judged.week]) / judged.kwh
        self.high = np.minimum(self.high, np.maximum(most, 1.0))

    @property
    def held(self) -> np.ndarray:
        """(F,) whether the true energy is in the range."""
        return (self.judged.ratio >= self.low) & (self.judged.ratio <= self.high)

    def groups_held(self) -> list[bool]:
        """For every group that cannot be told apart, whether the range of its sum holds the true sum."""
        j = self.judged
        held = []
        for week, group in sorted(set(zip(j.week.tolist(), j.group.tolist(), strict=True))):
            members = np.flatnonzero((j.week == week) & (j.group == group))
            if group < 0 or len(members) < 2:
                continue
            total = range_of_sum(
                EnergyRange(j.kwh[k], j.kwh[k] * self.low[k], j.kwh[k] * self.high[k]) for k in members
            )
            true = sum({int(j.load[k]): float(j.true_kwh[k]) for k in members}.values())
            held.append(total.low_kwh <= true <= total.high_kwh)
        return held


def joined(parts: list[Said]) -> Said:
    """The parts of a set of which each has its own map."""
    whole = object.__new__(Said)
    whole.judged = Judged(
        **{f.name: np.concatenate([getattr(p.judged, f.name) for p in parts]) for f in fields(Judged)}
    )
    for name in ("sure", "run_sure", "low", "high"):
        setattr(whole, name, np.concatenate([getattr(p, name) for p in parts]))
    return whole


def all_sets(*, report: bool, share: float) -> dict[str, Judged]:
    """Every set whose data is there."""
    kinds = [kind for kind in WEEKS if not (report and kind == OTHER)]
    found = {kind: judged_set(kind, report=report, share=share, data=DATA) for kind in kinds}
    for kind in [kind for kind, judged in found.items() if judged is None]:
        print(f"{kind}: no data below {DATA}, left out")
    return {kind: judged for kind, judged in found.items() if judged is not None}


def fit(share: float) -> None:
    tables = fit_tables(all_sets(report=False, share=share))
    made_by = f"python benchmarks/calibration.py --fit{'' if share == 1 else f' --share {share:g}'}"
    TABLE.write_text(json.dumps({"made_by": made_by} | tables, indent=1) + "\n", encoding="utf-8")
    print(
        f"{TABLE.name}: fitted on {tables['appliances']} appliances, {tables['right']:.2f} of them right, "
        f"and {tables['runs']} runs"
    )


def report(share: float) -> None:
    tables = json.loads(TABLE.read_text(encoding="utf-8"))
    sets = all_sets(report=True, share=share)
    said = {kind: Said(judged, tables) for kind, judged in sets.items() if kind != "real habits"}
    if "real habits" in sets:
        fitted_on = all_sets(report=False, share=share)
        said["real habits"] = _unseen_houses(sets["real habits"], fitted_on, tables)
    print(f"calibration benchmark on {machine_size()}\n")
    print("Appliances; in brackets the calibration error that chance alone would make.\n")
    print("| set | n | right | said | calibration error | over 90% sure, wrong | 90% ranges hold |")
    print("| --- " * 7 + "|")
    for kind, s in said.items():
        print(_line(kind, s.sure, s.judged.right, f"{s.held.mean():.2f}"))
    sure, right = (np.concatenate([values(s) for s in said.values()]) for values in (_sure, _right))
    held = np.concatenate([s.held for s in said.values()])
    print(_line("**all**", sure, right, f"{held.mean():.2f}"))
    _print_bins(sure, right)
    print("\nRuns.\n\n| set | n | right | said | calibration error | over 90% sure, wrong | |")
    print("| --- " * 7 + "|")
    for kind, s in said.items():
        print(_line(kind, s.run_sure, s.judged.run_right, ""))
    groups = [held for s in said.values() for held in s.groups_held()]
    print(
        f"\nGroups that cannot be told apart: {len(groups)}, the range of the sum holds "
        f"{np.mean(groups):.2f}."
    )


def _sure(said: Said) -> np.ndarray:
    return said.sure


def _right(said: Said) -> np.ndarray:
    return said.judged.right


def _unseen_houses(habits: Judged, fitted_on: dict[str, Judged], tables: dict) -> Said:
    """What is said of each real house by maps that were fitted without it, with the same evidence."""
    parts = []
    for house in sorted(set(habits.house.tolist())):
        others = {kind: j.where(j.house != house) for kind, j in fitted_on.items()}
        without = fit_tables(others, chosen=tuple(tables["appliance"]["evidence"]))
        parts.append(Said(habits.where(habits.house == house), without))
    return joined(parts)


def _line(kind: str, sure: np.ndarray, right: np.ndarray, last: str) -> str:
    high = sure > VERY_SURE
    error = calibration_error(sure, right)
    rng = np.random.default_rng(0)
    chance = np.mean([calibration_error(sure, rng.random(len(sure)) < sure) for _ in range(_DRAWS)])
    return (
        f"| {kind} | {len(right)} | {right.mean():.2f} | {sure.mean():.2f} | {error:.3f} ({chance:.3f}) | "
        f"{int((~right[high]).sum())} of {int(high.sum())} | {last} |"
    )


def calibration_error(sure: np.ndarray, right: np.ndarray) -> float:
    """Mean distance of what was said and what was right, over the bins, by how much each holds."""
    bins = np.digitize(sure, BINS)
    return float(
        sum(
            abs(sure[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean()
            for b in set(bins.tolist())
        )
    )


def _print_bins(sure: np.ndarray, right: np.ndarray) -> None:
    print("\n| said | appliances | mean said | right |\n| --- | --- | --- | --- |")
    for a, b in itertools.pairwise(BINS):
        inside = (sure >= a) & (sure < b)
        if inside.any():
            print(
                f"| {a:.1f} to {min(b, 1):.1f} | {inside.sum()} | {sure[inside].mean():.2f} | "
                f"{right[inside].mean():.2f} |"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--worst", action="store_true")
    parser.add_argument("--share", type=float, default=1.0)
    arguments = parser.parse_args()
    if arguments.worst:
        print_worst()
    else:
        (fit if arguments.fit else report)(arguments.share)
