"""When exactly: switches found, their times, and the energy of runs, against the simulator's truth.

    python benchmarks/timing.py [--days 7] [--seeds 2] [--appliances 16]

The loads of these houses are on or off and switch at any instant. Each week is ingested adaptively and on the
plain grid. A switch counts if it moves at least 20 W and the state after it stays for 10 s. The energy of a
run is taken from the rows that stand for its time, less the power before it, as a perfect decoder would.
"""

import argparse
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from machine import machine_size

from nilm.recordings.ingest import WeekPaths, ingest_week
from nilm.recordings.tables import WeekTable, read_week
from nilm.recordings.ukdale import Week
from nilm.recordings.waveforms import Sampling
from nilm.simulate.schedules import runs
from nilm.simulate.week import simulate_week
from nilm.timeline import seconds

LEAST_W, STAYS_S = 20.0, 10.0
NEAR_S = 1.0  # a found switch belongs to a true one no further away
LEAST_WH = 20.0


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
        """Times of the switches, and which of them move enough and stay."""
        moved = np.abs(np.diff(self.power_w, axis=0)).max(axis=1)
        at = 1 + np.flatnonzero(moved > 1)
        time_s = self.start_s[at]
        lasts = np.diff(np.append(time_s, self.end_s))
        return time_s, (moved[at - 1] >= LEAST_W) & (lasts >= STAYS_S)


def rows_at(table: WeekTable, time_s: np.ndarray) -> np.ndarray:
    """Which row stands for each instant."""
    return np.maximum(np.searchsorted(seconds(table.start_utc), time_s, side="right") - 1, 0)


def run_energies(truth: Truth, table: WeekTable) -> dict[str, list[tuple[float, float]]]:
    """(true, found) Wh of each run during which nothing else switches, by appliance."""
    found: dict[str, list[tuple[float, float]]] = {}
    start_s = seconds(table.start_utc)
    end_s = start_s + table.duration_s
    for k, name in enumerate(truth.names):
        others = np.delete(truth.power_w, k, axis=1)
        for first, end in runs(truth.on[:, k]):
            if first == 0 or end >= len(truth.on) or np.ptp(others[first - 1 : end + 1], axis=0).max() > 1:
                continue
            begin, finish = truth.start_s[first], truth.start_s[end]
            true_wh = float(truth.power_w[first, k]) * (finish - begin) / 3600
            around = np.flatnonzero((end_s > begin - 130) & (start_s < finish + 130))
            before_w = table.active_w[rows_at(table, np.array([begin - 2.0]))[0]]
            above = table.active_w[around] - before_w
            on = above > truth.power_w[first, k] / 2
            # A neighbour may switch near by: only the rows from this run's first to its last count.
            near = (end_s[around] > begin - 1) & (start_s[around] < finish + 1)
            wh = float(above[on & near] @ table.duration_s[around][on & near]) / 3600
            found.setdefault(name, []).append((true_wh, wh))
    return found


def judge(truth: Truth, table: WeekTable) -> tuple[list[float], int, int]:
    """Errors in time of the switches found, how many counted ones were missed, how many were invented."""
    time_s, counts = truth.switches()
    said = seconds(table.start_utc)[table.inrush > 0]
    if not len(said):
        return [], int(counts.sum()), 0
    after = np.clip(np.searchsorted(said, time_s), 1, max(len(said) - 1, 1))
    error = np.minimum(np.abs(said[after] - time_s), np.abs(said[after - 1] - time_s))
    nearest = np.abs(said[:, None] - time_s[None, :]).min(axis=1)
    errors = error[counts]
    return errors[errors <= NEAR_S].tolist(), int(np.sum(errors > NEAR_S)), int(np.sum(nearest > NEAR_S))


def main(*, days: float, n_seeds: int, n_appliances: int) -> None:
    print(f"timing benchmark on {machine_size()}: {n_seeds} houses of {n_appliances}, {days:g} days each\n")
    week = Week(2015, 1)
    energies: dict[str, dict[str, list[tuple[float, float]]]] = {"adaptive": {}, "plain grid": {}}
    errors: list[float] = []
    missed = invented = 0
    for seed in range(1000, 1000 + n_seeds):
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            simulated = simulate_week(root / "raw", seed=seed, days=days, n_appliances=n_appliances)
            truth = Truth.read(simulated.truth)
            paths = WeekPaths(root, "house_sim", week)
            for way, sampling in (("adaptive", Sampling()), ("plain grid", Sampling(probe_s=0))):
                shutil.rmtree(root / "waveforms", ignore_errors=True)
                ingest_week(paths, sampling=sampling)
                table = read_week(paths.waveforms)
                for name, pairs in run_energies(truth, table).items():
                    energies[way].setdefault(name, []).extend(pairs)
                if way == "adaptive":
                    found, not_found, too_many = judge(truth, table)
                    errors += found
                    missed, invented = missed + not_found, invented + too_many
            print(f"seed {seed}: {simulated.size_bytes / 1e6 / days:.0f} MB a day, {len(table)} plain rows")
    total = len(errors) + missed
    print(f"\nswitches of {LEAST_W:g} W that stay {STAYS_S:g} s: {len(errors)} of {total} found", end=" ")
    print(f"({100 * len(errors) / total:.2f}%), {invented / (n_seeds * days):.2f} invented a day")
    print(f"timed to {np.quantile(errors, 0.95):.3f} s (95%), at worst {max(errors):.3f} s\n")
    print("| energy of a run | runs | error, median | 95% | within 3% |\n| --- | --- | --- | --- | --- |")
    for way, by_name in energies.items():
        over = [p for pairs in by_name.values() for p in pairs if p[0] >= LEAST_WH]
        for label, pairs in ((f"over {LEAST_WH:g} Wh", over), ("kettle", by_name.get("kettle", []))):
            if pairs:
                error = np.array([abs(found - true) / true for true, found in pairs])
                print(
                    f"| {label}, {way} | {len(pairs)} | {100 * np.median(error):.1f}% "
                    f"| {100 * np.quantile(error, 0.95):.1f}% | {100 * np.mean(error <= 0.03):.1f}% |"
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--days", type=float, default=7.0)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--appliances", type=int, default=16)
    options = parser.parse_args()
    main(days=options.days, n_seeds=options.seeds, n_appliances=options.appliances)
