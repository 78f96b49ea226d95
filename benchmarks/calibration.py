"""Is what we say we are sure of right? Reliability tables by kind of week; --fit makes the maps anew.

    python benchmarks/calibration.py --fit      # weeks of the fit → nilm/disaggregate/confidence.json
    python benchmarks/calibration.py            # weeks of the report, none of them in the fit
    python benchmarks/calibration.py --worst    # the five worst claims of two weeks that were once very sure

`--share 0.5` takes half of the weeks, at least one of each kind, `--share 2` twice as many; half of them
take each of the first two commands about five minutes on two cores, all of them about eleven. The report may
take another share of its weeks than the fit took of its own. What "right" and "the true energy" mean stands
in `benchmarks/calibration_rows.py`, which weeks in `benchmarks/calibration_weeks.py`. Weeks of real habits
are reported with maps that were fitted without their house. Solved weeks are kept in the temporary folder,
and solved again when the code that solves them changes.

The report is blind: its weeks are those of the seeds from 70000 on, which nobody looks at while the evidence,
the form of the maps or the fit is worked on. Work on those is done with the cross-validation of the fit,
which `--fit` prints: each house by maps that were fitted without it. After the estimator has changed, run
`--fit` and then the report. A report that gave the reason for a change has been seen: move its seeds on
(`REPORT_SEED` and `REAL_REPORT_SEED` in `benchmarks/calibration_weeks.py`).
"""

import argparse
import itertools
import json
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from calibration_fit import fit_tables
from calibration_rows import Judged, judged_sets, together
from calibration_weeks import OTHER, WEEKS
from calibration_worst import print_worst
from machine import machine_size

from nilm.appliances.certainty.doubts import GUESS, LIKELY, VERY_SURE, sure_word
from nilm.appliances.certainty.ranges import EnergyRange, energy_ranges, range_of_sum
from nilm.disaggregate.confidence import WAYS, read_maps
from nilm.disaggregate.evidence import EVIDENCE
from nilm.disaggregate.run_evidence import RUN_EVIDENCE

