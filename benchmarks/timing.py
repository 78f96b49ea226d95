"""When exactly: switches found, their times, and the energy of runs, against the simulator's truth.

    python benchmarks/timing.py [--days 7] [--seeds 2] [--first-seed 1100] [--appliances 16]
    python benchmarks/timing.py --habits [--days 1] [--first-seed 900]

The loads of the clean houses are on or off and switch at any instant; those of the lifelike houses also
wander, fall and have levels. Each week is ingested adaptively and on the plain grid. A switch is a load that
goes on or off; it counts if it moves at least 20 W and stays for 10 s. It is invented if no load changed
within a second of it. The energy of a run is taken from the rows that stand for its time, less the power
before it, as a perfect decoder would, for runs during which the others together move by less than 1% of it.
With --habits: real habits instead (benchmarks/timing_habits.py), from $REAL_DATA or ../shared/data.
"""

import argparse
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from machine import machine_size
from timing_habits import WAYS, table_of_habits

from lfm import runs_of_ones
from nilm.recordings.ingest import WeekPaths, ingest_week
from nilm.recordings.tables import WeekTable, read_week
from nilm.recordings.ukdale import Week
from nilm.simulate.week import simulate_week
from nilm.timeline import seconds

LEAST_W, STAYS_S = 20.0, 10.0
NEAR_S = 1.0  # a found switch belongs to a true one no further away
LEAST_WH = 20.0
QUIET = 0.01


@dataclass(frozen=True)
class Truth:
    """The states of a house: entry n holds from start_s[n] to start_s[n + 1]."""

    names: list[str]
    on: np.ndarray  # (N, K)
    power_w: np.ndarray  # (N, K)
    start_s: np.ndarray  # (N,)
    end_s: float

    @classmethod
    def read(cls, path: Path) -> "Truth":
        """The truth in a simulator's file."""
        with np.load(path) as file:
            power_w = file["Z"] * file["watts"] * file["amplitudes"]
            end_s = float(seconds(file["start_utc"])[-1] + file["interval_s"])
            names = [str(name) for name in file["names"]]
            return cls(names, file["Z"] == 1, power_w, seconds(file["switch_utc"]), end_s)

    def switches(self) -> tuple[np.ndarray, np.ndarray]:
        """Times of all changes, and those of the switches that count."""
        change_w = np.abs(np.diff(self.power_w, axis=0))
        switched_w = np.where(np.diff(self.on.astype(int), axis=0) != 0, change_w, 0).max(axis=1)
        at = 1 + np.flatnonzero(switched_w > 1)
        lasts = np.diff(np.append(self.start_s[at], self.end_s))
        counts = (switched_w[at - 1] >= LEAST_W) & (lasts >= STAYS_S)
        return self.start_s[1:][change_w.max(axis=1) > 1], self.start_s[at[counts]]


def rows_at(table: WeekTable, time_s: np.ndarray) -> np.ndarray:
    """Which row stands for each instant."""
    return np.maximum(np.searchsorted(seconds(table.start_utc), time_s, side="right") - 1, 0)


def run_energies(truth: Truth, table: WeekTable) -> dict[str, list[tuple[float, float]]]:
    """(true, found) Wh of each run during which nothing else switches, by appliance."""
    found: dict[str, list[tuple[float, float]]] = {}
    start_s = seconds(table.start_utc)
    end_s = start_s + table.duration_s
    for k, name in enumerate(truth.names):
        others = np.delete(truth.power_w, k, axis=1).sum(axis=1)
        for first, end in runs_of_ones(truth.on[:, k]):
            run_w = truth.power_w[first:end, k]
            if first == 0 or end >= len(truth.on):
                continue
            if np.ptp(others[first - 1 : end + 1]) > max(1.0, QUIET * run_w.mean()):
                continue
            begin, finish = truth.start_s[first], truth.start_s[end]
            true_wh = float(run_w @ np.diff(truth.start_s[first : end + 1])) / 3600
            around = np.flatnonzero((end_s > begin - 130) & (start_s < finish + 130))
            before_w = table.active_w[rows_at(table, np.array([begin - 2.0]))[0]]
            above = table.active_w[around] - before_w
            on = above > run_w.min() / 2
            # A neighbour may switch near by: only the rows from this run's first to its last count.
            near = (end_s[around] > begin - 1) & (start_s[around] < finish + 1)
            wh = float(above[on & near] @ table.duration_s[around][on & near]) / 3600
            found.setdefault(name, []).append((true_wh, wh))
    return found


