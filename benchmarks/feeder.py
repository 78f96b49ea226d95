"""The product on a real feeder: three phases of a laboratory on two days, nothing simulated.

    python benchmarks/feeder.py [--day 1]

Reads feeder/cycles.npz from $REAL_DATA or ../shared/data. Loads are labelled by session only; unlabelled ones
switch inside sessions. For each labelled load that was ever on: the balanced accuracy, over the rows of its
phases, of the feature that tells best when it was on. "left over" is Σ|watts − found| / Σ|watts|.
The second day begins after the longest gap, and goes on into a third morning.
"""

import argparse
import os
import re
import resource
import time
from pathlib import Path

import numpy as np
from machine import machine_size

from nilm.appliances.energy_assigned import energy_rightly_assigned
from nilm.disaggregate import disaggregate

INTERVAL_S = 2.0


def balanced_accuracy(on: np.ndarray, labelled: np.ndarray) -> float:
    """Mean of the shares of on-rows and of off-rows that are told rightly."""
    return float((np.mean(on[labelled]) + np.mean(~on[~labelled])) / 2)


def phases_of(load: str) -> list[int]:
    """The phases named in a load's label, "kettle(L2)"; all three where it names none."""
    return [int(n) - 1 for n in re.findall(r"L([123])", load)] or [0, 1, 2]


def rows_of_day(seconds: np.ndarray, day: int | None) -> slice:
    """The rows before the longest gap for day 1, after it for day 2; all for None."""
    second = int(np.argmax(np.diff(seconds))) + 1
    return {None: slice(None), 1: slice(second), 2: slice(second, None)}[day]


def main(path: Path, day: int | None) -> None:
    print(f"feeder benchmark on {machine_size()}\n")
    with np.load(path) as file:
        current, voltage = file["current_a"].astype(float), file["voltage_v"].astype(float)
        seconds, loads, labelled = file["time"], file["loads"], file["on"] == 1
    rows = rows_of_day(seconds, day)
    current, voltage, seconds, labelled = current[rows], voltage[rows], seconds[rows], labelled[rows]
    start_utc = np.round(seconds * 1e9).astype("int64").astype("datetime64[ns]")
    states = []
    print("| phase | rows | features | over 1% | left over | CPU s |")
    print("| --- | --- | --- | --- | --- | --- |")
    for phase in range(3):
        X, V = current[:, phase], voltage[:, phase]
        start = time.process_time()
        found = disaggregate(X, V, interval_s=INTERVAL_S, start_utc=start_utc)
        cpu_s = time.process_time() - start
        power_w, on = np.zeros((len(X), found.solution.K)), np.zeros((len(X), found.solution.K), bool)
        power_w[found.row], on[found.row] = found.power_w, found.solution.Z == 1
        states.append(on)
        total = energy_rightly_assigned(np.mean(X * V, axis=1)[:, None], power_w, INTERVAL_S)
        print(
            f"| L{phase + 1} | {len(found.row)} of {len(X)} | {total.n_features} | {total.n_large_features} "
            f"| {total.left_over:.4f} | {cpu_s:.2f} |",
            flush=True,
        )
    print("\n| load | best balanced accuracy | phase |\n| --- | --- | --- |")
    best = []
    for k, load in enumerate(loads):
        if not labelled[:, k].any():
            continue
        tried = [
            (balanced_accuracy(on, labelled[:, k]), phase)
            for phase in phases_of(load)
            for on in states[phase].T
        ]
        accuracy, phase = max(tried)
        best.append(accuracy)
        print(f"| {load} | {accuracy:.3f} | L{phase + 1} |")
    print(f"| mean | {np.mean(best):.3f} | |")
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9:.2f} GB")


if __name__ == "__main__":
    data = Path(os.environ.get("REAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--day", type=int, choices=(1, 2), help="one of the two days, by itself")
    main(data / "feeder" / "cycles.npz", parser.parse_args().day)