TABLE = Path(__file__).parents[1] / "nilm" / "disaggregate" / "confidence.json"
DATA = Path(os.environ.get("REAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
REAL = "real habits"
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.001)
FOLDS = 8  # of the houses that the fit is shown on
_DRAWS = 400  # of what is right, if all were as likely as said


class Said:
    """What maps say of a set."""

    def __init__(self, judged: Judged, tables: dict) -> None:
        self.judged = judged
        self.sure, self.run_sure = np.zeros(len(judged.right)), np.zeros(len(judged.run_right))
        self.ranges = np.zeros((len(self.sure), 3))
        maps = read_maps(tables)
        for week in set(judged.week.tolist()):
            own = judged.week == week
            one = judged.where(own)
            use = maps[WAYS[one.way[0]]]
            sure = use.appliance.probability(one.evidence, EVIDENCE)
            self.sure[own] = sure
            self.run_sure[own[judged.run_feature]] = use.run.probability(one.known_of_runs, RUN_EVIDENCE)
            self.ranges[own] = energy_ranges(one.kwh.tolist(), *use.range.factors(one.evidence, sure))

    @property
    def held(self) -> np.ndarray:
        """(F,) whether the true energy is in the range."""
        _, low, high = self.ranges.T
        return np.asarray((self.judged.true_kwh >= low) & (self.judged.true_kwh <= high))

    @property
    def width(self) -> np.ndarray:
        """(F,) of the range, over the energy that is shown."""
        kwh, low, high = self.ranges.T
        return np.asarray((high - low) / kwh)

    def groups_held(self) -> list[bool]:
        """For every group that cannot be told apart, whether the range of its sum holds the true sum."""
        j = self.judged
        held = []
        for week, group in sorted(set(zip(j.week.tolist(), j.group.tolist(), strict=True))):
            members = np.flatnonzero((j.week == week) & (j.group == group))
            if group >= 0 and len(members) > 1:
                total = range_of_sum(EnergyRange(*self.ranges[k]) for k in members)
                held.append(bool(total.low_kwh <= j.true_kwh[members].sum() <= total.high_kwh))
        return held


def joined(parts: Iterable[Said]) -> Said:
    """The parts of a set of which each has its own map."""
    parts = list(parts)
    whole = object.__new__(Said)
    whole.judged = together([part.judged for part in parts])
    for name in ("sure", "run_sure", "ranges"):
        setattr(whole, name, np.concatenate([getattr(part, name) for part in parts]))
    return whole


def all_sets(*, report: bool, share: float) -> dict[str, Judged]:
    """Every set whose data is there."""
    kinds = [kind for kind in WEEKS if not (report and kind == OTHER)]
    found = judged_sets(kinds, report=report, share=share, data=DATA)
    for kind in [kind for kind in kinds if kind not in found]:
        print(f"{kind}: no data below {DATA}, left out")
    return found


def fit(share: float) -> None:
    sets = all_sets(report=False, share=share)
    tables = fit_tables(sets)
    made_by = f"python benchmarks/calibration.py --fit{'' if share == 1 else f' --share {share:g}'}"
    made = {"made_by": made_by, "share": share} | tables
    TABLE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    for way in WAYS:
        print(
            f"{TABLE.name}, {way}: fitted on {tables[way]['appliances']} appliances, "
            f"{tables[way]['right']:.2f} of them right, and {tables[way]['runs']} runs"
        )
    print("\nThe weeks of the fit, each house by maps fitted without it.\n")
    usual = {kind: judged for kind, judged in sets.items() if kind != OTHER}
    print_tables(unseen(usual, sets, FOLDS))


def report(share: float) -> None:
    tables = json.loads(TABLE.read_text(encoding="utf-8"))
    sets = all_sets(report=True, share=share)
    said = {kind: Said(judged, tables) for kind, judged in sets.items()}
    if REAL in sets:
        fitted_on = all_sets(report=False, share=tables["share"])
        n_houses = len(set(sets[REAL].house.tolist()))
        said |= unseen({REAL: sets[REAL]}, fitted_on, n_houses)
    print(f"calibration benchmark on {machine_size()}\n")
    print_tables(said)


def unseen(sets: dict[str, Judged], fitted_on: dict[str, Judged], folds: int) -> dict[str, Said]:
    """What is said of the sets by maps that were fitted without their houses."""
    houses = sorted({house for judged in sets.values() for house in judged.house.tolist()})
    parts: dict[str, list[Said]] = {kind: [] for kind in sets}
    for n in range(folds):
        left_out = houses[n::folds]
        others = {kind: j.where(~np.isin(j.house, left_out)) for kind, j in fitted_on.items()}
        tables = fit_tables(others)
        for kind, judged in sets.items():
            own = np.isin(judged.house, left_out)
            if own.any():
                parts[kind].append(Said(judged.where(own), tables))
    return {kind: joined(said) for kind, said in parts.items()}


def print_tables(said: dict[str, Said]) -> None:
    """All tables of the report."""
    print(
        "Appliances. In brackets the calibration error that right probabilities would have with so few, and"
    )
    print(
        "what it would be below in 19 of 20 cases. The width is that of the median range, over the energy.\n"
    )
    print("| set | n | right | said | calibration error | over 90% sure, wrong | 90% ranges hold | width |")
    print("| --- " * 8 + "|")
    everything = joined(said.values())
    for kind, s in (*said.items(), ("**all**", everything)):
        ranges = f"{s.held.mean():.2f} | {np.median(s.width):.3f} |"
        print(_line(kind, s.sure, s.judged.right, ranges))
    _print_bins(everything)
    print("\nRuns.\n\n| set | n | right | said | calibration error | over 90% sure, wrong |")
    print("| --- " * 6 + "|")
    for kind, s in said.items():
        print(_line(kind, s.run_sure, s.judged.run_right, ""))
    groups = [held for s in said.values() for held in s.groups_held()]
    print(
        f"\nGroups that cannot be told apart: {len(groups)}, the range of the sum holds "
        f"{np.mean(groups):.2f}."
    )


def _line(kind: str, sure: np.ndarray, right: np.ndarray, last: str) -> str:
    high = np.array([sure_word(p) == VERY_SURE for p in sure])
    rng = np.random.default_rng(0)
    chance = [calibration_error(sure, rng.random(len(sure)) < sure) for _ in range(_DRAWS)]
    return (
        f"| {kind} | {len(right)} | {right.mean():.2f} | {sure.mean():.2f} | "
        f"{calibration_error(sure, right):.3f} ({np.mean(chance):.3f}, {np.quantile(chance, 0.95):.3f}) | "
        f"{int((~right[high]).sum())} of {int(high.sum())} | {last}"
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


def _print_bins(said: Said) -> None:
    print("\n| said | appliances | mean said | right |\n| --- | --- | --- | --- |")
    for a, b in itertools.pairwise(BINS):
        inside = (said.sure >= a) & (said.sure < b)
        if inside.any():
            print(
                f"| {a:.1f} to {min(b, 1):.1f} | {inside.sum()} | {said.sure[inside].mean():.2f} | "
                f"{said.judged.right[inside].mean():.2f} |"
            )
    print(
        "\n| said | appliances | 90% ranges hold | width: a quarter below | half below | nine tenths below |"
    )
    print("| --- " * 6 + "|")
    words = np.array([sure_word(p) for p in said.sure])
    for word in (VERY_SURE, LIKELY, GUESS):
        own = words == word
        if own.any():
            widths = " | ".join(f"{width:.3f}" for width in np.quantile(said.width[own], (0.25, 0.5, 0.9)))
            print(f"| {word} | {own.sum()} | {said.held[own].mean():.2f} | {widths} |")


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