def judge(truth: Truth, table: WeekTable) -> tuple[list[float], int, int]:
    """Errors in time of the switches found, how many counted ones were missed, how many were invented."""
    change_s, switch_s = truth.switches()
    said = seconds(table.start_utc)[table.inrush > 0]
    if not len(said):
        return [], len(switch_s), 0
    errors = np.abs(switch_s[:, None] - said[None, :]).min(axis=1)
    nearest = np.abs(said[:, None] - change_s[None, :]).min(axis=1)
    return errors[errors <= NEAR_S].tolist(), int(np.sum(errors > NEAR_S)), int(np.sum(nearest > NEAR_S))


@dataclass
class Outcome:
    """What the houses of one kind gave."""

    errors: list[float] = field(default_factory=list)
    missed: int = 0
    invented: int = 0
    megabytes: float = 0.0  # a day
    rows: float = 0.0  # a day, adaptive
    energies: dict[str, dict[str, list[tuple[float, float]]]] = field(default_factory=dict)


def measured(*, days: float, seeds: range, n_appliances: int | None) -> Outcome:
    """The outcome of these houses; lifelike ones where no number of appliances is given."""
    outcome = Outcome()
    n_seeds = len(seeds)
    for seed in seeds:
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            simulated = simulate_week(root / "raw", seed=seed, days=days, n_appliances=n_appliances)
            truth = Truth.read(simulated.truth)
            paths = WeekPaths(root, "house_sim", Week(2015, 1))
            outcome.megabytes += simulated.size_bytes / 1e6 / days / n_seeds
            for way, sampling in WAYS.items():
                shutil.rmtree(root / "waveforms", ignore_errors=True)
                ingest_week(paths, sampling=sampling)
                table = read_week(paths.waveforms)
                for name, pairs in run_energies(truth, table).items():
                    outcome.energies.setdefault(way, {}).setdefault(name, []).extend(pairs)
                if sampling.probe_s:
                    found, missed, invented = judge(truth, table)
                    outcome.errors += found
                    outcome.missed += missed
                    outcome.invented += invented
                    outcome.rows += len(table) / days / n_seeds
    return outcome


def main(*, days: float, seeds: range, n_appliances: int) -> None:
    n_seeds = len(seeds)
    print(
        f"timing benchmark on {machine_size()}: {n_seeds} houses of each kind, {days:g} days each, ", end=""
    )
    print(f"seeds {seeds[0]} to {seeds[-1]}\n")
    kinds = {f"clean, {n_appliances} appliances": n_appliances, "lifelike": None}
    outcomes = {kind: measured(days=days, seeds=seeds, n_appliances=n) for kind, n in kinds.items()}
    print(f"| houses | switches of {LEAST_W:g} W that stay {STAYS_S:g} s | found | invented a day ", end="")
    print("| error in time, 95% | worst | rows a day | MB a day |\n" + "| --- " * 8 + "|")
    for kind, out in outcomes.items():
        total = len(out.errors) + out.missed
        print(
            f"| {kind} | {total} | {100 * len(out.errors) / total:.2f}% "
            f"| {out.invented / n_seeds / days:.2f} "
            f"| {np.quantile(out.errors, 0.95):.3f} s | {max(out.errors):.3f} s "
            f"| {out.rows:.0f} | {out.megabytes:.0f} |"
        )
    print("\n| energy of a run | reading | runs | error, median | 95% | within 3% |\n" + "| --- " * 6 + "|")
    for kind, out in outcomes.items():
        for way, by_name in out.energies.items():
            over = [p for pairs in by_name.values() for p in pairs if p[0] >= LEAST_WH]
            for label, pairs in ((f"over {LEAST_WH:g} Wh", over), ("kettle", by_name.get("kettle", []))):
                if pairs:
                    error = np.array([abs(found - true) / true for true, found in pairs])
                    print(
                        f"| {kind}, {label} | {way} | {len(pairs)} | {100 * np.median(error):.1f}% "
                        f"| {100 * np.quantile(error, 0.95):.1f}% | {100 * np.mean(error <= 0.03):.1f}% |"
                    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--days", type=float, default=None, help="7, with --habits 1")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=None, help="1100, with --habits 900")
    parser.add_argument("--appliances", type=int, default=16, help="of a clean house")
    parser.add_argument("--habits", action="store_true", help="real habits instead")
    options = parser.parse_args()
    if options.habits:
        data = Path(os.environ.get("REAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
        table_of_habits(data, days=options.days or 1.0, seed=options.first_seed or 900)
    else:
        first = options.first_seed or 1100
        seeds = range(first, first + options.seeds)
        main(days=options.days or 7.0, seeds=seeds, n_appliances=options.appliances)
