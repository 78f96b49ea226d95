"""Real habits with ten-second data through recordings: runs found and energy rightly assigned, for timing.py.

Measured watts of real plugs become recordings (`nilm.simulate.habits_house`), are ingested adaptively and on
the plain grid, and disaggregated. A run is a time in which a channel draws at least 20 W above its floor; it
is found if the features of that channel hold at least half of its energy while it lasts.
"""

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from lfm import runs_of_ones
from nilm.appliances.energy_assigned import divided, energy_rightly_assigned
from nilm.disaggregate.disaggregation import load_disaggregation
from nilm.disaggregate.steps import FactoriseOptions, PriorOptions, factorise_week, hop_week
from nilm.recordings.ingest import WeekPaths, ingest_week
from nilm.recordings.tables import WeekTable, read_week
from nilm.recordings.ukdale import Week
from nilm.recordings.waveforms import Sampling
from nilm.simulate.week import simulate_week
from nilm.timeline import seconds

HOUSES = ("tracebase_plugs", "studio_flat")
LEAST_W = 20.0
WAYS = {"adaptive": Sampling(), "plain grid": Sampling(probe_s=0)}


def truth_of(path: Path) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Machines, their watts (N, C), and when each state begins and how long it holds (N,)."""
    with np.load(path) as file:
        parts_w = file["Z"] * file["watts"] * file["amplitudes"]
        of_machine = [str(name) for name in file["machines"]]
        start_s = seconds(file["switch_utc"])
        end_s = float(seconds(file["start_utc"])[-1] + file["interval_s"])
    names = list(dict.fromkeys(of_machine))
    power_w = np.column_stack([parts_w[:, [m == name for m in of_machine]].sum(axis=1) for name in names])
    return names, power_w, start_s, np.diff(np.append(start_s, end_s))


def found_power(paths: WeekPaths, table: WeekTable, at_s: np.ndarray) -> tuple[np.ndarray, float]:
    """Watts (T, K) of what the product finds, at these instants, and its CPU seconds."""
    begin = time.process_time()
    names = {"house": paths.house, "week": str(paths.week)}
    factorised, hopped = paths.waveforms.with_suffix(".factorised.npz"), paths.waveforms.with_suffix(".npz")
    factorise_week(paths.waveforms, factorised, FactoriseOptions(), **names)
    hop_week(factorised, hopped, PriorOptions(), waveforms_path=paths.waveforms)
    cpu_s = time.process_time() - begin
    found = load_disaggregation(hopped)
    voltage = table.voltage_v.mean(axis=0, dtype=np.float64)
    power_w = np.zeros((len(table), found.solution.K))
    power_w[found.row] = found.sizes * (found.solution.W @ voltage / len(voltage))
    start_s = seconds(table.start_utc)
    row = np.clip(np.searchsorted(start_s, at_s, side="right") - 1, 0, None)
    held = (at_s >= start_s[row]) & (at_s < start_s[row] + table.duration_s[row])
    return np.where(held[:, None], power_w[row], 0.0), cpu_s


def runs_found(truth_w: np.ndarray, given_w: np.ndarray, lasts_s: np.ndarray) -> tuple[int, int]:
    """How many runs one channel has, and how many of them were found."""
    found = [
        float(lasts_s[a:b] @ np.minimum(given_w, truth_w)[a:b]) >= 0.5 * float(lasts_s[a:b] @ truth_w[a:b])
        for a, b in runs_of_ones(truth_w >= LEAST_W)
    ]
    return len(found), sum(found)


def table_of_habits(data: Path, *, days: float, seed: int) -> None:
    """Print one line for each house and way, and one for each appliance that ran."""
    print("| house | appliance | runs | found, adaptive | found, plain grid |\n" + "| --- " * 5 + "|")
    whole = []
    for house in HOUSES:
        shares: dict[str, list[tuple[int, int]]] = {}
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            simulated = simulate_week(
                root / "raw",
                seed=seed,
                days=days,
                habits=data / "habits" / f"{house}.npz",
                waveforms=data / "appliances" / "hfhad_cycles.npz",
            )
            names, truth_w, start_s, lasts_s = truth_of(simulated.truth)
            true = divided(truth_w, lasts_s).above_w
            paths = WeekPaths(root, "house_sim", Week(2015, 1))
            for way, sampling in WAYS.items():
                shutil.rmtree(root / "waveforms", ignore_errors=True)
                ingest_week(paths, sampling=sampling)
                rows = read_week(paths.waveforms)
                power_w, cpu_s = found_power(paths, rows, start_s + lasts_s / 2)
                score = energy_rightly_assigned(truth_w, power_w, lasts_s)
                features = divided(power_w, lasts_s).above_w
                counts = [
                    runs_found(true[:, c], features[:, score.channel == c].sum(axis=1), lasts_s)
                    for c in range(len(names))
                ]
                for name, count in zip(names, counts, strict=True):
                    shares.setdefault(name, []).append(count)
                n, found = np.sum(counts, axis=0)
                whole.append(
                    f"| {house} | {way} | {len(rows)} | {found} of {n} ({100 * found / n:.0f}%) "
                    f"| {score.acc:.3f} | {score.one:.3f} | {cpu_s:.1f} |"
                )
            megabytes = simulated.size_bytes / 1e6 / days
        for name, ((n, adaptive), (_, plain)) in shares.items():
            if n:
                print(f"| {house} | {name} | {n} | {adaptive} | {plain} |")
        whole[-1] += f" {megabytes:.0f} MB a day |"
        whole[-2] += " |"
    print("\n| house | reading | rows | runs found | acc | one | CPU s | recordings |\n" + "| --- " * 8 + "|")
    print("\n".join(whole))
