"""The ingest on full-size hours: against decoding them in full, memory, growth with hours, two workers.

    python benchmarks/ingest.py [--quick]

First single hours with few and with many switches, read adaptively and on the plain grid. Then whole weeks:
one continuous hour is simulated (57.6 million samples of two channels) and stands under as many names as
the week needs: the cost of an hour does not depend on what its neighbours hold. Every number is taken in this
run; of repeated timings the fastest counts, which is the one that other work disturbed least. One and two
workers take turns; their CPU seconds tell what two cores would make of it that other work leaves alone.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import soundfile
from machine import machine_size

from nilm.recordings.ingest import WeekPaths, ingest_week
from nilm.recordings.ukdale import DEFAULT_ADC_SCALE, HOUR_S, Calibration, Week
from nilm.recordings.waveforms import Reading, Sampling, read_hour
from nilm.simulate import loads
from nilm.simulate.device.meters import AMPS_PER_ADC_STEP, VOLTS_PER_ADC_STEP
from nilm.simulate.device.recorder import Recorder
from nilm.simulate.grid import Conditions
from nilm.simulate.house import simulated_house
from nilm.simulate.signal import signal_of
from nilm.simulate.week import simulate_week

WEEK = Week(2015, 1)
START_S = int(WEEK.start.timestamp())
CALIBRATION = Calibration(VOLTS_PER_ADC_STEP * DEFAULT_ADC_SCALE, AMPS_PER_ADC_STEP * DEFAULT_ADC_SCALE)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def decode_in_full(path: Path) -> None:
    with soundfile.SoundFile(path) as recording:
        for _ in recording.blocks(blocksize=2**18, dtype="float32"):
            pass


def full_size_hour(folder: Path) -> Path:
    """A continuous recording of an hour, with a calibration beside its year."""
    simulated = simulate_week(
        folder / "raw",
        house="house_long",
        week=str(WEEK),
        seed=1000,
        days=1 / 24,
        n_appliances=2,
        continuous=True,
    )
    return simulated.hours[0]


def hour_with_switches(folder: Path, n_switches: int) -> Path:
    """A continuous recording of an hour in which a heater switches so often, at any instant."""
    clock_s = 5
    house = simulated_house(seed=n_switches, days=1 / 24, n_appliances=2, interval_s=clock_s)
    rng = np.random.default_rng(n_switches)
    at = np.sort(rng.choice(np.arange(1, len(house.Z)), n_switches, replace=False))
    Z = house.Z.copy()
    Z[:, 1] = np.searchsorted(at, np.arange(len(Z)), side="right") % 2
    W = np.stack([house.W[0], loads.resistive(house.voltage_v, 1000.0)])
    house = replace(
        house, Z=Z, W=W, watts=np.array([house.watts[0], 1000.0]), kinds=(house.kinds[0], "mixed")
    )
    recorder = Recorder(
        signal=signal_of(house, Conditions(), rng),
        conditions=Conditions(),
        calibration=CALIBRATION,
        seed=0,
        start_unix_s=START_S,
        early_s=0.5,
        sampling=Sampling(),
    )
    folder.mkdir()
    path = recorder.write_hour(folder, 0, frozenset(), continuous=True)
    assert path is not None
    return path


def against_decoding(folder: Path, repeats: int) -> None:
    """Print how much faster than decoding in full an hour is read, by its number of switches."""
    print("| switches in the hour | reading | CPU ms | times faster than decoding in full | rows |")
    print("| --- | --- | --- | --- | --- |")
    for n_switches in (2, 20, 300):
        hour = hour_with_switches(folder / f"switches_{n_switches}", n_switches)
        decode_s = min(cpu_seconds(lambda hour=hour: decode_in_full(hour)) for _ in range(repeats))
        for way, sampling in (("adaptive", Sampling()), ("plain grid", Sampling(probe_s=0))):

            def read(hour: Path = hour, sampling: Sampling = sampling) -> Reading:
                return read_hour(hour, calibration=CALIBRATION, sampling=sampling)

            rows = len(read().table)  # compiles, and brings the file into memory
            read_s = min(cpu_seconds(read) for _ in range(2 * repeats))
            print(f"| {n_switches} | {way} | {1000 * read_s:.0f} | {decode_s / read_s:.1f} | {rows} |")
        hour.unlink()
    print()


def week_of(root: Path, hour: Path, n_hours: int) -> WeekPaths:
    """A house whose first hours are all this recording, under the names of those hours."""
    paths = WeekPaths(root, "house_bench", WEEK)
    recordings = paths.house_folder / WEEK.folder
    recordings.mkdir(parents=True)
    shutil.copy(hour.parents[2] / "calibration.cfg", paths.calibration)
    for number in range(n_hours):
        os.link(hour, recordings / f"vi-{START_S + number * HOUR_S}_000000.flac")
    return paths


def fresh(paths: WeekPaths, workers: int = 1) -> float:
    """Seconds to ingest the week from nothing."""
    shutil.rmtree(paths.data_root / "waveforms", ignore_errors=True)
    return seconds(lambda: ingest_week(paths, workers=workers))


def fresh_cpu(paths: WeekPaths, workers: int = 1) -> tuple[float, float]:
    """The same in CPU seconds: of this process, and of all workers."""
    shutil.rmtree(paths.data_root / "waveforms", ignore_errors=True)
    before = os.times()
    ingest_week(paths, workers=workers)
    spent = [now - then for now, then in zip(os.times(), before, strict=True)]
    return spent[0] + spent[1], spent[2] + spent[3]


MEASURE_MEMORY = """
import re, sys
from pathlib import Path
from nilm.recordings.ingest import WeekPaths, ingest_week
from nilm.recordings.ukdale import Week
ingest_week(WeekPaths(Path(sys.argv[1]), "house_bench", Week.parse(sys.argv[2])))
# getrusage would count the memory of the parent, from which this process was forked.
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
"""


def peak_memory_mb(paths: WeekPaths) -> float:
    """Peak memory of a process of its own that ingests the week, imports included."""
    shutil.rmtree(paths.data_root / "waveforms", ignore_errors=True)
    command = [sys.executable, "-c", MEASURE_MEMORY, str(paths.data_root), str(WEEK)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main(*, quick: bool) -> None:
    repeats, sizes = (3, (2, 4, 8)) if quick else (3, (6, 24, 96))
    print(f"ingest benchmark on {machine_size()}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        against_decoding(folder, repeats)
        hour = full_size_hour(folder)
        print(f"one continuous hour: {hour.stat().st_size / 1e6:.0f} MB\n")
        weeks = {n: week_of(folder / str(n), hour, n) for n in sizes}
        most = sizes[-1]
        fresh(weeks[sizes[0]])  # compiles, and brings the file into memory: for both sides alike

        decode_s = min(seconds(lambda: decode_in_full(hour)) for _ in range(repeats))
        print("| hours | ingest, ms an hour | times faster than decoding in full |\n| --- | --- | --- |")
        for n, paths in weeks.items():
            ingest_s = min(fresh(paths) for _ in range(repeats))
            print(f"| {n} | {1000 * ingest_s / n:.1f} | {decode_s * n / ingest_s:.0f} |")
        print(f"\ndecoding one hour in full takes {1000 * decode_s:.0f} ms\n")

        ratios = [fresh(weeks[most]) / fresh(weeks[most], workers=2) for _ in range(2 * repeats + 1)]
        print(f"two workers on {most} hours: {median(ratios):.2f} times one", end=" ")
        print(f"(median of {len(ratios)} pairs, {min(ratios):.2f} to {max(ratios):.2f})")
        pairs = [(fresh_cpu(weeks[most]), fresh_cpu(weeks[most], workers=2)) for _ in range(repeats)]
        (alone_s, _), (own_s, worker_s) = min(pairs)
        print(
            f"in CPU seconds: one {alone_s:.2f}; two {own_s:.2f} not shared and {worker_s:.2f} shared:",
            end=" ",
        )
        print(f"{alone_s / (own_s + worker_s / 2):.2f} times one on two cores that do nothing else")
        again_s = min(seconds(lambda: ingest_week(weeks[most])) for _ in range(repeats))
        print(f"again, with nothing new: {1000 * again_s / most:.1f} ms an hour")
        for n in (sizes[0], most):
            print(f"peak memory with {n} hours: {peak_memory_mb(weeks[n]):.0f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer hours and repeats")
    main(quick=parser.parse_args().quick)
